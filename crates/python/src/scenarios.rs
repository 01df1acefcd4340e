//! A scenario as Python has it.

use crate::errors;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use scenario::{Batch, Layout, Run, drawing};
use std::path::Path;
use std::sync::Arc;

/// Columns of the drawing in text.
const WIDTH: usize = 100;

/// The text of a scenario, with the settings beside it, checked.
#[pyclass(frozen, module = "weir._weir")]
pub struct Scenario {
    text: String,
    file: String,
    settings: Vec<String>,
    pub batch: Arc<Batch>,
}

/// A node: name, role, and its place in a picture.
type Node = (String, &'static str, [f64; 2]);
/// A link: its ends, and rate in bit/s and delay in seconds each way.
type Link = (String, String, [(u64, f64); 2]);

#[pymethods]
impl Scenario {
    /// Reads a file.
    #[staticmethod]
    fn load(py: Python<'_>, path: &str, settings: Vec<String>) -> PyResult<Scenario> {
        let text = scenario::text_of(Path::new(path))
            .map_err(|error| errors::of_scenario(py, &error, path))?;
        Scenario::parse(py, text, path.to_owned(), settings)
    }

    /// Checks a text. `file` is its path in messages, and what other paths are relative to.
    #[staticmethod]
    fn parse(
        py: Python<'_>,
        text: String,
        file: String,
        settings: Vec<String>,
    ) -> PyResult<Scenario> {
        let batch = py
            .detach(|| scenario::parse(&text, &file, &settings))
            .map_err(|error| errors::of_scenario(py, &error, &file))?;
        Ok(Scenario { text, file, settings, batch: Arc::new(batch) })
    }

    /// The same scenario with more settings.
    fn with_settings(&self, py: Python<'_>, settings: Vec<String>) -> PyResult<Scenario> {
        let settings = self.settings.iter().cloned().chain(settings).collect();
        Scenario::parse(py, self.text.clone(), self.file.clone(), settings)
    }

    /// One of the runs, as a scenario of its own, without its settings.
    fn point(&self, run: usize) -> PyResult<Scenario> {
        let Some(alone) = self.batch.runs.get(run) else {
            return Err(PyIndexError::new_err(format!("there is no run {run}")));
        };
        let runs = vec![Run { settings: Vec::new(), ..alone.clone() }];
        let name = self.batch.name.clone();
        let batch = Arc::new(Batch { name, runs, repetitions: 1, is_sweep: false });
        let (text, file) = (self.text.clone(), self.file.clone());
        Ok(Scenario { text, file, settings: self.settings.clone(), batch })
    }

    /// The seed of the first run.
    #[getter]
    fn seed(&self) -> u64 {
        self.batch.runs[0].seed
    }

    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    #[getter]
    fn file(&self) -> &str {
        &self.file
    }

    #[getter]
    fn settings(&self) -> Vec<String> {
        self.settings.clone()
    }

    #[getter]
    fn name(&self) -> &str {
        &self.batch.name
    }

    #[getter]
    fn question(&self) -> &str {
        &self.batch.runs[0].scenario.question
    }

    /// Simulated seconds of the first run.
    #[getter]
    fn duration(&self) -> f64 {
        self.batch.runs[0].scenario.duration.as_secs_f64()
    }

    /// The settings and the seed of each run.
    #[getter]
    fn runs(&self) -> Vec<(Vec<(String, String)>, u64)> {
        self.batch.runs.iter().map(|run| (run.settings.clone(), run.seed)).collect()
    }

    /// The first run's file with every default filled in.
    #[getter]
    fn filled(&self) -> &str {
        &self.batch.runs[0].filled
    }

    fn nodes(&self) -> Vec<Node> {
        let scenario = &self.batch.runs[0].scenario;
        let places = Layout::new(scenario).places;
        let nodes = scenario.nodes.iter().zip(scenario.roles()).zip(places);
        nodes.map(|((node, role), place)| (node.name.clone(), role.name(), place)).collect()
    }

    fn links(&self) -> Vec<Link> {
        let scenario = &self.batch.runs[0].scenario;
        let mut links = Vec::new();
        for link in &scenario.links {
            let ways = [0, 1].map(|way| {
                let way = &link.directions[way];
                (way.rate.0, way.delay.as_secs_f64())
            });
            let [from, to] = link.ends.map(|node| scenario.nodes[node].name.clone());
            links.push((from, to, ways));
        }
        links
    }

    /// The network of the first run as SVG.
    fn svg(&self) -> String {
        let scenario = &self.batch.runs[0].scenario;
        drawing::svg(scenario, &Layout::new(scenario))
    }

    /// The network of the first run as text.
    fn drawing(&self) -> String {
        let scenario = &self.batch.runs[0].scenario;
        drawing::text(scenario, &Layout::new(scenario), WIDTH).join("\n")
    }
}

/// The files that a scenario with all defaults names, by their absolute paths.
#[pyfunction]
pub fn files_of(filled: &str) -> Vec<String> {
    scenario::files(filled).into_iter().map(|path| path.display().to_string()).collect()
}
