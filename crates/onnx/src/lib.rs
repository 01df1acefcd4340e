//! Policies from ONNX files: read, checked and evaluated.
//!
//! A model has one input, the observation of `control::observation` as a float tensor of 1 by 8 or
//! of 8, and one output, the action as a float tensor with one element. Any user may have made it:
//! its size, its operators and the size of each of its values are limited before anything is
//! computed ([`limits`]).
//!
//! The evaluation is `rten`'s, in one thread. Its results are the same for the same processor; on
//! another one they may differ in their last bits, as it has other vector instructions.
#![forbid(unsafe_code)]

mod fault;
mod guard;
pub mod limits;
mod model;
mod nesting;
mod operators;
mod thread;

pub use fault::Fault;
pub use model::Model;

use control::Policy;
use schemes::{Choice, ChoiceError};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use thiserror::Error;

/// Why a file is no policy.
#[derive(Debug, Error)]
pub enum ModelError {
    /// The file cannot be read.
    #[error("cannot read the model `{path}`: {error}")]
    Read {
        /// Its path.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// It is read, and is no policy.
    #[error("the model `{path}`: {fault}")]
    Fault {
        /// Its path.
        path: String,
        /// Why.
        fault: Fault,
    },
    /// The scheme does not take the path.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
}

/// The models that are in use: a scenario may name one many times.
static KNOWN: Mutex<Vec<Weak<Model>>> = Mutex::new(Vec::new());

/// The policy with this content.
///
/// # Errors
/// A [`Fault`]; nothing of the model is computed before its size is known.
pub fn policy(bytes: &[u8]) -> Result<Arc<Model>, Fault> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.retain(|model| model.strong_count() > 0);
    if let Some(model) = known.iter().filter_map(Weak::upgrade).find(|model| model.is(bytes)) {
        return Ok(model);
    }
    let model = Arc::new(Model::new(bytes)?);
    known.push(Arc::downgrade(&model));
    Ok(model)
}

/// Reads the file that a choice names, relative to a folder. The path of the choice is absolute
/// then. A choice without a file is left as it is.
///
/// # Errors
/// The file cannot be read or is no policy.
pub fn load(choice: &mut Choice, folder: &Path) -> Result<(), ModelError> {
    let Some((name, given)) = choice.unread() else { return Ok(()) };
    let (path, bytes) = read(&folder.join(given))
        .map_err(|error| ModelError::Read { path: given.to_owned(), error })?;
    let policy: Arc<dyn Policy> =
        policy(&bytes).map_err(|fault| ModelError::Fault { path: given.to_owned(), fault })?;
    choice.set(name, &path.display().to_string())?;
    choice.adopt(policy);
    Ok(())
}

/// The absolute path of a file and its content.
fn read(path: &Path) -> io::Result<(PathBuf, Vec<u8>)> {
    let path = std::path::absolute(path)?;
    let file = File::open(&path)?;
    // Of a pipe, nothing would come.
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut bytes = Vec::new();
    file.take(limits::FILE + 1).read_to_end(&mut bytes)?;
    Ok((path, bytes))
}
