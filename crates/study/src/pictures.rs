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
    let drawn = experiment.pictures.iter().zip(&result.pictures);
    let one = |(drawn, data): (&Drawn, &Drawable)| match &drawn.form {
        Form::Time(_, quantity) => time(experiment, drawn, data, quantity),
        Form::Cdf(_) => cdf(experiment, drawn, data),
        Form::Curve(measure, key) => curve(experiment, drawn, data, *measure, key),
    };
    let mut pictures: Vec<Picture> = drawn.filter_map(one).collect();
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
    let last = |line: &Series| line.points.last().map_or(0.0, |(time, _)| *time);
    let busy = |line: &Series| line.points.iter().rfind(|point| point.1 != 0.0).map(|p| p.0);
    let whole = lines.iter().map(last).fold(0.0, f64::max);
    let busy = lines.iter().filter_map(busy).fold(0.0, f64::max);
    if busy > 0.0 && busy < whole * 0.9 { busy * 1.05 } else { whole }
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
    let (alone, few) = (entities.len() == 1, drawn.cases.len() <= MOST_LINES);
    let by_case = by_case(experiment, &drawn.cases);
    let most = MOST_POINTS / data.lines.len().max(1);
    let line = |series: &Series, number: usize, is_crowded: bool| {
        let place = drawn.cases.iter().position(|case| *case == series.case).unwrap_or(0);
        let is_case = alone && drawn.cases.len() > 1;
        let name = if is_case { &experiment.cases[series.case].name } else { &series.entity };
        let until = series.points.partition_point(|(time, _)| *time <= shown);
        Line {
            label: shown_name(experiment, name),
            colour: if alone { by_case[place] } else { of_number(number) },
            ..over_time(&series.points[..until], drawn.factor, shown, most, is_crowded)
        }
    };
    let of = |case: usize| {
        let lines = data.lines.iter().filter(move |line| line.case == case).cloned();
        if drawn.share { shares(&lines.collect::<Vec<_>>(), shown) } else { lines.collect() }
    };
    let panels = if alone && few {
        let all = drawn.cases.iter().flat_map(|case| of(*case));
        let lines = all.map(|series| line(&series, 0, data.lines.len() > 3)).collect();
        vec![Panel { lines: dashed(lines), limits: marks(drawn, None), ..Panel::default() }]
    } else {
        let panel = |case: &usize| {
            let of = of(*case);
            let lines = of.iter().take(MOST_LINES).enumerate();
            let lines = lines.map(|(number, series)| line(series, number, true)).collect();
            let title = match &*drawn.cases {
                [_] => String::new(),
                _ => shown_name(experiment, &experiment.cases[*case].name),
            };
            let limits = marks(drawn, Some(*case));
            Panel { title, lines: dashed(lines), limits, ..Panel::default() }
        };
        drawn.cases.iter().take(MOST_PANELS).map(panel).collect()
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
    if !alone && entities.len() > MOST_LINES {
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
    let line = |(place, case): (usize, &usize)| {
        let series = data.lines.iter().find(|line| line.case == *case)?;
        let times: Vec<(f64, u64)> =
            series.points.iter().map(|(time, n)| (time * drawn.factor, *n as u64)).collect();
        let label = shown_name(experiment, &experiment.cases[*case].name);
        (!times.is_empty()).then(|| distribution(&label, by_case[place], times, series.unfinished))
    };
    let lines: Vec<Line> = drawn.cases.iter().enumerate().filter_map(line).collect();
    // As many in each as in the others.
    let each = lines.len().div_ceil(lines.len().div_ceil(MOST_LINES).max(1)).max(1);
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
    let caption = caption(experiment, &text);
    (!panels.is_empty()).then(|| Picture {
        caption,
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
    let line = |(place, series): (usize, &Series)| {
        let points = series.points.iter();
        let raw = points.clone().flat_map(|(x, y)| [short(*x), short(y * drawn.factor)]);
        let halves = series.ci95.iter().map(|half| half.unwrap_or(0.0));
        let band = points.zip(halves).flat_map(|((x, y), half)| {
            [*x, (y - half) * drawn.factor, (y + half) * drawn.factor].map(short)
        });
        let called = curve::label(series);
        let own = |line: &str| [called, &series.entity].contains(&line) || data.lines.len() == 1;
        let published = drawn.points.iter().filter(|points| own(&points.line));
        let ends = [series.points.first(), series.points.last()];
        let label = match called {
            "" => experiment.measures[measure].name.clone(),
            called => shown_name(experiment, called),
        };
        Line {
            label,
            colour: by_line[place],
            raw: raw.collect(),
            band: if experiment.seeds > 1 { band.collect() } else { Vec::new() },
            published: published.flat_map(|p| &p.at).flat_map(|(x, y)| [*x, *y]).collect(),
            cells: ends
                .map(|end| end.map_or("-".into(), |(_, y)| digits(y * drawn.factor)))
                .to_vec(),
            ..Line::default()
        }
    };
    let lines: Vec<Line> = data.lines.iter().enumerate().map(line).collect();
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
    let one = |(number, unit): (usize, &&str)| {
        let lines = claims.iter().filter(|claim| claim.unit.as_deref() == Some(unit));
        let lines: Vec<Line> = lines.filter_map(|claim| row(claim)).collect();
        let text = format!("{} Hollow: values of the paper.", bars(experiment));
        (!lines.is_empty()).then(|| Picture {
            id: if number == 0 { "values".to_owned() } else { format!("values-{}", number + 1) },
            title: values_title(experiment, &lines, unit, units.len()),
            caption: caption(experiment, &text),
            form: report::picture::Form::Dots,
            x: Axis::new("measured", unit),
            y: Axis::new("", ""),
            panels: vec![Panel { lines, ..Panel::default() }],
            corner: String::new(),
            heads: ["mean", "±", "published"].map(str::to_owned).to_vec(),
        })
    };
    units.iter().enumerate().filter_map(one).collect()
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
