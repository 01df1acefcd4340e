//! The end of an operation that another thread asks for.

use pyo3::prelude::*;

/// Cancels an Interest from another thread.
#[pyclass(frozen, module = "weir._weir")]
pub struct Cancel(pub client::Cancel);

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Cancel {
        Cancel(client::Cancel::new())
    }

    fn cancel(&self) {
        self.0.cancel();
    }
}
