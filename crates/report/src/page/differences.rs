//! Tables of two folders side by side.

use super::tables::Table;
use crate::comparison::{Case, Comparison, Difference, DifferenceRow, entity_text, label};
use crate::results::SPAN;
use crate::text::{capital, escaped};
use control::counted;
use scenario::result::columns::MOST;
use std::fmt::Write;

/// The maximum rows of a table after the pictures: more would slow the browser down.
const MOST_ROWS: usize = 600;

/// The main result, and notes for the reader.
pub fn first(out: &mut String, comparison: &Comparison) {
    for case in comparison.cases.iter().take(MOST) {
        if comparison.cases.len() > 1 {
            let _ = write!(out, "<h3>{}</h3>", escaped(&label(&case.settings)));
        }
        let rows: Vec<&Difference> = comparison.first_of(case).collect();
        table(out, comparison, &rows, MOST * 2);
    }
    if comparison.cases.len() > MOST {
        let _ = writeln!(
            out,
            "<p class=\"soft\">{MOST} of {} combinations; weir compare --json has all.</p>",
            comparison.cases.len()
        );
    }
    let first = &comparison.first.name;
    let _ = write!(
        out,
        "<p class=\"soft\">{}. The differences are of {} less {}, in per cent of {}. {} ",
        escaped(&comparison.legend(first)),
        escaped(&comparison.second.name),
        escaped(first),
        escaped(first),
        escaped(SPAN),
    );
    for note in &comparison.notes {
        let _ = write!(out, "{}. ", escaped(&capital(note)));
    }
    out.push_str("</p>\n");
}

/// Everything that tables show.
pub fn rest(out: &mut String, comparison: &Comparison) {
    let is_alone = comparison.cases.len() == 1;
    for case in comparison.cases.iter().take(MOST) {
        let rows: Vec<&Difference> = Case::all(case).collect();
        let with = match is_alone {
            true => String::new(),
            false => format!(" with {}", label(&case.settings)),
        };
        let _ = writeln!(
            out,
            "<details><summary>All differences{}: {}</summary>",
            escaped(&with),
            counted(rows.len(), "row")
        );
        table(out, comparison, &rows, MOST_ROWS);
        out.push_str("</details>\n");
    }
}

/// A row for each quantity, under a row for each thing.
fn table(out: &mut String, comparison: &Comparison, rows: &[&Difference], most: usize) {
    let lines: Vec<(&Difference, DifferenceRow)> =
        rows.iter().filter_map(|one| Some((*one, one.row()?))).take(most).collect();
    // Of single runs there are no intervals to be shown.
    let shown: Vec<usize> =
        (0..8).filter(|at| lines.iter().any(|(_, line)| !line.cells[*at].is_empty())).collect();
    let (first, second) = (&*comparison.first.name, &*comparison.second.name);
    let names = [first, "±", second, "±", "difference", "±", "in %", "±"];
    let mut heads = vec![""];
    heads.extend(shown.iter().map(|at| names[*at]));
    heads.push("");
    let mut table = Table::begin(out, 1, &heads);
    let mut above: Option<(&str, &str)> = None;
    for (one, line) in &lines {
        if above != Some((one.kind, &one.entity)) {
            above = Some((one.kind, &one.entity));
            table.heading(&entity_text(one.kind, &one.entity), heads.len());
        }
        let mut cells = vec![line.label.to_owned()];
        cells.extend(shown.iter().map(|at| line.cells[*at].clone()));
        cells.push(line.mark.clone());
        table.row(&cells);
    }
    table.close();
    if rows.len() > lines.len() {
        let _ = writeln!(
            out,
            "<p class=\"soft\">{} of {} rows; weir compare --json has all.</p>",
            lines.len(),
            rows.len()
        );
    }
}
