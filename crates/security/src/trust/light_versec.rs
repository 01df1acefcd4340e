//! Light VerSec models, as compiled by python-ndn: trust rules as a tree of names.
//!
//! From the root, an edge leads down for each component: a value, or a pattern with constraints. A
//! node lists the nodes with the names of the keys that may sign names ending there. Patterns have
//! the same values in the packet's name and in the key's.
//!
//! `ndn.app_support.light_versec` defines the format and its meaning; there are no older versions.

use std::collections::BTreeMap;

use packet::tlv::{Element, Reader, types};
use packet::{Fault, NameRef};

mod parse;

/// A model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LightVerSec {
    nodes: Vec<Node>,
    start: usize,
    /// Tags above this one store nothing.
    named: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Node {
    values: Vec<(Vec<u8>, usize)>,
    patterns: Vec<Pattern>,
    signers: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    to: usize,
    tag: u64,
    /// All of these must hold, each by one of its options.
    constraints: Vec<Vec<Choice>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Choice {
    Value(Vec<u8>),
    Tag(u64),
    /// `$eq`, or with true `$eq_type`, which compares the types of components only.
    Function(bool, Vec<Argument>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Argument {
    Value(Vec<u8>),
    Tag(u64),
}

/// Why bytes are no model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Its TLV is broken.
    #[error("it is not a compiled Light VerSec model: {0}")]
    Tlv(#[from] Fault),
    /// Something is missing, or too much.
    #[error("it is not a compiled Light VerSec model: {0}")]
    Shape(&'static str),
    /// An unknown version.
    #[error("it is a Light VerSec model of version {0:#x}; version 0x11000 is known")]
    Version(u64),
    /// A call of an unknown function.
    #[error("it calls the function {0}, which is not known here; $eq and $eq_type are")]
    Function(String),
}

/// The values of tags, as encoded components.
type Context<'n> = BTreeMap<u64, &'n [u8]>;

impl LightVerSec {
    /// True if a packet named `packet` may be signed by a key with a certificate named
    /// `certificate`.
    #[must_use]
    pub fn allows(&self, packet: NameRef<'_>, certificate: NameRef<'_>) -> bool {
        let (packet, certificate) = (components(packet), components(certificate));
        self.walk(self.start, &packet, &mut Context::new(), &mut |node, context| {
            let signers = &self.nodes[node].signers;
            self.walk(self.start, &certificate, context, &mut |key, _| signers.contains(&key))
        })
    }

    /// Calls `found` with the last node of each path with these components, until it returns true.
    /// Paths in a tree are at most as many as its nodes.
    fn walk<'n>(
        &self,
        node: usize,
        rest: &[&'n [u8]],
        context: &mut Context<'n>,
        found: &mut dyn FnMut(usize, &mut Context<'n>) -> bool,
    ) -> bool {
        let Some((first, rest)) = rest.split_first() else { return found(node, context) };
        let Some(Node { values, patterns, .. }) = self.nodes.get(node) else { return false };
        let value = values.iter().find(|(value, _)| value == first);
        if value.is_some_and(|(_, to)| self.walk(*to, rest, context, found)) {
            return true;
        }
        patterns.iter().any(|pattern| match context.get(&pattern.tag).copied() {
            Some(before) if before != *first => false,
            Some(_) => self.walk(pattern.to, rest, context, found),
            None if !pattern.holds(first, context) => false,
            None if pattern.tag > self.named => self.walk(pattern.to, rest, context, found),
            None => {
                context.insert(pattern.tag, first);
                let is_found = self.walk(pattern.to, rest, context, found);
                context.remove(&pattern.tag);
                is_found
            }
        })
    }
}

impl Pattern {
    fn holds(&self, component: &[u8], context: &Context<'_>) -> bool {
        let mut constraints = self.constraints.iter();
        constraints.all(|options| options.iter().any(|option| option.holds(component, context)))
    }
}

impl Choice {
    fn holds(&self, component: &[u8], context: &Context<'_>) -> bool {
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

/// The components as they are encoded, without an implicit digest.
fn components(name: NameRef<'_>) -> Vec<&[u8]> {
    let name = match name.last() {
        Some(last) if last.typ() == types::IMPLICIT_DIGEST => name.parent(),
        _ => name,
    };
    let ends = std::iter::once(0).chain(name.prefix_ends()).collect::<Vec<_>>();
    ends.windows(2).map(|ends| &name.as_bytes()[ends[0]..ends[1]]).collect()
}

#[cfg(test)]
mod tests;
