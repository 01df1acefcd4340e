//! The journal beside a partial file: whatever is in it, only runs count whose bytes are in the
//! file, none counts twice, and reading it again says the same.
//!
//! The input is the records, 40 bytes each; an odd last byte has the record's hash made right.
#![no_main]

#[path = "../../crates/weir/src/file/place.rs"]
#[allow(dead_code, reason = "a transfer uses more of it")]
mod place;

#[path = "../../crates/weir/src/file/journal.rs"]
#[allow(dead_code, reason = "a transfer uses more of it")]
mod journal;

// The journal takes it from the module above.
use client::parts::own;
use journal::Journal;
use libfuzzer_sys::fuzz_target;
use packet::Name;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use transport::fetch::ObjectInfo;
use xxhash_rust::xxh3::xxh3_64;

const RECORD: usize = 40;
const PART: [u8; 64] = {
    let mut bytes = [0; 64];
    let mut at = 0;
    while at < 64 {
        bytes[at] = (at as u8).wrapping_mul(37);
        at += 1;
    }
    bytes
};

struct Bench {
    _folder: tempfile::TempDir,
    part: File,
    path: PathBuf,
    info: ObjectInfo,
}

impl Bench {
    fn new() -> Bench {
        let folder = fuzz::folder_in_memory();
        let file = |name| {
            File::options()
                .read(true)
                .write(true)
                .create_new(true)
                .open(folder.path().join(name))
                .expect("a file")
        };
        let name: Name = "/a/v=1".parse().expect("a name");
        Bench {
            part: file("part"),
            path: folder.path().join("journal"),
            info: ObjectInfo {
                name,
                segments: Some(16),
                segment_size: Some(4),
                size: Some(64),
                root_digest: None,
            },
            _folder: folder,
        }
    }

    fn open(&self) -> (Journal, transport::fetch::Resume) {
        Journal::open(self.path.clone(), &self.info, &self.part).expect("it can be read")
    }

    fn read(&self) -> transport::fetch::Resume {
        self.open().1
    }
}

/// Gives a record the hash of the bytes that it speaks of.
fn make_right(record: &mut [u8]) -> Option<()> {
    let word = |at: usize| Some(u64::from_le_bytes(record.get(at..at + 8)?.try_into().ok()?));
    let (from, len) = (usize::try_from(word(16)?).ok()?, usize::try_from(word(24)?).ok()?);
    let hash = xxh3_64(PART.get(from..from.checked_add(len)?)?);
    record.get_mut(32..RECORD)?.copy_from_slice(&hash.to_le_bytes());
    Some(())
}

thread_local! {
    static BENCH: Bench = Bench::new();
}

fuzz_target!(|input: &[u8]| {
    let mut records = input.to_vec();
    for record in records.chunks_mut(RECORD) {
        if record.get(RECORD - 1).is_some_and(|last| last & 1 == 1) {
            make_right(record);
        }
    }
    BENCH.with(|bench| {
        std::fs::remove_file(&bench.path).ok();
        let (mut reopened, resume) = bench.open();
        assert!(resume.segments.is_empty());
        // Reset, it is a header alone; the partial file is emptied.
        reopened.start(&bench.part).expect("it can be written");
        bench.part.write_all_at(&PART, 0).expect("it can be written");
        let mut file = File::options().append(true).open(&bench.path).expect("a journal");
        file.write_all(&records).expect("it can be written");
        let resume = bench.read();
        let runs = records.chunks(RECORD).count() as u64;
        assert!(resume.bytes <= runs * PART.len() as u64);
        assert!(resume.segments.len() as u64 <= runs);
        assert_eq!(bench.read(), resume, "read again");
    });
});
