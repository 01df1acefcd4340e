//! Trees from the network: a page that can be read is written as it was, and has names that stay
//! in their folder; a walk over hostile pages is bounded by the root.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tree::{Kind, Limits, Page, Root, Walk};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(root) = Root::decode(bytes, 4) {
        let mut again = Vec::new();
        root.encode_into(&mut again);
        assert_eq!(Root::decode(&again, 4), Ok(root));
    }
    if let Ok(page) = Page::decode(bytes) {
        read(&page);
        let mut again = Vec::new();
        page.encode_into(&mut again);
        assert_eq!(Page::decode(&again), Ok(page));
    }
    walk(bytes);
});

fn read(page: &Page) {
    let Page::Entries(entries) = page else { return };
    for entry in entries {
        let name = entry.name.as_bytes();
        assert!((1..=255).contains(&name.len()) && name != b"." && name != b"..");
        assert!(!name.contains(&b'/') && !name.contains(&0));
        if let Kind::File(file) = &entry.kind {
            assert!(file.segments() >= 1);
            assert_eq!(file.layout().map_or(file.segments(), |l| l.segments()), file.segments());
        }
    }
    assert!(entries.windows(2).all(|pair| pair[0].name < pair[1].name));
}

/// Every page is the same bytes, or what is left of them behind the last page.
fn walk(bytes: &[u8]) {
    const ENTRIES: u64 = 1000;
    // The root is cut off, so that pages may fit it.
    let (head, mut rest) = bytes.split_at(bytes.len().min(96));
    let Ok(mut root) = Root::decode(head, 4) else { return };
    if let Ok(page) = Page::decode(rest) {
        root.page.totals = page.totals().unwrap_or_default();
    }
    let limits = Limits { entries: ENTRIES, ..Limits::default() };
    let Ok(mut walk) = Walk::new(&root, limits) else { return };
    let (mut found, mut pages) = (0, 0);
    while let Some(request) = walk.next_page() {
        let Ok(page) = walk.accept(request, rest, &mut |_, _| true) else { return };
        found += page.entries.len() as u64;
        pages += 1;
        assert!(found <= ENTRIES && pages <= 2 * ENTRIES + 1);
        rest = rest.get(rest.len() / 2..).unwrap_or_default();
    }
    assert!(walk.is_done());
}
