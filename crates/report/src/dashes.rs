//! Line styles distinguish lines without colours. Each belongs to a mark of the same number.

/// Line styles, as lengths of dashes and gaps; the first is solid.
pub const DASHES: [&[f64]; 8] = [
    &[],
    &[8.0, 4.0],
    &[2.0, 3.0],
    &[10.0, 3.0, 2.0, 3.0],
    &[15.0, 5.0],
    &[5.0, 2.0],
    &[4.0, 6.0],
    &[12.0, 3.0, 2.0, 3.0, 2.0, 3.0],
];

/// The style of each line of a panel by its colour, as a second distinction. A single line is
/// solid. Among others, a colour has the same style everywhere, unless two lines share it.
#[must_use]
pub fn dashes(colours: &[usize]) -> Vec<usize> {
    dashes_of_panels(colours, |_, _| true)
}

/// The same for lines that `meet` in a panel, or do not: a line has one style in all panels. Up to
/// as many lines as there are styles differ by their style alone; of more, no two of one colour are
/// alike until a colour has used all styles.
#[must_use]
pub fn dashes_of_panels(colours: &[usize], meet: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    if let [_] = colours {
        return vec![0];
    }
    let mut taken: Vec<usize> = Vec::new();
    for (number, colour) in colours.iter().enumerate() {
        let near: Vec<usize> = (0..number).filter(|other| meet(*other, number)).collect();
        let turns = (0..DASHES.len()).map(|turn| (colour + turn) % DASHES.len());
        let best = turns.min_by_key(|dash| {
            let alike = near.iter().filter(|other| taken[**other] == *dash);
            let same = alike.clone().filter(|other| colours[**other] == *colour);
            [same.count(), alike.count()]
        });
        taken.push(best.unwrap_or(0));
    }
    taken
}

/// The value of the attribute `stroke-dasharray` for a style.
pub fn stroke(dash: usize) -> String {
    let lengths = DASHES[dash % DASHES.len()].iter().map(f64::to_string);
    lengths.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn lines_of_a_panel_have_styles_of_their_own() {
        assert_eq!(dashes(&[1]), [0]);
        assert_eq!(dashes(&[1, 2, 1, 9]), [1, 2, 3, 4]);
        let eight = dashes(&[3, 3, 3, 11, 11, 0, 8, 7]);
        assert_eq!(eight.iter().collect::<BTreeSet<_>>().len(), DASHES.len(), "{eight:?}");
        assert_eq!([stroke(0), stroke(3)], ["", "10 3 2 3"]);
    }

    #[test]
    fn of_more_lines_none_looks_like_another() {
        // Colours 1 and 9 begin with the same style.
        let colours = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 9];
        let found = dashes(&colours);
        let looks: BTreeSet<_> = colours.iter().zip(&found).collect();
        assert_eq!(looks.len(), colours.len(), "{found:?}");
        let most = (0..DASHES.len()).map(|dash| found.iter().filter(|d| **d == dash).count());
        assert_eq!(most.max(), Some(2), "twelve lines, eight styles: {found:?}");
    }

    #[test]
    fn lines_of_different_panels_may_share_a_style() {
        // Two panels with eight lines each.
        let colours: Vec<usize> = (0..16).collect();
        let found = dashes_of_panels(&colours, |one, other| one / 8 == other / 8);
        for panel in found.chunks(8) {
            assert_eq!(panel.iter().collect::<BTreeSet<_>>().len(), 8, "{found:?}");
        }
    }
}
