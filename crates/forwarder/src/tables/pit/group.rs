//! Groups of prefixes.

/// Groups of prefixes. Prefixes fall into a group by their keyed hashes, so a peer that does not
/// know the key cannot choose prefixes that meet another one's.
pub(super) const GROUPS: usize = 1024;

/// A group of prefixes whose entries are counted together. Some other prefix is in the same group
/// with a chance of one in `GROUPS`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Group(u16);

impl Group {
    /// Not counted.
    pub(super) const NONE: Group = Group(0);

    /// The group of a prefix with this keyed hash.
    #[must_use]
    pub fn of(hash: u64) -> Group {
        // The highest bits: the index of the table uses others of them as well, which does no harm.
        Group((hash >> 54) as u16 + 1)
    }

    /// Its place among all groups; `None` for [`Group::NONE`].
    pub(super) fn slot(self) -> Option<usize> {
        usize::from(self.0).checked_sub(1).filter(|slot| *slot < GROUPS)
    }
}
