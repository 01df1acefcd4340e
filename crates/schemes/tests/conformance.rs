//! The invariants of every scheme: the suite walks the registry.

#[path = "conformance/controllers.rs"]
mod controllers;
#[path = "conformance/links.rs"]
mod links;
#[path = "conformance/shapers.rs"]
mod shapers;
#[path = "conformance/stampers.rs"]
mod stampers;
#[path = "conformance/strategies.rs"]
mod strategies;

use schemes::{Choice, SCHEMES, find};

/// Every scheme that `pick` finds the wanted part in.
fn choices(pick: fn(&control::Scheme) -> bool) -> Vec<Choice> {
    let names = SCHEMES.iter().filter(|scheme| pick(scheme)).map(|scheme| scheme.name);
    names.map(|name| Choice::named(name).expect("its own name")).collect()
}

#[test]
fn names_are_words_in_order_and_found() {
    for pair in SCHEMES.windows(2) {
        assert!(pair[0].name < pair[1].name, "{} before {}", pair[0].name, pair[1].name);
    }
    for scheme in SCHEMES {
        let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(!scheme.name.is_empty() && scheme.name.chars().all(word), "{}", scheme.name);
        assert_eq!(find(scheme.name).map(|found| found.name), Some(scheme.name));
        assert!(!scheme.parts().is_empty(), "{} has no part", scheme.name);
        assert!(!scheme.equations.is_empty(), "{} states no equation", scheme.name);
        let blank = |(number, text): &(&str, &str)| number.is_empty() || text.is_empty();
        assert!(!scheme.equations.iter().any(blank), "{}", scheme.name);
        assert!(!scheme.summary.is_empty() && !scheme.paper.is_empty(), "{}", scheme.name);
    }
}

#[test]
fn defaults_are_in_range_and_parameter_names_are_unique() {
    for scheme in SCHEMES {
        for (i, row) in scheme.params.iter().enumerate() {
            let (low, high) = row.range;
            let at = format!("{}: {}", scheme.name, row.name);
            match row.default {
                control::Value::Word(word) => assert!((word.of)().contains(&word.text), "{at}"),
                default => assert!((low..=high).contains(&default.base()), "{at}"),
            }
            assert!(scheme.params[..i].iter().all(|other| other.name != row.name), "{at}");
            assert!(!row.help.is_empty() && !row.source.is_empty(), "{at}");
        }
    }
}

#[test]
fn every_default_can_be_written_as_it_is_printed() {
    for scheme in SCHEMES {
        let mut choice = Choice::named(scheme.name).unwrap();
        for row in scheme.params {
            choice.set(row.name, &row.default.to_string()).unwrap();
            assert_eq!(choice.params().number(row.name), row.default.base(), "{}", row.name);
        }
    }
}

/// The smallest and the largest value of a parameter; of a word, every one.
fn ends(row: &control::ParamSpec) -> Vec<String> {
    let unit = match row.default {
        control::Value::Number(_) => "",
        control::Value::Time(_) => " s",
        control::Value::Rate(_) => " bit/s",
        control::Value::Size(_) => " B",
        control::Value::Switch(_) => return vec!["false".to_owned(), "true".to_owned()],
        control::Value::Word(word) => return (word.of)().iter().map(|w| (*w).to_owned()).collect(),
        // A program reads files before it builds a part.
        control::Value::File(_) => return vec![control::NO_FILE.to_owned()],
    };
    [row.range.0, row.range.1].map(|end| format!("{end}{unit}")).to_vec()
}

#[test]
fn parts_can_be_built_at_the_ends_of_every_range() {
    for scheme in SCHEMES {
        for row in scheme.params {
            for text in ends(row) {
                let mut choice = Choice::named(scheme.name).unwrap();
                choice.set(row.name, &text).unwrap();
                let built = [
                    choice.controller().is_ok(),
                    choice.marker().is_ok(),
                    choice.shaper().is_ok(),
                    choice.stamper().is_ok(),
                    choice.strategy().is_ok(),
                ];
                let count = built.iter().filter(|built| **built).count();
                assert!(count > 0 || scheme.startup.is_some(), "{}", scheme.name);
            }
        }
    }
}
