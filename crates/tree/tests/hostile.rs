//! Trees that are made to harm their readers.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use packet::tlv;
use tree::{
    Contents, Entry, File, FileName, Kind, Limits, Page, PageRef, Part, Root, Totals, TreeError,
    Walk,
};

const NAME: u64 = 0xf65d;
const FILE: u64 = 0xf657;
const DIRECTORY: u64 = 0xf655;
const LINK: u64 = 0xf659;
const PART: u64 = 0xf65b;

fn name(text: &str) -> FileName {
    FileName::new(text.as_bytes()).unwrap()
}

fn file(text: &str) -> Entry {
    let contents = Contents::Segments(vec![[1; 32]].into());
    let file = File { size: 10, version: 0, segment_size: 8000, contents };
    Entry { name: name(text), mode: 0o644, modified: 0, kind: Kind::File(file) }
}

fn page(entries: u64, bytes: u64) -> PageRef {
    PageRef { key: [0; 16], digest: [0; 32], totals: Totals { entries, bytes } }
}

fn root(entries: u64, bytes: u64) -> Root {
    Root { base: 1, mode: 0o755, modified: 0, page: page(entries, bytes) }
}

fn content(page: &Page) -> Vec<u8> {
    let mut out = Vec::new();
    page.encode_into(&mut out);
    out
}

/// A page with one entry of this type and name, whatever they are.
fn with_name(typ: u64, name: &[u8]) -> Vec<u8> {
    let whole = content(&Page::Entries(vec![file("x")]));
    // Behind the entry's type and length, the name has type, length and one byte.
    let behind = &whole[4 + 5..];
    let mut value = Vec::new();
    tlv::put_tlv(&mut value, NAME, name);
    value.extend_from_slice(behind);
    let mut out = Vec::new();
    tlv::put_tlv(&mut out, typ, &value);
    out
}

fn first_page(root: &Root, content: &[u8]) -> Result<usize, TreeError> {
    let mut walk = Walk::new(root, Limits::default())?;
    let request = walk.next_page().unwrap();
    walk.accept(request, content, &mut |_, _| true).map(|found| found.entries.len())
}

#[test]
fn names_that_leave_the_folder_are_rejected() {
    assert!(Page::decode(&with_name(FILE, b"x")).is_ok());
    let huge = vec![b'a'; 7900];
    let bad: [&[u8]; 10] = [
        b"..",
        b".",
        b"",
        b"/",
        b"/etc/passwd",
        b"../../etc/passwd",
        b"a/b",
        b"a\0b",
        b"a/",
        &huge,
    ];
    for name in bad {
        for typ in [FILE, DIRECTORY, LINK, PART] {
            let found = Page::decode(&with_name(typ, name));
            assert!(matches!(found, Err(TreeError::Name { .. })), "{typ:x} {found:?}");
        }
    }
}

#[test]
fn repeated_and_unsorted_names_are_rejected() {
    for names in [["a", "a"], ["b", "a"]] {
        let page = Page::Entries(names.map(file).to_vec());
        assert!(matches!(Page::decode(&content(&page)), Err(TreeError::Order(_))), "{names:?}");
    }
    // Names that differ in case only are two files here; the file system decides.
    assert!(Page::decode(&content(&Page::Entries(["A", "a"].map(file).to_vec()))).is_ok());
}

#[test]
fn names_do_not_repeat_across_the_pages_of_a_directory() {
    let part =
        |first: &str, entries: u64| Part { first: name(first), page: page(entries, 10 * entries) };
    let parts = content(&Page::Parts(vec![part("a", 2), part("m", 1)]));
    let page = |names: &[&str]| content(&Page::Entries(names.iter().map(|n| file(n)).collect()));
    for (first, second, ok) in [
        (&["a", "b"], &["m"], true),
        // The first page runs into the second one.
        (&["a", "m"], &["m"], false),
        (&["a", "z"], &["m"], false),
        // A page begins elsewhere than its parent says.
        (&["b", "c"], &["m"], false),
        (&["a", "b"], &["n"], false),
    ] {
        let mut walk = Walk::new(&root(3, 30), Limits::default()).unwrap();
        let mut take = |bytes: &[u8]| {
            let request = walk.next_page().unwrap();
            walk.accept(request, bytes, &mut |_, _| true)
        };
        assert_eq!(take(&parts).unwrap().parts, 2);
        let read = [take(&page(first)), take(&page(second))];
        assert_eq!(read.iter().all(Result::is_ok), ok, "{first:?} {second:?}");
    }
}

/// Each page names the next one many times: a few kilobytes that describe 100^20 entries.
#[test]
fn pages_that_name_each_other_cannot_describe_an_endless_tree() {
    let many = |totals: Totals| {
        let dir = |n: u32| Entry {
            name: name(&format!("{n:03}")),
            kind: Kind::Directory(PageRef { totals, ..page(0, 0) }),
            ..file("x")
        };
        content(&Page::Entries((0..100).map(dir).collect()))
    };
    // The truth is more than the limit.
    let error = Walk::new(&root(u64::MAX / 2, 0), Limits::default()).unwrap_err();
    assert!(matches!(error, TreeError::TooMany { .. }));
    // Less than the truth contradicts the page.
    let below = Totals { entries: 1_000_000, bytes: 0 };
    assert!(matches!(first_page(&root(1_000_000, 0), &many(below)), Err(TreeError::Totals { .. })));
    // Sums beyond 64 bits are no sums.
    let below = Totals { entries: u64::MAX / 50, bytes: u64::MAX };
    assert!(matches!(first_page(&root(100, 0), &many(below)), Err(TreeError::Totals { .. })));
}

#[test]
fn a_chain_of_pages_in_itself_ends() {
    // A page of one part would not be smaller than its part, and could go on forever.
    let part = Part { first: name("a"), page: page(5, 50) };
    assert!(Page::decode(&content(&Page::Parts(vec![part.clone()]))).is_err());
    let empty = Part { first: name("b"), page: page(0, 0) };
    assert!(Page::decode(&content(&Page::Parts(vec![part, empty]))).is_err());
    // A directory in a directory and so on: each level takes one entry of the total.
    let mut walk = Walk::new(&root(50, 0), Limits::default()).unwrap();
    let mut pages = 0;
    while let Some(request) = walk.next_page() {
        let left = request.page.totals.entries;
        let kind = Kind::Directory(page(left.saturating_sub(1), 0));
        let dir = Entry { kind, ..file("d") };
        let bytes = match left {
            0 => Vec::new(),
            _ => content(&Page::Entries(vec![dir])),
        };
        walk.accept(request, &bytes, &mut |_, _| true).unwrap();
        pages += 1;
    }
    assert_eq!(pages, 51);
}

/// Folders in one another without end: the pages that are accepted, and the error.
fn nested(limits: Limits) -> (usize, TreeError) {
    let mut walk = Walk::new(&root(100, 0), limits).unwrap();
    let mut pages = 0;
    loop {
        let request = walk.next_page().unwrap();
        let left = request.page.totals.entries;
        let dir = Entry { kind: Kind::Directory(page(left - 1, 0)), ..file("d") };
        let bytes = content(&Page::Entries(vec![dir]));
        match walk.accept(request, &bytes, &mut |_, _| true) {
            Ok(_) => pages += 1,
            Err(error) => return (pages, error),
        }
    }
}

#[test]
fn paths_are_no_deeper_than_a_file_system_allows() {
    let (pages, error) = nested(Limits { depth: 3, ..Limits::default() });
    assert_eq!((pages, error), (3, TreeError::TooDeep("d/d/d/d".to_owned())));
}

#[test]
fn all_paths_together_have_a_limit() {
    // `d`, `d/d` and `d/d/d` have nine bytes.
    let (pages, error) = nested(Limits { paths: 9, ..Limits::default() });
    assert_eq!((pages, error), (3, TreeError::Paths { limit: 9 }));
}

#[test]
fn files_whose_digests_do_not_fit_their_size_are_rejected() {
    let with = |size: u64, digests: usize| {
        let contents = Contents::Segments(vec![[1; 32]; digests].into());
        let file_of = File { size, version: 0, segment_size: 8000, contents };
        content(&Page::Entries(vec![Entry { kind: Kind::File(file_of), ..file("x") }]))
    };
    assert!(Page::decode(&with(0, 1)).is_ok());
    assert!(Page::decode(&with(8001, 2)).is_ok());
    for (size, digests) in [(0, 0), (0, 2), (8000, 2), (8001, 1), (u64::MAX, 8), (72_000, 9)] {
        let found = Page::decode(&with(size, digests));
        assert!(matches!(found, Err(TreeError::Digests(_))), "{size} {digests} {found:?}");
    }
    // More segments than a manifest can have, and a fan-out that none has.
    for (size, fanout) in [(u64::MAX, 250), (80_000, 1), (80_000, 300)] {
        let contents = Contents::Manifest { fanout, digest: [1; 32] };
        let file_of = File { size, version: 0, segment_size: 1, contents };
        let page = Page::Entries(vec![Entry { kind: Kind::File(file_of), ..file("x") }]);
        assert!(Page::decode(&content(&page)).is_err(), "{size} {fanout}");
    }
}
