//! `weir scenario`

mod show;

use crate::cli::ScenarioCommand;
use crate::cli::sim::ScenarioArgs;
use crate::exit::{Failure, Kind};
use crate::file::is_same;
use crate::output;
use scenario::{Batch, ScenarioError};

/// Checks or shows a file.
pub fn run(command: &ScenarioCommand) -> Result<(), Failure> {
    match command {
        ScenarioCommand::Check(args) => {
            let batch = load(args, None)?;
            let runs = output::counted(batch.runs.len(), "run");
            output::result(&format!("{}: no mistakes, {runs}", args.file.display()))
        }
        ScenarioCommand::Show(args) => {
            let batch = load(&args.scenario, None)?;
            let file = &args.scenario.file;
            if args.svg.as_deref().is_some_and(|svg| is_same(svg, file)) {
                let what = format!("{} cannot be both scenario and drawing", file.display());
                return Err(Failure::new(Kind::Usage, what).then("choose another file with --svg"));
            }
            show::run(&batch, args.svg.as_deref())
        }
        ScenarioCommand::Schema => output::result(scenario::json_schema::text().trim_end()),
    }
}

/// Reads the file with the settings of the command line.
pub fn load(args: &ScenarioArgs, seed: Option<u64>) -> Result<Batch, Failure> {
    let seed = seed.map(|seed| format!("scenario.seed={seed}"));
    let settings: Vec<String> = args.set.iter().cloned().chain(seed).collect();
    scenario::load(&args.file, &settings).map_err(|error| failure(&error, args))
}

/// Shows every mistake with its line, below one line with their number.
fn failure(error: &ScenarioError, args: &ScenarioArgs) -> Failure {
    let kind = match error {
        ScenarioError::Unreadable { .. } => Kind::File,
        ScenarioError::TooLarge { .. } | ScenarioError::Mistakes(_) => Kind::Usage,
    };
    let [what, next] = error.report(&args.file.display().to_string());
    Failure::new(kind, what).then(&next)
}
