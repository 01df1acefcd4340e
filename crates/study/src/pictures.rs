//! The pictures of an experiment: those of the paper, drawn from our runs with its values marked.

use crate::colours::{colours, of_number};
use crate::curve;
use crate::model::{Drawn, Experiment, Form, Study};
use crate::outcome::{ClaimResult, Drawable, ExperimentResult, Measured, Published, Series};
use crate::share::shares;
use report::picture::{Axis, Limit, Line, Panel, Picture, short};
use report::{axis_name, colour_of_thing, dashes, distribution, over_time};
use scenario::result::digits;
use std::collections::BTreeSet;

/// Lines that a panel has at most.
const MOST_LINES: usize = 8;
/// Panels that a picture has at most.
const MOST_PANELS: usize = 12;
/// Quantities that are no more than one.
const SHARES: [&str; 2] = ["utilization", "hit_ratio"];
/// Points that all lines of a picture over time have together.
const MOST_POINTS: usize = 4_000;

/// The name of a picture in pages and files.
pub fn name(study: &str, experiment: &str, id: &str) -> String {
    format!("{study}-{experiment}-{id}")
}

/// All pictures of an experiment. Without one of its own it has one of its claims' numbers.
pub fn pictures(
    study: &Study,
    experiment: &Experiment,
    result: &ExperimentResult,
    claims: &[&ClaimResult],
) -> Vec<Picture> {
    let mut pictures: Vec<Picture> = Vec::new();
    for (drawn, data) in experiment.pictures.iter().zip(&result.pictures) {
        pictures.extend(match &drawn.form {
            Form::Time(_, quantity) => time(experiment, drawn, data, quantity),
            Form::Cdf(_) => cdf(experiment, drawn, data),
            Form::Curve(measure, key) => curve(experiment, drawn, data, *measure, key),
        });
    }
    if experiment.pictures.is_empty() {
        pictures = values(experiment, claims);
    }
    for picture in &mut pictures {
        picture.id = name(&study.name, &experiment.name, &picture.id);
        if result.is_one_run() {
            picture.caption = of_one_run(experiment, &picture.caption);
        }
    }
    pictures
}

fn by_case(experiment: &Experiment, cases: &[usize]) -> Vec<usize> {
    colours(cases.iter().map(|case| &experiment.cases[*case]))
}

fn marks(drawn: &Drawn, case: Option<usize>) -> Vec<Limit> {
    let meant = drawn.marks.iter().filter(|m| case.is_none() || m.case.is_none() || m.case == case);
    meant.map(|mark| Limit { label: mark.label.clone(), value: mark.value }).collect()
}

fn dashed(mut lines: Vec<Line>) -> Vec<Line> {
    let colours: Vec<usize> = lines.iter().map(|line| line.colour).collect();
    lines.iter_mut().zip(dashes(&colours)).for_each(|(line, dash)| line.dash = dash);
    lines
}

/// The runs for a caption.
fn runs(experiment: &Experiment, seeds: &str) -> String {
    format!("{}, {seeds}.", experiment.file)
}

fn picture(drawn: &Drawn, form: report::picture::Form, x: Axis, y: Axis) -> Picture {
    Picture {
        id: drawn.id.clone(),
        title: drawn.title.clone(),
        caption: String::new(),
        form,
        x,
        y,
        panels: Vec::new(),
        corner: if drawn.unit.is_empty() { String::new() } else { format!("in {}", drawn.unit) },
        heads: Vec::new(),
    }
}

/// The end of a picture over time: after it all lines are zero.
fn end(lines: &[Series]) -> f64 {
    let (mut whole, mut busy) = (0.0f64, 0.0f64);
    for line in lines {
        if let Some((time, _)) = line.points.last() {
            whole = whole.max(*time);
        }
        if let Some((time, _)) = line.points.iter().rfind(|(_, value)| *value != 0.0) {
            busy = busy.max(*time);
        }
    }
    if busy > 0.0 && busy < whole * 0.9 { busy * 1.05 } else { whole }
}

/// The lines of a picture over time.
struct OverTime<'a> {
    experiment: &'a Experiment,
    drawn: &'a Drawn,
    data: &'a Drawable,
    /// The end of the picture in seconds.
    shown: f64,
    /// All lines are of the same thing, so that colours distinguish cases.
    is_alone: bool,
    /// The colour of each drawn case.
    by_case: Vec<usize>,
    /// Points that a line has at most.
    most: usize,
}

impl OverTime<'_> {
    /// `number` is the line's place in its panel.
    fn line(&self, series: &Series, number: usize, is_crowded: bool) -> Line {
        let cases = &self.drawn.cases;
        let place = cases.iter().position(|case| *case == series.case).unwrap_or(0);
        let is_case = self.is_alone && cases.len() > 1;
        let name = match is_case {
            true => &self.experiment.cases[series.case].name,
            false => &series.entity,
        };
        let until = series.points.partition_point(|(time, _)| *time <= self.shown);
        let points = &series.points[..until];
        Line {
            label: shown_name(self.experiment, name),
            colour: if self.is_alone { self.by_case[place] } else { of_number(number) },
            ..over_time(points, self.drawn.factor, self.shown, self.most, is_crowded)
        }
    }

    /// The series of a case.
    fn series(&self, case: usize) -> Vec<Series> {
        let of_case = self.data.lines.iter().filter(|line| line.case == case);
        let lines: Vec<Series> = of_case.cloned().collect();
        if self.drawn.share { shares(&lines, self.shown) } else { lines }
    }

    /// A panel with all cases.
    fn together(&self) -> Panel {
        let mut lines = Vec::new();
        for case in &self.drawn.cases {
            for series in self.series(*case) {
                lines.push(self.line(&series, 0, self.data.lines.len() > 3));
            }
        }
        Panel { lines: dashed(lines), limits: marks(self.drawn, None), ..Panel::default() }
    }

    /// A panel with one case.
    fn panel(&self, case: usize) -> Panel {
        let series = self.series(case);
        let lines = series.iter().take(MOST_LINES).enumerate();
        let lines = lines.map(|(number, series)| self.line(series, number, true)).collect();
        let title = match &*self.drawn.cases {
            [_] => String::new(),
            _ => shown_name(self.experiment, &self.experiment.cases[case].name),
        };
        let limits = marks(self.drawn, Some(case));
        Panel { title, lines: dashed(lines), limits, ..Panel::default() }
    }
}

fn time(
    experiment: &Experiment,
    drawn: &Drawn,
    data: &Drawable,
    quantity: &str,
) -> Option<Picture> {
    let shown = end(&data.lines);
    if shown <= 0.0 {
        return None;
    }
    let entities: BTreeSet<&str> = data.lines.iter().map(|line| line.entity.as_str()).collect();
    let is_alone = entities.len() == 1;
    let lines = OverTime {
        experiment,
        drawn,
        data,
        shown,
        is_alone,
        by_case: by_case(experiment, &drawn.cases),
        most: MOST_POINTS / data.lines.len().max(1),
    };
    let panels = if is_alone && drawn.cases.len() <= MOST_LINES {
        vec![lines.together()]
    } else {
        drawn.cases.iter().take(MOST_PANELS).map(|case| lines.panel(*case)).collect()
    };
    let label = if drawn.y.is_empty() { axis_name(quantity) } else { drawn.y.clone() };
    let x = Axis { most: Some(shown), ..Axis::new("time", "s") };
    let is_share = drawn.share || SHARES.contains(&quantity);
    let y = Axis { most: is_share.then_some(drawn.factor), ..Axis::new(&label, &drawn.unit) };
    let seed = format!("seed {}", experiment.batch.runs.first()?.seed);
    let mut span = with_marks(drawn, faintness(&panels));
    if drawn.cases.len() > panels.len() && panels.len() > 1 {
        span += &format!(" The first {} of {} cases.", panels.len(), drawn.cases.len());
    }
    if !is_alone && entities.len() > MOST_LINES {
        span += &format!(" {MOST_LINES} of {} lines in each.", entities.len());
    }
    Some(Picture {
        caption: format!("{} {span}", runs(experiment, &seed)),
        panels,
        heads: ["mean", "least", "most", "at the end"].map(str::to_owned).to_vec(),
        ..picture(drawn, report::picture::Form::Time, x, y)
    })
}

/// The note on lines over time.
fn faintness(panels: &[Panel]) -> &'static str {
    match panels.iter().flat_map(|panel| &panel.lines).any(Line::has_both) {
        true => "Faint: samples; lines: means over 1/150 of the time.",
        false => "Means over 1/150 of the time.",
    }
}

fn with_marks(drawn: &Drawn, text: &str) -> String {
    let mut text = text.to_owned();
    if !drawn.marks.is_empty() {
        text += " Dotted: what their labels say.";
    }
    let mut labels: Vec<&str> = drawn.points.iter().map(|points| points.label.as_str()).collect();
    labels.dedup();
    if !labels.is_empty() {
        text += &format!(" Hollow: {}.", labels.join(", "));
    }
    text
}

fn shown_name(experiment: &Experiment, name: &str) -> String {
    experiment.label(name).replace(" > ", " → ")
}

fn cdf(experiment: &Experiment, drawn: &Drawn, data: &Drawable) -> Option<Picture> {
    let by_case = by_case(experiment, &drawn.cases);
    let mut lines: Vec<Line> = Vec::new();
    for (case, colour) in drawn.cases.iter().zip(by_case) {
        let Some(series) = data.lines.iter().find(|line| line.case == *case) else { continue };
        let times: Vec<(f64, u64)> =
            series.points.iter().map(|(time, n)| (time * drawn.factor, *n as u64)).collect();
        if !times.is_empty() {
            let label = shown_name(experiment, &experiment.cases[*case].name);
            lines.push(distribution(&label, colour, times, series.unfinished));
        }
    }
    if lines.is_empty() {
        return None;
    }
    // As many in each as in the others.
    let each = lines.len().div_ceil(lines.len().div_ceil(MOST_LINES));
    let panels: Vec<Panel> = lines
        .chunks(each)
        .map(|lines| Panel {
            lines: dashed(lines.to_vec()),
            moments: marks(drawn, None),
            ..Panel::default()
        })
        .collect();
    let x = Axis::new("completion time", if drawn.unit.is_empty() { "s" } else { &drawn.unit });
    let x = if drawn.log { x.logarithmic(abscissas(&lines), false) } else { x };
    let y = Axis { most: Some(1.0), ..Axis::new("share of flows", "") };
    let text = with_marks(drawn, "The medians are marked.");
    Some(Picture {
        caption: caption(experiment, &text),
        panels,
        heads: ["flows", "median", "95 %", "most", "not done"].map(str::to_owned).to_vec(),
        ..picture(drawn, report::picture::Form::Cdf, x, y)
    })
}

/// The places of the points of lines on the axis to the right.
fn abscissas(lines: &[Line]) -> impl Iterator<Item = f64> {
    lines.iter().flat_map(|line| line.raw.iter().step_by(2).copied())
}

/// A caption about all seeds.
fn caption(experiment: &Experiment, text: &str) -> String {
    format!("{} {}", runs(experiment, &seeds(experiment)), text.trim()).trim_end().to_owned()
}

fn seeds(experiment: &Experiment) -> String {
    match experiment.seeds {
        1 => "one seed".to_owned(),
        n => format!("{n} seeds"),
    }
}

/// The note on intervals: one seed has none.
fn bars(experiment: &Experiment) -> &'static str {
    if experiment.seeds > 1 { BARS } else { "" }
}

const BARS: &str = "Bars: 95 % intervals.";

/// A caption of seeds that are all alike: they are one run, and have no interval.
fn of_one_run(experiment: &Experiment, caption: &str) -> String {
    let (many, one) = (runs(experiment, &seeds(experiment)), "one run, alike for all seeds");
    let caption = caption.replacen(&many, &runs(experiment, one), 1);
    caption.replacen(BARS, "", 1).replace("  ", " ").trim_end().to_owned()
}

fn curve(
    experiment: &Experiment,
    drawn: &Drawn,
    data: &Drawable,
    measure: usize,
    key: &str,
) -> Option<Picture> {
    let cases: Vec<usize> = data.lines.iter().map(|line| line.case).collect();
    let by_line = by_case(experiment, &cases);
    let mut lines: Vec<Line> = Vec::new();
    for (series, colour) in data.lines.iter().zip(by_line) {
        let points = series.points.iter();
        let raw = points.clone().flat_map(|(x, y)| [short(*x), short(y * drawn.factor)]);
        let halves = series.ci95.iter().map(|half| half.unwrap_or(0.0));
        let band = points.zip(halves).flat_map(|((x, y), half)| {
            [*x, (y - half) * drawn.factor, (y + half) * drawn.factor].map(short)
        });
        let called = curve::label(series);
        let published = drawn.points.iter().filter(|points| {
            data.lines.len() == 1 || [called, &series.entity].contains(&&*points.line)
        });
        let ends = [series.points.first(), series.points.last()];
        let label = match called {
            "" => experiment.measures[measure].name.clone(),
            called => shown_name(experiment, called),
        };
        lines.push(Line {
            label,
            colour,
            raw: raw.collect(),
            band: if experiment.seeds > 1 { band.collect() } else { Vec::new() },
            published: published.flat_map(|p| &p.at).flat_map(|(x, y)| [*x, *y]).collect(),
            cells: ends
                .map(|end| end.map_or("-".into(), |(_, y)| digits(y * drawn.factor)))
                .to_vec(),
            ..Line::default()
        });
    }
    if lines.is_empty() {
        return None;
    }
    let first = experiment.cases.iter().flat_map(|case| &case.settings);
    let unit = first.clone().find(|(known, _)| known == key).map_or("", |(_, v)| curve::unit(v));
    let label = if drawn.y.is_empty() { &experiment.measures[measure].name } else { &drawn.y };
    let text = with_marks(drawn, bars(experiment));
    // A field's own name is its last part.
    let own = key.rsplit('.').next().unwrap_or(key).replace('_', " ");
    let x = Axis::new(if drawn.along.is_empty() { &own } else { &drawn.along }, unit);
    let x = if drawn.log { x.logarithmic(abscissas(&lines), true) } else { x };
    let panel = Panel { lines: dashed(lines), limits: marks(drawn, None), ..Panel::default() };
    Some(Picture {
        caption: caption(experiment, &text),
        panels: vec![panel],
        heads: ["first", "last"].map(str::to_owned).to_vec(),
        ..picture(drawn, report::picture::Form::Curve, x, Axis::new(label, &drawn.unit))
    })
}

/// A picture for each unit of the claims' numbers.
fn values(experiment: &Experiment, claims: &[&ClaimResult]) -> Vec<Picture> {
    let mut units: Vec<&str> = Vec::new();
    for unit in claims.iter().filter_map(|claim| claim.unit.as_deref()) {
        if !units.contains(&unit) {
            units.push(unit);
        }
    }
    let mut pictures = Vec::new();
    for (number, unit) in units.iter().enumerate() {
        let lines = claims.iter().filter(|claim| claim.unit.as_deref() == Some(unit));
        let lines: Vec<Line> = lines.filter_map(|claim| row(claim)).collect();
        if lines.is_empty() {
            continue;
        }
        let text = format!("{} Hollow: values of the paper.", bars(experiment));
        pictures.push(Picture {
            id: if number == 0 { "values".to_owned() } else { format!("values-{}", number + 1) },
            title: values_title(experiment, &lines, unit, units.len()),
            caption: caption(experiment, &text),
            form: report::picture::Form::Dots,
            x: Axis::new("measured", unit),
            y: Axis::new("", ""),
            panels: vec![Panel { lines, ..Panel::default() }],
            corner: String::new(),
            heads: ["mean", "±", "published"].map(str::to_owned).to_vec(),
        });
    }
    pictures
}

/// Pictures of several units have titles of their own.
fn values_title(experiment: &Experiment, lines: &[Line], unit: &str, units: usize) -> String {
    match lines {
        _ if units == 1 => experiment.texts.title.clone(),
        [only] => format!("{}: {}", experiment.texts.title, only.label),
        _ => format!("{}: {unit}", experiment.texts.title),
    }
}

fn row(claim: &ClaimResult) -> Option<Line> {
    let (Measured::One(Some(mean)), Published::Number(published)) =
        (&claim.measured, &claim.published)
    else {
        return None;
    };
    let half = match claim.ci95 {
        Measured::One(Some(half)) => half,
        _ => 0.0,
    };
    Some(Line {
        label: claim.what.clone(),
        colour: colour_of_thing(0),
        raw: vec![short(*mean), short(mean - half), short(mean + half)],
        published: vec![*published, 0.0],
        cells: vec![digits(*mean), digits(half), digits(*published)],
        ..Line::default()
    })
}
