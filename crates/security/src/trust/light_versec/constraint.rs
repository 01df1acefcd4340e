//! The constraints of patterns.

use packet::tlv::{Element, Reader};
use std::collections::BTreeMap;

/// The values of tags, as encoded components.
pub type Context<'n> = BTreeMap<u64, &'n [u8]>;

/// An option of a constraint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    Value(Vec<u8>),
    Tag(u64),
    /// `$eq`, or with true `$eq_type`, which compares the types of components only.
    Function(bool, Vec<Argument>),
}

/// An argument of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Argument {
    Value(Vec<u8>),
    Tag(u64),
}

impl Choice {
    /// Returns `true` if a component meets it.
    pub fn holds(&self, component: &[u8], context: &Context<'_>) -> bool {
        match self {
            Choice::Value(value) => component == value,
            Choice::Tag(tag) => context.get(tag).is_some_and(|known| *known == component),
            Choice::Function(type_only, arguments) => arguments.iter().all(|argument| {
                let value = match argument {
                    Argument::Value(value) => Some(value.as_slice()),
                    Argument::Tag(tag) => context.get(tag).copied(),
                };
                value.is_some_and(|value| match type_only {
                    true => typ(value).is_some() && typ(value) == typ(component),
                    false => value == component,
                })
            }),
        }
    }
}

fn typ(component: &[u8]) -> Option<u64> {
    Reader::new(component).next_element().ok()?.map(|element: Element<'_>| element.typ)
}
