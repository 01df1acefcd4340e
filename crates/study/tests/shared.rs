//! Runs that several processes share by their records.
#![expect(clippy::unwrap_used, reason = "a test")]

use scenario::Watch;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use study::{Page, Quickness, Records, Study, complete, identity, load, perform, perform_with};

struct Silent;

impl Watch for Silent {
    fn seconds(&self) -> f64 {
        0.0
    }
}

/// Records, and the runs that were done.
#[derive(Default)]
struct Memory(Mutex<(BTreeMap<usize, String>, Vec<usize>)>);

impl Records for Memory {
    fn find(&self, run: usize) -> Option<String> {
        self.0.lock().unwrap().0.get(&run).cloned()
    }

    fn keep(&self, run: usize, record: &str) {
        let mut memory = self.0.lock().unwrap();
        memory.1.push(run);
        memory.0.insert(run, record.to_owned());
    }
}

fn committed() -> Study {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bottleneck");
    load(&folder, Quickness::Whole).unwrap()
}

#[test]
fn pages_from_records_are_those_of_the_runs() {
    let study = committed();
    let alone = Page::new(&study, &perform(&study, 2, &Silent), None).html();
    let (memory, count) = (Memory::default(), study.runs().count());
    // Two processes do every third run, and another one the rest.
    for part in 0..2 {
        let numbers: Vec<usize> = (part..count).step_by(3).collect();
        let errors = complete(&study, &numbers, 2, &Silent, &memory);
        assert_eq!(errors, vec![None; numbers.len()]);
    }
    let before = memory.0.lock().unwrap().1.len();
    assert!(before > 0 && before < count);
    let shared = Page::new(&study, &perform_with(&study, 2, &Silent, &memory), None).html();
    assert!(shared == alone, "numbers and pictures are equal to the last digit");
    let done = memory.0.lock().unwrap().1.clone();
    assert_eq!(done.iter().collect::<BTreeSet<_>>().len(), count, "every run was done");
    assert_eq!(done.len(), count, "and none twice");
    // From records alone.
    let again = Page::new(&study, &perform_with(&study, 1, &Silent, &memory), None).html();
    assert!(again.len() > 1000);
    assert_eq!(memory.0.lock().unwrap().1.len(), count);
}

#[test]
fn equal_runs_alone_have_equal_identities() {
    let study = committed();
    let all = |study: &Study| -> Vec<String> {
        let count = study.runs().count();
        let text = |number| {
            let (identity, filled) = identity(study, number).unwrap();
            format!("{identity}\n{filled}")
        };
        (0..count).map(text).collect()
    };
    let first = all(&study);
    assert_eq!(first, all(&committed()), "they do not depend on the process");
    assert_eq!(first.iter().collect::<BTreeSet<_>>().len(), first.len());
    let mut other = committed();
    other.experiments[0].measures.reverse();
    let changed = all(&other);
    assert_ne!(first[0], changed[0], "values are kept in the order of measures");
    assert_eq!(first.last(), changed.last());
    assert!(identity(&study, first.len()).is_none());
}
