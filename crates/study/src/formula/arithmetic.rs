//! Arithmetic over numbers with names in braces.

use exmex::{Express, FlatEx};

/// A formula in decoded form.
#[derive(Clone)]
pub struct Arithmetic(FlatEx<f64>);

impl Arithmetic {
    /// Reads a formula.
    ///
    /// # Errors
    /// The text is no formula.
    pub fn read(text: &str) -> Result<Arithmetic, String> {
        exmex::parse(text).map(Arithmetic).map_err(|error| format!("no formula: {error}"))
    }

    /// The names in it, in the order of the values that it takes.
    pub fn names(&self) -> &[String] {
        self.0.var_names()
    }

    /// Its value, if it can be computed.
    pub fn value(&self, values: &[f64]) -> Option<f64> {
        self.0.eval(values).ok()
    }

    /// Its text.
    pub fn text(&self) -> &str {
        self.0.unparse()
    }
}
