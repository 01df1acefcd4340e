//! Folders of a store, for pages of a gateway. A page reads the records that it shows, and a
//! limited number of others, however large the store is.

use crate::exit::Failure;
use crate::gateway::{Item, Listing, MOST, MOST_SEARCHED};
use packet::tlv::types::GENERIC;
use packet::{Component, ComponentRef, Name, NameRef};
use repo::{Listed, StoreError, Top, View, Walk};
use std::collections::BTreeMap;

/// The limits of one page.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Entries of the page.
    shown: usize,
    /// Names that a search reads.
    searched: usize,
    /// The maximum number of names that are read to add up one subfolder, and all of them. A larger
    /// one has no size.
    one: usize,
    /// See above.
    all: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { shown: MOST, searched: MOST_SEARCHED, one: 1_000, all: 2 * MOST }
    }
}

/// True if the name is that of a tree, or lies in one.
///
/// # Errors
/// The index cannot be read.
pub fn is_in_tree(view: &View, name: &Name) -> Result<bool, StoreError> {
    for len in 1..=name.len() {
        if tree_at(view, name.as_ref().prefix(len))?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The newest version of the tree with this name.
fn tree_at(view: &View, name: NameRef<'_>) -> Result<Option<Top>, StoreError> {
    let root = name.to_name().with(&Component::keyword(::tree::KEYWORD));
    view.newest_top(root.as_ref())
}

/// The entries of a folder, or with `query` those below it that have this in their names. `None`
/// if no name lies below the folder, or if the name is that of a tree or lies in one.
///
/// # Errors
/// The index cannot be read.
pub fn list(
    view: &View,
    name: &Name,
    query: Option<&str>,
    bounds: Bounds,
) -> Result<Option<Listing>, Failure> {
    if is_in_tree(view, name)? {
        return Ok(None);
    }
    let listing = match query {
        Some(query) => search(view, name, &query.to_lowercase(), bounds)?,
        None => Folder { view, name, bounds, left: bounds.all }.read()?,
    };
    Ok(listing)
}

/// The text of a component, if it is that of a file or folder.
fn text(component: ComponentRef<'_>) -> Option<&str> {
    let text = std::str::from_utf8(component.value()).ok();
    let text = text.filter(|_| component.typ() == GENERIC);
    text.filter(|text| !text.is_empty() && !text.contains('/'))
}

/// The time of a named thing, in nanoseconds since 1970.
fn time(top: &Top) -> u64 {
    top.added.saturating_mul(1_000_000)
}

/// Searches the names below a folder.
fn search(
    view: &View,
    name: &Name,
    query: &str,
    bounds: Bounds,
) -> Result<Option<Listing>, StoreError> {
    let mut walk = view.walk(name.as_ref());
    let (mut found, mut is_folder, mut is_cut) = (BTreeMap::new(), false, false);
    let mut read = 0;
    while let Some(Listed { name: own, top, .. }) = walk.step()? {
        read += 1;
        let Some(top) = top else { continue };
        let own = own.as_ref();
        let is_tree = own.last().is_some_and(|last| last.is_keyword(::tree::KEYWORD));
        let own = if is_tree { own.parent() } else { own };
        is_folder |= own.len() > name.len();
        let parts: Option<Vec<&str>> = own.components().skip(name.len()).map(text).collect();
        let Some(parts) = parts else { continue };
        // The newest version comes last.
        if parts.last().is_some_and(|last| last.to_lowercase().contains(query)) {
            found.insert((parts.join("/"), is_tree), (top.bytes, time(&top)));
        }
        if found.len() > bounds.shown || read >= bounds.searched {
            is_cut = true;
            break;
        }
    }
    let items = found.into_iter().take(bounds.shown);
    let items = items.map(|((path, is_folder), (bytes, time))| {
        Item::stored(&path, Some(bytes), is_folder, time)
    });
    Ok(is_folder.then(|| Listing { entries: items.collect(), is_cut }))
}

/// A folder whose entries are read.
struct Folder<'a> {
    view: &'a View,
    name: &'a Name,
    bounds: Bounds,
    /// Names that may still be read to add up subfolders.
    left: usize,
}

/// The content of a subfolder.
struct Sum {
    /// Its bytes; `None` if there are too many names to add them up.
    bytes: Option<u64>,
    time: u64,
    /// It has a named thing, or may have one.
    is_there: bool,
}

impl Folder<'_> {
    fn read(mut self) -> Result<Option<Listing>, StoreError> {
        let mut walk = self.view.walk(self.name.as_ref());
        let (mut listing, mut is_folder) = (Listing::default(), false);
        let (base, mut children) = (self.name.len(), 0);
        while let Some(first) = walk.step()? {
            if first.name.len() == base {
                walk.pass(self.name.as_ref());
                continue;
            }
            // Most have an entry. Parts of named things, such as certificates, have none.
            children += 1;
            if listing.entries.len() == self.bounds.shown || children > 2 * self.bounds.shown {
                listing.is_cut = true;
                break;
            }
            let child = first.name.as_ref().prefix(base + 1).to_name();
            let object = match first.name == child {
                true => self.view.newest_top(child.as_ref())?,
                false => None,
            };
            let folder = match tree_at(self.view, child.as_ref())? {
                Some(tree) => Some((Some(tree.bytes), time(&tree))),
                None => {
                    let sum = self.add_up(&mut walk, &child, first)?;
                    if sum.is_there { Some((sum.bytes, sum.time)) } else { None }
                }
            };
            is_folder |= object.is_some() || folder.is_some();
            if let Some(called) = child.as_ref().last().and_then(text) {
                let file = object.map(|top| (Some(top.bytes), time(&top)));
                let file = file.map(|(bytes, time)| Item::stored(called, bytes, false, time));
                let folder = folder.map(|(bytes, time)| Item::stored(called, bytes, true, time));
                listing.entries.extend(file.into_iter().chain(folder));
            }
            walk.skip(child.as_ref());
        }
        // An object and a folder of one name are two entries.
        listing.is_cut |= listing.entries.len() > self.bounds.shown;
        listing.entries.truncate(self.bounds.shown);
        Ok(is_folder.then_some(listing))
    }

    /// Adds up the named things below a child, from the first name at or below it on.
    fn add_up(
        &mut self,
        walk: &mut Walk<'_>,
        child: &Name,
        first: Listed,
    ) -> Result<Sum, StoreError> {
        let mut sum = Sum { bytes: Some(0), time: 0, is_there: false };
        let (mut next, mut read) = (Some(first), 0);
        // The versions of a name follow each other, and the newest is the last.
        let mut last: Option<(Name, u64)> = None;
        while let Some(Listed { name, top, .. }) = next {
            if !name.as_ref().starts_with(child.as_ref()) {
                break;
            }
            if name == *child {
                walk.pass(child.as_ref());
                next = walk.step()?;
                continue;
            }
            if read == self.bounds.one || self.left == 0 {
                return Ok(Sum { bytes: None, is_there: true, ..sum });
            }
            read += 1;
            self.left -= 1;
            let mut parts = name.as_ref().components().skip(child.len());
            if let Some(top) = top
                && parts.all(|part| text(part).is_some() || part.is_keyword(::tree::KEYWORD))
            {
                let older = last.filter(|(of, _)| *of == name).map_or(0, |(_, bytes)| bytes);
                let bytes = sum.bytes;
                sum.bytes =
                    bytes.map(|bytes| bytes.saturating_sub(older).saturating_add(top.bytes));
                last = Some((name.clone(), top.bytes));
                sum.time = sum.time.max(time(&top));
                sum.is_there = true;
            }
            next = walk.step()?;
        }
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::DataBuf;
    use repo::{Body, Entry, Insertion, Store};
    use security::Signer;
    use serde_json::Value;

    const SMALL: Bounds = Bounds { shown: 3, searched: 6, one: 2, all: 5 };

    /// Inserts packets of these names as named things of 7 bytes, and `members` as parts of the
    /// first.
    fn insert(store: &Store, names: &[&str], members: &[&str]) {
        let entry = |name: &&str| {
            let name: Name = name.parse().unwrap();
            let mut wire = Vec::new();
            Signer::Digest.encode(&DataBuf::new(name.clone(), vec![1]), &mut wire);
            Entry { name, version: 0, body: Body::Packet(wire.into()) }
        };
        for (at, name) in names.iter().enumerate() {
            let mut staging = store.stage().unwrap();
            let mut insertion = Insertion::new(store, &mut staging).unwrap();
            let top = Top { added: at as u64, bytes: 7, ..Top::default() };
            assert!(insertion.top(&entry(name), &top).unwrap());
            let members = members.iter().filter(|_| at == 0);
            members.for_each(|member| insertion.member(&entry(member)).unwrap());
            insertion.commit().unwrap();
        }
    }

    /// Each entry as its path, its kind and its size, and `...` after them if there are more.
    fn shown(view: &View, name: &str, query: Option<&str>, bounds: Bounds) -> Option<String> {
        let listing = list(view, &name.parse().unwrap(), query, bounds).unwrap()?;
        let mut lines: Vec<String> = Vec::new();
        for item in &listing.entries {
            let Value::Object(item) = serde_json::to_value(item).unwrap() else {
                panic!("{item:?}")
            };
            let slash = if item["type"] == "directory" { "/" } else { "" };
            lines.push(format!("{}{slash} {}", item["path"].as_str().unwrap(), item["size"]));
        }
        lines.sort();
        lines.extend(listing.is_cut.then(|| "...".to_owned()));
        Some(lines.join(", "))
    }

    #[test]
    fn a_folder_has_files_folders_and_trees_and_no_parts_of_them() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path()).unwrap();
        let names = ["/u/t/32=tree", "/u/x", "/u/x/y/z", "/u/x/y/zz", "/other", "/u"];
        insert(&store, &names, &["/u/t/file", "/u/KEY/1", "/u/t/a/file"]);
        let view = View::new(&store).unwrap();
        let all = |name, query| shown(&view, name, query, Bounds::default());
        assert_eq!(all("/u", None).unwrap(), "t/ 7, x 7, x/ 14");
        assert_eq!(all("/u/x/y", None).unwrap(), "z 7, zz 7");
        for name in ["/u/t", "/u/t/a", "/u/KEY", "/other", "/none"] {
            assert_eq!(all(name, None), None, "{name}");
            assert_eq!(all(name, Some("f")), None, "{name}");
        }
        assert_eq!(all("/u", Some("Z")).unwrap(), "x/y/z 7, x/y/zz 7");
        assert_eq!(all("/u", Some("t")).unwrap(), "t/ 7");
        assert_eq!(all("/u", Some("no")).unwrap(), "");
    }

    #[test]
    fn a_folder_has_the_size_of_the_newest_versions() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path()).unwrap();
        for (name, version, bytes) in [
            ("/u/a/x", 1, 90),
            ("/u/a/x", 2, 5),
            ("/u/a/y", 1, 10),
            ("/u/a/y", 2, 200),
            ("/u/a/y", 3, 30),
            ("/u/a/z", 1, 1),
        ] {
            let name: Name = name.parse().unwrap();
            let mut wire = Vec::new();
            Signer::Digest.encode(&DataBuf::new(name.clone(), vec![1]), &mut wire);
            let entry = Entry { name, version, body: Body::Packet(wire.into()) };
            let mut staging = store.stage().unwrap();
            let mut insertion = Insertion::new(&store, &mut staging).unwrap();
            assert!(insertion.top(&entry, &Top { bytes, ..Top::default() }).unwrap());
            insertion.commit().unwrap();
        }
        let view = View::new(&store).unwrap();
        assert_eq!(shown(&view, "/u", None, Bounds::default()).unwrap(), "a/ 36");
    }

    #[test]
    fn a_page_reads_no_more_than_its_bounds() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path()).unwrap();
        insert(&store, &["/u/a/1", "/u/a/2", "/u/b/1", "/u/b/2", "/u/b/3", "/u/c/1"], &[]);
        insert(&store, &["/v/1", "/v/2", "/v/3", "/v/4"], &["/v/a", "/v/b", "/v/c", "/v/d"]);
        let view = View::new(&store).unwrap();
        assert_eq!(shown(&view, "/v", None, SMALL).unwrap(), "1 7, 2 7, 3 7, ...");
        // Of the second folder, two names are read.
        assert_eq!(shown(&view, "/u", None, SMALL).unwrap(), "a/ 14, b/ null, c/ 7");
        let few = Bounds { all: 3, ..SMALL };
        assert_eq!(shown(&view, "/u", None, few).unwrap(), "a/ 14, b/ null, c/ null");
        assert_eq!(shown(&view, "/u", Some("1"), SMALL).unwrap(), "a/1 7, b/1 7, c/1 7, ...");
        let short = Bounds { searched: 4, ..SMALL };
        assert_eq!(shown(&view, "/u", Some("1"), short).unwrap(), "a/1 7, b/1 7, ...");
        let parts = Bounds { shown: 1, ..SMALL };
        assert_eq!(shown(&view, "/v", None, parts).unwrap(), "1 7, ...");
    }

    #[test]
    fn a_page_reads_no_packets() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path()).unwrap();
        insert(&store, &["/u/a", "/u/b/c"], &[]);
        drop(store);
        // Damaged records cannot be read, and need not be.
        let db = redb::Database::open(folder.path().join("index")).unwrap();
        let write = db.begin_write().unwrap();
        let entries: redb::TableDefinition<'_, u64, &[u8]> = redb::TableDefinition::new("entries");
        write.open_table(entries).unwrap().retain(|_, _| false).unwrap();
        write.commit().unwrap();
        drop(db);
        let store = Store::open(folder.path()).unwrap();
        let view = View::new(&store).unwrap();
        assert_eq!(shown(&view, "/u", None, Bounds::default()).unwrap(), "a 7, b/ 7");
        assert_eq!(shown(&view, "/u", Some("c"), Bounds::default()).unwrap(), "b/c 7");
    }
}
