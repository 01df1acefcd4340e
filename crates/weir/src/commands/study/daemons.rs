//! The part of studies that runs on real daemons.

use crate::commands::sim::Watcher;
use crate::commands::testbed;
use crate::exit::{Failure, Kind};
use crate::output;
use crate::signals::Stop;
use ::testbed::Medium;
use scenario::{Batch, Watch, execute};
use study::{ExperimentOnDaemons, OnDaemons, OnTestbed, Row, Study};

/// Runs it, each case in the simulator and on daemons. The result lists failed runs.
///
/// # Errors
///
/// Namespaces may not be made here, or it was interrupted.
pub fn run(study: &Study, stop: &Stop, quiet: bool) -> Result<OnDaemons, Failure> {
    let mut all = OnDaemons {
        on_daemons: study.name.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        experiments: Vec::new(),
    };
    for experiment in &study.experiments {
        let Some(wanted) = &experiment.testbed else { continue };
        let mut result = ExperimentOnDaemons {
            experiment: experiment.name.clone(),
            rows: Vec::new(),
            failures: Vec::new(),
        };
        let watcher = Watcher::new(&wanted.batch, None, stop.clone(), quiet, None);
        for (number, case) in wanted.cases.iter().enumerate() {
            let case = &experiment.cases[*case].name;
            match both(&study.name, wanted, number, &watcher) {
                Ok([simulated, real]) => result.rows.extend(Row::of(case, &simulated, &real)),
                Err(why) => result.failures.push(format!("{case}: {why}")),
            }
            if stop.requested() {
                return Err(Failure::new(Kind::Interrupted, "interrupted")
                    .then("nothing is left of it; run the same command again"));
            }
        }
        watcher.end();
        for failure in &result.failures {
            output::note(&format!("{} on real daemons: {failure}", experiment.name));
        }
        all.experiments.push(result);
    }
    Ok(all)
}

/// The results of a run, from the simulator and from daemons.
fn both(
    name: &str,
    wanted: &OnTestbed,
    number: usize,
    watch: &dyn Watch,
) -> Result<[scenario::result::RunResult; 2], String> {
    let batch: &Batch = &wanted.batch;
    let medium = Medium::default();
    testbed::fits(&batch.runs[number], medium, false).map_err(|failure| failure.to_string())?;
    let program = testbed::program().map_err(|failure| failure.to_string())?;
    let real = ::testbed::run(batch, number, name, &program, medium, watch);
    let real = real.map_err(|error| error.to_string())?;
    let simulated = execute(batch, number, watch).map_err(|error| error.to_string())?;
    Ok([simulated, real])
}
