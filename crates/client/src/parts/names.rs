//! Names that can be published and fetched.

use packet::Name;
use thiserror::Error;

/// The bytes that an Interest takes besides the given name: version and segment behind the name,
/// nonce, lifetime and the heads of all of them.
const BESIDES: usize = 64;

/// The number of components beyond which no object is found. The Interest that finds one has a
/// keyword more, and is for any version.
pub const MOST_COMPONENTS: usize = packet::name::MAX_PREFIX - 1;

/// Why no object of a name can be fetched.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NameError {
    /// No Interest has room for it.
    #[error("the name has {length} bytes, and an Interest has room for {most}")]
    TooLong {
        /// Its length in bytes.
        length: usize,
        /// The maximum.
        most: usize,
    },
    /// It has too many components.
    #[error("the name has {length} components, and objects are found by {most} or fewer")]
    TooDeep {
        /// The number of components.
        length: usize,
        /// The maximum.
        most: usize,
    },
}

/// Checks the length in bytes: forwarders drop larger packets without an answer.
///
/// # Errors
/// The name is too long.
pub fn check_length(name: &Name) -> Result<(), NameError> {
    let (length, most) = (name.as_ref().as_bytes().len(), packet::MAX_PACKET - BESIDES);
    if length <= most { Ok(()) } else { Err(NameError::TooLong { length, most }) }
}

/// Checks the number of components. An object of an unknown version is found by a prefix of its
/// name. With the version, its root packet is requested by its exact name.
///
/// # Errors
/// The name has too many components.
pub fn check_depth(name: &Name) -> Result<(), NameError> {
    let has_version = name.as_ref().last().is_some_and(|last| last.as_version_any().is_some());
    let (length, most) = (name.len(), MOST_COMPONENTS);
    if length <= most || has_version { Ok(()) } else { Err(NameError::TooDeep { length, most }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_no_packet_takes_is_an_error() {
        // A component has a byte of type and three of length.
        let of = |bytes: usize| format!("/{}", "a".repeat(bytes - 4)).parse::<Name>().unwrap();
        check_length(&of(8736)).unwrap();
        let error = check_length(&of(8737)).unwrap_err().to_string();
        assert!(error.contains("8737 bytes") && error.contains("room for 8736"), "{error}");
    }

    #[test]
    fn a_version_makes_a_deep_name_findable() {
        let deep: Name = "/a".repeat(MOST_COMPONENTS + 1).parse().unwrap();
        assert!(matches!(check_depth(&deep), Err(NameError::TooDeep { .. })));
        let versioned = deep.with(&packet::Component::version(3));
        assert_eq!(check_depth(&versioned), Ok(()));
    }
}
