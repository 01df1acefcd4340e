//! Every study that this repository offers can be read.

use std::path::Path;
use study::{ExperimentKind, Quickness, find, load};

#[test]
fn they_have_no_mistakes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let folders = find(&root).unwrap_or_else(|error| panic!("{error}"));
    for folder in folders {
        for quickness in [Quickness::Quick, Quickness::Whole] {
            let study = load(&folder, quickness).unwrap_or_else(|error| panic!("{error}"));
            let of = |kind| study.experiments.iter().filter(|one| one.kind == kind).count();
            let name = &study.name;
            assert!(of(ExperimentKind::Paper) > 0, "{name} has no experiment of its paper");
            assert!(of(ExperimentKind::Beyond) > 0, "{name} goes nowhere beyond its paper");
        }
    }
}

#[test]
fn experiments_of_papers_have_ten_seeds_and_a_bound() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    for folder in find(&root).unwrap_or_else(|error| panic!("{error}")) {
        let study = load(&folder, Quickness::Whole).unwrap_or_else(|error| panic!("{error}"));
        let papers = study.experiments.iter().filter(|one| one.kind == ExperimentKind::Paper);
        for one in papers.clone() {
            assert!(one.seeds >= 10, "{} {} has {} seeds", study.name, one.name, one.seeds);
        }
        let bounds = papers.flat_map(|one| &one.claims).filter(|c| c.id.ends_with("bound"));
        assert!(bounds.count() > 0, "{} holds nothing against a link's rate", study.name);
    }
}
