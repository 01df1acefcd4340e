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
/// fields that are younger than it.
macro_rules! record {
    (
        $(#[doc = $about:literal])+
        pub struct $name:ident {
            $( $(#[doc = $help:literal])+ pub $field:ident: $type:ty, )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
        #[serde(default)]
        pub struct $name {
            $( $(#[doc = $help])+ pub $field: $type, )+
        }

        impl $name {
            /// Its fields, in their order.
            pub const FIELDS: &'static [$crate::result::Field] = &[
                $( $crate::result::Field {
                    name: stringify!($field),
                    help: concat!($($help),+),
                    kind: <$type as $crate::result::Held>::KIND,
                    optional: <$type as $crate::result::Held>::OPTIONAL,
                }, )+
            ];

            /// The values of its fields, in their order.
            #[must_use]
            pub fn values(&self) -> Vec<$crate::result::Value> {
                vec![ $( $crate::result::Held::value(&self.$field), )+ ]
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
