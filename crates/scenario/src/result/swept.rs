//! The fields that a sweep sets, as columns and in objects: numbers where all values are of one
//! kind of quantity.

use super::described::{Kind, Value};
use control::{Duration, Rate, Ratio, Size};
use std::collections::BTreeMap;

/// A kind of quantity, with the unit of its numbers in tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// A number without a unit.
    Bare,
    /// A share of 1.
    Share,
    /// Seconds.
    Time,
    /// Bits per second.
    Rate,
    /// Bytes.
    Size,
    /// Packets.
    Packets,
    /// Products of bandwidth and delay.
    Products,
    /// Interests per second.
    Frequency,
}

/// A unit for people.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// Its name.
    pub name: &'static str,
    /// From the unit in tables to this one.
    pub factor: f64,
}

impl Dimension {
    /// The unit that suits values up to `most`.
    #[must_use]
    pub fn unit(self, most: f64) -> Unit {
        let (name, factor) = match self {
            Dimension::Bare => ("", 1.0),
            Dimension::Share => ("%", 100.0),
            Dimension::Time if most >= 2.0 => ("s", 1.0),
            Dimension::Time => ("ms", 1e3),
            Dimension::Rate if most >= 2e9 => ("Gbit/s", 1e-9),
            Dimension::Rate => ("Mbit/s", 1e-6),
            Dimension::Size if most >= 2e6 => ("MB", 1e-6),
            Dimension::Size => ("kB", 1e-3),
            Dimension::Packets => ("packets", 1.0),
            Dimension::Products => ("BDP", 1.0),
            Dimension::Frequency => ("/s", 1.0),
        };
        Unit { name, factor }
    }

    /// The kind of both together.
    fn with(self, other: Dimension) -> Option<Dimension> {
        match [self, other] {
            // A share may be written either way.
            [Dimension::Bare, Dimension::Share] | [Dimension::Share, Dimension::Bare] => {
                Some(Dimension::Share)
            }
            [one, other] => (one == other).then_some(one),
        }
    }
}

/// A value with a unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Amount {
    /// Its number, in the unit of the dimension.
    pub value: f64,
    /// The kind of quantity.
    pub dimension: Dimension,
}

impl Amount {
    /// Reads a value as scenarios have it; `None` for a text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Amount> {
        let text = text.trim();
        let (value, dimension) = if let Some(value) = number(text) {
            if !value.is_finite() {
                return None;
            }
            (value, Dimension::Bare)
        } else if let Some(packets) = text.strip_suffix("packets").and_then(number) {
            (packets, Dimension::Packets)
        } else if let Some(products) = text.strip_suffix("BDP").and_then(number) {
            (products, Dimension::Products)
        } else if let Ok(rate) = text.parse::<Rate>() {
            (rate.0 as f64, Dimension::Rate)
        } else if let Some(frequency) = text.strip_suffix("/s").and_then(number) {
            (frequency, Dimension::Frequency)
        } else if let Ok(time) = text.parse::<Duration>() {
            (time.as_secs_f64(), Dimension::Time)
        } else if let Ok(size) = text.parse::<Size>() {
            (size.0 as f64, Dimension::Size)
        } else {
            (text.parse::<Ratio>().ok()?.get(), Dimension::Share)
        };
        Some(Amount { value, dimension })
    }
}

fn number(text: &str) -> Option<f64> {
    text.replace('_', "").trim().parse().ok()
}

/// A field that a sweep sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweptField {
    /// Its name, as in the sweep.
    pub name: String,
    /// The kind of its values, if all are numbers of one kind.
    pub dimension: Option<Dimension>,
}

impl SweptField {
    /// The fields of runs with these settings, in the order of the sweep.
    #[must_use]
    pub fn of<'a>(settings: impl Iterator<Item = &'a [(String, String)]>) -> Vec<SweptField> {
        let mut values: Vec<(&str, Vec<&str>)> = Vec::new();
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for (name, value) in settings.flatten() {
            let place = *places.entry(name).or_insert_with(|| {
                values.push((name, Vec::new()));
                values.len() - 1
            });
            let known = &mut values[place].1;
            if !known.contains(&value.as_str()) {
                known.push(value);
            }
        }
        let mut fields = Vec::new();
        for (name, values) in values {
            let mut kinds = values.iter().map(|value| Some(Amount::parse(value)?.dimension));
            let first = kinds.next().flatten();
            let dimension = kinds.fold(first, |all, one| all?.with(one?));
            fields.push(SweptField { name: name.to_owned(), dimension });
        }
        fields
    }

    /// The type of its column.
    #[must_use]
    pub fn kind(&self) -> Kind {
        if self.dimension.is_some() { Kind::Number } else { Kind::Text }
    }

    /// Its value with these settings.
    #[must_use]
    pub fn value(&self, settings: &[(String, String)]) -> Value {
        let Some(text) = self.text(settings) else { return Value::Nothing };
        match self.dimension.and(Amount::parse(text)) {
            Some(amount) => Value::Number(amount.value),
            None => Value::Text(text.to_owned()),
        }
    }

    /// Its value as the sweep has it.
    #[must_use]
    pub fn text<'s>(&self, settings: &'s [(String, String)]) -> Option<&'s str> {
        settings.iter().find(|(name, _)| *name == self.name).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{RunId, RunResult, SweepResult};

    #[test]
    fn values_have_the_unit_of_their_kind() {
        let parsed = |text| Amount::parse(text).map(|one| (one.value, one.dimension));
        assert_eq!(parsed("1 %"), Some((0.01, Dimension::Share)));
        assert_eq!(parsed("20 ms"), Some((0.02, Dimension::Time)));
        assert_eq!(parsed("1.5 Mbit/s"), Some((1.5e6, Dimension::Rate)));
        assert_eq!(parsed("30 kB"), Some((30_000.0, Dimension::Size)));
        assert_eq!(parsed("20 packets"), Some((20.0, Dimension::Packets)));
        assert_eq!(parsed("0.5 BDP"), Some((0.5, Dimension::Products)));
        assert_eq!(parsed("140 /s"), Some((140.0, Dimension::Frequency)));
        assert_eq!(parsed("-3"), Some((-3.0, Dimension::Bare)));
        for text in ["cubic", "nan", "inf", "{ to_bad = 0.1 }", ""] {
            assert_eq!(parsed(text), None, "{text}");
        }
        let percent = Dimension::Share.unit(0.02);
        assert_eq!((percent.name, percent.factor), ("%", 100.0));
        assert_eq!([0.5, 30.0].map(|most| Dimension::Time.unit(most).name), ["ms", "s"]);
    }

    #[test]
    fn objects_have_the_types_of_columns() {
        let run = |queue: &str| {
            let settings = [("link.loss", "2 %"), ("link.queue", queue)];
            let settings = settings.map(|(a, b)| (a.to_owned(), b.to_owned())).to_vec();
            RunResult { id: RunId { settings, ..RunId::default() }, ..RunResult::default() }
        };
        let sweep = SweepResult::new("x", 1, vec![run("20 packets"), run("30 kB")]);
        let json = serde_json::to_value(&sweep).unwrap();
        // Packets and bytes are no numbers of one kind.
        let wanted = serde_json::json!({ "link.loss": 0.02, "link.queue": "20 packets" });
        assert_eq!(json["runs"][0]["swept"], wanted);
        assert_eq!(json["combinations"][0]["swept"], wanted);
        assert_eq!(json["runs"][1]["seed"], 0, "the fields of the run stand beside it");
        let read: SweepResult = serde_json::from_value(json).unwrap();
        assert_eq!(read, sweep);
    }

    #[test]
    fn a_column_holds_numbers_if_all_values_are_of_one_kind() {
        let row = |values: [&str; 3]| -> Vec<(String, String)> {
            let names = ["control", "link.loss", "link.queue"];
            names.into_iter().zip(values).map(|(a, b)| (a.to_owned(), b.to_owned())).collect()
        };
        let rows = [row(["bbr", "0.01", "20 packets"]), row(["aimd", "2 %", "30 kB"])];
        let fields = SweptField::of(rows.iter().map(Vec::as_slice));
        let kinds: Vec<(&str, Kind)> = fields.iter().map(|f| (f.name.as_str(), f.kind())).collect();
        let expected =
            [("control", Kind::Text), ("link.loss", Kind::Number), ("link.queue", Kind::Text)];
        assert_eq!(kinds, expected);
        assert_eq!(fields[1].value(&rows[0]), Value::Number(0.01));
        assert_eq!(fields[1].value(&rows[1]), Value::Number(0.02));
        assert_eq!(fields[2].value(&rows[0]), Value::Text("20 packets".to_owned()));
        assert_eq!(fields[0].value(&[]), Value::Nothing);
    }
}
