//! The window law of another scheme, chosen by a parameter.

use control::{Params, WindowLaw};

/// The schemes that have a window law: the words of the parameter.
pub(crate) fn names() -> Vec<&'static str> {
    crate::SCHEMES.iter().filter(|s| s.law.is_some()).map(|s| s.name).collect()
}

/// The law of the scheme `name`, one of [`names`], with its own default parameters except those in
/// `changed`. A law ignores a parameter that it does not have.
pub(crate) fn make(name: &str, changed: &[(&str, &str)]) -> Box<dyn WindowLaw> {
    let chosen = crate::find(name).and_then(|s| Some((s, s.law?)));
    let (scheme, make) = chosen.expect("a word of the list is a scheme with a law");
    let mut params = Params::defaults(scheme.params);
    for (parameter, value) in changed {
        let _ = params.set(scheme.name, parameter, value);
    }
    make(&params)
}
