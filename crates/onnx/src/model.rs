//! A model that computes actions.

use crate::fault::Fault;
use crate::guard::{Graph, Step};
use crate::{limits, thread};
use control::{Observation, Policy};
use rten::{ModelOptions, NodeId, RunOptions, Value, ValueOrView, op_registry};
use rten_tensor::prelude::*;
use rten_tensor::{NdTensor, Tensor};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A usual observation: a model computes its action before it is used.
const USUAL: Observation = [10.0, 5.0, 25.0, 20.0, 10.0, 0.0, 0.0, 1.0];

/// A policy from an ONNX file.
pub struct Model {
    bytes: Vec<u8>,
    model: rten::Model,
    input: NodeId,
    /// The input has a dimension for several observations.
    has_rows: bool,
    output: NodeId,
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("bytes", &self.bytes.len()).finish_non_exhaustive()
    }
}

/// The operators that are evaluated. [`crate::guard`] knows the sizes of their results.
fn options() -> ModelOptions {
    let operators = op_registry!(
        Abs,
        Add,
        And,
        Cast,
        Clip,
        Concat,
        Div,
        Elu,
        Equal,
        Erf,
        Exp,
        Flatten,
        Floor,
        Gather,
        Gelu,
        Gemm,
        Greater,
        GreaterOrEqual,
        HardSigmoid,
        HardSwish,
        Identity,
        LayerNormalization,
        LeakyRelu,
        Less,
        LessOrEqual,
        Log,
        MatMul,
        Max,
        Mean,
        Min,
        Mul,
        Neg,
        Not,
        Or,
        Pow,
        Reciprocal,
        ReduceMax,
        ReduceMean,
        ReduceMin,
        ReduceSum,
        Relu,
        Reshape,
        Round,
        Sigmoid,
        Sign,
        Slice,
        Softmax,
        Softplus,
        Sqrt,
        Squeeze,
        Sub,
        Sum,
        Tanh,
        Transpose,
        Unsqueeze,
        Where
    );
    let mut options = ModelOptions::with_ops(operators);
    // An optimisation computes constants, before anything is known about their size.
    options.enable_optimization(false);
    options
}

/// A library that panics has met a model that it does not take.
fn guarded<T>(call: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(call))
        .unwrap_or_else(|_| Err(Fault::Computation("its evaluation failed".to_owned())))
}

impl Model {
    /// A model with this content, checked.
    ///
    /// # Errors
    /// A [`Fault`].
    pub fn new(bytes: &[u8]) -> Result<Model, Fault> {
        guarded(|| {
            let graph = Graph::read(bytes)?;
            let loaded = options().load(bytes.to_vec());
            let model = loaded.map_err(|error| Fault::NotAModel(error.to_string()))?;
            let (input, output) = (id(&model, &graph.input)?, id(&model, &graph.output)?);
            let has_rows = graph.has_rows;
            let model = Model { bytes: bytes.to_vec(), model, input, has_rows, output };
            model.try_out(&graph)?;
            Ok(model)
        })
    }

    /// True if this is its content.
    pub(crate) fn is(&self, bytes: &[u8]) -> bool {
        self.bytes == bytes
    }

    /// Computes the operators one after the other. The size of a value is known from those of
    /// earlier ones before it is computed.
    fn try_out(&self, graph: &Graph) -> Result<(), Fault> {
        let mut values: BTreeMap<&str, Value> = BTreeMap::new();
        values.insert(&graph.input, self.input_of(&USUAL));
        let mut work = 0_usize;
        for step in &graph.steps {
            let shapes = self.shapes(step, graph, &values)?;
            let size = step.size(&shapes)?;
            work = work.saturating_add(size.work);
            if size.numbers > limits::NUMBERS || work > limits::WORK {
                let what = format!("`{}` computes too many numbers", step.operator);
                return Err(Fault::TooMuch(what));
            }
            // With a divisor of 0, which a later observation may bring, the library panics.
            let has_integers = step.inputs.iter().any(|name| {
                let made = values.get(name.as_str());
                let is_other = made.is_some_and(|value| !matches!(value, Value::FloatTensor(_)));
                is_other || graph.integers.contains(name)
            });
            if step.operator == "Div" && has_integers {
                return Err(Fault::Operator("Div of integers".to_owned()));
            }
            // A value that is two inputs is given once.
            let names: BTreeSet<&str> = step.inputs.iter().map(String::as_str).collect();
            let inputs = names.into_iter().filter_map(|name| values.get_key_value(name));
            let inputs = inputs.map(|(name, value)| Ok((self.id(name)?, value.into())));
            let inputs = inputs.collect::<Result<Vec<_>, Fault>>()?;
            let value = self.run(inputs, self.id(&step.output)?).map_err(|fault| {
                // The library calls an operator by its name in the file, which few have.
                Fault::Computation(format!("`{}` of `{}`: {fault}", step.operator, step.output))
            })?;
            if value.as_view().shape().len() > limits::DIMENSIONS {
                let what = format!("`{}` makes too many dimensions", step.operator);
                return Err(Fault::TooMuch(what));
            }
            values.insert(&step.output, value);
        }
        let action = values.remove(graph.output.as_str()).and_then(number);
        match action {
            Some(action) if action.is_finite() => Ok(()),
            Some(action) => Err(Fault::Computation(format!("its action is {action}"))),
            None => Err(Fault::Form("its output is not one number".to_owned())),
        }
    }

    /// The shapes of the inputs of a step.
    fn shapes(
        &self,
        step: &Step,
        graph: &Graph,
        values: &BTreeMap<&str, Value>,
    ) -> Result<Vec<Vec<usize>>, Fault> {
        let mut shapes = Vec::new();
        for name in &step.inputs {
            shapes.push(match (values.get(name.as_str()), graph.constants.get(name)) {
                (Some(value), _) => value.as_view().shape().to_vec(),
                (None, Some(shape)) => shape.clone(),
                (None, None) => {
                    let what = format!("`{name}` is used before it is computed");
                    return Err(Fault::NotAModel(what));
                }
            });
        }
        Ok(shapes)
    }

    fn id(&self, name: &str) -> Result<NodeId, Fault> {
        self.model.node_id(name).map_err(|error| Fault::NotAModel(error.to_string()))
    }

    fn input_of(&self, seen: &Observation) -> Value {
        let numbers = seen.map(|number| number as f32);
        if self.has_rows {
            NdTensor::from_data([1, numbers.len()], numbers.to_vec()).into()
        } else {
            Tensor::from_data(&[numbers.len()], numbers.to_vec()).into()
        }
    }

    fn run(&self, inputs: Vec<(NodeId, ValueOrView<'_>)>, of: NodeId) -> Result<Value, String> {
        let options = RunOptions::default().with_thread_pool(Some(thread::evaluating()));
        let found = self.model.run_n(inputs, [of], Some(options));
        found.map(|[value]| value).map_err(|error| error.to_string())
    }
}

fn id(model: &rten::Model, name: &str) -> Result<NodeId, Fault> {
    model.node_id(name).map_err(|_| Fault::NotAModel(format!("there is no value `{name}`")))
}

/// The only number of a value.
fn number(value: Value) -> Option<f64> {
    let numbers: Tensor<f32> = value.try_into().ok()?;
    match numbers.to_vec().as_slice() {
        [number] => Some(f64::from(*number)),
        _ => None,
    }
}

impl Policy for Model {
    fn action(&self, seen: &Observation) -> Option<f64> {
        let inputs = vec![(self.input, self.input_of(seen).into())];
        guarded(|| self.run(inputs, self.output).map_err(Fault::Computation)).ok().and_then(number)
    }
}
