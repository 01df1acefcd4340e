//! Files in `docs/reference` are equal to the generated ones: configuration.md,
//! configuration.schema.json, trust.md, and counters.md from "Metrics" on.

use forwarder::{DropReason, DurationHistogram, OptionFault};
use net::config::json_schema;
use net::config::reference::manual;
use net::management::metrics::{Family, families};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Compares a page, from a heading on if one is given, with the generated text; with
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
fn the_configurations_schema_is_current() {
    is_current("configuration.schema.json", None, &json_schema::text());
}

#[test]
fn the_page_of_trust_rules_is_current() {
    is_current("trust.md", None, &net::trust::manual());
}

/// The labels of metrics, and the meanings of their values.
const LABELS: [(&str, &str); 11] = [
    ("face", "number of the face; numbers are not reused"),
    ("uri", "remote address of the face"),
    ("version", "version of the program"),
    ("type", "`interest`, `data` or `nack`"),
    ("how", "`satisfied`, `nacked` or `expired`"),
    ("reason", "one of those [below](#reasons-for-dropping)"),
    ("part", "`content_store`, `pending`, `routes`, `dead_nonces`; `faces` if memory is limited"),
    ("what", "`interests`, `packets`, `faces` or `routes`"),
    ("of", "`command` or `announcement`"),
    ("result", "of a lookup: `hit`, `miss`; of a check: `valid`, `invalid`, `incomplete`"),
    ("le", "upper bound of a bucket of a histogram, in seconds"),
];

#[test]
fn each_label_is_explained() {
    let own = families().flat_map(|(family, _)| family.labels.split_whitespace());
    let used: BTreeSet<&str> = own.chain(["face", "uri", "le"]).collect();
    assert_eq!(used, LABELS.iter().map(|(label, _)| *label).collect());
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
         [Prometheus](https://prometheus.io).\n\n\
         A histogram has the buckets {bounds}\nseconds and `+Inf`. It is left out until there is a \
         first duration. [Watch a forwarder](../how-to/watch-a-forwarder.md) has\na dashboard and \
         alerts.\n\n\
         | metric | type | labels | what it is |\n|---|---|---|---|\n{}\n\
         | label | its values |\n|---|---|\n{}\n\
         ## Reasons for dropping\n\n| reason | what was dropped, or why |\n|---|---|\n{}\n\
         ## Malformed options\n\nAn option that does not follow [the wire format](wire.md) is \
         removed from the packet, which is processed\nwithout it, so that no later node has to \
         read it. Options of unknown types are passed on unchanged.\n\n\
         | reason | what was removed |\n|---|---|\n{}",
        rows.collect::<String>(),
        table(LABELS.into_iter()),
        table(drops),
        table(faults),
    );
    is_current("counters.md", Some("## Metrics"), &text);
}

/// The dashboard and the alerts of `packaging` use no other metrics, and each metric is used.
#[test]
fn the_dashboard_and_the_alerts_use_metrics_that_exist() {
    let packaging = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging");
    let read = |file| fs::read_to_string(packaging.join(file)).expect("the file can be read");
    let samples = |family: &Family| match family.kind() {
        "histogram" => ["bucket", "sum", "count"].map(|s| family.sample(s)).to_vec(),
        _ => vec![family.name.to_owned()],
    };
    let known: BTreeSet<String> = families().flat_map(|(family, _)| samples(family)).collect();
    let mut used = BTreeSet::new();
    for file in ["grafana/weir.json", "prometheus/weir.rules.yml", "prometheus/weir.test.yml"] {
        let text = read(file);
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        used.extend(words.filter(|word| word.starts_with("weir_")).map(str::to_owned));
    }
    let unknown: Vec<&String> = used.difference(&known).collect();
    assert!(unknown.is_empty(), "no such metrics: {unknown:?}");
    for (family, _) in families() {
        let is_used = samples(family).iter().any(|name| used.contains(name));
        assert!(is_used, "no panel and no alert uses {}", family.name);
    }
}

fn table(rows: impl Iterator<Item = (&'static str, &'static str)>) -> String {
    rows.map(|(name, help)| format!("| `{name}` | {} |\n", help.trim().trim_end_matches('.')))
        .collect()
}
