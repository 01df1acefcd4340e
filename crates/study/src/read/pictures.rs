//! The pictures of an experiment.

use super::measures::{known, quantities, selector};
use super::names::once;
use super::raw::{self, PictureKind};
use super::reading::Reading;
use crate::model::{Case, Drawn, Form, Mark, Points};
use toml::Spanned;

/// Valid names in pictures: measures, cases, and swept fields.
type Names<'n> = (&'n [&'n str], &'n [Case], &'n [&'n str]);

/// Reads them.
pub fn read(
    reading: &Reading<'_>,
    pictures: &[Spanned<raw::Picture>],
    names: Names<'_>,
) -> Vec<Drawn> {
    once(reading.doc, pictures.iter().map(|picture| &picture.get_ref().id), "picture");
    let mut read = Vec::new();
    for picture in pictures {
        let raw = picture.get_ref();
        match drawn(raw, names) {
            Ok(drawn) => read.push(drawn),
            Err(why) => reading.doc.mistake(raw.id.span(), why),
        }
    }
    read
}

/// The place of a case.
fn place(cases: &[Case], name: &Spanned<String>) -> Result<usize, String> {
    let place = cases.iter().position(|case| case.name == *name.get_ref());
    place.ok_or_else(|| {
        let valid =
            document::valid_words(name.get_ref(), cases.iter().map(|case| case.name.as_str()));
        format!("there is no case `{}`; {valid}", name.get_ref())
    })
}

fn drawn(raw: &raw::Picture, names: Names<'_>) -> Result<Drawn, String> {
    let (_, cases, _) = names;
    let shown = match &raw.cases {
        Some(named) => named.iter().map(|name| place(cases, name)).collect::<Result<_, _>>()?,
        None => (0..cases.len()).collect(),
    };
    let marks = raw.marks.iter().map(|mark| {
        let case = match &mark.case {
            Some(name) => Some(place(cases, name)?),
            None => None,
        };
        Ok(Mark { case, value: mark.value, label: mark.label.clone() })
    });
    let points = raw.points.iter().map(|points| Points {
        label: points.label.clone(),
        line: points.line.clone(),
        at: points.at.clone(),
    });
    let id = raw.id.get_ref();
    if id.is_empty()
        || !id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    {
        return Err(format!("`{id}` names a file: it has small letters, digits and hyphens"));
    }
    fits(raw)?;
    Ok(Drawn {
        id: id.clone(),
        title: raw.title.get_ref().clone(),
        form: form(raw, names)?,
        cases: shown,
        factor: raw.factor.unwrap_or(1.0),
        unit: raw.unit.clone(),
        y: raw.y.clone(),
        along: raw.along.clone(),
        log: raw.log,
        share: raw.share,
        marks: marks.collect::<Result<_, String>>()?,
        points: points.collect(),
    })
}

/// Fields of another kind of picture are rejected.
fn fits(raw: &raw::Picture) -> Result<(), String> {
    match raw.kind {
        PictureKind::Time if raw.log => {
            Err("`log` is only for a `cdf` or `curve`: the time axis is linear")
        }
        PictureKind::Cdf | PictureKind::Curve if raw.share => {
            Err("`share` is only for lines over `time`")
        }
        PictureKind::Time | PictureKind::Cdf if !raw.along.is_empty() => {
            Err("`along` is only for a `curve`: the label of its swept field")
        }
        _ => Ok(()),
    }
    .map_err(str::to_owned)
}

fn form(raw: &raw::Picture, (measures, _, keys): Names<'_>) -> Result<Form, String> {
    match raw.kind {
        PictureKind::Time => {
            let of = selector(&raw.of(), false)?;
            let series = raw.series.as_deref().ok_or("say which `series` is drawn")?;
            let quantity = known(series, quantities(&of))?;
            Ok(Form::Time(of, quantity))
        }
        PictureKind::Cdf => {
            let of = selector(&raw.of(), false)?;
            use scenario::series::Subject::{Flow, Workload};
            match of.subject {
                Some(Flow | Workload) => Ok(Form::Cdf(of)),
                _ => Err("completion times are of a `flow` or a `workload`".to_owned()),
            }
        }
        PictureKind::Curve => {
            let (Some(measure), Some(x)) = (&raw.measure, &raw.x) else {
                return Err("a curve has a `measure` and the swept field `x`".to_owned());
            };
            let place = measures.iter().position(|known| known == measure.get_ref());
            let place = place.ok_or_else(|| format!("no measure is `{}`", measure.get_ref()))?;
            match keys.contains(&x.get_ref().as_str()) {
                true => Ok(Form::Curve(place, x.get_ref().clone())),
                false => Err(format!("`{}` is not swept", x.get_ref())),
            }
        }
    }
}
