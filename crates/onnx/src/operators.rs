//! The operators that are evaluated.

use std::collections::BTreeSet;

/// How the size of a result follows from the sizes of the inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Number by number, smaller inputs repeated.
    Each,
    /// A product of matrices.
    Product,
    /// The inputs behind each other.
    Joined,
    /// Parts of the first input, as often as the second has numbers.
    Chosen,
    /// No more than the first input. The others are settings.
    First,
}

/// The operators that are evaluated.
pub const OPERATORS: &[(Rule, &[&str])] = &[
    (
        Rule::Each,
        &[
            "Abs",
            "Add",
            "And",
            "Cast",
            "Clip",
            "Div",
            "Elu",
            "Equal",
            "Erf",
            "Exp",
            "Floor",
            "Gelu",
            "Greater",
            "GreaterOrEqual",
            "HardSigmoid",
            "HardSwish",
            "Identity",
            "LayerNormalization",
            "LeakyRelu",
            "Less",
            "LessOrEqual",
            "Log",
            "Max",
            "Mean",
            "Min",
            "Mul",
            "Neg",
            "Not",
            "Or",
            "Pow",
            "Reciprocal",
            "Relu",
            "Round",
            "Sigmoid",
            "Sign",
            "Softmax",
            "Softplus",
            "Sqrt",
            "Sub",
            "Sum",
            "Tanh",
            "Where",
        ],
    ),
    (Rule::Product, &["Gemm", "MatMul"]),
    (Rule::Joined, &["Concat"]),
    (Rule::Chosen, &["Gather"]),
    (
        Rule::First,
        &[
            "Flatten",
            "ReduceMax",
            "ReduceMean",
            "ReduceMin",
            "ReduceSum",
            "Reshape",
            "Slice",
            "Squeeze",
            "Transpose",
            "Unsqueeze",
        ],
    ),
];

/// The operators, for messages.
pub fn known() -> String {
    let all = OPERATORS.iter().flat_map(|(_, names)| names.iter().copied());
    all.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
}
