//! A measure over a swept field.

use super::PlotError;
use super::finding::{Course, finding};
use super::lines::{Division, Look};
use super::request::{Request, UP, measure};
use super::table::{Field, Key, Table};
use crate::captions::experiment;
use crate::picture::{Axis, Form, Line, Panel, Picture, are_cut, short};
use crate::results::Results;
use crate::text::{capital, digits, listed};
use scenario::Mean;
use scenario::result::{Measure, RunResult, Unit, averaged};
use std::collections::BTreeMap;

/// Values of the x axis that have a column in the legend of a page.
const MOST_HEADS: usize = 12;
/// Points with unfinished flows that a caption names.
const MOST_NAMED: usize = 4;

/// Draws a line for each combination of the other fields, with a band for its confidence.
pub fn picture(
    results: &Results,
    table: &Table<'_>,
    request: &Request,
) -> Result<Picture, PlotError> {
    let measure = measure(request.y.as_deref(), UP)?;
    let place = x_field(table, request)?;
    let field = &table.fields[place];
    let numbers: Vec<f64> = field.values.iter().filter_map(|value| Field::number(value)).collect();
    let most = numbers.iter().copied().fold(0.0, f64::max);
    let unit = field.dimension.map_or(Unit { name: "", factor: 1.0 }, |kind| kind.unit(most));
    let division = Division::new(table, request, &[place])?;
    let draft = Draft::new(table, measure, &division, place, unit);
    let (panels, courses) = draft.panels();
    if courses.is_empty() {
        return Err(PlotError::NoValues { name: measure.name.to_owned() });
    }
    let mut x = Axis::new(&field.name, unit.name);
    let places: Vec<f64> = numbers.iter().map(|number| number * unit.factor).collect();
    if request.log.is_x(&places) {
        x = x.logarithmic(places.iter().copied(), true);
    }
    let mut y = Axis { most: measure.most, ..Axis::new(measure.label, measure.unit) };
    if request.log.is_y() {
        let lines = panels.iter().flat_map(|panel| &panel.lines);
        let pairs = lines.flat_map(|line| line.raw.chunks_exact(2));
        y = y.logarithmic(pairs.map(|pair| pair[1]).collect::<Vec<f64>>(), true);
    }
    Ok(Picture {
        id: format!("sweep-{}", measure.name),
        title: finding(measure, &field.name, &courses),
        caption: caption(results, measure, &panels, &y)
            + &unfinished(&courses)
            + &division.panels_note(),
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
    /// The runs of each point, by panel, line and place on the x axis.
    points: BTreeMap<[Key; 3], Vec<&'r RunResult>>,
}

impl<'t, 'r> Draft<'t, 'r> {
    fn new(
        table: &'t Table<'r>,
        measure: &'static Measure,
        division: &'t Division,
        x: usize,
        unit: Unit,
    ) -> Draft<'t, 'r> {
        let mut points: BTreeMap<[Key; 3], Vec<&RunResult>> = BTreeMap::new();
        for row in &table.rows {
            let key = [row.key(&division.facet), row.key(&division.by), row.key(&[x])];
            points.entry(key).or_default().push(row.run);
        }
        Draft { table, measure, division, x, unit, points }
    }

    /// The panels, and the courses of their lines.
    fn panels(&self) -> (Vec<Panel>, Vec<Course>) {
        let mut courses = Vec::new();
        let panels = self.division.panels.iter().map(|panel| {
            let title = self.table.label(&self.division.facet, panel);
            let mut lines = Vec::new();
            for look in &self.division.lines {
                let (line, mut course) = self.line(panel, look);
                if course.points.is_empty() {
                    continue;
                }
                course.name = named(&title, &look.label);
                lines.push(line);
                courses.push(course);
            }
            Panel { title, lines, ..Panel::default() }
        });
        (panels.collect(), courses)
    }

    fn line(&self, panel: &[usize], look: &Look) -> (Line, Course) {
        let values = &self.table.fields[self.x].values;
        let mut line = Line {
            label: look.label.clone(),
            colour: look.colour,
            dash: look.dash,
            ..Line::default()
        };
        let mut course = Course::default();
        for (place, value) in values.iter().enumerate() {
            let runs = self.points.get(&[panel.to_vec(), look.key.clone(), vec![place]]);
            let runs = runs.map_or(&[][..], Vec::as_slice);
            let mean = mean(self.measure, runs);
            let done = self.measure.completed(runs);
            let is_bound = done.is_some_and(|[finished, all]| finished < all);
            if values.len() <= MOST_HEADS {
                let text = averaged(mean, |mean| digits(mean.mean));
                let is_given = is_bound && mean.is_some();
                line.cells.push(if is_given { format!("≥ {text}") } else { text });
            }
            if let Some([finished, all]) = done.filter(|_| is_bound) {
                course.open.push((value.clone(), [finished, all]));
            }
            if let Some([finished, all]) = done {
                course.flows[0] += finished;
                course.flows[1] += all;
            }
            let Some(mean) = mean else { continue };
            let x = Field::number(value).unwrap_or(0.0) * self.unit.factor;
            line.raw.extend([short(x), short(mean.mean)]);
            if let Some(half) = mean.ci95 {
                let [low, high] = interval(mean.mean, half, self.measure);
                line.band.extend([short(x), short(low), short(high)]);
            }
            course.points.push((value.clone(), mean.mean));
        }
        (line, course)
    }
}

/// The mean over runs. If no flow finished, the completion time has no mean.
pub fn mean(measure: &Measure, runs: &[&RunResult]) -> Option<Mean> {
    if measure.completed(runs).is_some_and(|[finished, _]| finished == 0) {
        return None;
    }
    Mean::of(&runs.iter().filter_map(|run| measure.shown(run)).collect::<Vec<_>>())
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

/// A line and its panel.
fn named(title: &str, label: &str) -> String {
    match [title, label] {
        [title, label] if title == label => label.to_owned(),
        ["", label] => label.to_owned(),
        [title, ""] => title.to_owned(),
        [title, label] => format!("{label}, {title}"),
    }
}

fn caption(results: &Results, measure: &Measure, panels: &[Panel], y: &Axis) -> String {
    let mut caption = format!("{} {}.", experiment(results), capital(measure.help));
    if panels.iter().flat_map(|panel| &panel.lines).any(|line| !line.band.is_empty()) {
        caption += " Means over the seeds with bands of 95 % confidence, by Student's t.";
    }
    if are_cut(panels, y) {
        caption += " Bands end at the edge of the axis, whose range the means decide.";
    }
    caption
}

/// Where flows did not finish: their times are censored, so that means are lower bounds.
fn unfinished(courses: &[Course]) -> String {
    let mut open: Vec<String> = Vec::new();
    for course in courses {
        for (value, [done, all]) in &course.open {
            open.push(match course.name.as_str() {
                "" => format!("at {value} {done} of {all}"),
                name => format!("with {name} at {value} {done} of {all}"),
            });
        }
    }
    if open.is_empty() {
        return String::new();
    }
    let [finished, all] = courses
        .iter()
        .fold([0, 0], |sum: [u64; 2], course| [sum[0] + course.flows[0], sum[1] + course.flows[1]]);
    let mut named: Vec<String> = open.iter().take(MOST_NAMED).cloned().collect();
    if open.len() > MOST_NAMED {
        named.push(format!("{} points more", open.len() - MOST_NAMED));
    }
    format!(
        " {finished} of {all} flows finished. An unfinished flow counts with the time that it had, \
         so that means are lower bounds where flows did not finish, and there is none where no \
         flow did: {}.",
        listed(&named)
    )
}
