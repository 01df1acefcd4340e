//! The diagram of the layers in `docs/architecture.md` shows every dependency between crates.

use super::layers::ARROWS;
use crate::{Finding, Repository};
use std::collections::BTreeSet;

const PAGE: &str = "docs/architecture.md";
/// The heading of the section that begins with the diagram.
const HEADING: &str = "## The layers";

type Arrows<'a> = BTreeSet<(&'a str, &'a str)>;

/// Each drawn arrow is a dependency, and each dependency is drawn or follows from drawn ones.
pub fn arrows(repository: &Repository) -> Vec<Finding> {
    let real = ARROWS.iter().flat_map(|(from, all)| all.iter().map(|to| (*from, *to)));
    compare(repository, &real.collect())
}

fn compare(repository: &Repository, real: &Arrows<'_>) -> Vec<Finding> {
    let Some(page) = repository.file(PAGE) else { return Vec::new() };
    let drawn = drawn(page.text().unwrap_or_default());
    let wrong = drawn.difference(real).map(|(from, to)| {
        page.finding(0, format!("`{from}` does not depend on `{to}`: take out the arrow"))
    });
    let reached = closure(drawn.clone());
    let absent = real.difference(&reached).map(|(from, to)| {
        page.finding(0, format!("`{from}` depends on `{to}`: draw the arrow `{to} <- {from}`"))
    });
    wrong.chain(absent).collect()
}

/// The arrows of the indented lines after the heading: in `a, b <- c`, the crate `c` depends on
/// both.
fn drawn(page: &str) -> Arrows<'_> {
    let lines = page.lines().skip_while(|line| *line != HEADING).skip(1);
    let block = lines.skip_while(|line| line.is_empty()).take_while(|line| line.starts_with(' '));
    let mut arrows = Arrows::new();
    for line in block {
        let groups: Vec<Vec<&str>> =
            line.split(" <- ").map(|group| group.split(',').map(str::trim).collect()).collect();
        for pair in groups.windows(2) {
            for from in &pair[1] {
                arrows.extend(pair[0].iter().map(|to| (*from, *to)));
            }
        }
    }
    arrows
}

/// The arrows, and those that follow from them.
fn closure(mut arrows: Arrows<'_>) -> Arrows<'_> {
    loop {
        let before = arrows.len();
        let further: Vec<_> = arrows
            .iter()
            .flat_map(|(from, over)| {
                let next = arrows.iter().filter(move |(other, _)| other == over);
                next.map(|(_, to)| (*from, *to))
            })
            .collect();
        arrows.extend(further);
        if arrows.len() == before {
            return arrows;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIAGRAM: &str = "# A\n\n## The layers\n\n    a <- b, c <- d\n      e <- d\n\ntext <- x\n";

    fn found(real: &[(&str, &str)]) -> Vec<String> {
        let repository = Repository::of(&[(PAGE, DIAGRAM)]);
        let real = real.iter().copied().collect();
        compare(&repository, &real).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn a_diagram_has_all_arrows_and_no_other() {
        let all = [("b", "a"), ("c", "a"), ("d", "b"), ("d", "c"), ("d", "e")];
        assert!(found(&all).is_empty());
        // It follows from the others.
        assert!(found(&[&all[..], &[("d", "a")]].concat()).is_empty());
        assert_eq!(found(&all[..4]), ["`d` does not depend on `e`: take out the arrow"]);
        let absent = found(&[&all[..], &[("e", "a")]].concat());
        assert_eq!(absent, ["`e` depends on `a`: draw the arrow `a <- e`"]);
    }
}
