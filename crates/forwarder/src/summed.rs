//! The declaration of counters that are summed.

/// Declares counters. `+=` adds those of another face, or of an earlier run of the node.
macro_rules! counters {
    (
        $(#[$about:meta])+
        pub struct $name:ident { $($(#[$help:meta])+ pub $field:ident: $type:ty,)+ }
    ) => {
        $(#[$about])+
        #[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
        pub struct $name { $($(#[$help])+ pub $field: $type,)+ }

        impl std::ops::AddAssign<&$name> for $name {
            fn add_assign(&mut self, other: &$name) {
                $(self.$field += &other.$field;)+
            }
        }
    };
}

pub(crate) use counters;
