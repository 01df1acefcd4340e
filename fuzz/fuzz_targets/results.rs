//! Folders with results as `weir report` and `weir compare` read them: the summary, the time
//! series, the places of the nodes, and the texts beside them. The first byte chooses the file
//! that is replaced, and whether the folder is shown or compared with one that is whole. There is
//! a page or an error with a text, and a page holds no script but its own.
#![no_main]

use libfuzzer_sys::fuzz_target;
use report::ReportError;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use tempfile::TempDir;
use fuzz::folder_in_memory;

/// The files, and what is in them unless they are the one that is replaced.
const FILES: [(&str, &[u8]); 4] = [
    ("summary.json", include_bytes!("../corpus/results/run")),
    ("series.parquet", include_bytes!("../corpus/results/series")),
    ("layout.json", include_bytes!("../corpus/results/layout")),
    ("scenario.toml", include_bytes!("../corpus/results/texts")),
];

thread_local! {
    static WHOLE: (TempDir, String) = {
        let folder = folder_in_memory();
        for (name, seed) in FILES {
            fs::write(folder.path().join(name), &seed[1..]).expect("a file");
        }
        let page = report::page(&[folder.path().to_owned()]).expect("the seeds can be read");
        (folder, page)
    };
    static HOSTILE: (TempDir, Vec<File>) = {
        let folder = folder_in_memory();
        let files = FILES.map(|(name, seed)| {
            let file = File::create(folder.path().join(name)).expect("a file");
            file.write_all_at(&seed[1..], 0).expect("it can be written");
            file
        });
        (folder, files.into())
    };
}

fuzz_target!(|input: &[u8]| {
    let Some((choice, bytes)) = input.split_first() else { return };
    let (choice, is_compared) = (usize::from(choice % 4), choice / 4 % 2 == 1);
    HOSTILE.with(|(folder, files)| {
        put(&files[choice], bytes);
        WHOLE.with(|(whole, page)| {
            let folders = [whole.path(), folder.path()].map(PathBuf::from);
            if is_compared {
                let compared = report::compare(&folders, 0.05).map(|(comparison, page)| {
                    assert!(!comparison.sentence().is_empty());
                    page
                });
                look(page, compared);
            } else {
                look(page, report::page(&folders[1..]));
            }
        });
        put(&files[choice], &FILES[choice].1[1..]);
    });
});

/// The same file each time: making and removing one costs more than reading it.
fn put(file: &File, bytes: &[u8]) {
    file.set_len(0).and_then(|()| file.write_all_at(bytes, 0)).expect("it can be written");
}

fn look(whole: &str, page: Result<String, ReportError>) {
    let scripts = |page: &str| {
        let page = page.to_ascii_lowercase();
        (page.matches("<script").count(), page.matches("</script").count())
    };
    match page {
        Ok(page) => assert_eq!(scripts(&page), scripts(whole), "a script came with the results"),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
