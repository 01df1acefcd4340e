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

pub(crate) use counters;
