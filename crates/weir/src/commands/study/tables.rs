//! The results of studies as tables.

use crate::exit::Failure;
use crate::output::{self, Align, Column, Table};
use scenario::result::{averaged, digits};
use study::{ClaimResult, ExperimentKind, ExperimentResult, OnDaemons, Outcome, Published, Study};

/// Shows a study: for each experiment what was published and what was measured.
pub fn study(study: &Study, outcome: &Outcome) -> Result<(), Failure> {
    let width = output::width(std::io::stdout());
    output::result(&format!("{}: {}", outcome.study, study.title))?;
    for (experiment, result) in study.experiments.iter().zip(&outcome.experiments) {
        output::result(&format!("\n{}, {} runs", experiment.name, result.runs))?;
        let claims: Vec<&ClaimResult> =
            outcome.claims.iter().filter(|claim| claim.experiment == experiment.name).collect();
        if !claims.is_empty() {
            table(&claims).lines(width).iter().try_for_each(|line| output::result(line))?;
        }
        if experiment.kind != ExperimentKind::Paper {
            values(result).lines(width).iter().try_for_each(|line| output::result(line))?;
        }
        for failure in &result.failures {
            output::result(&format!("failed: {failure}"))?;
        }
    }
    output::result(&format!("\n{}", outcome.counted()))?;
    output::result(&outcome.effort())
}

/// Shows what a study came to on daemons, beside its simulation.
pub fn on_daemons(done: &OnDaemons) -> Result<(), Failure> {
    let width = output::width(std::io::stdout());
    output::result(&format!("{}, on real daemons", done.on_daemons))?;
    for one in &done.experiments {
        output::result(&format!("\n{}", one.experiment))?;
        let mut table = Table::new(vec![
            column("case", Align::Left, 0),
            column("", Align::Left, 0),
            column("simulated", Align::Right, 0),
            column("real", Align::Right, 0),
            column("apart", Align::Right, 0),
        ]);
        for row in &one.rows {
            let value = |value: Option<f64>| value.map_or_else(String::new, digits);
            let (simulated, real) = (value(row.simulated), value(row.real));
            table.row(vec![row.case.clone(), row.what.clone(), simulated, real, row.apart()]);
        }
        table.lines(width).iter().try_for_each(|line| output::result(line))?;
        for failure in &one.failures {
            output::result(&format!("failed: {failure}"))?;
        }
    }
    Ok(())
}

fn column(head: &'static str, align: Align, rank: u8) -> Column {
    Column { head: head.into(), align, rank }
}

fn table(claims: &[&ClaimResult]) -> Table {
    let mut table = Table::new(vec![
        column("claim", Align::Left, 0),
        column("", Align::Left, 0),
        column("published", Align::Right, 0),
        column("measured", Align::Right, 0),
        column("may differ", Align::Right, 1),
        column("", Align::Left, 2),
    ]);
    for claim in claims {
        let cells = claim.cells();
        // The terms of an order stand beside what was measured of them.
        let (published, order) = match claim.published {
            Published::Number(_) => (cells.published, String::new()),
            Published::Order(_) => (String::new(), cells.published),
        };
        let verdict = claim.verdict().to_owned();
        table.row(vec![
            claim.id.clone(),
            verdict,
            published,
            cells.measured,
            cells.tolerance,
            order,
        ]);
    }
    table
}

fn values(result: &ExperimentResult) -> Table {
    let mut table = Table::new(vec![
        column("measure", Align::Left, 0),
        column("case", Align::Left, 0),
        column("measured", Align::Right, 0),
    ]);
    for value in &result.values {
        let mean = averaged(value.mean, |mean| digits(mean.mean));
        table.row(vec![value.measure.clone(), value.case.clone(), mean]);
    }
    table
}
