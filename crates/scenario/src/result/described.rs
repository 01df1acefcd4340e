//! Records that say what they hold: a field's name, type and meaning stand once, and JSON, Parquet
//! and the manual come from there.

use serde::{Deserialize, Serialize};

/// A field of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name, with the unit at its end.
    pub name: &'static str,
    /// Its meaning.
    pub help: &'static str,
    /// Its type.
    pub kind: Kind,
    /// It may hold nothing.
    pub optional: bool,
}

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A text.
    Text,
    /// A whole number.
    Count,
    /// A number.
    Number,
    /// Yes or no.
    Switch,
}

/// A field's value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Value {
    /// Nothing: it does not apply.
    Nothing,
    /// Yes or no.
    Switch(bool),
    /// A whole number.
    Count(u64),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
}

impl Field {
    /// A field of this type.
    pub(super) const fn of<T: Held>(name: &'static str, help: &'static str) -> Field {
        Field { name, help, kind: T::KIND, optional: T::OPTIONAL }
    }
}

/// The fields with these names and meanings, all of them counts.
pub(super) const fn counts<const N: usize>(named: &[(&'static str, &'static str)]) -> [Field; N] {
    let mut fields = [Field::of::<u64>("", ""); N];
    let mut at = 0;
    while at < N {
        let (name, help) = named[at];
        fields[at] = Field::of::<u64>(name, help);
        at += 1;
    }
    fields
}

/// The number of fields in all of these groups.
pub(super) const fn length(groups: &[&[Field]]) -> usize {
    let (mut sum, mut at) = (0, 0);
    while at < groups.len() {
        sum += groups[at].len();
        at += 1;
    }
    sum
}

/// The fields of these groups, one group after the other.
pub(super) const fn joined<const N: usize>(groups: &[&[Field]]) -> [Field; N] {
    let mut fields = [Field::of::<u64>("", ""); N];
    let (mut filled, mut group) = (0, 0);
    while group < groups.len() {
        let mut at = 0;
        while at < groups[group].len() {
            fields[filled] = groups[group][at];
            (filled, at) = (filled + 1, at + 1);
        }
        group += 1;
    }
    fields
}

/// Types that a field may have.
pub trait Held {
    /// The type in the manual.
    const KIND: Kind;
    /// It may hold nothing.
    const OPTIONAL: bool = false;

    /// Its value.
    fn value(&self) -> Value;
}

impl Held for String {
    const KIND: Kind = Kind::Text;

    fn value(&self) -> Value {
        Value::Text(self.clone())
    }
}

impl Held for u64 {
    const KIND: Kind = Kind::Count;

    fn value(&self) -> Value {
        Value::Count(*self)
    }
}

impl Held for f64 {
    const KIND: Kind = Kind::Number;

    fn value(&self) -> Value {
        Value::Number(*self)
    }
}

impl Held for bool {
    const KIND: Kind = Kind::Switch;

    fn value(&self) -> Value {
        Value::Switch(*self)
    }
}

impl<T: Held> Held for Option<T> {
    const KIND: Kind = T::KIND;
    const OPTIONAL: bool = true;

    fn value(&self) -> Value {
        self.as_ref().map_or(Value::Nothing, Held::value)
    }
}

/// Declares a record: a struct whose fields are described by their doc comments. A file may lack
/// fields that are younger than it. The counts of a `part` are fields of the record in files and
/// tables; the part describes them.
macro_rules! record {
    (
        $(#[doc = $about:literal])+
        pub struct $name:ident {
            $( $(#[doc = $help:literal])+ pub $field:ident: $type:ty, )+
            $(
                part $part:ident: $counts:ty,
                $( $(#[doc = $rest_help:literal])+ pub $rest:ident: $rest_type:ty, )+
            )?
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
        #[serde(default)]
        pub struct $name {
            $( $(#[doc = $help])+ pub $field: $type, )+
            $(
                /// Counts, which are fields of the record in files and tables.
                #[serde(flatten)]
                pub $part: $counts,
                $( $(#[doc = $rest_help])+ pub $rest: $rest_type, )+
            )?
        }

        impl $name {
            /// Its fields, in their order.
            pub const FIELDS: &'static [$crate::result::Field] = {
                use $crate::result::described::{self, Field};
                const GROUPS: &[&[Field]] = &[
                    &[ $( Field::of::<$type>(stringify!($field), concat!($($help),+)), )+ ],
                    $(
                        &described::counts::<{ <$counts>::COUNTS.len() }>(<$counts>::COUNTS),
                        &[ $( Field::of::<$rest_type>(
                            stringify!($rest),
                            concat!($($rest_help),+),
                        ), )+ ],
                    )?
                ];
                &described::joined::<{ described::length(GROUPS) }>(GROUPS)
            };

            /// The values of its fields, in their order.
            #[must_use]
            pub fn values(&self) -> Vec<$crate::result::Value> {
                use $crate::result::Held;
                let values = vec![ $( Held::value(&self.$field), )+ ];
                $(
                    let mut values = values;
                    values.extend(self.$part.values().map($crate::result::Value::Count));
                    values.extend([ $( Held::value(&self.$rest), )+ ]);
                )?
                values
            }
        }
    };
}

pub(crate) use record;

#[cfg(test)]
mod tests {
    use super::*;

    record! {
        /// A thing.
        pub struct Thing {
            /// Its name,
            /// all of it.
            pub name: String,
            /// How long it took.
            pub taken_s: Option<f64>,
        }
    }

    record! {
        /// A link.
        pub struct Marking {
            /// Its name.
            pub name: String,
            part counters: record::LinkCounters,
            /// How long it took.
            pub taken_s: Option<f64>,
        }
    }

    #[test]
    fn the_counts_of_a_part_are_fields_of_the_record() {
        let names: Vec<&str> = Marking::FIELDS.iter().map(|field| field.name).collect();
        let counts: Vec<&str> = record::LinkCounters::COUNTS.iter().map(|one| one.0).collect();
        assert_eq!(names, [&["name"], &*counts, &["taken_s"]].concat());
        let text = r#"{"name":"x","marked":3,"taken_s":0.5}"#;
        let marking: Marking = serde_json::from_str(text).unwrap();
        assert_eq!(marking.counters.marked, 3);
        assert_eq!(marking.values()[1], Value::Count(3));
        assert_eq!(marking.values().len(), names.len());
        assert_eq!(serde_json::to_string(&marking).unwrap(), text);
        assert_eq!(serde_json::from_str::<Marking>("{}").unwrap(), Marking::default());
    }

    #[test]
    fn a_record_lists_its_fields() {
        let field = |name, help, kind, optional| Field { name, help, kind, optional };
        let name = field("name", " Its name, all of it.", Kind::Text, false);
        let taken = field("taken_s", " How long it took.", Kind::Number, true);
        assert_eq!(Thing::FIELDS, [name, taken]);
        let thing = Thing { name: "x".into(), taken_s: None };
        assert_eq!(thing.values(), [Value::Text("x".into()), Value::Nothing]);
        let read: Thing = serde_json::from_str(r#"{"name": "x", "younger": 1}"#).unwrap();
        assert_eq!(read, thing);
    }
}
