//! `[[content]]`: objects, catalogues, videos.

use crate::model::{
    Class, Content, Distribution, Objects, Production, ServiceSpec, Signing, SlowSegment, Spread,
};
use crate::places::Names;
use crate::schema::{ContentSection, DISTRIBUTIONS, Placement, ProductionWord, SigningWord};
use crate::values::{from, positive, table_fields};
use control::{Duration, Rate, Size};
use document::{Document, Read, Section, Value, ratio, shown, text, valid_words};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A content that could be read; where it stands.
pub type Found = (Content, Range<usize>);

/// The most objects of a catalogue; the popularity of each takes eight bytes.
const MAX_OBJECTS: i64 = 10_000_000;
/// The most segments of a video in all qualities.
const MAX_VIDEO: u64 = 100_000;

/// Reads all `[[content]]`.
pub fn contents<'d>(
    doc: &'d Document<'d>,
    table: &'d DeTable<'d>,
    names: &Names<'_>,
) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for section in Section::all_of::<ContentSection>(doc, table) {
        let Some(content) = content(&section, names) else { continue };
        for (other, _) in &found {
            let [a, b] = [other.name.as_ref(), content.name.as_ref()];
            if a == b {
                section.mistake("name", &format!("there are two contents `{a}`"));
            } else if a.starts_with(b) || b.starts_with(a) {
                let why = format!("`{b}` and `{a}`: one is the prefix of the other");
                section.mistake("name", &why);
            }
        }
        found.push((content, section.at.clone()));
    }
    found
}

fn content(s: &Section<'_>, names: &Names<'_>) -> Option<Content> {
    let at = names.several(s, "at");
    let read = ContentSection::read(s)?;
    let placement = match read.placement {
        Placement::Replicated => Spread::Replicated,
        Placement::Objects => Spread::Objects,
        Placement::Segments => Spread::Segments,
    };
    let (objects, size) = if s.given("video").is_some() { (video(s)?, Size(0)) } else { many(s)? };
    let unlimited = matches!(objects, Objects::Numbered { count: None, .. });
    if placement != Spread::Replicated && at.len() < 2 {
        s.mistake("placement", "there is only one producer; give `at` a list of several");
    } else if placement != Spread::Replicated && unlimited {
        s.mistake("placement", "an unlimited number of objects cannot be placed in advance");
    }
    let production = production(s, &read, &objects);
    let name = read.name?;
    if s.given("together").is_some() && placement != Spread::Segments {
        s.mistake("together", "only `placement = \"segments\"` has it");
    }
    let (time, queue) = (read.service_time, read.service_queue);
    Some(Content {
        name,
        at,
        size,
        segment: read.segment,
        signing: match read.signing {
            SigningWord::Manifest => Signing::Manifest,
            SigningWord::Digest => Signing::Digest,
            SigningWord::None => Signing::Unsigned,
        },
        objects,
        placement,
        together: read.together,
        service: (time > Duration::ZERO).then_some(ServiceSpec { time, queue }),
        production,
    })
}

/// When a producer makes segments, and what a content made in order cannot be.
fn production(s: &Section<'_>, read: &ContentSection, objects: &Objects) -> Production {
    if read.production == ProductionWord::OnDemand {
        let wrong = ["slow_time", "slow_segment"].into_iter().find(|f| s.given(f).is_some());
        if let Some(field) = wrong {
            s.mistake(field, "only `production = \"in-order\"` has it");
        }
        return Production::OnDemand;
    }
    if *objects != Objects::One || read.placement != Placement::Replicated {
        s.mistake("production", "`in-order` is for one object, whole at each of its producers");
    } else if read.signing == SigningWord::Manifest {
        let why = "a manifest lists segments that are not made yet; add `signing = \"none\"`";
        s.mistake("production", why);
    } else if s.given("service_queue").is_some() {
        s.mistake("service_queue", "a producer with `production = \"in-order\"` has no queue");
    }
    let (segment, time) = (read.slow_segment, read.slow_time);
    let slow = (time > Duration::ZERO).then_some(SlowSegment { segment, time });
    Production::InOrder { slow }
}

/// The objects of a catalogue, or the one; and the size of the one, or the mean.
fn many(s: &Section<'_>) -> Option<(Objects, Size)> {
    if s.given("size").is_none() {
        s.doc.mistake(s.at.clone(), "`content` needs a field `size`, or `video`");
        return None;
    }
    let classes = classes(s)?;
    let sum: f64 = classes.iter().map(|class| class.share).sum();
    let mean: f64 = classes.iter().map(|class| class.share / sum * class.size.mean()).sum();
    let mean = Size(mean as u64);
    let Some(objects) = s.given("objects") else {
        return match &classes[..] {
            [Class { size: Distribution::Constant(size), .. }] => Some((Objects::One, Size(*size))),
            _ => {
                s.mistake("size", "one object has one size; `objects` says how many there are");
                None
            }
        };
    };
    let count = match objects.get_ref() {
        DeValue::String(word) if word == "unlimited" => None,
        DeValue::String(word) if word == "listed" => {
            return Some((Objects::Listed(Vec::new()), mean));
        }
        DeValue::Integer(n) => match n.as_str().parse::<i64>() {
            Ok(n @ 1..=MAX_OBJECTS) => Some(n as u64),
            Ok(0) => {
                s.mistake("objects", "a catalogue without objects has nothing to request");
                return None;
            }
            _ => {
                s.mistake("objects", &format!("it is a number from 1 to {MAX_OBJECTS}"));
                return None;
            }
        },
        other => {
            let given = shown(other);
            let what = "it is a number, \"unlimited\" or \"listed\", not";
            s.mistake("objects", &format!("{what} {given}"));
            return None;
        }
    };
    Some((Objects::Numbered { count, classes }, mean))
}

fn classes(s: &Section<'_>) -> Option<Vec<Class>> {
    let value = s.given("size")?;
    let Some(list) = value.get_ref().as_array() else {
        let size = size(s, value)?;
        return Some(vec![Class { name: String::new(), share: 1.0, size }]);
    };
    let mut classes = Vec::new();
    for one in list.iter() {
        let table = table_fields(s, "size", one, &["class", "share", "size"])?;
        let [class, share, of] = ["class", "share", "size"].map(|field| table.get(field));
        let (Some(class), Some(share), Some(of)) = (class, share, of) else {
            let form = "a class is { class = \"mice\", share = \"99 %\", size = \"50 kB\" }";
            s.doc.mistake(one.span(), format!("`size`: {form}"));
            return None;
        };
        let name = from(s, "class", class, |v| text(v).map(str::to_owned))?;
        let share = from(s, "share", share, ratio)?.get();
        classes.push(Class { name, share, size: size(s, of)? });
    }
    let sum: f64 = classes.iter().map(|class: &Class| class.share).sum();
    if classes.is_empty() || sum <= 0.0 {
        s.mistake("size", "no class has a share");
        return None;
    }
    Some(classes)
}

fn bytes(value: &DeValue<'_>) -> Result<u64, String> {
    match Size::read(value)? {
        Size(0) => Err("a size of zero transfers nothing".to_owned()),
        Size(size) => Ok(size),
    }
}

/// The table of a distribution of sizes.
struct Law<'s, 'd> {
    section: &'s Section<'d>,
    table: &'d DeTable<'d>,
}

impl Law<'_, '_> {
    fn size(&self, field: &str) -> Option<u64> {
        from(self.section, field, self.table.get(field)?, bytes)
    }

    fn number(&self, field: &str) -> Option<f64> {
        from(self.section, field, self.table.get(field)?, positive)
    }
}

/// A size, or a distribution of sizes.
fn size(s: &Section<'_>, value: &Spanned<DeValue<'_>>) -> Option<Distribution> {
    if value.get_ref().as_table().is_none() {
        return from(s, "size", value, bytes).map(Distribution::Constant);
    }
    const FIELDS: [&str; 7] = ["distribution", "least", "most", "mean", "median", "shape", "sigma"];
    let table = table_fields(s, "size", value, &FIELDS)?;
    let name = table.get("distribution").and_then(|v| v.get_ref().as_str()).unwrap_or_default();
    let wanted: &[&str] = match name {
        "uniform" => &["least", "most"],
        "exponential" => &["mean"],
        "pareto" => &["least", "most", "shape"],
        "lognormal" => &["median", "sigma"],
        other => {
            let valid = valid_words(other, DISTRIBUTIONS);
            let why = format!("`{other}` is not a distribution of sizes; {valid}");
            s.doc.mistake(value.span(), format!("`size`: {why}"));
            return None;
        }
    };
    if let Some(missing) = wanted.iter().find(|field| !table.contains_key(**field)) {
        let why = format!("`{name}` needs `{missing}`; it has `{}`", wanted.join("`, `"));
        s.doc.mistake(value.span(), format!("`size`: {why}"));
        return None;
    }
    let law = Law { section: s, table };
    let law = match name {
        "uniform" => Distribution::Uniform(law.size("least")?, law.size("most")?),
        "exponential" => Distribution::Exponential { mean: law.size("mean")? as f64 },
        "pareto" => Distribution::Pareto {
            least: law.size("least")? as f64,
            most: law.size("most")? as f64,
            shape: law.number("shape")?,
        },
        _ => Distribution::LogNormal {
            median: law.size("median")? as f64,
            sigma: law.number("sigma")?,
        },
    };
    let ordered = match law {
        Distribution::Uniform(least, most) => least <= most,
        Distribution::Pareto { least, most, .. } => least < most,
        _ => true,
    };
    if !ordered {
        s.doc.mistake(value.span(), "`size`: `least` is not less than `most`");
    }
    ordered.then_some(law)
}

fn video(s: &Section<'_>) -> Option<Objects> {
    for field in ["size", "objects"].into_iter().filter(|field| s.given(field).is_some()) {
        s.mistake(field, "a video has none: `video` has its sizes");
    }
    let value = s.given("video")?;
    let table = table_fields(s, "video", value, &["ladder", "segment", "length"])?;
    let [ladder, segment, length] = ["ladder", "segment", "length"].map(|f| table.get(f));
    let (Some(rates), Some(segment), Some(length)) = (ladder, segment, length) else {
        let form =
            "{ ladder = [\"300 kbit/s\", \"1 Mbit/s\"], segment = \"2 s\", length = \"60 s\" }";
        s.mistake("video", &format!("it needs all of {form}"));
        return None;
    };
    let segment = from(s, "segment", segment, Duration::read)?;
    let length = from(s, "length", length, Duration::read)?;
    let single = std::slice::from_ref(rates);
    let list = rates.get_ref().as_array().map_or(single, |list| &**list);
    let mut ladder = Vec::new();
    for rate in list {
        ladder.push(from(s, "ladder", rate, |v| match Rate::read(v)? {
            Rate(0) => Err("a rate of zero shows nothing".to_owned()),
            rate => Ok(rate),
        })?);
    }
    if ladder.is_empty() || !ladder.is_sorted_by(|a, b| a < b) {
        s.mistake("video", "the `ladder` is a list of rates that ascend");
        return None;
    }
    if segment == Duration::ZERO || length < segment {
        s.mistake("video", "`segment` is longer than no time and not longer than `length`");
        return None;
    }
    let segments = length.0.div_ceil(segment.0);
    if segments.saturating_mul(ladder.len() as u64) > MAX_VIDEO {
        s.mistake("video", &format!("it has more than {MAX_VIDEO} segments in all qualities"));
        return None;
    }
    Some(Objects::Video { ladder, segment, segments })
}
