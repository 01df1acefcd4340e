//! The notation of a link's loss: a share, or the four probabilities of bursts.

use crate::{Section, ratio, shown, valid_words};
use control::{LossModel, Ratio};
use std::borrow::Cow;
use toml::Spanned;
use toml::de::DeValue;

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
    let unknown = |key: &&Spanned<Cow<'_, str>>| !GILBERT_ELLIOTT.contains(&key.get_ref().as_ref());
    if let Some(key) = table.keys().find(unknown) {
        let word = key.get_ref();
        let valid = valid_words(word, GILBERT_ELLIOTT);
        s.doc.mistake(key.span(), format!("`{field}` has no field `{word}`; {valid}"));
        return None;
    }
    let share = |name: &str, default: Option<f64>| {
        let Some(value) = table.get(name) else {
            if default.is_none() {
                s.mistake(field, &format!("it needs `{name}`, a share such as \"1 %\""));
            }
            return default;
        };
        let wrong = |why: String| s.doc.mistake(value.span(), format!("`{name}`: {why}"));
        let given = match value.get_ref() {
            DeValue::Table(_) | DeValue::Array(_) => Err(format!("not {}", shown(value.get_ref()))),
            other => ratio(other),
        };
        given.map(Ratio::get).map_err(wrong).ok()
    };
    let shares = [share("to_bad", None), share("to_good", None)];
    let (loss_good, loss_bad) = (share("good", Some(0.0))?, share("bad", Some(1.0))?);
    let [to_bad, to_good] = shares;
    Some(LossModel::GilbertElliott { to_bad: to_bad?, to_good: to_good?, loss_good, loss_bad })
}
