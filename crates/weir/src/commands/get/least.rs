//! The oldest accepted version of a tree.

use packet::Name;

/// The version below which trees are rejected: the newest one with files in the folder.
pub struct VersionFloor {
    version: Option<u64>,
    /// The user accepts older versions, too.
    takes_older: bool,
}

impl VersionFloor {
    /// Begins with the version that the folder had before.
    pub fn new(version: Option<u64>, takes_older: bool) -> VersionFloor {
        VersionFloor { version: version.filter(|_| !takes_older), takes_older }
    }

    /// The newest version, if this object is older.
    pub fn newer_than(&self, object: &Name) -> Option<u64> {
        self.version.filter(|least| version_of(object).is_some_and(|version| version < *least))
    }

    /// Files of this object may be in the folder now.
    pub fn raise(&mut self, object: &Name) {
        if !self.takes_older {
            self.version = self.version.max(version_of(object));
        }
    }
}

/// The version at the end of an object's name.
pub fn version_of(name: &Name) -> Option<u64> {
    name.as_ref().last().and_then(|last| last.as_version_any())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_attempt_goes_back_to_an_older_version() {
        let object = |version: u64| format!("/tree/v={version}").parse().unwrap();
        let mut least = VersionFloor::new(None, false);
        assert_eq!(least.newer_than(&object(1)), None);
        least.raise(&object(2));
        assert_eq!(least.newer_than(&object(1)), Some(2));
        least.raise(&object(1));
        assert_eq!((least.newer_than(&object(1)), least.newer_than(&object(2))), (Some(2), None));
        let mut free = VersionFloor::new(Some(7), true);
        free.raise(&object(8));
        assert_eq!(free.newer_than(&object(1)), None);
    }
}
