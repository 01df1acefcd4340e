//! Switches one mutant on. Added to the crates of a copy of the workspace by `scripts/mutants`.
//!
//! `WEIR_MUTANT=17` switches mutant 17 on. `WEIR_MUTANT_SITES=FILE` appends, for each thread, every
//! site that it reaches: the name of the thread, which is the name of the test, and the site.

use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::OnceLock;

const NONE: u32 = 0;
const RECORDING: u32 = u32::MAX;

static ACTIVE: OnceLock<u32> = OnceLock::new();
static RECORD: OnceLock<File> = OnceLock::new();

/// Sites whose first visit is known; others are recorded at each visit.
const SITES: usize = 1 << 14;

thread_local! {
    static SEEN: [Cell<u64>; SITES / 64] = const { [const { Cell::new(0) }; SITES / 64] };
}

fn read() -> u32 {
    if let Some(path) = std::env::var_os("WEIR_MUTANT_SITES") {
        let file = OpenOptions::new().append(true).create(true).open(path);
        let _ = RECORD.set(file.expect("the record of sites"));
        return RECORDING;
    }
    std::env::var("WEIR_MUTANT").ok().and_then(|number| number.parse().ok()).unwrap_or(NONE)
}

/// The number of the active mutant among `count` from `first` on, from 1; 0 if none is active.
#[inline]
pub fn which(first: u32, count: u32) -> u32 {
    let active = *ACTIVE.get_or_init(read);
    let at = active.wrapping_sub(first);
    if at < count {
        return at + 1;
    }
    if active == RECORDING {
        record(first);
    }
    0
}

/// The iterator of a function or that of its mutant.
pub enum Either<A, B> {
    Left(A),
    Right(B),
}

impl<T, A: Iterator<Item = T>, B: Iterator<Item = T>> Iterator for Either<A, B> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        match self {
            Either::Left(iterator) => iterator.next(),
            Either::Right(iterator) => iterator.next(),
        }
    }
}

/// Allocates nothing: some tests count what is allocated.
#[cold]
fn record(site: u32) {
    let is_new = SEEN.with(|seen| {
        let Some(word) = seen.get(site as usize / 64) else { return true };
        let before = word.get();
        word.set(before | 1 << (site % 64));
        word.get() != before
    });
    if let (true, Some(mut file)) = (is_new, RECORD.get()) {
        let thread = std::thread::current();
        let (mut line, name) = ([0; 512], thread.name().unwrap_or("?"));
        let mut rest = &mut line[..];
        let _ = writeln!(rest, "{name}\t{site}");
        let left = rest.len();
        let _ = file.write_all(&line[..512 - left]);
    }
}
