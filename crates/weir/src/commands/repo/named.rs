//! Named things in a store.

use crate::exit::{Failure, Kind};
use ::repo::{Entry, Store, StoreError, Top, View};
use packet::{Component, Name, NameRef};

/// A named thing in a store.
pub struct Named {
    pub number: u64,
    pub top: Top,
    pub entry: Entry,
}

impl Named {
    /// The name of a tree or object, with its version.
    pub fn name(&self) -> String {
        self.entry.versioned().to_string()
    }

    /// The name without keyword and version, with a slash at the end of a tree's.
    pub fn place(&self) -> String {
        match is_tree(&self.entry) {
            true => format!("{}/", self.entry.name.as_ref().parent()),
            false => self.entry.name.to_string(),
        }
    }

    /// True if the user means this entry: with a version, or with all of that name.
    pub fn is_meant(&self, name: &Name) -> bool {
        let entry = self.entry.name.as_ref();
        let own = if is_tree(&self.entry) { entry.parent() } else { entry };
        let version = Component::version(self.entry.version);
        own == name.as_ref()
            || entry == name.as_ref()
            || self.entry.versioned() == *name
            || own.to_name().with(&version) == *name
    }
}

pub fn is_tree(entry: &Entry) -> bool {
    entry.name.as_ref().last().is_some_and(|last| last.is_keyword(::tree::KEYWORD))
}

/// The number of rows of the index that are read at a time.
pub const ROWS: usize = 1000;

/// The numbers of records that cannot be read.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Broken(Vec<u64>);

impl Broken {
    /// The name of each.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|number| format!("entry {number} of the index"))
    }

    /// One line for each.
    pub fn lines(&self) -> Vec<String> {
        self.names().map(|name| format!("damaged: {name}")).collect()
    }

    /// Reports them while the command continues with the others.
    pub fn report(&self) {
        self.lines().iter().for_each(|line| crate::output::note(line));
    }

    /// The failure of a command that has handled the other names.
    pub fn failure(&self, store: &Store) -> Result<(), Failure> {
        if self.0.is_empty() {
            return Ok(());
        }
        let (count, folder) = (self.0.len(), store.title());
        let message = format!("{count} of the entries in {folder} cannot be read");
        Err(Failure::new(Kind::NotVerified, message)
            .then("store their objects again, in another store"))
    }
}

/// Calls `take` with each named thing in the store. Returns those whose records are damaged.
pub fn each(view: &View, take: &mut dyn FnMut(Named)) -> Result<Broken, Failure> {
    let (mut after, mut broken) = (None, Broken::default());
    loop {
        let rows = view.tops(after, ROWS)?;
        let Some((last, _)) = rows.last() else { return Ok(broken) };
        after = Some(*last);
        for (number, top) in rows {
            match (top, view.entry(number)) {
                (Some(top), Ok(Some(entry))) => take(Named { number, top, entry }),
                (_, Err(error)) if !matches!(error, StoreError::Damaged { .. }) => {
                    return Err(error.into());
                }
                _ => broken.0.push(number),
            }
        }
    }
}

/// The named things at or below a name, and all whose records are damaged.
pub fn below(view: &View, name: Option<NameRef<'_>>) -> Result<(Vec<Named>, Broken), Failure> {
    let mut found = Vec::new();
    let broken = each(view, &mut |named| {
        if name.is_none_or(|name| named.entry.versioned().as_ref().starts_with(name)) {
            found.push(named);
        }
    })?;
    found.sort_by_cached_key(|named| (named.place(), named.entry.version));
    Ok((found, broken))
}

/// The named things that the user means. Others whose records are damaged are reported.
pub fn meant(view: &View, name: &Name, store: &Store) -> Result<Vec<Named>, Failure> {
    let mut found = Vec::new();
    let broken = each(view, &mut |named| {
        if named.is_meant(name) {
            found.push(named);
        }
    })?;
    broken.report();
    found.sort_by_key(|named| named.entry.version);
    if found.is_empty() {
        return Err(unknown(name, store));
    }
    Ok(found)
}

pub fn unknown(name: &Name, store: &Store) -> Failure {
    let message = format!("{} has no {name}", store.title());
    Failure::new(Kind::NotFound, message).then("`weir repo ls` lists what it has")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::repo::{Body, Insertion};
    use packet::DataBuf;
    use security::Signer;

    fn insert(store: &Store, name: &str) {
        let name: Name = name.parse().unwrap();
        let mut wire = Vec::new();
        Signer::Digest.encode(&DataBuf::new(name.clone(), vec![1]), &mut wire);
        let entry = Entry { name, version: 0, body: Body::Packet(wire.into()) };
        let mut staging = store.stage().unwrap();
        let mut insertion = Insertion::new(store, &mut staging).unwrap();
        assert!(insertion.top(&entry, &Top::default()).unwrap());
        insertion.commit().unwrap();
    }

    #[test]
    fn a_damaged_record_is_reported_and_the_others_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path()).unwrap();
        ["/a/one", "/a/two", "/b"].iter().for_each(|name| insert(&store, name));
        let numbers = View::new(&store).unwrap().tops(None, 9).unwrap();
        drop(store);
        let db = redb::Database::open(folder.path().join("index")).unwrap();
        for (table, at) in [("tops", 0), ("entries", 2)] {
            let table: redb::TableDefinition<'_, u64, &[u8]> = redb::TableDefinition::new(table);
            let write = db.begin_write().unwrap();
            write.open_table(table).unwrap().insert(numbers[at].0, &b"?"[..]).unwrap();
            write.commit().unwrap();
        }
        drop(db);
        let store = Store::open(folder.path()).unwrap();
        let view = View::new(&store).unwrap();
        let (found, broken) = below(&view, None).unwrap();
        assert_eq!(broken, Broken(vec![numbers[0].0, numbers[2].0]));
        assert_eq!(found.iter().map(Named::name).collect::<Vec<_>>(), ["/a/two"]);
        assert_eq!(meant(&view, &"/a/two".parse().unwrap(), &store).unwrap().len(), 1);
        let failure = broken.failure(&store).unwrap_err();
        assert_eq!(failure.kind(), Kind::NotVerified);
        assert!(Broken::default().failure(&store).is_ok());
    }
}
