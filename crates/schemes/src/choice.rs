//! Choosing a scheme by text, and building its parts.

use crate::added::all;
use control::{Controller, Marker, ParamError, Params, Policy, Scheme, Shaper, Stamper, Strategy};
use std::sync::Arc;
use thiserror::Error;

/// A strategy's name in the NFD management protocol, for messages.
pub(crate) const EXAMPLE: &str = "/localhost/nfd/strategy/best-route";

/// Why a text does not choose a scheme.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ChoiceError {
    /// No scheme has this name.
    #[error("there is no scheme `{name}`{}", nearest_or_all(.nearest.as_deref(), .valid))]
    UnknownScheme {
        /// The name given.
        name: String,
        /// The scheme whose name is nearest to it, if one is near.
        nearest: Option<String>,
        /// The names that exist.
        valid: String,
    },
    /// A parameter was written without `=`.
    #[error("`{text}` is not a parameter of `{scheme}`; write it like {example}")]
    NotAnAssignment {
        /// The scheme.
        scheme: &'static str,
        /// The offending text.
        text: String,
        /// The scheme with a parameter and its default.
        example: String,
    },
    /// A parameter was rejected.
    #[error("{error}{}", did_you_mean(.nearest.as_deref()))]
    Parameter {
        /// Why.
        error: ParamError,
        /// The parameter whose name is nearest to the one given, if there is none of that name.
        nearest: Option<String>,
    },
    /// The scheme lacks the part that is wanted.
    #[error("`{scheme}` has no {part}; it is a {has}. With a {part}: {valid}")]
    NoSuchPart {
        /// The scheme.
        scheme: &'static str,
        /// The part that is wanted.
        part: &'static str,
        /// The parts that it has.
        has: String,
        /// The schemes that have the part.
        valid: String,
    },
    /// A parameter names a file that this program has not read.
    #[error("`{scheme}` needs the content of `{path}`, and this program reads no models")]
    NotRead {
        /// The scheme.
        scheme: &'static str,
        /// The path of the file.
        path: &'static str,
    },
    /// A name is that of no strategy.
    #[error("`{name}` is not a strategy; one is named like {EXAMPLE}, and there are {valid}")]
    NoSuchStrategy {
        /// The name given.
        name: String,
        /// The strategies that exist.
        valid: String,
    },
    /// A strategy is there in another version.
    #[error("strategy `{strategy}` has version {known} here, not {given}")]
    NoSuchVersion {
        /// The strategy.
        strategy: &'static str,
        /// The version that it has.
        known: u64,
        /// The version given.
        given: u64,
    },
}

/// A scheme with its parameters.
///
/// As text: the scheme's name, then a colon and the parameters that differ from their defaults,
/// separated by commas: `"cubic"`, `"cubic:beta=0.8,C=0.4"`, `"codel:target=15 ms"`. A startup
/// precedes the scheme whose controller it wraps: `"packet-pair+cubic"`. A strategy may be given by
/// its name in the NFD management protocol: `"/localhost/nfd/strategy/asf/v=5"` (`instance.rs`).
#[derive(Clone, Debug)]
pub struct Choice {
    scheme: &'static Scheme,
    params: Params,
    startup: Option<(&'static Scheme, Params)>,
}

impl PartialEq for Choice {
    fn eq(&self, other: &Choice) -> bool {
        let startups_are_equal = match (&self.startup, &other.startup) {
            (Some((one, one_params)), Some((two, two_params))) => {
                one.name == two.name && one_params == two_params
            }
            (one, two) => one.is_none() && two.is_none(),
        };
        self.scheme.name == other.scheme.name && self.params == other.params && startups_are_equal
    }
}

/// The scheme of this name. An underscore may stand for the hyphen.
#[must_use]
pub fn find(name: &str) -> Option<&'static Scheme> {
    let name = name.trim().replace('_', "-");
    all().into_iter().find(|scheme| scheme.name == name)
}

impl Choice {
    /// The scheme of this name with all defaults.
    ///
    /// # Errors
    /// No scheme has the name; the error suggests the nearest one.
    pub fn named(name: &str) -> Result<Choice, ChoiceError> {
        let scheme = find(name).ok_or_else(|| ChoiceError::UnknownScheme {
            name: name.trim().to_owned(),
            nearest: nearest(name.trim(), all().into_iter().map(|s| s.name)),
            valid: quoted(all().into_iter().map(|s| s.name)),
        })?;
        let params = Params::defaults(scheme.params).with_key(scheme.key);
        Ok(Choice { scheme, params, startup: None })
    }

    /// Puts the startup of another scheme before this one's controller.
    ///
    /// # Errors
    /// The other has no startup, or this one no controller.
    pub fn begin_with(&mut self, startup: &Choice) -> Result<(), ChoiceError> {
        if startup.scheme.startup.is_none() {
            return Err(startup.lacks("startup", |scheme| scheme.startup.is_some()));
        }
        if self.scheme.controller.is_none() {
            return Err(self.lacks("controller", |scheme| scheme.controller.is_some()));
        }
        self.startup = Some((startup.scheme, startup.params.clone()));
        Ok(())
    }

    /// Sets a parameter from its text.
    ///
    /// # Errors
    /// No such parameter, text that is no value of its unit, or a value out of range.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), ChoiceError> {
        self.params.set(self.scheme.name, name, text).map_err(|error| {
            let nearest = match &error {
                ParamError::Unknown { name, .. } => {
                    nearest(name, self.scheme.params.iter().map(|row| row.name))
                }
                ParamError::Malformed { .. } | ParamError::OutOfRange { .. } => None,
            };
            ChoiceError::Parameter { error, nearest }
        })
    }

    /// The file that the scheme needs, if it has not been read: the parameter with its path, and
    /// the path.
    #[must_use]
    pub fn unread(&self) -> Option<(&'static str, &'static str)> {
        if self.params.policy().is_some() { None } else { self.params.file() }
    }

    /// Takes the policy that a program has read from the file.
    pub fn adopt(&mut self, policy: Arc<dyn Policy>) {
        self.params = self.params.clone().with_policy(policy);
    }

    /// The scheme.
    #[must_use]
    pub fn scheme(&self) -> &'static Scheme {
        self.scheme
    }

    /// Its parameters.
    #[must_use]
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The scheme before it whose startup wraps its controller, and that scheme's parameters.
    pub(crate) fn wrapper(&self) -> Option<&(&'static Scheme, Params)> {
        self.startup.as_ref()
    }

    /// Builds its consumer.
    ///
    /// # Errors
    /// The scheme has none.
    pub fn controller(&self) -> Result<Box<dyn Controller>, ChoiceError> {
        let controller = self.build("controller", |scheme| scheme.controller)?;
        Ok(match &self.startup {
            Some((Scheme { startup: Some(wrap), .. }, params)) => wrap(params, controller),
            _ => controller,
        })
    }

    /// Builds its startup around a controller, which it will seed.
    ///
    /// # Errors
    /// The scheme has none.
    pub fn startup(&self, inner: Box<dyn Controller>) -> Result<Box<dyn Controller>, ChoiceError> {
        match self.scheme.startup {
            Some(wrap) => Ok(wrap(&self.params, inner)),
            None => Err(self.lacks("startup", |scheme| scheme.startup.is_some())),
        }
    }

    /// Builds its queue management.
    ///
    /// # Errors
    /// The scheme has none.
    pub fn marker(&self) -> Result<Box<dyn Marker>, ChoiceError> {
        self.build("marker", |scheme| scheme.marker)
    }

    /// Builds its Interest shaping.
    ///
    /// # Errors
    /// The scheme has none.
    pub fn shaper(&self) -> Result<Box<dyn Shaper>, ChoiceError> {
        self.build("shaper", |scheme| scheme.shaper)
    }

    /// Builds its stamping of hop-by-hop options.
    ///
    /// # Errors
    /// The scheme has none.
    pub fn stamper(&self) -> Result<Box<dyn Stamper>, ChoiceError> {
        self.build("stamper", |scheme| scheme.stamper)
    }

    /// Builds its forwarding strategy.
    ///
    /// # Errors
    /// The scheme has none.
    pub fn strategy(&self) -> Result<Box<dyn Strategy>, ChoiceError> {
        self.build("strategy", |scheme| scheme.strategy)
    }

    fn build<T: ?Sized>(
        &self,
        part: &'static str,
        make: fn(&Scheme) -> Option<control::registry::Make<T>>,
    ) -> Result<Box<T>, ChoiceError> {
        match make(self.scheme) {
            Some(make) => match self.unread() {
                Some((_, path)) => Err(ChoiceError::NotRead { scheme: self.scheme.name, path }),
                None => Ok(make(&self.params)),
            },
            None => Err(self.lacks(part, |scheme| make(scheme).is_some())),
        }
    }

    /// It has no such part; these schemes have one.
    fn lacks(&self, part: &'static str, has_it: impl Fn(&Scheme) -> bool) -> ChoiceError {
        ChoiceError::NoSuchPart {
            scheme: self.scheme.name,
            part,
            has: self.scheme.kind(),
            valid: quoted(all().into_iter().filter(|s| has_it(s)).map(|s| s.name)),
        }
    }
}

/// The candidate that `word` was probably meant to be: at most two typing errors away, and fewer
/// errors than letters.
fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let word = word.to_lowercase();
    candidates
        .map(|c| (strsim::osa_distance(&word, &c.to_lowercase().replace('_', "-")), c))
        .filter(|(distance, c)| *distance <= 2 && *distance < c.chars().count())
        .min()
        .map(|(_, c)| c.to_owned())
}

/// The schemes that have a strategy.
pub(crate) fn strategies() -> String {
    quoted(all().into_iter().filter(|s| s.strategy.is_some()).map(|s| s.name))
}

fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// All names alone where none is near: they are many.
fn nearest_or_all(nearest: Option<&str>, all: &str) -> String {
    match nearest {
        Some(_) => did_you_mean(nearest),
        None => format!("; there are {all}"),
    }
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        text.parse::<Choice>().unwrap_err().to_string()
    }

    #[test]
    fn a_name_alone_takes_the_defaults() {
        let choice: Choice = "cubic".parse().unwrap();
        assert_eq!((choice.scheme().name, choice.params().number("beta")), ("cubic", 0.7));
        assert!(find("best_route").is_some() && find("best-route").is_some());
    }

    #[test]
    fn parameters_follow_a_colon() {
        let choice: Choice = " cubic: beta = 0.8 , C=0.5".parse().unwrap();
        assert_eq!((choice.params().number("beta"), choice.params().number("C")), (0.8, 0.5));
        let codel: Choice = "codel:target=15 ms".parse().unwrap();
        assert_eq!(codel.params().time("target"), control::Duration::from_millis(15));
    }

    #[test]
    fn a_startup_stands_before_a_plus_and_is_printed_there() {
        let choice: Choice = "packet-pair:pairs=2 + cubic:beta=0.8,C=4e-1".parse().unwrap();
        assert_eq!((choice.scheme().name, choice.params().number("beta")), ("cubic", 0.8));
        assert_eq!(choice.to_string(), "packet-pair:pairs=2+cubic:beta=0.8");
        assert!(choice.controller().is_ok());
        let text = "cubic:C=1e+1".parse::<Choice>().unwrap().to_string();
        assert_eq!(text, "cubic:C=10", "a sign in a number is none of this");
        assert!(error("bbr+cubic").contains("`bbr` has no startup"));
        assert!(error("packet-pair+codel").contains("`codel` has no controller"));
        assert!(error("paket-pair+bbr").contains("did you mean `packet-pair`?"));
    }

    #[test]
    fn errors_name_the_word_and_the_way_out() {
        let unknown = error("cubik");
        assert!(unknown.contains("`cubik`") && unknown.contains("did you mean `cubic`?"));
        assert!(
            !unknown.contains("there are"),
            "thirty names hide the one that is meant: {unknown}"
        );
        let far = error("reno-of-the-north");
        assert!(!far.contains("did you mean") && far.contains("there are `aimd`, "), "{far}");
        let unknown = error("cubic:bta=0.8");
        assert!(unknown.contains("did you mean `beta`?"), "{unknown}");
        assert!(error("cubic:beta=7").contains("out of range"));
        assert!(error("cubic:beta").contains("cubic:C=0.4"), "{}", error("cubic:beta"));
    }

    #[test]
    fn a_missing_part_is_an_error_that_names_schemes_with_it() {
        let choice: Choice = "codel".parse().unwrap();
        assert!(choice.marker().is_ok());
        let Err(error) = choice.controller() else { panic!("CoDel has no consumer") };
        let text = error.to_string();
        assert!(text.contains("`codel` has no controller; it is a marker"), "{text}");
        assert!(text.contains("`cubic`") && !text.contains("`drop-tail`"), "{text}");
    }

    #[test]
    fn a_name_is_suggested_only_when_it_is_near() {
        assert_eq!(nearest("CUBCI", ["cubic", "aimd"].into_iter()), Some("cubic".to_owned()));
        assert_eq!(nearest("x", ["C", "beta"].into_iter()), None);
    }
}
