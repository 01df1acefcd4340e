//! The structure of a model, checked before anything of it is computed.

use crate::fault::Fault;
use crate::operators::{OPERATORS, Rule};
use crate::{limits, nesting};
use control::policy::OBSERVED;
use rten_onnx::onnx::{DataLocation, DataType, GraphProto, ModelProto, NodeProto, TensorProto};
use std::collections::{BTreeMap, BTreeSet};

/// An operator of a model.
pub struct Step {
    /// Its name.
    pub operator: String,
    rule: Rule,
    /// The names of its inputs. Omitted ones are left out.
    pub inputs: Vec<String>,
    /// The name of its result.
    pub output: String,
}

/// The size of a step.
pub struct Size {
    /// The most numbers of its result.
    pub numbers: usize,
    /// The most products, or other operations, that it takes.
    pub work: usize,
}

/// A model's operators in their order.
pub struct Graph {
    /// The name of the input.
    pub input: String,
    /// The input has a dimension for several observations.
    pub has_rows: bool,
    /// The name of the output.
    pub output: String,
    /// The shapes of constants, by their names.
    pub constants: BTreeMap<String, Vec<usize>>,
    /// The names of constants that are not floating-point numbers.
    pub integers: BTreeSet<String>,
    /// The operators.
    pub steps: Vec<Step>,
}

impl Graph {
    /// The graph of a file's content.
    pub fn read(bytes: &[u8]) -> Result<Graph, Fault> {
        if bytes.len() as u64 > limits::FILE {
            return Err(Fault::TooLarge);
        }
        nesting::check(bytes)?;
        let model = ModelProto::parse_buf(bytes);
        let model = model.map_err(|error| Fault::NotAModel(error.to_string()))?;
        let graph = model.graph.ok_or_else(|| Fault::NotAModel("it has no graph".to_owned()))?;
        if graph.node.len() > limits::OPERATORS {
            let what = format!("it has {} operators of {}", graph.node.len(), limits::OPERATORS);
            return Err(Fault::TooMuch(what));
        }
        let (mut constants, mut integers) = (BTreeMap::new(), BTreeSet::new());
        let mut steps = Vec::new();
        for tensor in &graph.initializer {
            let name = tensor.name.clone().unwrap_or_default();
            if !is_float(tensor) {
                integers.insert(name.clone());
            }
            constants.insert(name, shape(tensor)?);
        }
        for node in &graph.node {
            if node.op_type.as_deref() == Some("Constant") {
                let name = only_output(node)?;
                if !is_float_constant(node) {
                    integers.insert(name.clone());
                }
                constants.insert(name, shape_of_constant(node)?);
            }
        }
        for node in &graph.node {
            if node.op_type.as_deref() != Some("Constant") {
                steps.push(step(node, &constants)?);
            }
        }
        let mut made: BTreeSet<&str> = constants.keys().map(String::as_str).collect();
        if let Some(twice) = steps.iter().find(|step| !made.insert(&step.output)) {
            return Err(Fault::NotAModel(format!("`{}` is computed twice", twice.output)));
        }
        let (input, has_rows) = input(&graph, &constants)?;
        if made.contains(input.as_str()) {
            return Err(Fault::NotAModel(format!("`{input}` is an input and computed")));
        }
        let output = output(&graph)?;
        if !steps.iter().any(|step| step.output == output) {
            return Err(Fault::Form(format!("no operator computes its output `{output}`")));
        }
        Ok(Graph { input, has_rows, output, constants, integers, steps })
    }
}

/// The input that is no constant, and whether it has a dimension for several observations.
fn input(
    graph: &GraphProto,
    constants: &BTreeMap<String, Vec<usize>>,
) -> Result<(String, bool), Fault> {
    // Older files list constants among the inputs.
    let mut given = Vec::new();
    for value in &graph.input {
        let name = value.name.clone().unwrap_or_default();
        if !constants.contains_key(&name) {
            given.push((name, value));
        }
    }
    let [(name, value)] = given.as_slice() else {
        return Err(Fault::Form(format!("it has {} inputs", given.len())));
    };
    let of = value.r#type.as_ref().and_then(|kind| kind.tensor_type.as_ref());
    if of.and_then(|of| of.elem_type) != Some(DataType::FLOAT) {
        return Err(Fault::Form("its input is not a float tensor".to_owned()));
    }
    let shape = of.and_then(|of| of.shape.as_ref());
    // A dimension without a number is for any number of observations.
    let dims = shape.map(|shape| shape.dim.iter().map(|dim| dim.dim_value).collect::<Vec<_>>());
    let count = OBSERVED.len() as i64;
    match dims.as_deref() {
        Some([None | Some(1), Some(numbers)]) if *numbers == count => Ok((name.clone(), true)),
        Some([Some(numbers)]) if *numbers == count => Ok((name.clone(), false)),
        Some(dims) => {
            let dims: Vec<String> =
                dims.iter().map(|dim| dim.map_or("?".to_owned(), |dim| dim.to_string())).collect();
            Err(Fault::Form(format!("its input is {} numbers", dims.join(" by "))))
        }
        None => Err(Fault::Form("its input has no shape".to_owned())),
    }
}

fn output(graph: &GraphProto) -> Result<String, Fault> {
    match graph.output.as_slice() {
        [value] => Ok(value.name.clone().unwrap_or_default()),
        all => Err(Fault::Form(format!("it has {} outputs", all.len()))),
    }
}

fn only_output(node: &NodeProto) -> Result<String, Fault> {
    match node.output.as_slice() {
        [name] if !name.is_empty() => Ok(name.clone()),
        _ => {
            let operator = node.op_type.clone().unwrap_or_default();
            Err(Fault::Operator(format!("{operator} with {} results", node.output.len())))
        }
    }
}

fn step(node: &NodeProto, constants: &BTreeMap<String, Vec<usize>>) -> Result<Step, Fault> {
    let operator = node.op_type.clone().unwrap_or_default();
    let domain = node.domain.as_deref().unwrap_or_default();
    let found = OPERATORS.iter().find(|(_, names)| names.contains(&operator.as_str()));
    let Some((rule, _)) = found.filter(|_| matches!(domain, "" | "ai.onnx")) else {
        let place = if domain.is_empty() { String::new() } else { format!("{domain}.") };
        return Err(Fault::Operator(format!("{place}{operator}")));
    };
    let inputs = node.input.iter().filter(|name| !name.is_empty());
    if *rule == Rule::First
        && let Some(setting) = inputs.clone().skip(1).find(|name| !constants.contains_key(*name))
    {
        let what = format!("`{setting}` of `{operator}` is computed, and must be a constant");
        return Err(Fault::Computation(what));
    }
    let inputs: Vec<_> = inputs.cloned().collect();
    Ok(Step { operator, rule: *rule, inputs, output: only_output(node)? })
}

/// The shape of a constant, whose numbers are in the file.
fn shape(tensor: &TensorProto) -> Result<Vec<usize>, Fault> {
    let name = tensor.name.as_deref().unwrap_or_default();
    if tensor.data_location == Some(DataLocation::EXTERNAL) || !tensor.external_data.is_empty() {
        let what = format!("the numbers of `{name}` are in another file");
        return Err(Fault::NotAModel(what));
    }
    let known =
        [DataType::FLOAT, DataType::DOUBLE, DataType::INT32, DataType::INT64, DataType::BOOL];
    if !tensor.data_type.is_some_and(|of| known.contains(&of)) {
        return Err(Fault::NotAModel(format!("`{name}` has numbers of another kind")));
    }
    let dims = tensor.dims.iter().map(|dim| usize::try_from(*dim).ok());
    let dims = dims.collect::<Option<Vec<_>>>().filter(|dims| dims.len() <= limits::DIMENSIONS);
    let count = dims.as_deref().and_then(product).filter(|count| *count as u64 <= limits::FILE);
    match (dims, count) {
        (Some(dims), Some(_)) => Ok(dims),
        _ => Err(Fault::TooMuch(format!("the shape of `{name}` is {:?}", tensor.dims))),
    }
}

fn is_float(tensor: &TensorProto) -> bool {
    matches!(tensor.data_type, Some(DataType::FLOAT | DataType::DOUBLE))
}

fn is_float_constant(node: &NodeProto) -> bool {
    node.attribute.iter().all(|value| match value.name.as_deref() {
        Some("value_float" | "value_floats") => true,
        _ => value.t.as_ref().is_some_and(is_float),
    })
}

fn shape_of_constant(node: &NodeProto) -> Result<Vec<usize>, Fault> {
    let [value] = node.attribute.as_slice() else {
        let what = format!("a constant has {} values", node.attribute.len());
        return Err(Fault::NotAModel(what));
    };
    match (value.name.as_deref(), &value.t) {
        (Some("value"), Some(tensor)) => shape(tensor),
        (Some("value_float" | "value_int"), _) => Ok(Vec::new()),
        (Some("value_floats"), _) => Ok(vec![value.floats.len()]),
        (Some("value_ints"), _) => Ok(vec![value.ints.len()]),
        _ => Err(Fault::Operator("Constant without a tensor".to_owned())),
    }
}

fn product(dims: &[usize]) -> Option<usize> {
    dims.iter().try_fold(1_usize, |product, dim| product.checked_mul(*dim))
}

impl Step {
    /// The size of the step, from the shapes of its inputs.
    pub fn size(&self, shapes: &[Vec<usize>]) -> Result<Size, Fault> {
        let numbers: Vec<usize> = shapes.iter().map(|dims| product(dims).unwrap_or(0)).collect();
        let sum = numbers.iter().fold(0_usize, |sum, one| sum.saturating_add(*one));
        let first = numbers.first().copied().unwrap_or(0);
        Ok(match self.rule {
            Rule::First => Size { numbers: first, work: sum },
            Rule::Joined => Size { numbers: sum, work: sum },
            Rule::Chosen => {
                let count = first.saturating_mul(numbers.get(1).copied().unwrap_or(0));
                Size { numbers: count, work: count }
            }
            Rule::Each => {
                let rank = shapes.iter().map(Vec::len).max().unwrap_or(0);
                // The longest of each dimension, from the last one on.
                let mut dims = Vec::new();
                for at in 0..rank {
                    let own = shapes.iter().filter_map(|dims| dims.iter().rev().nth(at).copied());
                    dims.push(own.max().unwrap_or(1));
                }
                let count = product(&dims).unwrap_or(usize::MAX);
                Size { numbers: count, work: count.saturating_mul(shapes.len().max(1)) }
            }
            Rule::Product => {
                if shapes.iter().any(|dims| dims.len() > 2) {
                    let what = format!("`{}` of values that are not matrices", self.operator);
                    return Err(Fault::Operator(what));
                }
                // Either may be transposed.
                let [rows, columns] = [0, 1].map(|at| {
                    shapes.get(at).and_then(|dims| dims.iter().copied().max()).unwrap_or(1)
                });
                let numbers = rows.saturating_mul(columns);
                Size { numbers, work: first.saturating_mul(columns) }
            }
        })
    }
}
