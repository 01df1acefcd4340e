//! The results of studies as tables.

use crate::exit::Failure;
use crate::output::{self, Column, Table};
use scenario::result::{averaged, digits};
use study::{
    ClaimResult, Experiment, ExperimentKind, ExperimentResult, Measure, OnDaemons, Outcome,
    Published, Study,
};

/// Shows a study: for each experiment the published and the measured results.
pub fn study(study: &Study, outcome: &Outcome) -> Result<(), Failure> {
    let width = output::width(std::io::stdout());
    output::wrapped(&format!("{}: {}", outcome.study, study.title))?;
    for (experiment, result) in study.experiments.iter().zip(&outcome.experiments) {
        output::result("")?;
        output::wrapped(&format!("{}, {} runs", experiment.name, result.runs))?;
        let claims: Vec<&ClaimResult> =
            outcome.claims.iter().filter(|claim| claim.experiment == experiment.name).collect();
        if !claims.is_empty() {
            table(&claims).lines(width).iter().try_for_each(|line| output::result(line))?;
        }
        for claim in &claims {
            if let Some(failure) = &claim.failure {
                output::wrapped(&format!("{}: {failure}", claim.id))?;
            }
        }
        if experiment.kind != ExperimentKind::Paper {
            values(experiment, result)
                .lines(width)
                .iter()
                .try_for_each(|line| output::result(line))?;
        }
        for failure in &result.failures {
            output::wrapped(&format!("failed: {failure}"))?;
        }
    }
    output::result("")?;
    output::wrapped(&outcome.counted())?;
    output::wrapped(&outcome.effort())
}

/// Shows the results of a study on daemons, beside those of its simulation.
pub fn on_daemons(done: &OnDaemons) -> Result<(), Failure> {
    let width = output::width(std::io::stdout());
    output::result(&format!("{}, on real daemons", done.on_daemons))?;
    for one in &done.experiments {
        output::result(&format!("\n{}", one.experiment))?;
        let mut table = Table::new(vec![
            Column::left("case", 0),
            Column::left("", 0),
            Column::right("simulated", 0),
            Column::right("real", 0),
            Column::right("apart", 0),
        ]);
        for row in &one.rows {
            let simulated = row.simulated.map_or_else(String::new, digits);
            let real = row.real.map_or_else(String::new, digits);
            table.row(vec![row.case.clone(), row.what.clone(), simulated, real, row.apart()]);
        }
        table.lines(width).iter().try_for_each(|line| output::result(line))?;
        for failure in &one.failures {
            output::result(&format!("failed: {failure}"))?;
        }
    }
    Ok(())
}

fn table(claims: &[&ClaimResult]) -> Table {
    let mut heads = vec![
        Column::left("claim", 0),
        Column::left("result", 0),
        Column::right("published", 0),
        Column::right("measured", 0),
        Column::right("may differ", 1),
        Column::left("published order", 0),
    ];
    let mut rows = Vec::new();
    for claim in claims {
        let cells = claim.cells();
        // The terms of an order are beside their measured values.
        let (published, measured, order) = match claim.published {
            Published::Number(_) => (cells.published, cells.measured, String::new()),
            // The measured values need not have the published order, so the signs are omitted.
            Published::Order(_) => {
                let signs = [" <", " >", " ~"];
                let measured =
                    signs.iter().fold(cells.measured, |measured, sign| measured.replace(sign, ","));
                (String::new(), measured, cells.published)
            }
        };
        let verdict = claim.verdict().to_owned();
        rows.push([claim.id.clone(), verdict, published, measured, cells.tolerance, order]);
    }
    // Columns without any text are left out.
    let is_used: Vec<bool> =
        (0..heads.len()).map(|at| rows.iter().any(|row| !row[at].is_empty())).collect();
    let mut used = is_used.iter();
    heads.retain(|_| used.next() == Some(&true));
    let mut table = Table::new(heads);
    for row in rows {
        let cells = row.into_iter().zip(&is_used).filter(|(_, is_used)| **is_used);
        table.row(cells.map(|(cell, _)| cell).collect());
    }
    table
}

fn values(experiment: &Experiment, result: &ExperimentResult) -> Table {
    let mut table = Table::new(vec![
        Column::left("measure", 0),
        Column::left("case", 0),
        Column::right("measured", 0),
    ]);
    for value in &result.values {
        let mean = averaged(value.mean, |mean| digits(mean.mean));
        table.row(vec![with_unit(experiment, &value.measure), value.case.clone(), mean]);
    }
    table
}

/// The name of a measure, with its unit if it has one.
fn with_unit(experiment: &Experiment, name: &str) -> String {
    let unit = experiment.measures.iter().find(|one| one.name == name).map(Measure::unit);
    match unit.unwrap_or_default() {
        "" => name.to_owned(),
        unit => format!("{name} ({unit})"),
    }
}
