//! Crates keep a structure that can be read: no large structs, scattered types, tuple parameters or
//! cycles of modules, closures where they are used, fields that only their struct changes, and
//! shared items below those that share them.

use crate::figures::{Fields, Figures, Need, figures};
use crate::{Finding, Repository};

/// Structs, with their crates, whose fields a format decides.
const MODELS: &[(&str, &str)] = &[
    // NFD's management protocol.
    ("net", "ControlParameters"),
    // The keys of a section in a file; serde cannot both flatten it and reject unknown keys.
    ("study", "Experiment"),
    // The columns of tables of results, which programs read by name.
    ("scenario", "Flow"),
    ("scenario", "Workload"),
];

/// Closures bound to a name, in 1,000 lines of code. A closure that is called in several places and
/// takes most of its values from around it may read better than a function with many parameters.
const MOST_CLOSURES: f64 = 1.0;

/// Crates with a figure above its limit.
pub fn structure(repository: &Repository) -> Vec<Finding> {
    figures(repository).iter().flat_map(judge).collect()
}

fn judge(of: &Figures) -> Vec<Finding> {
    let large = of.large_structs.iter().map(|(name, _)| (of.name.as_str(), name.as_str()));
    let counted = [
        (large.filter(|one| !MODELS.contains(one)).count(), "structs of more than 15 fields"),
        (of.scattered_types.len(), "types with methods in more than three files"),
        (of.tuple_parameters, "parameters that are tuples"),
    ];
    let mut messages: Vec<String> = counted
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, kind)| format!("{count} {kind}; the limit is 0"))
        .collect();
    if of.closures_per_thousand() > MOST_CLOSURES {
        let count = of.bound_closures;
        messages
            .push(format!("{count} closures are bound to names: write them where they are used"));
    }
    messages.extend(of.reached_owners.iter().map(|Fields { name, restricted, .. }| {
        format!(
            "{name} has `&mut self` methods and {restricted} `pub(…)` fields: give it methods for \
             what others do with them, or move its methods, so that it is a record"
        )
    }));
    messages.extend(of.cycles.iter().map(|group| {
        let names = group.iter().map(|name| if name.is_empty() { "the crate" } else { name });
        format!(
            "a cycle of modules: {}; move what they share into a module of its own",
            names.collect::<Vec<_>>().join(", ")
        )
    }));
    messages.extend(of.shared_above.iter().map(|Need { from, to, name, .. }| {
        let (name, to) =
            (name.as_deref().unwrap_or("all"), if to.is_empty() { "the crate" } else { to });
        format!("{from} needs {name} of {to}, above it: move what they share into a module below")
    }));
    let path = format!("crates/{}", of.name);
    messages.into_iter().map(|message| Finding { path: path.clone(), line: 0, message }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Figures {
        Figures { name: name.to_owned(), code: 2000, ..Figures::default() }
    }

    #[test]
    fn each_figure_above_its_limit_is_found() {
        assert_eq!(judge(&of("a")), []);
        let tuples = judge(&Figures { tuple_parameters: 2, ..of("a") });
        assert_eq!(tuples[0].message, "2 parameters that are tuples; the limit is 0");
        assert_eq!(judge(&Figures { bound_closures: 2, ..of("a") }), []);
        assert_eq!(judge(&Figures { bound_closures: 3, ..of("a") }).len(), 1);
    }

    #[test]
    fn a_struct_whose_fields_a_format_decides_may_be_large() {
        let mut net = of("net");
        net.large_structs = vec![("ControlParameters".to_owned(), 18)];
        assert_eq!(judge(&net), []);
        net.large_structs.push(("Face".to_owned(), 18));
        assert_eq!(judge(&net).len(), 1);
    }

    #[test]
    fn a_struct_that_changes_itself_keeps_its_fields() {
        let link = Fields { name: "Link".to_owned(), restricted: 4, ..Fields::default() };
        let found = judge(&Figures { reached_owners: vec![link], ..of("a") });
        assert_eq!(found.len(), 1);
        assert!(found[0].message.starts_with("Link has `&mut self` methods and 4 `pub(…)` fields"));
    }

    #[test]
    fn modules_that_need_each_other_are_named() {
        let cycles = vec![vec![String::new(), "b".to_owned()]];
        let found = judge(&Figures { cycles, ..of("a") });
        assert_eq!(found.len(), 1);
        assert!(found[0].message.starts_with("a cycle of modules: the crate, b; "));
    }

    #[test]
    fn a_module_that_needs_an_item_from_above_is_named() {
        let parent = "mod b;\npub enum Error {}\n";
        let files = [("crates/a/src/lib.rs", parent), ("crates/a/src/b.rs", "use crate::Error;\n")];
        let found = structure(&Repository::of(&files));
        assert_eq!(found.len(), 1);
        assert!(found[0].message.starts_with("b needs Error of the crate, above it"), "{found:?}");
    }

    #[test]
    fn a_crate_is_judged_by_its_files() {
        let tuple = "fn f(pair: (u8, u8)) {}\n";
        assert_eq!(structure(&Repository::of(&[("crates/other/src/lib.rs", tuple)])).len(), 1);
    }
}
