//! Trees as a publisher makes them and a consumer reads them.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use packet::{Data, Name};
use proptest::prelude::*;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use tree::{Contents, Entry, File, FileName, Kind, Limits, Page, PageRef, Pages, Root, Walk};

fn base() -> Name {
    "/alice/photos".parse().unwrap()
}

fn file(name: &str, size: u64) -> Entry {
    let modified = 1_700_000_000_000_000_000;
    let count = size.div_ceil(8000).max(1) as usize;
    let contents = match count {
        ..=8 => Contents::Segments(vec![[count as u8; 32]; count].into()),
        _ => Contents::Manifest { fanout: 250, digest: [9; 32] },
    };
    let file = File { size, version: File::version_of(modified), segment_size: 8000, contents };
    let name = FileName::new(name.as_bytes()).unwrap();
    Entry { name, mode: 0o644, modified, kind: Kind::File(file) }
}

fn directory(name: &str, page: PageRef) -> Entry {
    let name = FileName::new(name.as_bytes()).unwrap();
    Entry { name, mode: 0o755, modified: 5, kind: Kind::Directory(page) }
}

fn root(page: PageRef) -> Root {
    Root { base: 2, mode: 0o755, modified: 7, page }
}

/// All paths with their entries, read page by page; every packet is verified as a consumer does.
fn read(pages: &Pages, page: PageRef) -> BTreeMap<Vec<u8>, Entry> {
    let mut walk = Walk::new(&root(page), Limits::default()).unwrap();
    let mut found = BTreeMap::new();
    while let Some(request) = walk.next_page() {
        let packet = pages.packet(&request.page.key).unwrap();
        assert!(packet.len() <= 8500, "{}", packet.len());
        let data = Data::decode(packet).unwrap();
        assert_eq!(data.implicit_digest(), request.page.digest);
        assert!(data.name().starts_with(request.page.object(pages.base()).as_ref()));
        let all = walk.accept(request, data.content(), &mut |_, _| true).unwrap();
        for entry in all.entries {
            let before = found.insert(all.directory.join(&entry.name), entry);
            assert!(before.is_none());
        }
    }
    assert!(walk.is_done());
    found
}

#[test]
fn a_tree_is_read_as_it_was_made() {
    let mut pages = Pages::new(base()).unwrap();
    let sub = pages.directory(vec![file("x", 0), file("big", 1 << 40)]).unwrap();
    let empty = pages.directory(Vec::new()).unwrap();
    let link = Entry { kind: Kind::Link(b"sub/x"[..].into()), ..file("link", 0) };
    let odd = Entry { modified: 0, mode: 0o7777, ..file("odd", 8001) };
    let entries = vec![directory("sub", sub), link.clone(), directory("empty", empty), odd.clone()];
    let top = pages.directory(entries).unwrap();
    assert_eq!((top.totals.entries, top.totals.bytes), (6, (1 << 40) + 8001));
    let found = read(&pages, top);
    let paths: Vec<_> = found.keys().map(|path| String::from_utf8_lossy(path)).collect();
    assert_eq!(paths, ["empty", "link", "odd", "sub", "sub/big", "sub/x"]);
    assert_eq!((&found[&b"link"[..]], &found[&b"odd"[..]]), (&link, &odd));
    assert_eq!(found[&b"sub/big"[..]], file("big", 1 << 40));
}

#[test]
fn one_changed_file_among_many_changes_few_pages() {
    let names: Vec<String> = (0..20_000).map(|n| format!("IMG_{n:06}.jpg")).collect();
    let entries = || names.iter().map(|name| file(name, 5000)).collect::<Vec<_>>();
    let mut before = Pages::new(base()).unwrap();
    let top = before.directory(entries()).unwrap();
    assert_eq!(read(&before, top).len(), 20_000);
    assert!(before.len() > 200, "{}", before.len());
    let changes: [fn(&mut Vec<Entry>); 3] = [
        |all| all[7777] = file("IMG_007777.jpg", 5001),
        |all| drop(all.remove(12_345)),
        |all| all.push(file("IMG_007777a.jpg", 1)),
    ];
    for change in changes {
        let mut changed = entries();
        change(&mut changed);
        let mut after = Pages::new(base()).unwrap();
        let top = after.directory(changed).unwrap();
        read(&after, top);
        let new = after.iter().filter(|(key, _)| before.packet(key).is_none()).count();
        assert!((1..=8).contains(&new), "{new} new pages of {}", after.len());
    }
}

#[test]
fn entries_of_the_longest_names_fit() {
    let long = |n: usize| format!("{n:04}{}", "x".repeat(251));
    let link = |n| Entry { kind: Kind::Link(vec![b'a'; 4095].into()), ..file(&long(n), 0) };
    let mut pages = Pages::new(base()).unwrap();
    let top = pages.directory((0..50).map(link).collect()).unwrap();
    assert_eq!(read(&pages, top).len(), 50);
    let name: Name = format!("/{}", "n".repeat(5000)).parse().unwrap();
    assert!(Pages::new(name).is_err());
}

#[test]
fn duplicate_names_make_no_tree() {
    let mut pages = Pages::new(base()).unwrap();
    assert!(pages.directory(vec![file("a", 1), file("b", 1), file("a", 2)]).is_err());
}

/// The root in `docs/reference/wire.md`, encoded by hand.
#[test]
fn the_example_of_the_manual() {
    let hex = |text: &str| -> Vec<u8> {
        let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16);
        digits.chunks(2).map(|pair| byte(pair).unwrap()).collect()
    };
    let content = hex("fdf657 3d fdf65d 02 6869  fdf65f 02 01a4  fdf661 04 3b9aca00 \
         fdf663 01 02  fdf60b 20 \
         2222222222222222222222222222222222222222222222222222222222222222");
    let mut pages = Pages::new("/a".parse().unwrap()).unwrap();
    let contents = Contents::Segments(vec![[0x22; 32]].into());
    let of = File { size: 2, version: 1000, segment_size: 8000, contents };
    let entry = Entry {
        name: FileName::new(b"hi").unwrap(),
        mode: 0o644,
        modified: 1_000_000_000,
        kind: Kind::File(of),
    };
    let page = pages.directory(vec![entry]).unwrap();
    assert_eq!(page.key[..], Sha256::digest(&content)[..16]);

    let packet = pages.packet(&page.key).unwrap();
    let mut parts = hex("071e 080161 200470616765 0810");
    parts.extend(page.key);
    parts.extend(hex("320100 140b 19040036ee80 1a03320100"));
    parts.extend(hex("1541"));
    parts.extend(&content);
    parts.extend(hex("16031b0100"));
    let signature = Sha256::digest(&parts);
    parts.extend(hex("1720"));
    parts.extend(signature);
    let mut whole = vec![6, parts.len() as u8];
    whole.extend(&parts);
    assert_eq!(packet[..], whole[..]);

    let mut written = Vec::new();
    root(page).encode_into(&mut written);
    let mut expected = hex("fdf651 01 01  fdf653 01 02  fdf65f 02 01ed  fdf661 01 07  fdf66b 30");
    expected.extend(page.key);
    expected.extend(page.digest);
    expected.extend(hex("fdf66d 01 01  fdf66f 01 02"));
    assert_eq!(written, expected);
    assert_eq!(Root::decode(&written, 2), Ok(root(page)));
    assert!(Root::decode(&written, 1).is_err(), "the tree's name is longer than the object's");
}

fn names() -> impl Strategy<Value = Vec<String>> {
    prop::collection::btree_set("[a-c]{1,3}", 0..6).prop_map(|all| all.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn pages_are_written_as_they_are_read(names in names(), size in 0u64..100_000) {
        let mut pages = Pages::new(base()).unwrap();
        let entries: Vec<Entry> = names.iter().map(|name| file(name, size)).collect();
        let page = pages.directory(entries.clone()).unwrap();
        let content = Data::decode(pages.packet(&page.key).unwrap()).unwrap().content().to_vec();
        let read = Page::decode(&content).unwrap();
        prop_assert_eq!(&read, &Page::Entries(entries));
        let mut again = Vec::new();
        read.encode_into(&mut again);
        prop_assert_eq!(&again[..], &content[..]);
    }

    #[test]
    fn no_page_makes_the_reader_panic(at in 0usize..200, byte: u8, cut in 0usize..200) {
        let mut pages = Pages::new(base()).unwrap();
        let page = pages.directory(vec![file("a", 1), file("b", 20_000)]).unwrap();
        let packet = pages.packet(&page.key).unwrap();
        let mut content = Data::decode(packet).unwrap().content().to_vec();
        let len = content.len();
        content[at % len] = byte;
        content.truncate(len - cut % len);
        if let Ok(read) = Page::decode(&content) {
            let mut again = Vec::new();
            read.encode_into(&mut again);
            prop_assert_eq!(Page::decode(&again).unwrap(), read);
        }
    }
}
