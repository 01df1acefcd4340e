//! The simulator.

use crate::error::Error;
use control::Time;
use net::clock::monotonic;
use scenario::result::{Measure, RunResult};
use scenario::{ScenarioError, Watch, execute_all};

/// The results of all runs of a scenario.
#[derive(Clone, Debug)]
pub struct Results {
    runs: Vec<Run>,
}

/// The result of one run.
#[derive(Clone, Debug)]
pub struct Run {
    result: RunResult,
}

/// The clock of the runs.
struct Clock(Time);

impl Watch for Clock {
    fn seconds(&self) -> f64 {
        monotonic().since(self.0).as_secs_f64()
    }
}

/// Runs a scenario, given as the text of a TOML file, with its sweep on all cores. Paths in it are
/// relative to the folder of the program. The same text has the same results everywhere.
///
/// ```
/// # fn main() -> Result<(), client::Error> {
/// let results = client::simulate(
///     r#"
///     [scenario]
///     duration = "5 s"
///     [[node]]
///     name = ["a", "b"]
///     [[link]]
///     between = ["a", "b"]
///     rate = "10 Mbit/s"
///     delay = "5 ms"
///     [[content]]
///     name = "/b/object"
///     at = "b"
///     size = "1 MB"
///     [[consumer]]
///     at = "a"
///     name = "/b/object"
///     "#,
/// )?;
/// let goodput = results.runs()[0].measure("goodput").unwrap_or_default();
/// assert!((5.0..10.0).contains(&goodput), "{goodput} Mbit/s");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Error::Usage`]: the scenario has mistakes; all of them are in the text. [`Error::File`]: a
/// file that it names cannot be read.
pub fn simulate(scenario: &str) -> Result<Results, Error> {
    let batch = scenario::parse(scenario, "scenario.toml", &[]).map_err(|error| match &error {
        ScenarioError::Mistakes(_) => Error::Usage(error.to_string()),
        _ => Error::File(error.to_string()),
    })?;
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let runs = execute_all(&batch, jobs, &Clock(monotonic()))
        .map_err(|error| Error::Usage(error.to_string()))?;
    Ok(Results { runs: runs.into_iter().map(|result| Run { result }).collect() })
}

impl Results {
    /// The runs, in the order of the sweep and its repetitions; one without a sweep.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }
}

impl Run {
    /// The fields that a sweep set, and their values.
    #[must_use]
    pub fn settings(&self) -> &[(String, String)] {
        &self.result.id.settings
    }

    /// The seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.result.id.seed
    }

    /// A measure by its name, such as `goodput`, `completion` or `queue-delay`; `None` if the name
    /// is unknown, or the run has no value for it. `docs/reference/results.md` lists all, with
    /// their units.
    #[must_use]
    pub fn measure(&self, name: &str) -> Option<f64> {
        Measure::find(name).and_then(|measure| (measure.get)(&self.result))
    }

    /// Everything about the run, as the `run.json` of `weir sim run --out`.
    #[must_use]
    pub fn json(&self) -> String {
        serde_json::to_string(&self.result).unwrap_or_default()
    }
}
