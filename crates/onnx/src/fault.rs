//! Faults of models.

use crate::limits;
use crate::operators::known;
use thiserror::Error;

/// A fault of a model.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// It has too many bytes.
    #[error("it has more than {} bytes; a policy is small, train a smaller one", limits::FILE)]
    TooLarge,
    /// It is another kind of file, or a damaged one.
    #[error("it is not an ONNX model ({0}); export the policy again")]
    NotAModel(String),
    /// An operator that is not evaluated.
    #[error("`{0}` is not among the operators that are evaluated: {all}", all = known())]
    Operator(String),
    /// Its input or its output is another one.
    #[error("{0}; the input is a float tensor of 1 by 8, the output one of 1 by 1")]
    Form(String),
    /// A value of the model, or their number, is too large.
    #[error("{0}; train a smaller policy")]
    TooMuch(String),
    /// It cannot be computed.
    #[error("it cannot be computed: {0}; export the policy again")]
    Computation(String),
}
