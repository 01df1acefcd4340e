//! The declaration of counters that are summed.

/// Declares counters that are summed, and read from JSON.
macro_rules! counters {
    (
        $(#[$about:meta])+
        pub struct $name:ident { $($fields:tt)+ }
    ) => {
        control::summed! {
            $(#[$about])+
            #[derive(serde::Serialize, serde::Deserialize)]
            #[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
            pub struct $name { $($fields)+ }
        }
    };
}

/// Declares counters, and a part of them that results take over: a count in the `part` is a field
/// of the struct, where the pipeline counts, and a field of the part, under the same name.
macro_rules! with_part {
    (
        $declare:ident!
        $(#[$about:meta])+
        pub struct $whole:ident {
            $($(#[$before_help:meta])+ pub $before:ident: $before_type:ty,)+
            part $part:ident = $meaning:literal {
                $($(#[doc = $help:literal])+ pub $count:ident: u64,)+
            }
            $($(#[$after_help:meta])+ pub $after:ident: $after_type:ty,)+
        }
    ) => {
        $declare! {
            $(#[$about])+
            pub struct $whole {
                $($(#[$before_help])+ pub $before: $before_type,)+
                $($(#[doc = $help])+ pub $count: u64,)+
                $($(#[$after_help])+ pub $after: $after_type,)+
            }
        }

        control::listed! {
            #[doc = $meaning]
            #[derive(Copy, serde::Serialize, serde::Deserialize)]
            #[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
            #[serde(default)]
            pub struct $part { $($(#[doc = $help])+ pub $count: u64,)+ }
        }

        impl From<&$whole> for $part {
            fn from(counters: &$whole) -> $part {
                $part { $($count: counters.$count,)+ }
            }
        }
    };
}

pub(crate) use {counters, with_part};
