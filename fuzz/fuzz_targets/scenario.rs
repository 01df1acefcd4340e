//! The files of a scenario: the TOML file itself, and the files that it names. A scenario that is
//! understood can be written with all its defaults and read again. The first byte chooses the
//! reader, and no reader may panic, whatever the rest says.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scenario::schema::FORMATS;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use tempfile::TempDir;
use fuzz::folder_in_memory;

/// The scenario that names the file.
const FILE: &str = "[topology]\nfile = \"it\"\nformat = \"FORMAT\"\nrate = \"1 Mbit/s\"\n\
                    delay = \"1 ms\"\n[scenario]\nduration = \"1 s\"\n";

/// The scenario that names a trace of requests.
const TRACE: &str = "[scenario]\nduration = \"1 s\"\n[[node]]\nname = [\"a\", \"b\"]\n\
                     [[link]]\nbetween = [\"a\", \"b\"]\nrate = \"1 Mbit/s\"\n\
                     [[content]]\nname = \"/x\"\nat = \"b\"\nobjects = \"listed\"\n\
                     size = \"1 kB\"\n[[workload]]\nname = \"/x\"\ntrace = \"it\"\n";

thread_local! {
    static EMPTY: TempDir = folder_in_memory();
    static FOLDER: (TempDir, File) = {
        let folder = folder_in_memory();
        let file = File::create(folder.path().join("it")).expect("a file");
        (folder, file)
    };
}

fuzz_target!(|input: &[u8]| {
    let Some((reader, bytes)) = input.split_first() else { return };
    match usize::from(*reader) % (FORMATS.len() + 2) {
        0 => {
            let Ok(text) = str::from_utf8(bytes) else { return };
            // No file beside it: it names none, or one that is not there.
            EMPTY.with(|folder| read(text, folder.path()));
        }
        1 => beside(TRACE, bytes),
        n => beside(&FILE.replace("FORMAT", FORMATS[n - 2]), bytes),
    }
});

fn beside(scenario: &str, bytes: &[u8]) {
    FOLDER.with(|(folder, file)| {
        // The same file each time: making and removing one costs more than reading a scenario.
        file.set_len(0).and_then(|()| file.write_all_at(bytes, 0)).expect("it can be written");
        read(scenario, folder.path());
    });
}

fn read(text: &str, folder: &Path) {
    let file = folder.join("s.toml").display().to_string();
    match scenario::parse(text, &file, &[]) {
        Ok(study) => {
            let filled = &study.runs[0].filled;
            let again = scenario::parse(filled, &file, &[]);
            let again = again.unwrap_or_else(|e| panic!("{filled}\nis not read again: {e}"));
            assert_eq!(again.runs[0].filled, *filled, "it is filled up already");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
