//! `weir scenario`

mod show;

use crate::cli::ScenarioCommand;
use crate::cli::sim::ScenarioArgs;
use crate::exit::{Failure, Kind};
use crate::output;
use scenario::{Batch, ScenarioError};

/// Checks or shows a file.
pub fn run(command: &ScenarioCommand) -> Result<(), Failure> {
    match command {
        ScenarioCommand::Check(args) => {
            let batch = load(args, None)?;
            let runs = match batch.runs.len() {
                1 => "1 run".to_owned(),
                n => format!("{n} runs"),
            };
            output::result(&format!("{}: no mistakes, {runs}", args.file.display()))
        }
        ScenarioCommand::Show(args) => show::run(&load(&args.scenario, None)?, args.svg.as_deref()),
        ScenarioCommand::Schema => output::result(scenario::json_schema::text().trim_end()),
    }
}

/// Reads the file with what is set beside it.
pub fn load(args: &ScenarioArgs, seed: Option<u32>) -> Result<Batch, Failure> {
    let seed = seed.map(|seed| format!("scenario.seed={seed}"));
    let settings: Vec<String> = args.set.iter().cloned().chain(seed).collect();
    scenario::load(&args.file, &settings).map_err(|error| failure(&error, args))
}

/// Every mistake is shown with its line, below one line that says how many there are.
fn failure(error: &ScenarioError, args: &ScenarioArgs) -> Failure {
    let file = args.file.display();
    match error {
        ScenarioError::Unreadable { .. } => {
            Failure::new(Kind::File, error).then("name a scenario file that can be read")
        }
        ScenarioError::TooLarge { .. } => {
            Failure::new(Kind::Usage, error).then("let [topology] make the nodes")
        }
        ScenarioError::Mistakes(mistakes) => {
            let many = counted(mistakes);
            let them = if mistakes.len() == 1 { "it" } else { "them" };
            let next = format!("fix {them} and try `weir scenario check {file}`:\n{error}");
            Failure::new(Kind::Usage, format!("{file} has {many}; nothing was run")).then(&next)
        }
    }
}

/// `a mistake`, `3 mistakes`
pub fn counted<T>(mistakes: &[T]) -> String {
    match mistakes.len() {
        1 => "a mistake".to_owned(),
        n => format!("{n} mistakes"),
    }
}
