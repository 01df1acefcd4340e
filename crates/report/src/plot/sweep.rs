//! A measure over a swept field.

use super::lines::{Division, Look};
use super::table::{Field, Table};
use super::{PlotError, Request, measure};
use crate::captions::experiment;
use crate::picture::{Axis, Form, Line, Panel, Picture, short};
use crate::results::Results;
use crate::words::{digits, listed, with_unit};
use scenario::Mean;
use scenario::result::{Measure, Unit, averaged};

/// Values of the x axis that have a column in the legend of a page.
const MOST_HEADS: usize = 12;

/// Lines with equal means that a title names.
const MOST_NAMED: usize = 3;

/// Draws a line for each combination of the other fields, with a band for its confidence.
pub fn picture(
    results: &Results,
    table: &Table<'_>,
    request: &Request,
) -> Result<Picture, PlotError> {
    let measure = measure(request.y.as_deref(), "goodput")?;
    let place = x_field(table, request)?;
    let field = &table.fields[place];
    let numbers: Vec<f64> = field.values.iter().filter_map(|value| Field::number(value)).collect();
    let most = numbers.iter().copied().fold(0.0, f64::max);
    let unit = field.dimension.map_or(Unit { name: "", factor: 1.0 }, |kind| kind.unit(most));
    let division = Division::new(table, request, &[place])?;
    let looks = division.lines(table);
    let draft = Draft { table, measure, division: &division, x: place, unit };
    let panels: Vec<Panel> =
        division.panels(table).into_iter().map(|title| draft.panel(title, &looks)).collect();
    let lines = || panels.iter().flat_map(|panel| &panel.lines);
    if lines().all(|line| line.raw.is_empty()) {
        return Err(PlotError::NoValues { name: measure.name.to_owned() });
    }
    let mut x = Axis::new(&field.name, unit.name);
    let places: Vec<f64> = numbers.iter().map(|number| number * unit.factor).collect();
    if request.log.is_x(&places) {
        x = x.logarithmic(places.iter().copied(), true);
    }
    let mut y = Axis { most: measure.most, ..Axis::new(measure.label, measure.unit) };
    if request.log.is_y() {
        let values: Vec<f64> =
            lines().flat_map(|line| line.raw.chunks_exact(2).map(|pair| pair[1])).collect();
        y = y.logarithmic(values, true);
    }
    Ok(Picture {
        id: format!("sweep-{}", measure.name),
        title: finding(measure, &field.name, &panels),
        caption: caption(results, measure, &panels),
        form: Form::Sweep,
        corner: corner(measure, &field.name),
        heads: match places.len() <= MOST_HEADS {
            true => field.values.clone(),
            false => Vec::new(),
        },
        x,
        y,
        panels,
    })
}

/// The field on the x axis.
fn x_field(table: &Table<'_>, request: &Request) -> Result<usize, PlotError> {
    let Some(name) = &request.x else {
        let found = table.numeric();
        return found.ok_or_else(|| PlotError::NoX { known: table.known() });
    };
    let place = table.field(name)?;
    match table.fields[place].dimension {
        Some(_) => Ok(place),
        None => Err(PlotError::Texts { name: name.clone(), known: table.known() }),
    }
}

/// The common parts of all panels.
struct Draft<'t, 'r> {
    table: &'t Table<'r>,
    measure: &'static Measure,
    division: &'t Division,
    x: usize,
    unit: Unit,
}

impl Draft<'_, '_> {
    fn panel(&self, title: String, looks: &[Look]) -> Panel {
        let lines = looks.iter().map(|look| self.line(&title, look));
        let lines = lines.filter(|line| !line.raw.is_empty()).collect();
        Panel { title, lines, ..Panel::default() }
    }

    fn line(&self, panel: &str, look: &Look) -> Line {
        let Division { by, facet } = self.division;
        let values = &self.table.fields[self.x].values;
        let mean = |value: &String| {
            let rows = self.table.rows.iter().filter(|row| {
                row.value(self.x) == value
                    && row.label(facet) == panel
                    && row.label(by) == look.label
            });
            Mean::of(&rows.filter_map(|row| self.measure.shown(row.run)).collect::<Vec<_>>())
        };
        let means: Vec<Option<Mean>> = values.iter().map(mean).collect();
        let x = |value: &String| Field::number(value).unwrap_or(0.0) * self.unit.factor;
        let mut line = Line {
            label: look.label.clone(),
            colour: look.colour,
            dash: look.dash,
            ..Line::default()
        };
        for (value, mean) in values.iter().zip(&means) {
            let Some(mean) = mean else { continue };
            line.raw.extend([short(x(value)), short(mean.mean)]);
            if let Some(half) = mean.ci95 {
                let [low, high] = interval(mean.mean, half, self.measure);
                line.band.extend([short(x(value)), short(low), short(high)]);
            }
        }
        if values.len() <= MOST_HEADS {
            line.cells =
                means.iter().map(|mean| averaged(*mean, |mean| digits(mean.mean))).collect();
        }
        line
    }
}

/// An interval within the possible values: no measure is negative.
pub fn interval(mean: f64, half: f64, measure: &Measure) -> [f64; 2] {
    [(mean - half).max(0.0), (mean + half).min(measure.most.unwrap_or(f64::INFINITY))]
}

fn corner(measure: &Measure, field: &str) -> String {
    match measure.unit {
        "" => format!("by {field}"),
        unit => format!("{unit} by {field}"),
    }
}

/// The title: which line has most and least, or where a single line leads.
fn finding(measure: &Measure, field: &str, panels: &[Panel]) -> String {
    let name = capital(measure.label);
    let lines: Vec<(String, &Line)> = panels
        .iter()
        .flat_map(|panel| panel.lines.iter().map(move |line| (named(panel, line), line)))
        .collect();
    if let [(_, line)] = &*lines {
        let ys: Vec<f64> = line.raw.chunks_exact(2).map(|pair| pair[1]).collect();
        let [first, last] = [ys.first(), ys.last()].map(|y| y.copied().unwrap_or(0.0));
        let way = match last.total_cmp(&first) {
            _ if digits(first) == digits(last) => {
                return format!(
                    "{name} at both ends of {field}: {}",
                    with_unit(first, measure.unit)
                );
            }
            std::cmp::Ordering::Less => "falls",
            _ => "rises",
        };
        let (first, last) = (digits(first), with_unit(last, measure.unit));
        return format!("{name} {way} from {first} to {last} over {field}");
    }
    let mean = |line: &Line| {
        let ys: Vec<f64> = line.raw.chunks_exact(2).map(|pair| pair[1]).collect();
        ys.iter().sum::<f64>() / ys.len().max(1) as f64
    };
    let mut all: Vec<(f64, &str)> =
        lines.iter().map(|(name, line)| (mean(line), name.as_str())).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    // Those that cannot be told apart are named together.
    let named = |value: f64| {
        let equal = all.iter().filter(|(other, _)| digits(*other) == digits(value));
        let names: Vec<String> = equal.map(|(_, name)| (*name).to_owned()).collect();
        match names.len() > MOST_NAMED {
            true => format!("{} lines", names.len()),
            false => listed(&names),
        }
    };
    let with = |value: f64| with_unit(value, measure.unit);
    match &*all {
        [(most, _), .., (least, _)] if digits(*most) == digits(*least) => {
            format!("{name} over {field}: {} on average with all", with(*most))
        }
        [(most, _), .., (least, _)] => format!(
            "{name} over {field}: most with {}, {} on average, least with {}, {}",
            named(*most),
            with(*most),
            named(*least),
            with(*least)
        ),
        _ => name,
    }
}

/// A line and its panel.
fn named(panel: &Panel, line: &Line) -> String {
    match [&*panel.title, &*line.label] {
        [title, label] if title == label => label.to_owned(),
        ["", label] => label.to_owned(),
        [title, ""] => title.to_owned(),
        [title, label] => format!("{label}, {title}"),
    }
}

pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    first + letters.as_str()
}

fn caption(results: &Results, measure: &Measure, panels: &[Panel]) -> String {
    let mut caption = format!("{} {}.", experiment(results), capital(measure.help));
    if panels.iter().flat_map(|panel| &panel.lines).any(|line| !line.band.is_empty()) {
        caption += " Means over the seeds with bands of 95 % confidence, by Student's t.";
    }
    caption
}
