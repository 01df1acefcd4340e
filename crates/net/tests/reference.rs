//! Pages in `docs/reference` are what the code says: configuration.md, trust.md, and counters.md
//! from "Metrics" on.

use forwarder::{DropReason, DurationHistogram, OptionFault};
use net::config::reference::manual;
use net::management::metrics::{Family, families};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Compares a page, from a heading on if one is given, with what the code says; with
/// `WEIR_REGENERATE=1` writes it.
fn is_current(page: &str, from: Option<&str>, generated: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(page);
    let written = fs::read_to_string(&path).unwrap_or_default();
    let at = from.map_or(0, |from| written.find(from).unwrap_or(written.len()));
    let current = format!("{}{generated}", &written[..at]);
    if std::env::var_os("WEIR_REGENERATE").is_some() {
        fs::write(&path, &current).expect("the page can be written");
        return;
    }
    assert!(
        written == current,
        "docs/reference/{page} is not what the code says; write it with: scripts/docs"
    );
}

#[test]
fn the_configurations_page_is_current() {
    is_current("configuration.md", None, &manual());
}

#[test]
fn the_page_of_trust_rules_is_current() {
    is_current("trust.md", None, &net::trust::manual());
}

#[test]
fn the_reasons_on_the_page_of_counters_are_current() {
    let drops = DropReason::ALL.iter().map(|reason| (reason.name(), reason.help()));
    let faults = OptionFault::ALL.iter().map(|fault| (fault.name(), fault.help()));
    let rows = families().map(|(family, of_face)| {
        let labels = if of_face { "face uri " } else { "" }.to_owned() + family.labels;
        let labels: Vec<String> = labels.split_whitespace().map(|l| format!("`{l}`")).collect();
        let Family { name, help, .. } = family;
        format!("| `{name}` | {} | {} | {help} |\n", family.kind(), labels.join(", "))
    });
    let bounds = DurationHistogram::BOUNDS.map(|bound| (bound.0 as f64 / 1e9).to_string());
    let bounds = bounds.join(", ");
    let text = format!(
        "## Metrics\n\nWith `listen` under `[metrics]` in [the configuration]\
         (configuration.md#metrics), `GET /metrics` answers in the\ntext format of \
         [Prometheus](https://prometheus.io). Labels tell what a number is of: `type` is \
         `interest`, `data` or\n`nack`, `how` is `satisfied`, `nacked` or `expired`, `reason` one \
         of those below; faces that end take\ntheir numbers with them.\n\n\
         A histogram has the buckets {bounds}\nseconds and `+Inf`. It is left out until there is a \
         first duration. [Watch a forwarder](../how-to/watch-a-forwarder.md) has\na dashboard and \
         alerts.\n\n\
         | metric | type | labels | what it is |\n|---|---|---|---|\n{}\n\
         ## Reasons for dropping\n\n| reason | what was dropped, or why |\n|---|---|\n{}\n\
         ## Malformed options\n\nAn option that is not as [the wire format](wire.md) has it is \
         taken off the packet, which goes on without\nit: no later node has to read it \
         again. Options of unknown types are handed on as they are.\n\n\
         | reason | what was taken off |\n|---|---|\n{}",
        rows.collect::<String>(),
        table(drops),
        table(faults),
    );
    is_current("counters.md", Some("## Metrics"), &text);
}

/// The dashboard and the alerts of `packaging` use no other metrics, and all of them are of use.
#[test]
fn the_dashboard_and_the_alerts_use_metrics_that_there_are() {
    let packaging = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging");
    let read = |file| fs::read_to_string(packaging.join(file)).expect("the file can be read");
    let mut known = BTreeSet::new();
    for (family, _) in families() {
        match family.kind() {
            "histogram" => known.extend(["bucket", "sum", "count"].map(|s| family.sample(s))),
            _ => _ = known.insert(family.name.to_owned()),
        }
    }
    let mut used = BTreeSet::new();
    for file in ["grafana/weir.json", "prometheus/weir.rules.yml", "prometheus/weir.test.yml"] {
        let text = read(file);
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        used.extend(words.filter(|word| word.starts_with("weir_")).map(str::to_owned));
    }
    let unknown: Vec<&String> = used.difference(&known).collect();
    assert!(unknown.is_empty(), "no such metrics: {unknown:?}");
    for (family, _) in families() {
        let is_used = used.iter().any(|name| name.starts_with(family.name));
        assert!(is_used, "no panel shows {}", family.name);
    }
}

fn table(rows: impl Iterator<Item = (&'static str, &'static str)>) -> String {
    rows.map(|(name, help)| format!("| `{name}` | {} |\n", help.trim().trim_end_matches('.')))
        .collect()
}
