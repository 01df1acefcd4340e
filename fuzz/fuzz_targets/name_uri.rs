//! A text that is a name means one name, and its canonical text means the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use packet::{Component, Name, NameRef};

fuzz_target!(|text: &str| {
    if let Ok(name) = text.parse::<Name>() {
        let canonical = name.to_string();
        assert_eq!(canonical.parse::<Name>().as_ref(), Ok(&name));
        assert!(canonical.starts_with('/') && canonical.is_ascii());
        assert_eq!(NameRef::decode(name.as_bytes()), Ok(name.as_ref()));
    }
    if let Ok(component) = text.parse::<Component>() {
        assert_eq!(component.to_string().parse::<Component>().as_ref(), Ok(&component));
    }
});
