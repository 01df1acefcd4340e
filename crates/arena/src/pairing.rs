//! How a scheme is used as a whole: its consumer, the parts of links, its strategy.

use crate::model::Cell;
use control::Scheme;
use schemes::{SCHEMES, defaults};

/// A scheme that takes part.
#[derive(Clone, Copy, Debug)]
pub struct Competitor {
    /// The scheme.
    pub scheme: &'static Scheme,
}

/// All schemes, in the order of their names.
#[must_use]
pub fn competitors() -> Vec<Competitor> {
    SCHEMES.iter().map(|scheme| Competitor { scheme }).collect()
}

impl Competitor {
    /// The scheme of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Competitor> {
        schemes::find(name).map(|scheme| Competitor { scheme })
    }

    fn has(self, part: &str) -> bool {
        self.scheme.parts().contains(&part)
    }

    /// The consumer: its own, the baseline behind its startup, or the baseline.
    #[must_use]
    pub fn control(self) -> String {
        let (name, plain) = (self.scheme.name, defaults::BASELINE);
        match (self.has("startup"), self.has("controller")) {
            (true, _) => format!("{name}+{plain}"),
            (false, true) => name.to_owned(),
            (false, false) => plain.to_owned(),
        }
    }

    /// The settings of a scenario that choose it in a cell.
    #[must_use]
    pub fn settings(self, cell: &Cell) -> Vec<String> {
        let name = self.scheme.name;
        let control = self.control();
        let mut all: Vec<String> = match &*cell.under_test {
            [] => vec![format!("control={control}")],
            nodes => nodes.iter().map(|at| format!("consumer.{at}.control={control}")).collect(),
        };
        let has_parts = ["marker", "shaper", "stamper"].iter().any(|part| self.has(part));
        match &cell.parts_on {
            None if has_parts => all.push(format!("scheme={name}")),
            Some(links) if has_parts => {
                all.extend(links.iter().map(|link| format!("link.{link}.scheme={name}")));
            }
            // A strategy makes no difference where there is one path: such schemes are alike.
            _ => {}
        }
        if cell.has_strategy && self.has("strategy") {
            all.push(format!("scenario.strategy={name}"));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Term;

    fn cell() -> Cell {
        Cell {
            name: "c".to_owned(),
            title: String::new(),
            group: String::new(),
            file: String::new(),
            set: Vec::new(),
            measures: vec![Term::Share],
            from_s: 0.0,
            watched: None,
            has_strategy: false,
            under_test: Vec::new(),
            parts_on: None,
            drawn: Vec::new(),
            cached: None,
            judged_seeds: 0,
            counts_for: Vec::new(),
        }
    }

    /// A scheme with these parts and without others.
    fn with(parts: &[&str], without: &[&str]) -> Competitor {
        let all = competitors().into_iter();
        let fits = |one: &Competitor| {
            parts.iter().all(|part| one.has(part)) && !without.iter().any(|part| one.has(part))
        };
        all.into_iter().find(fits).expect("there is such a scheme")
    }

    #[test]
    fn a_scheme_without_a_consumer_has_the_baseline() {
        let marker = with(&["marker"], &["controller", "startup"]);
        let control = format!("control={}", defaults::BASELINE);
        let scheme = format!("scheme={}", marker.scheme.name);
        assert_eq!(marker.settings(&cell()), [control, scheme]);
        let startup = with(&["startup"], &[]);
        assert_eq!(startup.control(), format!("{}+{}", startup.scheme.name, defaults::BASELINE));
    }

    #[test]
    fn a_scheme_without_parts_for_links_has_none() {
        let startup = with(&["startup"], &["marker", "shaper", "stamper"]);
        assert_eq!(startup.settings(&cell()), [format!("control={}", startup.control())]);
        let strategy = with(&["strategy"], &["controller", "startup", "marker", "shaper"]);
        assert_eq!(strategy.settings(&cell()), [format!("control={}", defaults::BASELINE)]);
    }

    #[test]
    fn only_fetches_under_test_have_the_consumer() {
        let mixed = Cell { under_test: vec!["a".into(), "b".into()], ..cell() };
        let one = with(&["controller", "stamper"], &["startup"]);
        let name = one.scheme.name;
        let [a, b] = ["a", "b"].map(|at| format!("consumer.{at}.control={name}"));
        assert_eq!(one.settings(&mixed), [a, b, format!("scheme={name}")]);
    }

    #[test]
    fn parts_are_on_the_links_that_have_them() {
        let some = Cell { parts_on: Some(vec!["a-b".into()]), ..cell() };
        let one = with(&["controller", "stamper"], &["startup"]);
        assert_eq!(one.settings(&some)[1..], [format!("link.a-b.scheme={}", one.scheme.name)]);
        let bare = with(&["controller"], &["marker", "shaper", "stamper", "startup"]);
        assert_eq!(bare.settings(&some), [format!("control={}", bare.scheme.name)]);
    }

    #[test]
    fn a_strategy_counts_where_there_are_several_paths() {
        let paths = Cell { has_strategy: true, ..cell() };
        let one = with(&["strategy"], &[]);
        let strategy = format!("scenario.strategy={}", one.scheme.name);
        assert!(one.settings(&paths).contains(&strategy));
        assert!(!one.settings(&cell()).contains(&strategy));
    }
}
