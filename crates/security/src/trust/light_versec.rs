//! Light VerSec models, as compiled by python-ndn: trust rules as a tree of names.
//!
//! From the root, an edge leads down for each component: a value, or a pattern with constraints. A
//! node lists the nodes with the names of the keys that may sign names ending there. Patterns have
//! the same values in the packet's name and in the key's.
//!
//! `ndn.app_support.light_versec` defines the format and its meaning; there are no older versions.

mod constraint;
mod error;
mod parse;

pub use error::ModelError;

use constraint::{Choice, Context};
use packet::NameRef;
use packet::tlv::types;

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
