//! `weir strategy`

use super::Session;
use crate::cli::manage::{ListArgs, StrategyCommand};
use crate::exit::{Failure, Kind};
use crate::output::{Column, Table};
use net::client::lists;
use net::management::parameters::ControlParameters;
use packet::Name;
use schemars::JsonSchema;
use serde::Serialize;

/// The choice of a strategy.
#[derive(JsonSchema, Serialize)]
pub struct Choice {
    /// The prefix that it is for.
    prefix: String,
    /// The name of the strategy.
    strategy: String,
}

/// The result of `weir strategy unset`.
#[derive(JsonSchema, Serialize)]
pub struct Unset {
    /// The prefix, which has no strategy of its own any more.
    prefix: String,
}

/// Lists, chooses or takes back strategies.
pub fn run(command: &StrategyCommand) -> Result<(), Failure> {
    match command {
        StrategyCommand::List(args) => list(args),
        StrategyCommand::Set { prefix, strategy, list } => {
            let strategy = named(strategy)?;
            let mut session = Session::open(list)?;
            let asked = ControlParameters {
                name: Some(prefix.clone()),
                strategy: Some(strategy.clone()),
                ..ControlParameters::default()
            };
            let what = format!("choose {strategy} for {prefix}");
            let body = session.command(["nfd", "strategy-choice", "set"], &asked, &what, &[])?.body;
            let strategy = body.strategy.unwrap_or(strategy).to_string();
            let object = Choice { prefix: prefix.to_string(), strategy: strategy.clone() };
            session.print(&object, &format!("{prefix} has {strategy}"))
        }
        StrategyCommand::Unset { prefix, list } => {
            let mut session = Session::open(list)?;
            let asked =
                ControlParameters { name: Some(prefix.clone()), ..ControlParameters::default() };
            let what = format!("unset the strategy of {prefix}");
            session.command(["nfd", "strategy-choice", "unset"], &asked, &what, &[])?;
            let object = Unset { prefix: prefix.to_string() };
            session.print(&object, &format!("{prefix} has no strategy of its own any more"))
        }
    }
}

/// A strategy's name as the protocol has it. A single word is the name of one of NFD's.
fn named(text: &str) -> Result<Name, Failure> {
    let whole = match text.starts_with('/') {
        true => text.to_owned(),
        false => format!("/localhost/nfd/strategy/{text}"),
    };
    whole.parse().map_err(|error| Failure::new(Kind::Usage, error))
}

fn list(args: &ListArgs) -> Result<(), Failure> {
    let mut session = Session::open(args)?;
    let all = lists::strategies(&mut session.connection)?;
    let mut table = Table::new(vec![Column::left("prefix", 0), Column::left("strategy", 0)]);
    let mut objects = Vec::new();
    for entry in &all {
        let (prefix, strategy) = (entry.prefix.to_string(), entry.strategy.to_string());
        table.row(vec![prefix.clone(), strategy.clone()]);
        objects.push(Choice { prefix, strategy });
    }
    session.list(&objects, &table)
}
