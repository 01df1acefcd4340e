//! Strategies by the names that the NFD management protocol has for them.
//!
//! `/localhost/nfd/strategy/asf/v=5/probing-interval~30000`: below a prefix that all share the
//! strategy's own name, its version, and parameters as components of their own (NFD,
//! daemon/fw/strategy.cpp, `parseInstanceName`). Without a version whichever there is is meant.
//!
//! Names and numbers of parameters are NFD's where it has them: hyphens instead of underscores,
//! `retx-suppression-initial` for `suppression_initial`, times as whole milliseconds. Weir's own
//! spelling is read as well.

use crate::choice::{Choice, ChoiceError, find, strategies};
use control::{ParamSpec, Scheme, Value};
use packet::{Component, ComponentRef, Name, NameRef};

/// The components above a strategy's own name.
const PREFIX: [&str; 3] = ["localhost", "nfd", "strategy"];

/// NFD's prefix of the parameters of `suppression.rs`.
const RETX: &str = "retx-";

/// The strategy of this name, with its parameters.
///
/// # Errors
/// [`ChoiceError::NoSuchStrategy`] and [`ChoiceError::NoSuchVersion`] if there is none, which is
/// status 404 in the management protocol; another one if a parameter is wrong, which is 409.
pub fn choose(name: NameRef<'_>) -> Result<Choice, ChoiceError> {
    let mut components = name.components();
    for word in PREFIX {
        if components.next().is_none_or(|c| c.value() != word.as_bytes()) {
            return Err(no_such_strategy(name.to_string()));
        }
    }
    let own = components.next().and_then(|c| std::str::from_utf8(c.value()).ok());
    let Some(scheme) = own.and_then(find).filter(|s| s.strategy.is_some()) else {
        return Err(no_such_strategy(name.to_string()));
    };
    let mut choice = Choice::named(scheme.name)?;
    for (i, component) in components.enumerate() {
        match component.as_version_any() {
            Some(given) if i == 0 && given != scheme.version => {
                let (strategy, known) = (scheme.name, scheme.version);
                return Err(ChoiceError::NoSuchVersion { strategy, known, given });
            }
            Some(_) if i == 0 => {}
            _ => set(&mut choice, component)?,
        }
    }
    Ok(choice)
}

/// The same from text.
pub(crate) fn read(text: &str) -> Result<Choice, ChoiceError> {
    let name: Name = text.parse().map_err(|_| no_such_strategy(text.to_owned()))?;
    choose(name.as_ref())
}

fn no_such_strategy(name: String) -> ChoiceError {
    ChoiceError::NoSuchStrategy { name, valid: strategies() }
}

/// The name of a choice's strategy: with its version, and the parameters that are not the defaults.
#[must_use]
pub fn name(choice: &Choice) -> Name {
    let scheme = choice.scheme();
    let words = PREFIX.into_iter().chain([scheme.name]);
    let start =
        words.fold(Name::default(), |name, word| name.with(&Component::generic(word.as_bytes())));
    let other = choice.params().rows().filter(|(row, value)| row.default != *value);
    other.fold(start.with(&Component::version(scheme.version)), |name, (row, value)| {
        let text = format!("{}~{}", spelled(row), number(value));
        name.with(&Component::generic(text.as_bytes()))
    })
}

/// Sets what a component `name~value` says.
fn set(choice: &mut Choice, component: ComponentRef<'_>) -> Result<(), ChoiceError> {
    let scheme = choice.scheme();
    let text = String::from_utf8_lossy(component.value()).into_owned();
    let Some((name, value)) = text.split_once('~') else {
        let row = scheme.params.first();
        let example =
            row.map_or_else(String::new, |row| format!("{}~{}", spelled(row), number(row.default)));
        return Err(ChoiceError::NotAnAssignment { scheme: scheme.name, text, example });
    };
    let row = row(scheme, name);
    let is_time = row.is_some_and(|row| matches!(row.default, Value::Time(_)));
    let bare = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    let value = if is_time && bare { format!("{value} ms") } else { value.to_owned() };
    choice.set(row.map_or(name, |row| row.name), &value)
}

/// The parameter of this name, in whatever spelling.
fn row(scheme: &Scheme, name: &str) -> Option<&'static ParamSpec> {
    scheme.params.iter().find(|row| row.name == name || spelled(row) == name)
}

/// A parameter's name as NFD spells it.
fn spelled(row: &ParamSpec) -> String {
    let name = row.name.replace('_', "-");
    if name.starts_with("suppression-") { format!("{RETX}{name}") } else { name }
}

/// A parameter's value as NFD writes it: times without their unit, if they are whole milliseconds.
fn number(value: Value) -> String {
    match value {
        Value::Time(time) if time.0.is_multiple_of(1_000_000) => time.as_millis().to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::Duration;

    fn chosen(uri: &str) -> Result<Choice, ChoiceError> {
        choose(uri.parse::<Name>().unwrap().as_ref())
    }

    fn error(uri: &str) -> String {
        chosen(uri).unwrap_err().to_string()
    }

    #[test]
    fn a_strategy_is_found_with_and_without_its_version() {
        for (uri, scheme, version) in [
            ("/localhost/nfd/strategy/best-route", "best-route", 5),
            ("/localhost/nfd/strategy/best-route/v=5", "best-route", 5),
            // Old clients write versions as marked generic components.
            ("/localhost/nfd/strategy/multicast/%FD%05", "multicast", 5),
            ("/localhost/nfd/strategy/asf/v=5", "asf", 5),
            ("/localhost/nfd/strategy/random/v=1", "random", 1),
            ("/localhost/nfd/strategy/pcon", "pcon", 1),
        ] {
            let choice = chosen(uri).unwrap();
            assert_eq!(choice.scheme().name, scheme);
            let full = format!("/localhost/nfd/strategy/{scheme}/v={version}");
            assert_eq!(name(&choice).to_string(), full);
        }
    }

    #[test]
    fn parameters_are_components_as_nfd_spells_them() {
        let uri = "/localhost/nfd/strategy/asf/v=5/probing-interval~30000/max-timeouts~2";
        let choice = chosen(uri).unwrap();
        assert_eq!(choice.params().time("probing-interval"), Duration::from_secs(30));
        assert_eq!(choice.params().number("max-timeouts"), 2.0);
        assert_eq!(name(&choice).to_string(), uri);
        // Without a version, and Weir's own spelling.
        let choice = chosen("/localhost/nfd/strategy/asf/probing-interval~2%20s").unwrap();
        assert_eq!(choice.params().time("probing-interval"), Duration::from_secs(2));
        let uri = "/localhost/nfd/strategy/best-route/v=5/retx-suppression-initial~20";
        let choice = chosen(uri).unwrap();
        assert_eq!(choice.params().time("suppression_initial"), Duration::from_millis(20));
        assert_eq!(name(&choice).to_string(), uri);
    }

    #[test]
    fn errors_of_strategy_names_have_the_right_kind() {
        for uri in [
            "/localhost/nfd/strategy/best-rout",
            "/localhost/nfd/strategy/cubic",
            "/localhost/nfd/strategy",
            "/localhost/ndnd/strategy/best-route",
            "/",
        ] {
            let error = chosen(uri).unwrap_err();
            assert!(matches!(error, ChoiceError::NoSuchStrategy { .. }), "{uri}: {error}");
            assert!(error.to_string().contains("`multicast`"), "{error}");
        }
        for version in [1, 6] {
            let error = chosen(&format!("/localhost/nfd/strategy/best-route/v={version}"));
            let error = error.unwrap_err();
            assert!(matches!(error, ChoiceError::NoSuchVersion { .. }), "{error}");
            assert!(error.to_string().contains("version 5 here"), "{error}");
        }
        let asf = "/localhost/nfd/strategy/asf/v=5";
        assert!(error(&format!("{asf}/probing-interval~500")).contains("out of range"));
        assert!(error(&format!("{asf}/probing-interval~-5")).contains("probing-interval"));
        assert!(error(&format!("{asf}/probing~5")).contains("no parameter `probing`"));
        assert!(error(&format!("{asf}/fast")).contains("write it like probing-interval~60000"));
        // Only the first component behind the name is a version.
        assert!(error(&format!("{asf}/v=5")).contains("not a parameter"));
    }

    #[test]
    fn text_that_begins_with_a_slash_is_a_name() {
        let choice: Choice = " /localhost/nfd/strategy/multicast/v=5".parse().unwrap();
        assert_eq!(choice.scheme().name, "multicast");
        assert!(" /multicast".parse::<Choice>().is_err());
    }
}
