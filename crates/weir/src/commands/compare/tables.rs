//! Two folders side by side, as tables for people.

use crate::exit::Failure;
use crate::output::{self, Column, Table};
use report::Comparison;
use report::comparison::{Case, Difference, DifferenceRow, Side, entity_text, label};
use scenario::result::columns::MOST;

/// Names of folders up to this length are headings of their columns.
const MOST_LETTERS: usize = 12;
/// The maximum number of rows of a case in a terminal.
const MOST_ROWS: usize = 2 * MOST;

/// Shows the most important differences.
pub fn comparison(comparison: &Comparison) -> Result<(), Failure> {
    let width = output::width(std::io::stdout());
    let names = names(comparison);
    let (first, second) = (side(&comparison.first), side(&comparison.second));
    let title = match names[0] == comparison.first.name {
        true => format!("{}: {first} and {second}", comparison.first.scenario),
        false => format!("{}: first {first}, second {second}", comparison.first.scenario),
    };
    output::wrapped(&title)?;
    for case in comparison.cases.iter().take(MOST) {
        output::result("")?;
        if comparison.cases.len() > 1 {
            output::wrapped(&label(&case.settings))?;
        }
        let more = rows(comparison, case, &names, width)?;
        if more > 0 {
            output::result(&format!("{more} more rows; the page and --json have all"))?;
        }
    }
    if comparison.cases.len() > MOST {
        let all = comparison.cases.len();
        output::result(&format!("{MOST} of {all} combinations; --json has all"))?;
    }
    output::result("")?;
    for note in &comparison.notes {
        output::wrapped(note)?;
    }
    output::wrapped(&comparison.legend(&names[0]))?;
    output::wrapped(&comparison.sentence())
}

/// The names of the two above their columns.
fn names(comparison: &Comparison) -> [String; 2] {
    let names = [&comparison.first, &comparison.second].map(|side| side.name.clone());
    match names.iter().all(|name| name.chars().count() <= MOST_LETTERS) {
        true => names,
        false => ["first", "second"].map(str::to_owned),
    }
}

fn side(side: &Side) -> String {
    format!("{} ({})", side.folder, output::counted(side.runs, "run"))
}

/// Prints the rows of a case, under a row for each thing. Returns the number of omitted rows.
fn rows(
    comparison: &Comparison,
    case: &Case,
    names: &[String; 2],
    width: Option<usize>,
) -> Result<usize, Failure> {
    let lines: Vec<(&Difference, DifferenceRow)> =
        comparison.first_of(case).filter_map(|one| Some((one, one.row()?))).collect();
    // Of single runs there are no intervals to be shown.
    let shown: Vec<usize> =
        (0..8).filter(|at| lines.iter().any(|(_, line)| !line.cells[*at].is_empty())).collect();
    let mut table = Table::new(columns(&shown, names));
    let mut above: Option<(&str, &str)> = None;
    for (one, line) in lines.iter().take(MOST_ROWS) {
        if above != Some((one.kind, &one.entity)) {
            above = Some((one.kind, &one.entity));
            let mut cells = vec![String::new(); shown.len() + 2];
            cells[0] = entity_text(one.kind, &one.entity);
            table.row(cells);
        }
        let mut cells = vec![format!("  {}", line.label)];
        cells.extend(shown.iter().map(|at| line.cells[*at].clone()));
        cells.push(line.mark.clone());
        table.row(cells);
    }
    table.lines(width).iter().try_for_each(|line| output::result(line))?;
    Ok(lines.len().saturating_sub(MOST_ROWS))
}

/// In a narrow terminal the intervals of the values are omitted first, then the difference in the
/// quantity's own unit, and then the interval of its share.
fn columns(shown: &[usize], names: &[String; 2]) -> Vec<Column> {
    const RANKS: [u8; 8] = [0, 3, 0, 3, 2, 2, 0, 1];
    let [first, second] = names;
    let heads = [first, "±", second, "±", "difference", "±", "%", "±"];
    let mut columns = vec![Column::left("", 0)];
    columns.extend(shown.iter().map(|at| Column::right(heads[*at].to_owned(), RANKS[*at])));
    columns.push(Column::left("", 0));
    columns
}
