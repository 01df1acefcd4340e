//! The JSON Schema says of files what the checker says.

use jsonschema::Validator;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn validator() -> Validator {
    let schema = scenario::json_schema::schema();
    jsonschema::meta::validate(&schema).expect("it is a schema of its draft");
    jsonschema::validator_for(&schema).expect("it is a schema")
}

/// The mistakes of a text, by the schema.
fn wrong(validator: &Validator, text: &str) -> Vec<String> {
    let table: toml::Table = text.parse().expect("TOML");
    let value = serde_json::to_value(table).expect("TOML without dates is JSON");
    validator.iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path())).collect()
}

fn scenarios(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            scenarios(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "toml") {
            found.push(path);
        }
    }
}

/// True if a file is a scenario and not, say, a table of expected values.
fn is_scenario(text: &str) -> bool {
    text.parse::<toml::Table>().is_ok_and(|table| table.contains_key("scenario"))
}

#[test]
fn every_scenario_of_the_repository_is_valid_and_so_is_what_it_is_filled_up_to() {
    let (validator, mut files, mut count) = (validator(), Vec::new(), 0);
    scenarios(&root().join("scenarios"), &mut files);
    scenarios(&root().join("bench"), &mut files);
    for file in files {
        let text = fs::read_to_string(&file).expect("it can be read");
        if !is_scenario(&text) {
            continue;
        }
        assert_eq!(wrong(&validator, &text), [""; 0], "{}", file.display());
        let batch = scenario::load(&file, &[]).unwrap_or_else(|e| panic!("{e}"));
        let filled = &batch.runs[0].filled;
        assert_eq!(wrong(&validator, filled), [""; 0], "{}: {filled}", file.display());
        count += 1;
    }
    assert!(count > 0, "there are scenarios");
}

/// A file that is right, with all kinds of values.
const RIGHT: &str = r#"
    [scenario]
    duration = "1.5 min"
    seed = 7
    paths = 2
    strategy = "multicast"
    [topology]
    generator = "dumbbell"
    rate = "1_000 kbit/s"
    access = { rate = "1 Gbit/s", loss = { to_bad = 0.1, to_good = "25 %" } }
    [[node]]
    name = ["a", "b"]
    admission = "20 %"
    [[link]]
    between = ["a", "left"]
    rate = "10Mbit/s"
    queue = "100 packets"
    metric = 2.5
    marker = { scheme = "codel", target = "15 ms" }
    back = { queue = "9 kB" }
    [[content]]
    name = "/x"
    at = ["p0"]
    size = "20 MB"
    [[consumer]]
    at = "c0"
    name = "/x"
    control = "cubic"
    [[consumer]]
    at = "c1"
    name = "/x"
    rate = "140.5 /s"
    [[fault]]
    at = "1 s"
    kind = "link-down"
    link = ["a", "left"]
    [sweep]
    control = ["aimd", "cubic"]
    link.delay = ["1 ms"]
    repetitions = 3
"#;

#[test]
fn the_checker_and_the_schema_agree_on_what_is_right() {
    let validator = validator();
    assert_eq!(wrong(&validator, RIGHT), [""; 0]);
    let checked = scenario::parse(RIGHT, "t.toml", &["sweep=1".to_owned()]);
    assert!(checked.is_err(), "a setting that is none");
    scenario::parse(RIGHT, "t.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn both_refuse_what_has_the_wrong_form() {
    let validator = validator();
    for (right, broken) in [
        ("duration = \"1.5 min\"", "duration = \"1.5 parsecs\""),
        ("duration = \"1.5 min\"", "duration = \"-1 s\""),
        ("duration = \"1.5 min\"", "duration = 5"),
        ("duration = \"1.5 min\"", ""),
        ("seed = 7", "sed = 7"),
        ("seed = 7", "seed = -7"),
        ("paths = 2", "paths = 99"),
        ("\"multicast\"", "\"cubic\""),
        ("\"dumbbell\"", "\"dumbell\""),
        ("\"1_000 kbit/s\"", "\"1_000 kbps\""),
        ("loss = { to_bad = 0.1,", "loss = { to_bda = 0.1,"),
        ("to_bad = 0.1", "to_bad = 1.1"),
        ("\"20 %\"", "\"some\""),
        ("[\"a\", \"left\"]\n    rate", "[\"a\"]\n    rate"),
        ("\"100 packets\"", "\"100 pakets\""),
        ("metric = 2.5", "metric = -1"),
        ("scheme = \"codel\"", "scheme = \"codle\""),
        ("back = {", "bakc = {"),
        ("name = \"/x\"\n    at", "name = \"x\"\n    at"),
        ("\"140.5 /s\"", "\"140.5 Hz\""),
        ("\"link-down\"", "\"link-dwn\""),
        ("[\"aimd\", \"cubic\"]", "\"aimd\""),
        ("repetitions = 3", "repetitions = 0"),
        ("[[content]]", "[[contents]]"),
    ] {
        let text = RIGHT.replacen(right, broken, 1);
        assert_ne!(text, RIGHT, "{right}");
        assert!(!wrong(&validator, &text).is_empty(), "the schema takes {broken}");
        assert!(scenario::parse(&text, "t.toml", &[]).is_err(), "the checker takes {broken}");
    }
}
