//! The written form of `expected.toml`.

use crate::claim::ClaimKind;
use scenario::series::Subject;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::{Spanned, Value};

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    pub study: Head,
    #[serde(default)]
    pub labels: Table<String>,
    #[serde(default)]
    pub experiment: Vec<Experiment>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    pub title: String,
    pub paper: String,
    pub finding: String,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    #[default]
    Paper,
    Beyond,
    Sensitivity,
}

type Table<T> = BTreeMap<Spanned<String>, T>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    pub name: Spanned<String>,
    pub title: String,
    #[serde(default)]
    pub place: String,
    pub file: Option<Spanned<String>>,
    #[serde(default)]
    pub kind: Kind,
    pub seeds: Option<Spanned<u32>>,
    #[serde(default)]
    pub set: Vec<String>,
    #[serde(default)]
    pub quick: Vec<String>,
    #[serde(default)]
    pub sweep: Table<Vec<Value>>,
    #[serde(default)]
    pub text: String,
    pub deviation: Option<Spanned<String>>,
    #[serde(default)]
    pub cases: Table<BTreeMap<String, Value>>,
    #[serde(default)]
    pub labels: Table<String>,
    #[serde(default)]
    pub measures: Table<Spanned<Measure>>,
    #[serde(default)]
    pub claim: Vec<Spanned<Claim>>,
    #[serde(default)]
    pub picture: Vec<Spanned<Picture>>,
    pub testbed: Option<Testbed>,
}

/// The part of an experiment that runs on real daemons.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Testbed {
    pub cases: Option<Vec<Spanned<String>>>,
    #[serde(default)]
    pub set: Vec<String>,
    #[serde(default)]
    pub cause: String,
}

/// A table that names its subject among other fields.
macro_rules! selecting {
    (
        $(#[doc = $about:literal])+
        pub struct $name:ident {
            $( $(#[$attribute:meta])* pub $field:ident: $type:ty, )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            pub flow: Option<String>,
            pub link: Option<String>,
            pub node: Option<String>,
            pub workload: Option<String>,
            #[serde(default)]
            pub network: bool,
            $( $(#[$attribute])* pub $field: $type, )+
        }

        impl $name {
            /// Its subject: kind and name.
            pub fn of(&self) -> Vec<(Subject, &str)> {
                let all = [
                    (Subject::Flow, &self.flow),
                    (Subject::Link, &self.link),
                    (Subject::Node, &self.node),
                    (Subject::Workload, &self.workload),
                ];
                let named = all.into_iter();
                let named = named.filter_map(|(subject, which)| Some((subject, which.as_deref()?)));
                named.chain(self.network.then_some((Subject::Network, "*"))).collect()
            }
        }
    };
}

selecting! {
    /// A measure.
    pub struct Measure {
        #[serde(default)]
        pub run: bool,
        pub value: Option<String>,
        pub series: Option<String>,
        pub from: Option<String>,
        pub to: Option<String>,
        pub take: Option<String>,
        pub over: Option<String>,
        pub target: Option<f64>,
        pub within: Option<String>,
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    pub id: Spanned<String>,
    #[serde(default)]
    pub kind: ClaimKind,
    pub what: String,
    #[serde(rename = "where")]
    pub place: String,
    pub measured: Option<Spanned<String>>,
    pub published: Option<Spanned<String>>,
    pub order: Option<Spanned<String>>,
    pub tolerance: Option<Spanned<String>>,
    #[serde(default)]
    pub reason: String,
    pub explained: Option<Spanned<String>>,
    pub off: Option<Spanned<String>>,
    pub found: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    Time,
    Cdf,
    Curve,
}

selecting! {
    /// A picture.
    pub struct Picture {
        pub id: Spanned<String>,
        pub kind: Form,
        pub title: Spanned<String>,
        pub series: Option<String>,
        pub measure: Option<Spanned<String>>,
        pub x: Option<Spanned<String>>,
        #[serde(default)]
        pub along: String,
        #[serde(default)]
        pub log: bool,
        #[serde(default)]
        pub share: bool,
        #[serde(default)]
        pub y: String,
        pub factor: Option<f64>,
        #[serde(default)]
        pub unit: String,
        pub cases: Option<Vec<Spanned<String>>>,
        #[serde(default)]
        pub marks: Vec<Mark>,
        #[serde(default)]
        pub points: Vec<Points>,
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    pub case: Option<Spanned<String>>,
    pub value: f64,
    pub label: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Points {
    #[serde(default)]
    pub line: String,
    pub label: String,
    pub at: Vec<(f64, f64)>,
}
