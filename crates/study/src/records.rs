//! Records of runs: the results of a run that pages need, as text, so that another process, on
//! another host or later, may have done the run.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The records of runs, by the numbers of the runs.
pub trait Records: Sync {
    /// The record of an earlier run.
    fn find(&self, run: usize) -> Option<String>;

    /// The record found is used: it is whole.
    fn used(&self) {}

    /// Keeps the record of a finished run.
    fn keep(&self, run: usize, record: &str);
}

/// Without records.
impl Records for () {
    fn find(&self, _run: usize) -> Option<String> {
        None
    }

    fn keep(&self, _run: usize, _record: &str) {}
}

/// Finds the record of a run, or does the run and keeps its record. A record that cannot be read,
/// or is not whole, counts as none.
///
/// # Errors
/// The error of the run. It has no record: a run that fails does so at once.
pub fn recorded<T: Serialize + for<'de> Deserialize<'de>>(
    records: &dyn Records,
    run: usize,
    is_whole: impl Fn(&T) -> bool,
    work: impl FnOnce() -> Result<T, String>,
) -> Result<T, String> {
    let known = records.find(run).and_then(|text| serde_json::from_str(&text).ok());
    if let Some(known) = known.filter(&is_whole) {
        records.used();
        return Ok(known);
    }
    let done = work()?;
    if is_whole(&done) {
        let text = serde_json::to_string(&done).map_err(|error| error.to_string())?;
        records.keep(run, &text);
    }
    Ok(done)
}

/// Numbers that JSON does not have, as words.
pub mod exact {
    use super::{Deserialize, Deserializer, Serialize, Serializer};

    /// A number, or the text of an infinite one.
    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Number {
        Finite(f64),
        Other(String),
    }

    /// Writes a number.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(value: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
        let number = value.map(|number| match number.is_finite() {
            true => Number::Finite(number),
            false => Number::Other(number.to_string()),
        });
        number.serialize(to)
    }

    /// Reads a number.
    ///
    /// # Errors
    /// It is no number.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
        match Option::<Number>::deserialize(from)? {
            None => Ok(None),
            Some(Number::Finite(number)) => Ok(Some(number)),
            Some(Number::Other(text)) => text.parse().map(Some).map_err(serde::de::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Kept {
        #[serde(with = "exact")]
        value: Option<f64>,
        whole: bool,
    }

    #[derive(Default)]
    struct Memory(Mutex<Vec<Option<String>>>);

    impl Records for Memory {
        fn find(&self, run: usize) -> Option<String> {
            self.0.lock().unwrap().get(run).cloned().flatten()
        }

        fn keep(&self, run: usize, record: &str) {
            let mut all = self.0.lock().unwrap();
            all.resize(run + 1, None);
            all[run] = Some(record.to_owned());
        }
    }

    #[test]
    fn a_run_with_a_record_is_not_done_again() {
        let memory = Memory::default();
        for value in [Some(0.1 + 0.2), Some(f64::INFINITY), Some(f64::NEG_INFINITY), None] {
            let kept = Kept { value, whole: true };
            let whole = |kept: &Kept| kept.whole;
            *memory.0.lock().unwrap() = Vec::new();
            let first = recorded(&memory, 2, whole, || Ok(kept.clone()));
            assert_eq!(first.as_ref(), Ok(&kept));
            let again = recorded(&memory, 2, whole, || Err("done again".to_owned()));
            assert_eq!(again, first, "to the last bit");
        }
    }

    #[test]
    fn runs_that_were_cut_or_failed_have_no_record() {
        let memory = Memory::default();
        let cut = Kept { value: None, whole: false };
        assert!(recorded(&memory, 0, |kept: &Kept| kept.whole, || Ok(cut)).is_ok());
        let failed: Result<Kept, _> = recorded(&memory, 1, |_| true, || Err("why".to_owned()));
        assert_eq!(failed, Err("why".to_owned()));
        assert!(memory.find(0).is_none() && memory.find(1).is_none());
        for bad in ["damaged", r#"{"value":2.0,"whole":false}"#] {
            memory.keep(0, bad);
            let whole = Kept { value: Some(1.0), whole: true };
            let done = recorded(&memory, 0, |kept: &Kept| kept.whole, || Ok(whole.clone()));
            assert_eq!(done, Ok(whole));
        }
    }
}
