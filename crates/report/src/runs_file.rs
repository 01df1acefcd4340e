//! `runs.csv`: a row for each run, for spreadsheets.

use scenario::result::{MEASURES, RunResult, SweptField, Value};
use std::io::Write;

/// Writes the uninterrupted runs, by their places in the summary.
pub fn write(to: impl Write, swept: &[SweptField], runs: &[RunResult]) -> csv::Result<()> {
    let mut out = csv::Writer::from_writer(to);
    let names = ["run", "seed"].into_iter().chain(swept.iter().map(|field| &*field.name));
    out.write_record(names.chain(MEASURES.iter().map(|one| one.column)))?;
    for (number, run) in runs.iter().enumerate().filter(|(_, run)| !run.interrupted) {
        let first = [Value::Count(number as u64), Value::Count(run.id.seed)];
        let swept = swept.iter().map(|field| field.value(&run.id.settings));
        let measured =
            MEASURES.iter().map(|one| (one.get)(run).map_or(Value::Nothing, Value::Number));
        out.write_record(first.into_iter().chain(swept).chain(measured).map(|value| text(&value)))?;
    }
    out.flush().map_err(csv::Error::from)
}

fn text(value: &Value) -> String {
    match value {
        Value::Nothing => String::new(),
        Value::Switch(switch) => switch.to_string(),
        Value::Count(count) => count.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Text(text) => text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::result::{RunId, Settled};

    #[test]
    fn a_run_is_a_row_with_its_settings_and_measures() {
        let run = |control: &str, loss: &str, goodput: f64| RunResult {
            id: RunId {
                seed: 7,
                settings: vec![
                    ("control".to_owned(), control.to_owned()),
                    ("link.loss".to_owned(), loss.to_owned()),
                ],
                ..RunId::default()
            },
            settled: Settled { goodput_mbps: Some(goodput), ..Settled::default() },
            ..RunResult::default()
        };
        let mut stopped = run("bbr", "0 %", 1.0);
        stopped.interrupted = true;
        let runs = [run("a, \"b\"", "1 %", 9.5), stopped, run("bbr", "0 %", 8.0)];
        let swept = SweptField::of(runs.iter().map(|run| run.id.settings.as_slice()));
        let mut bytes = Vec::new();
        write(&mut bytes, &swept, &runs).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let mut lines = text.lines();
        let head = "run,seed,control,link.loss,settled_goodput_mbps,settled_jain_index,";
        assert!(lines.next().unwrap().starts_with(head), "{text}");
        assert!(lines.next().unwrap().starts_with("0,7,\"a, \"\"b\"\"\",0.01,9.5,,"), "{text}");
        assert!(lines.next().unwrap().starts_with("2,7,bbr,0,8,,"), "{text}");
        assert_eq!(lines.next(), None);
    }
}
