//! The flags of commands and of their answers.

use crate::cli::manage::Switch;

/// Flags and their mask, of the switches that are given.
pub fn flags(switches: &[(Option<Switch>, u64)]) -> (Option<u64>, Option<u64>) {
    let given = switches.iter().filter_map(|(switch, bit)| Some(((*switch)?, *bit)));
    let (mut flags, mut mask) = (0, 0);
    for (switch, bit) in given {
        mask |= bit;
        flags |= if switch == Switch::On { bit } else { 0 };
    }
    if mask == 0 { (None, None) } else { (Some(flags), Some(mask)) }
}

/// The words of the bits that are set.
pub fn flag_names(flags: u64, names: &[(u64, &'static str)]) -> Vec<&'static str> {
    names.iter().filter(|(bit, _)| flags & bit != 0).map(|(_, name)| *name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_given_flags_are_in_the_mask() {
        assert_eq!(flags(&[(None, 1), (None, 2)]), (None, None));
        let some = [(Some(Switch::On), 2), (None, 1), (Some(Switch::Off), 4)];
        assert_eq!(flags(&some), (Some(2), Some(6)));
        assert_eq!(flag_names(6, &[(1, "a"), (2, "b"), (4, "c")]), ["b", "c"]);
    }
}
