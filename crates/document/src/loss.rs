//! The notation of a link's loss: a share, or the four probabilities of bursts.

use crate::{Section, ratio, shown, valid_words};
use control::{LossModel, Ratio};
use toml::de::{DeTable, DeValue};

const GILBERT_ELLIOTT: [&str; 4] = ["to_bad", "to_good", "good", "bad"];

/// The form of the field `loss`, for the manual.
pub const LOSS_FORM: &str = "share, or `{ to_bad, to_good, good, bad }`";

/// Reads the field; no loss if its value is not valid.
#[must_use]
pub fn loss(s: &Section<'_>, field: &str) -> Option<LossModel> {
    Some(given(s, field).unwrap_or_default())
}

fn given(s: &Section<'_>, field: &str) -> Option<LossModel> {
    let Some(DeValue::Table(table)) = s.given(field).map(|v| v.get_ref()) else {
        let share = s.get(field, ratio)?.get();
        return Some(if share > 0.0 { LossModel::Random(share) } else { LossModel::None });
    };
    let unknown = table.keys().find(|key| !GILBERT_ELLIOTT.contains(&key.get_ref().as_ref()));
    if let Some(key) = unknown {
        let word = key.get_ref();
        let valid = valid_words(word, GILBERT_ELLIOTT);
        s.doc.mistake(key.span(), format!("`{field}` has no field `{word}`; {valid}"));
        return None;
    }
    let [to_bad, to_good] = ["to_bad", "to_good"].map(|name| {
        if !table.contains_key(name) {
            s.mistake(field, &format!("it needs `{name}`, a share such as \"1 %\""));
        }
        share(s, table, name)
    });
    // Without a share, the good state loses nothing and the bad state everything.
    let loss_good = if table.contains_key("good") { share(s, table, "good")? } else { 0.0 };
    let loss_bad = if table.contains_key("bad") { share(s, table, "bad")? } else { 1.0 };
    Some(LossModel::GilbertElliott { to_bad: to_bad?, to_good: to_good?, loss_good, loss_bad })
}

/// A share in a table; `None` if it is missing or a mistake.
fn share(s: &Section<'_>, table: &DeTable<'_>, name: &str) -> Option<f64> {
    let value = table.get(name)?;
    let given = match value.get_ref() {
        DeValue::Table(_) | DeValue::Array(_) => Err(format!("not {}", shown(value.get_ref()))),
        other => ratio(other),
    };
    given
        .map(Ratio::get)
        .map_err(|why| s.doc.mistake(value.span(), format!("`{name}`: {why}")))
        .ok()
}
