//! Schemes and their parameters in a file.

use crate::declared::{Fields, Formed, Read, Value};
use crate::reader::Section;
use crate::schema::{Form, Item, field};
use crate::value::{Words, shown, spoken, text, word};
use document_derive::{Fields, Read};
use forwarder::tables::{Admission, PolicyKind};
use schemes::{Choice, ChoiceError};
use std::path::Path;
use toml::Spanned;
use toml::de::DeValue;

/// The fields that say which schemes work on a link: on a face of the daemon's, or on the face that
/// sends in one direction of a simulated link.
pub const LINK_PARTS: &[Item] = &[
    field(
        "scheme",
        Form::Part("marker, shaper or stamper"),
        "",
        "A scheme all of whose link parts work on the face.",
    ),
    field("marker", Form::Part("marker"), "", "The scheme that manages the face's queue."),
    field("shaper", Form::Part("shaper"), "", "The scheme that shapes the face's Interests."),
    field("stamper", Form::Part("stamper"), "", "The scheme that stamps hop-by-hop options."),
];

/// The rules of a content store, of a daemon or of a simulated node.
#[derive(Clone, Copy, Debug, Fields, Read)]
pub struct StoreRules {
    /// The replacement policy of a full store.
    #[field(default = "lru")]
    pub policy: PolicyKind,
    /// The Data that it admits: `"all"` (leave copy everywhere, `"lce"`), `"none"`, or a share:
    /// each Data with this probability. By the position behind the answering node, if the
    /// neighbours do so too: `"lcd"` (leave copy down), `"mcd"` (move copy down), `"edge"` (the
    /// last store on the way), `"probcache"` (`"probcache:window=10,power=false"`), `"age"`
    /// (age-based: `"age:base=10 s,factor=2,most=5 min"`).
    #[field(default = "all", form = "word or share", with = admission)]
    pub admission: Admission,
}

impl Words for PolicyKind {
    const WORDS: &'static [&'static str] = &["lru", "lfu", "fifo", "random"];
    const ALL: &'static [PolicyKind] = &PolicyKind::ALL;

    fn word(self) -> &'static str {
        Self::WORDS[self as usize]
    }
}

impl Formed for PolicyKind {
    const FORM: Form = Form::Word(Self::WORDS);
}

impl Value for PolicyKind {
    fn read(value: &DeValue<'_>) -> Result<PolicyKind, String> {
        word(value)
    }
}

fn admission(value: &DeValue<'_>) -> Result<Admission, String> {
    spoken(value, &Admission::WORDS)
}

/// The names of [`LINK_PARTS`].
const PARTS: [&str; 4] = ["scheme", "marker", "shaper", "stamper"];

/// The scheme parts of a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    /// Queue management.
    pub marker: Option<Choice>,
    /// Interest shaping.
    pub shaper: Option<Choice>,
    /// Stamping of options.
    pub stamper: Option<Choice>,
}

impl Fields for Parts {
    const FIELDS: &'static [Item] = LINK_PARTS;
}

impl Read for Parts {
    fn read(section: &Section<'_>) -> Option<Parts> {
        Some(link_parts(section))
    }
}

/// Returns why a choice lacks the part that a field needs; `None` if it has it.
type Lacks = fn(&Choice) -> Option<String>;

fn problem<T>(part: Result<T, ChoiceError>) -> Option<String> {
    part.err().map(|e| e.to_string())
}

fn lacks_marker(c: &Choice) -> Option<String> {
    problem(c.marker())
}

fn lacks_shaper(c: &Choice) -> Option<String> {
    problem(c.shaper())
}

fn lacks_stamper(c: &Choice) -> Option<String> {
    problem(c.stamper())
}

fn lacks_link_parts(c: &Choice) -> Option<String> {
    let all = lacks_marker(c).is_some() && lacks_shaper(c).is_some() && lacks_stamper(c).is_some();
    all.then(|| {
        let (name, has) = (c.scheme().name, c.scheme().kind());
        format!("`{name}` has no part for links; it is a {has}")
    })
}

fn lacks_strategy(c: &Choice) -> Option<String> {
    problem(c.strategy())
}

/// The scheme parts of a link: those of `scheme`, overridden one by one.
#[must_use]
pub fn link_parts(section: &Section<'_>) -> Parts {
    let all = part(section, "scheme", lacks_link_parts);
    let mut parts = Parts {
        marker: part(section, "marker", lacks_marker),
        shaper: part(section, "shaper", lacks_shaper),
        stamper: part(section, "stamper", lacks_stamper),
    };
    if let Some(all) = all {
        parts.fill(&all);
    }
    parts
}

/// The scheme that a section chooses for everything that names none: links, strategy, consumers.
#[must_use]
pub fn whole(section: &Section<'_>, field: &str) -> Option<Choice> {
    part(section, field, |c| {
        let some = problem(c.controller()).is_none() || lacks_strategy(c).is_none();
        if some { None } else { lacks_link_parts(c) }
    })
}

/// The scheme that a section chooses for all that a forwarder does: links and strategy.
#[must_use]
pub fn of_forwarder(section: &Section<'_>, field: &str) -> Option<Choice> {
    part(section, field, |c| if lacks_strategy(c).is_none() { None } else { lacks_link_parts(c) })
}

impl Parts {
    /// True if a section sets any of them.
    #[must_use]
    pub fn are_given(section: &Section<'_>) -> bool {
        PARTS.iter().any(|field| section.given(field).is_some())
    }

    /// True if a field sets one of them.
    #[must_use]
    pub fn is_field(field: &str) -> bool {
        PARTS.contains(&field)
    }

    /// True if it names no part.
    #[must_use]
    pub fn are_none(&self) -> bool {
        self.marker.is_none() && self.shaper.is_none() && self.stamper.is_none()
    }

    /// Has the parts of `whole` where it names none itself.
    pub fn fill(&mut self, whole: &Choice) {
        let parts: [(&mut Option<Choice>, Lacks); 3] = [
            (&mut self.marker, lacks_marker),
            (&mut self.shaper, lacks_shaper),
            (&mut self.stamper, lacks_stamper),
        ];
        for (own, lacks) in parts {
            if own.is_none() && lacks(whole).is_none() {
                *own = Some(whole.clone());
            }
        }
    }
}

/// The scheme whose consumer a section chooses under this field.
#[must_use]
pub fn controller(section: &Section<'_>, field: &str) -> Option<Choice> {
    part(section, field, |c| problem(c.controller()))
}

/// The scheme whose strategy a section chooses under this field.
#[must_use]
pub fn strategy(section: &Section<'_>, field: &str) -> Option<Choice> {
    part(section, field, lacks_strategy)
}

/// `"codel"`, `"codel:target=15 ms"` or `{ scheme = "codel", target = "15 ms" }`; a startup before
/// it: `"packet-pair+cubic"` or `{ scheme = "cubic", startup = "packet-pair" }`.
fn part(section: &Section<'_>, field: &str, lacks: Lacks) -> Option<Choice> {
    let given = section.given(field)?;
    let choice = match given.get_ref() {
        DeValue::Table(table) => {
            let Some(name) = table.get("scheme") else {
                let why = "it needs the scheme's name: { scheme = \"…\", … }";
                section.doc.mistake(given.span(), format!("`{field}`: {why}"));
                return None;
            };
            let mut choice = from(section, field, name, |name| {
                Choice::named(text(name)?).map_err(|e| e.to_string())
            })?;
            for (key, value) in table.iter().filter(|(key, _)| key.get_ref() != "scheme") {
                let set = match &**key.get_ref() {
                    "startup" => begin(&mut choice, value.get_ref()),
                    key => set(&mut choice, key, value.get_ref()),
                };
                if let Err(why) = set {
                    section.doc.mistake(value.span(), format!("`{field}`: {why}"));
                }
            }
            choice
        }
        _ => from(section, field, given, |given| {
            text(given)?.parse::<Choice>().map_err(|e| e.to_string())
        })?,
    };
    let choice = from(section, field, given, |_| read(choice, section))?;
    if let Some(why) = lacks(&choice) {
        section.doc.mistake(given.span(), format!("`{field}`: {why}"));
        return None;
    }
    Some(choice)
}

/// Gives the choice a startup.
fn begin(choice: &mut Choice, startup: &DeValue<'_>) -> Result<(), String> {
    let startup = text(startup)?.parse::<Choice>().map_err(|e| e.to_string())?;
    choice.begin_with(&startup).map_err(|e| e.to_string())
}

/// The value as `convert` understands it; a mistake at its place if it does not.
fn from<'d, T>(
    section: &Section<'_>,
    field: &str,
    value: &'d Spanned<DeValue<'d>>,
    convert: impl FnOnce(&'d DeValue<'d>) -> Result<T, String>,
) -> Option<T> {
    convert(value.get_ref())
        .map_err(|why| section.doc.mistake(value.span(), format!("`{field}`: {why}")))
        .ok()
}

/// With the content of the file that a parameter names.
#[cfg(feature = "onnx")]
fn read(mut choice: Choice, section: &Section<'_>) -> Result<Choice, String> {
    match onnx::load(&mut choice, &section.doc.folder()) {
        Ok(()) => Ok(choice),
        Err(error @ onnx::ModelError::Read { .. }) => {
            Err(format!("{error}; it is looked for in the folder of this file"))
        }
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(not(feature = "onnx"))]
fn read(choice: Choice, _section: &Section<'_>) -> Result<Choice, String> {
    Ok(choice)
}

/// The same value with an absolute path, if it chooses a scheme with a file: `folder` is that of
/// the document. `None` if it has none.
#[must_use]
pub fn with_absolute_path(value: &DeValue<'_>, folder: &Path) -> Option<String> {
    let mut choice = match value {
        DeValue::String(text) => text.parse::<Choice>().ok()?,
        DeValue::Table(table) => {
            let mut choice = Choice::named(table.get("scheme")?.get_ref().as_str()?).ok()?;
            for (key, value) in table.iter() {
                match key.get_ref().as_ref() {
                    "scheme" => {}
                    "startup" => {
                        choice.begin_with(&value.get_ref().as_str()?.parse().ok()?).ok()?;
                    }
                    key => set(&mut choice, key, value.get_ref()).ok()?,
                }
            }
            choice
        }
        _ => return None,
    };
    let (name, path) = choice.unread()?;
    let path = folder.join(path);
    let path = std::path::absolute(&path).unwrap_or(path);
    choice.set(name, &path.display().to_string()).ok()?;
    Some(choice.to_string())
}

/// Sets one parameter from its TOML value.
fn set(choice: &mut Choice, key: &str, value: &DeValue<'_>) -> Result<(), String> {
    let given = match value {
        DeValue::String(s) => s.to_string(),
        DeValue::Integer(n) if n.radix() == 10 => n.as_str().to_owned(),
        DeValue::Float(n) => n.as_str().to_owned(),
        DeValue::Boolean(b) => b.to_string(),
        other => return Err(format!("parameter `{key}` takes a value, not {}", shown(other))),
    };
    choice.set(key, &given).map_err(|e| e.to_string())
}
