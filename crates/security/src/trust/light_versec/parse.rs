//! Reading a compiled model.

use super::constraint::{Argument, Choice};
use super::error::ModelError;
use super::{LightVerSec, Node, Pattern};
use packet::tlv::{Element, Reader};

/// Types of the elements, those of `ndn.app_support.light_versec.binary.TypeNumber`.
mod numbers {
    pub const COMPONENT_VALUE: u64 = 0x21;
    pub const PATTERN_TAG: u64 = 0x23;
    pub const NODE_ID: u64 = 0x25;
    pub const USER_FN_ID: u64 = 0x27;
    pub const USER_FN_CALL: u64 = 0x31;
    pub const FN_ARGS: u64 = 0x33;
    pub const CONS_OPTION: u64 = 0x41;
    pub const CONSTRAINT: u64 = 0x43;
    pub const VALUE_EDGE: u64 = 0x51;
    pub const PATTERN_EDGE: u64 = 0x53;
    pub const KEY_NODE_ID: u64 = 0x55;
    pub const VERSION: u64 = 0x61;
    pub const NODE: u64 = 0x63;
    pub const NAMED_PATTERN_NUM: u64 = 0x69;
}

const VERSION: u64 = 0x0001_1000;

impl LightVerSec {
    /// Reads a model.
    pub fn decode(wire: &[u8]) -> Result<LightVerSec, ModelError> {
        let model = elements(wire)?;
        let version = number(&model, numbers::VERSION)?;
        if version != VERSION {
            return Err(ModelError::Version(version));
        }
        let of_nodes = all(&model, numbers::NODE);
        let nodes = of_nodes.enumerate().map(|(id, value)| node(id, value));
        let model = LightVerSec {
            nodes: nodes.collect::<Result<_, _>>()?,
            start: index(&model, numbers::NODE_ID)?,
            named: number(&model, numbers::NAMED_PATTERN_NUM)?,
        };
        model.check()?;
        Ok(model)
    }

    /// Every edge leads to an existing node further down that no other edge leads to, so the paths
    /// form a tree.
    fn check(&self) -> Result<(), ModelError> {
        let mut reached = vec![false; self.nodes.len()];
        reach(&mut reached, self.start)?;
        for node in &self.nodes {
            for (_, to) in &node.values {
                reach(&mut reached, *to)?;
            }
            for pattern in &node.patterns {
                reach(&mut reached, pattern.to)?;
            }
            if node.signers.iter().any(|signer| *signer >= self.nodes.len()) {
                return Err(ModelError::Shape("a node is signed by one that is not there"));
            }
        }
        Ok(())
    }
}

/// Follows an edge to a node that was not reached yet.
fn reach(reached: &mut [bool], node: usize) -> Result<(), ModelError> {
    let reached = reached.get_mut(node).ok_or(ModelError::Shape("an edge leads to no node"))?;
    if *reached {
        return Err(ModelError::Shape("two edges lead to one node"));
    }
    *reached = true;
    Ok(())
}

fn node(id: usize, value: &[u8]) -> Result<Node, ModelError> {
    let node = elements(value)?;
    if index(&node, numbers::NODE_ID)? != id {
        return Err(ModelError::Shape("its nodes are not in order"));
    }
    let values = all(&node, numbers::VALUE_EDGE).map(|value| {
        let edge = elements(value)?;
        Ok((bytes(&edge, numbers::COMPONENT_VALUE)?, index(&edge, numbers::NODE_ID)?))
    });
    let signers = node.iter().filter(|e| e.typ == numbers::KEY_NODE_ID);
    let signers = signers.map(|e| Ok(usize::try_from(e.nni()?).unwrap_or(usize::MAX)));
    Ok(Node {
        values: values.collect::<Result<_, ModelError>>()?,
        patterns: all(&node, numbers::PATTERN_EDGE).map(pattern).collect::<Result<_, _>>()?,
        signers: signers.collect::<Result<_, ModelError>>()?,
    })
}

fn pattern(value: &[u8]) -> Result<Pattern, ModelError> {
    let edge = elements(value)?;
    let constraints = all(&edge, numbers::CONSTRAINT).map(|value| {
        let options = elements(value)?;
        all(&options, numbers::CONS_OPTION).map(choice).collect()
    });
    Ok(Pattern {
        to: index(&edge, numbers::NODE_ID)?,
        tag: number(&edge, numbers::PATTERN_TAG)?,
        constraints: constraints.collect::<Result<_, ModelError>>()?,
    })
}

fn choice(value: &[u8]) -> Result<Choice, ModelError> {
    let option = elements(value)?;
    let [only] = option.as_slice() else {
        return Err(ModelError::Shape("an option of a constraint is not one thing"));
    };
    match only.typ {
        numbers::COMPONENT_VALUE => Ok(Choice::Value(only.value.to_vec())),
        numbers::PATTERN_TAG => Ok(Choice::Tag(only.nni()?)),
        numbers::USER_FN_CALL => call(only.value),
        _ => Err(ModelError::Shape("an option of a constraint is nothing known")),
    }
}

fn call(value: &[u8]) -> Result<Choice, ModelError> {
    let call = elements(value)?;
    let name = bytes(&call, numbers::USER_FN_ID)?;
    let type_only = match name.as_slice() {
        b"$eq" => false,
        b"$eq_type" => true,
        other => return Err(ModelError::Function(String::from_utf8_lossy(other).into_owned())),
    };
    let arguments = all(&call, numbers::FN_ARGS).map(|value| {
        let argument = elements(value)?;
        match number(&argument, numbers::PATTERN_TAG) {
            Ok(tag) => Ok(Argument::Tag(tag)),
            Err(_) => bytes(&argument, numbers::COMPONENT_VALUE).map(Argument::Value),
        }
    });
    Ok(Choice::Function(type_only, arguments.collect::<Result<_, ModelError>>()?))
}

fn elements(value: &[u8]) -> Result<Vec<Element<'_>>, ModelError> {
    let mut reader = Reader::new(value);
    let mut all = Vec::new();
    while let Some(element) = reader.next_element()? {
        all.push(element);
    }
    Ok(all)
}

fn all<'e>(elements: &'e [Element<'e>], typ: u64) -> impl Iterator<Item = &'e [u8]> {
    elements.iter().filter(move |element| element.typ == typ).map(|element| element.value)
}

fn number(elements: &[Element<'_>], typ: u64) -> Result<u64, ModelError> {
    let found = elements.iter().find(|element| element.typ == typ);
    let found = found.ok_or(ModelError::Shape("a number is missing"))?;
    Ok(found.nni()?)
}

fn index(elements: &[Element<'_>], typ: u64) -> Result<usize, ModelError> {
    Ok(usize::try_from(number(elements, typ)?).unwrap_or(usize::MAX))
}

fn bytes(elements: &[Element<'_>], typ: u64) -> Result<Vec<u8>, ModelError> {
    let found = all(elements, typ).next();
    found.map(<[u8]>::to_vec).ok_or(ModelError::Shape("a value is missing"))
}
