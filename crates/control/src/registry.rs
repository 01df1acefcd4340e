//! The declaration in a scheme's file, and the macro that turns a list of words into the registry.

use crate::consumer::Controller;
use crate::link::{Marker, Shaper, Stamper};
use crate::params::{ParamSpec, Params};
use crate::strategy::Strategy;
use crate::window::WindowLaw;

/// Builds a part from checked parameters.
pub type Make<T> = fn(&Params) -> Box<T>;

/// Builds a startup around a controller.
pub type Wrap = fn(&Params, Box<dyn Controller>) -> Box<dyn Controller>;

/// An equation of a scheme: its name in the source (`"eq. 3"`, `"section 4.2"`), and the equation
/// as a line of text in the source's symbols.
pub type Equation = (&'static str, &'static str);

/// A published scheme: the parts that its paper has.
#[derive(Clone, Copy)]
pub struct Scheme {
    /// The name by which it is chosen.
    pub name: &'static str,
    /// One line about its effect.
    pub summary: &'static str,
    /// Authors, title, venue, year.
    pub paper: &'static str,
    /// The equations and rules that it computes, in the order of its source.
    pub equations: &'static [Equation],
    /// Its parameters.
    pub params: &'static [ParamSpec],
    /// Its window law, if its consumer is one: for schemes that use a law of choice.
    pub law: Option<Make<dyn WindowLaw>>,
    /// Its consumer.
    pub controller: Option<Make<dyn Controller>>,
    /// A startup that wraps a controller and seeds it.
    pub startup: Option<Wrap>,
    /// Its queue management.
    pub marker: Option<Make<dyn Marker>>,
    /// Its Interest shaping.
    pub shaper: Option<Make<dyn Shaper>>,
    /// Its stamping of hop-by-hop options.
    pub stamper: Option<Make<dyn Stamper>>,
    /// Its forwarding strategy.
    pub strategy: Option<Make<dyn Strategy>>,
    /// The version in the name of its strategy, `/localhost/nfd/strategy/NAME/v=VERSION`: NFD's
    /// version if NFD has the strategy.
    pub version: u64,
    /// `true` if its strategy works without routes.
    pub finds_routes: bool,
    /// Tells the schemes apart that a program adds while it runs: the functions that build their
    /// parts find it in [`Params::key`]. 0 for a published scheme.
    pub key: u64,
}

impl Scheme {
    /// A scheme without parts, to fill in the ones that exist.
    pub const EMPTY: Scheme = Scheme {
        name: "",
        summary: "",
        paper: "",
        equations: &[],
        params: &[],
        law: None,
        controller: None,
        startup: None,
        marker: None,
        shaper: None,
        stamper: None,
        strategy: None,
        version: 1,
        finds_routes: false,
        key: 0,
    };

    /// The scheme without its consumer: for programs that only forward.
    #[must_use]
    pub const fn without_consumer(self) -> Scheme {
        Scheme { law: None, controller: None, startup: None, ..self }
    }

    /// The names of the parts that the scheme has, in a fixed order.
    #[must_use]
    pub fn parts(&self) -> Vec<&'static str> {
        [
            (self.controller.is_some(), "controller"),
            (self.startup.is_some(), "startup"),
            (self.marker.is_some(), "marker"),
            (self.shaper.is_some(), "shaper"),
            (self.stamper.is_some(), "stamper"),
            (self.strategy.is_some(), "strategy"),
        ]
        .into_iter()
        .filter_map(|(has, name)| has.then_some(name))
        .collect()
    }

    /// The names of its parts in a sentence: "it is a …".
    #[must_use]
    pub fn kind(&self) -> String {
        match self.parts().join(" and ") {
            none if none.is_empty() => "consumer, which this program does not have".to_owned(),
            parts => parts,
        }
    }
}

impl std::fmt::Debug for Scheme {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scheme").field("name", &self.name).field("parts", &self.parts()).finish()
    }
}

/// Declares the modules and the list of schemes at once: a new scheme is its file and one word
/// here. (No code runs before `main`: linker-section registries do not work on WebAssembly.)
///
/// Without the feature `consumers` of the crate that has the list, the schemes have no consumers.
///
/// A part of a scheme that can be chosen alone is a scheme too: `part in scheme` lists the constant
/// `SCHEME` of the module `part` inside the module `scheme`, which uses the same part.
///
/// ```text
/// control::registry! { aimd, chopcop, codel, cubic, fisp in chopcop }
/// ```
#[macro_export]
macro_rules! registry {
    (@module $name:ident) => { pub mod $name; };
    (@module $name:ident in $file:ident) => {};
    (@scheme $name:ident) => { $name::SCHEME };
    (@scheme $name:ident in $file:ident) => { $file::$name::SCHEME };
    (@built $scheme:expr) => {
        if cfg!(feature = "consumers") { $scheme } else { $scheme.without_consumer() }
    };
    ($($name:ident $(in $file:ident)?),+ $(,)?) => {
        $($crate::registry!(@module $name $(in $file)?);)+
        /// Every scheme, in alphabetical order.
        pub const SCHEMES: &[$crate::Scheme] =
            &[$($crate::registry!(@built $crate::registry!(@scheme $name $(in $file)?))),+];
    };
}

#[cfg(test)]
mod tests {
    use super::Scheme;

    #[test]
    fn a_scheme_without_any_part_is_named_as_a_consumer_that_is_missing() {
        let marker = Scheme { marker: Some(|_| unreachable!()), ..Scheme::EMPTY };
        assert_eq!(marker.kind(), "marker");
        let both = Scheme { controller: Some(|_| unreachable!()), ..marker };
        assert_eq!(
            (both.kind(), both.without_consumer().kind()),
            ("controller and marker".to_owned(), "marker".to_owned())
        );
        let consumer = Scheme { controller: Some(|_| unreachable!()), ..Scheme::EMPTY };
        assert_eq!(
            consumer.without_consumer().kind(),
            "consumer, which this program does not have"
        );
    }
}
