//! The pictures of an experiment: what the paper shows, drawn from our runs with its values marked.

use crate::curve;
use crate::model::{Drawn, Experiment, Form, Study};
use crate::outcome::{ClaimResult, Drawable, ExperimentResult, Measured, Published, Series};
use report::picture::{Axis, Limit, Line, Panel, Picture, short};
use report::{colour_of_scheme, colour_of_thing, dashes, distribution, over_time};
use scenario::result::digits;
use std::collections::BTreeSet;

/// Lines that a panel has at most.
const MOST_LINES: usize = 8;
/// Panels that a picture has at most.
const MOST_PANELS: usize = 12;
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
        Form::Curve(measure, key) => curve(experiment, drawn, data, (*measure, key)),
    };
    let mut pictures: Vec<Picture> = drawn.filter_map(one).collect();
    if experiment.pictures.is_empty() {
        pictures = values(experiment, claims);
    }
    for picture in &mut pictures {
        picture.id = name(&study.name, &experiment.name, &picture.id);
    }
    pictures
}

/// The colour of each case: that of its scheme, if no other case has it.
fn colours(experiment: &Experiment, cases: &[usize]) -> Vec<usize> {
    let scheme = |case: &usize| {
        let mut settings = experiment.cases[*case].settings.iter();
        let is_scheme = |key: &str| ["scheme", "control"].iter().any(|end| key.ends_with(end));
        settings.find(|(key, _)| is_scheme(key)).map(|(_, value)| colour_of_scheme(value))
    };
    let schemes: Option<Vec<usize>> = cases.iter().map(scheme).collect();
    let different = |all: &Vec<usize>| all.iter().collect::<BTreeSet<_>>().len() == all.len();
    schemes.filter(different).unwrap_or_else(|| (0..cases.len()).map(colour_of_thing).collect())
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

/// What the runs of a caption were.
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

fn time(
    experiment: &Experiment,
    drawn: &Drawn,
    data: &Drawable,
    quantity: &str,
) -> Option<Picture> {
    let ends = data.lines.iter().filter_map(|line| line.points.last());
    let shown = ends.map(|(time, _)| *time).fold(0.0, f64::max);
    if shown <= 0.0 {
        return None;
    }
    let entities: BTreeSet<&str> = data.lines.iter().map(|line| line.entity.as_str()).collect();
    let (alone, few) = (entities.len() == 1, drawn.cases.len() <= MOST_LINES);
    let by_case = colours(experiment, &drawn.cases);
    let most = MOST_POINTS / data.lines.len().max(1);
    let line = |series: &Series, number: usize, is_crowded: bool| {
        let place = drawn.cases.iter().position(|case| *case == series.case).unwrap_or(0);
        let case = experiment.cases[series.case].name.clone();
        Line {
            label: if alone && drawn.cases.len() > 1 { case } else { shown_name(&series.entity) },
            colour: if alone { by_case[place] } else { colour_of_thing(number) },
            ..over_time(&series.points, drawn.factor, shown, (most, is_crowded))
        }
    };
    let of = |case: usize| data.lines.iter().filter(move |line| line.case == case);
    let panels = if alone && few {
        let all = drawn.cases.iter().flat_map(|case| of(*case));
        let lines = all.map(|series| line(series, 0, data.lines.len() > 3)).collect();
        vec![Panel { lines: dashed(lines), limits: marks(drawn, None), ..Panel::default() }]
    } else {
        let panel = |case: &usize| {
            let lines = of(*case).take(MOST_LINES).enumerate();
            let lines = lines.map(|(number, series)| line(series, number, true)).collect();
            let title = match &*drawn.cases {
                [_] => String::new(),
                _ => experiment.cases[*case].name.clone(),
            };
            let limits = marks(drawn, Some(*case));
            Panel { title, lines: dashed(lines), limits, ..Panel::default() }
        };
        drawn.cases.iter().take(MOST_PANELS).map(panel).collect()
    };
    let label = match drawn.y.as_str() {
        "" => quantity.split('_').next().unwrap_or(quantity),
        label => label,
    };
    let x = Axis { most: Some(shown), ..Axis::new("time", "s") };
    let seed = format!("seed {}", experiment.batch.runs.first()?.seed);
    let has_samples = panels.iter().flat_map(|panel| &panel.lines).any(Line::has_both);
    let faint = if has_samples { "Faint: samples; lines: means" } else { "Means" };
    let mut span = with_marks(drawn, &format!("{faint} over 1/150 of the time."));
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
        ..picture(drawn, report::picture::Form::Time, x, Axis::new(label, &drawn.unit))
    })
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

fn shown_name(entity: &str) -> String {
    entity.replace(" > ", " → ")
}

fn cdf(experiment: &Experiment, drawn: &Drawn, data: &Drawable) -> Option<Picture> {
    let by_case = colours(experiment, &drawn.cases);
    let line = |(place, case): (usize, &usize)| {
        let series = data.lines.iter().find(|line| line.case == *case)?;
        let times: Vec<(f64, u64)> =
            series.points.iter().map(|(time, n)| (time * drawn.factor, *n as u64)).collect();
        let label = &experiment.cases[*case].name;
        (!times.is_empty()).then(|| distribution(label, by_case[place], times, series.unfinished))
    };
    let lines: Vec<Line> = drawn.cases.iter().enumerate().filter_map(line).collect();
    let panels: Vec<Panel> = lines
        .chunks(MOST_LINES)
        .map(|lines| Panel {
            lines: dashed(lines.to_vec()),
            moments: marks(drawn, None),
            ..Panel::default()
        })
        .collect();
    let x = Axis::new("completion time", if drawn.unit.is_empty() { "s" } else { &drawn.unit });
    let y = Axis { most: Some(1.0), ..Axis::new("share of flows", "") };
    let text = with_marks(drawn, "The medians are marked.");
    let caption = format!("{} {text}", runs(experiment, &seeds(experiment)));
    (!panels.is_empty()).then(|| Picture {
        caption,
        panels,
        heads: ["flows", "median", "95 %", "most", "not done"].map(str::to_owned).to_vec(),
        ..picture(drawn, report::picture::Form::Cdf, x, y)
    })
}

fn seeds(experiment: &Experiment) -> String {
    match experiment.seeds {
        1 => "one seed".to_owned(),
        n => format!("{n} seeds"),
    }
}

fn curve(
    experiment: &Experiment,
    drawn: &Drawn,
    data: &Drawable,
    (measure, key): (usize, &str),
) -> Option<Picture> {
    let cases: Vec<usize> = data.lines.iter().map(|line| line.case).collect();
    let by_line = colours(experiment, &cases);
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
            called => called.to_owned(),
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
    let text = with_marks(drawn, "Bars: 95 % intervals.");
    let panel = Panel { lines: dashed(lines), limits: marks(drawn, None), ..Panel::default() };
    Some(Picture {
        caption: format!("{} {text}", runs(experiment, &seeds(experiment))),
        panels: vec![panel],
        heads: ["first", "last"].map(str::to_owned).to_vec(),
        ..picture(
            drawn,
            report::picture::Form::Curve,
            Axis::new(key, unit),
            Axis::new(label, &drawn.unit),
        )
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
        let caption = "Bars: 95 % intervals. Hollow: values of the paper.";
        (!lines.is_empty()).then(|| Picture {
            id: if number == 0 { "values".to_owned() } else { format!("values-{}", number + 1) },
            title: experiment.title.clone(),
            caption: format!("{} {caption}", runs(experiment, &seeds(experiment))),
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
