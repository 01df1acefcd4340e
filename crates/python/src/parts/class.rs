//! The classes of schemes.

use pyo3::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock};

/// A class, as the functions that build parts find it.
pub struct Class {
    pub name: Arc<str>,
    pub class: Py<PyAny>,
    /// The methods that it has of its own.
    pub methods: BTreeSet<String>,
}

impl Class {
    /// The class has this method; otherwise the call is left out.
    pub fn has(&self, method: &str) -> bool {
        self.methods.contains(method)
    }
}

/// The classes, by the keys of their schemes.
static CLASSES: RwLock<BTreeMap<u64, Arc<Class>>> = RwLock::new(BTreeMap::new());

/// Keeps a class under a new key, unless `add` fails, which adds its scheme with that key.
pub fn keep(class: Class, add: impl FnOnce(u64) -> PyResult<()>) -> PyResult<()> {
    let mut classes = CLASSES.write().unwrap_or_else(PoisonError::into_inner);
    let key = classes.keys().next_back().map_or(1, |last| last + 1);
    add(key)?;
    classes.insert(key, Arc::new(class));
    Ok(())
}

/// The class with this key.
pub fn known(key: u64) -> Option<Arc<Class>> {
    let classes = CLASSES.read().unwrap_or_else(PoisonError::into_inner);
    classes.get(&key).map(Arc::clone)
}
