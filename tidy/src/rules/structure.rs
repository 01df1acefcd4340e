//! Structure that was won is not lost: no crate's figures become worse than they are here.

use crate::figures::{Figures, figures};
use crate::{Finding, Repository};

/// Of each crate the most large structs, scattered types, tuple parameters and cycles of modules.
/// The aim is zero everywhere; a crate that is not listed has reached it. Lower a number when the
/// code allows it (`cargo run --package tidy --bin figures` shows them), never raise one.
const MOST: &[(&str, [usize; 4])] = &[("study", [1, 0, 0, 0])];

/// Structs, with their crates, that repeat a format of another project, which decides their fields.
const MODELS: &[(&str, &str)] = &[
    // NFD's management protocol.
    ("net", "ControlParameters"),
];

/// The meaning of each number.
const KINDS: [&str; 4] = [
    "structs of more than 15 fields",
    "types with methods in more than three files",
    "parameters that are tuples",
    "cycles of modules",
];

/// Crates whose figures differ from the listed ones: larger is worse, and smaller has to be listed.
pub fn structure(repository: &Repository) -> Vec<Finding> {
    figures(repository).iter().flat_map(|of| judge(of, most(&of.name))).collect()
}

fn most(name: &str) -> [usize; 4] {
    MOST.iter().find(|(listed, _)| *listed == name).map_or([0; 4], |(_, most)| *most)
}

fn judge(of: &Figures, most: [usize; 4]) -> Vec<Finding> {
    let large = of.large_structs.iter().map(|(name, _)| (of.name.as_str(), name.as_str()));
    let large = large.filter(|one| !MODELS.contains(one)).count();
    let counted = [large, of.scattered_types.len(), of.tuple_parameters, of.cycles.len()];
    let path = format!("crates/{}", of.name);
    let differing = counted.into_iter().zip(most).zip(KINDS).filter(|((now, most), _)| now != most);
    differing
        .map(|((now, most), kind)| {
            let advice = match now > most {
                true => "see what the change adds",
                false => "well done; lower the number in tidy/src/rules/structure.rs",
            };
            Finding {
                path: path.clone(),
                line: 0,
                message: format!("{now} {kind}, {most} are listed: {advice}"),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_is_found_and_less_has_to_be_listed() {
        let of = Figures { name: "a".to_owned(), tuple_parameters: 2, ..Figures::default() };
        assert_eq!(judge(&of, [0, 0, 2, 0]), []);
        assert!(judge(&of, [0; 4])[0].message.contains("see what the change adds"));
        assert!(judge(&of, [0, 0, 3, 0])[0].message.contains("lower the number"));
    }

    #[test]
    fn a_struct_whose_fields_another_project_decides_may_be_large() {
        let mut of = Figures { name: "net".to_owned(), ..Figures::default() };
        of.large_structs = vec![("ControlParameters".to_owned(), 18)];
        assert_eq!(judge(&of, [0; 4]), []);
        of.large_structs.push(("Face".to_owned(), 18));
        assert_eq!(judge(&of, [0; 4]).len(), 1);
    }

    #[test]
    fn a_crate_that_is_not_listed_has_none() {
        let tuple = "fn f(pair: (u8, u8)) {}\n";
        assert_eq!(structure(&Repository::of(&[("crates/other/src/lib.rs", tuple)])).len(), 1);
    }
}
