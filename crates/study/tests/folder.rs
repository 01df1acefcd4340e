//! A study's folder, read and run as a whole; and the mistakes of folders that are not studies.
#![expect(clippy::unwrap_used, reason = "a test")]

use control::Size;
use scenario::{OnHashing, Progress, Watch};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use study::{ClaimResult, Measured, Outcome, Page, Quickness, StudyError, What, load, perform};
use tempfile::TempDir;

struct Silent;

impl Watch for Silent {
    fn seconds(&self) -> f64 {
        0.0
    }
}

const FILES: [&str; 4] = ["README.md", "bottleneck.toml", "deviations.md", "expected.toml"];

/// A copy of the study beside this file in which `from` in a file is `to`.
fn changed(file: &str, from: &str, to: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let original = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bottleneck");
    for name in FILES {
        let mut text = fs::read_to_string(original.join(name)).unwrap();
        if name == file {
            assert!(text.contains(from), "{file} has no {from}");
            text = text.replacen(from, to, 1);
        }
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn unchanged() -> TempDir {
    changed("README.md", "text", "text")
}

/// All mistakes of a folder as one text.
fn mistakes(folder: &TempDir) -> String {
    match load(folder.path(), Quickness::Whole) {
        Err(error @ StudyError::Mistakes(_)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

fn outcome(folder: &TempDir, quickness: Quickness, jobs: usize) -> Outcome {
    perform(&load(folder.path(), quickness).unwrap(), jobs, &Silent)
}

#[test]
fn published_stands_beside_measured() {
    let outcome = outcome(&unchanged(), Quickness::Whole, 2);
    let claim = |id: &str| outcome.claims.iter().find(|claim| claim.id == id).unwrap();
    let Measured::One(Some(rate)) = claim("rate").measured else { panic!("{outcome:?}") };
    // Segments of 1000 bytes get 10 Mbit/s times their share of a packet: 93 to 99 %.
    assert!((9.3..9.9).contains(&rate), "{rate}");
    assert!(
        claim("rate").verdict.holds
            && claim("rate").verdict.judged
            && claim("rate").failure.is_none()
    );
    assert!(claim("order").verdict.holds);
    // One segment of 8 kbit in a round trip of 30 ms and its transmission time.
    let Measured::Terms(terms) = &claim("order").measured else { panic!("{outcome:?}") };
    assert!((terms[2].unwrap() - 8.0 / 31.0).abs() < 0.01, "{terms:?}");
    let wrong = claim("wrong");
    assert!(!wrong.verdict.holds && wrong.verdict.explained && !wrong.is_open());
    let runs: Vec<usize> = outcome.experiments.iter().map(|one| one.runs).collect();
    assert_eq!(runs, [9, 6, 4, 4]);
    let cdf = &outcome.experiments[3].pictures[0].lines;
    let points: Vec<usize> = cdf.iter().map(|line| line.points.len()).collect();
    assert_eq!(points, [2, 2], "a flow of each seed in each case");
    let curve = &outcome.experiments[1].pictures[0].lines;
    assert_eq!(curve.len(), 1);
    assert_eq!([curve[0].points[0].0, curve[0].points[1].0], [50.0, 100.0]);
}

#[test]
fn the_quick_form_judges_no_numbers_of_what_it_shortens() {
    let outcome = outcome(&unchanged(), Quickness::Quick, 1);
    let judged: Vec<bool> = outcome.claims.iter().map(|claim| claim.verdict.judged).collect();
    assert_eq!(judged, [false, true, true, true, true]);
    assert_eq!(outcome.experiments.len(), 3, "no sensitivity");
    let one = &outcome.experiments[0];
    assert_eq!((one.runs, one.simulated_s), (3, 15.0));
}

#[test]
fn how_many_runs_are_done_at_a_time_changes_nothing() {
    let folder = unchanged();
    let shown = |jobs| {
        let Outcome { claims, experiments, .. } = outcome(&folder, Quickness::Quick, jobs);
        let lines: Vec<_> = experiments.into_iter().flat_map(|one| one.pictures).collect();
        format!("{claims:?} {lines:?}")
    };
    assert_eq!(shown(1), shown(3));
}

#[test]
fn a_claim_that_does_not_hold_and_is_not_explained_is_open() {
    let folder = changed("expected.toml", "explained = \"it-does-not\"\n", "");
    let outcome = outcome(&folder, Quickness::Quick, 2);
    let open: Vec<&str> =
        outcome.claims.iter().filter(|claim| claim.is_open()).map(|c| c.id.as_str()).collect();
    assert_eq!(open, ["wrong"]);
}

/// The claim `wrong` in a folder of which this is changed.
fn wrong(to: &str) -> ClaimResult {
    let folder = changed("expected.toml", "explained = \"it-does-not\"\n", to);
    let outcome = outcome(&folder, Quickness::Quick, 2);
    outcome.claims.into_iter().find(|claim| claim.id == "wrong").unwrap()
}

#[test]
fn a_known_deviation_is_off_and_not_explained() {
    let wrong = wrong("off = \"it-does-not\"\n");
    assert!(wrong.verdict.off && !wrong.verdict.explained && !wrong.is_open());
    assert_eq!(wrong.verdict(), "no, off");
}

#[test]
fn a_deviation_that_has_changed_is_open() {
    let found = |order| wrong(&format!("explained = \"it-does-not\"\nfound = \"{order}\"\n"));
    assert!(found("{rate.stop-and-wait} < 5").verdict.explained);
    let other = found("{rate.stop-and-wait} > 4");
    assert!(other.is_open() && !other.verdict.explained);
    let why = other.failure.as_deref();
    assert_eq!(why, Some("before, rate.stop-and-wait > 4 was found"));

    // One megabyte takes 0.9 s, and never four.
    let number = |found: &str| {
        let known =
            format!("tolerance = \"0.2 s\"\nexplained = \"it-does-not\"\nfound = \"{found}\"");
        let folder = changed("expected.toml", "tolerance = \"0.2 s\"", &known);
        let path = folder.path().join("expected.toml");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen("published = \"0.9 s\"", "published = \"4 s\"", 1)).unwrap();
        let outcome = outcome(&folder, Quickness::Quick, 2);
        outcome.claims.into_iter().find(|claim| claim.id == "short-aimd").unwrap()
    };
    assert!(number("0.9 s").verdict.explained);
    assert!(number("2 s").is_open());
}

#[test]
fn seeds_that_change_nothing_are_one_run() {
    let page = |folder: &TempDir| {
        let study = load(folder.path(), Quickness::Whole).unwrap();
        Page::new(&study, &perform(&study, 2, &Silent), None).markdown("..")
    };
    let alike = page(&unchanged());
    assert!(alike.contains("9 runs of `bottleneck.toml`, alike for all seeds"), "{alike}");
    assert!(alike.contains("In 4 of 4 experiments all seeds are alike"), "{alike}");
    let random = page(&changed("bottleneck.toml", "[[link]]", "[[link]]\nloss = 0.01"));
    assert!(!random.contains("alike"), "{random}");
    // One run has no interval, in captions and in tables.
    let caption = "<sub>bottleneck.toml, one run, alike for all seeds.</sub>";
    assert!(alike.contains(caption), "{alike}");
    assert!(!alike.contains("Bars:") && !alike.contains("± 0 |"), "{alike}");
    assert!(random.contains("3 seeds. Bars: 95 % intervals."), "{random}");
}

#[test]
fn claims_are_counted_by_whose_word_they_are() {
    let kind = |kind| {
        let to = format!("id = \"order\"\nkind = \"{kind}\"");
        outcome(&changed("expected.toml", "id = \"order\"", &to), Quickness::Quick, 2).counted()
    };
    assert!(kind("published").starts_with("4 claims: 3 hold, 1 does not and is explained; 1 n"));
    assert!(
        kind("check").contains("2 hold, 1 does not and is explained; 1 check of our own: 1 ho")
    );
    assert!(kind("calibrated").contains("; 1 calibrated value: 1 holds; 1 number is only shown"));
}

#[test]
fn a_measure_without_values_is_reported_and_hides_no_other_claim() {
    let folder = changed("expected.toml", "\"{rate.aimd}\"", "\"{fct.aimd}\"");
    let outcome = outcome(&folder, Quickness::Whole, 2);
    let failures: Vec<_> = outcome.claims.iter().map(|claim| claim.failure.as_deref()).collect();
    assert_eq!(failures, [Some("no run has a value"), None, None, None, None]);
    assert!(outcome.claims[0].is_open(), "the object is too large to come");
}

#[test]
fn a_failed_run_is_reported_and_hides_no_other_claim() {
    let mut study = load(unchanged().path(), Quickness::Whole).unwrap();
    let first = &mut study.experiments[0];
    let cubic = first.cases.iter().position(|case| case.name == "cubic").unwrap();
    // A mistake that reading a file would have found.
    let scenario = &mut first.batch.runs[cubic * first.seeds + 1].scenario;
    Arc::make_mut(scenario).contents[0].segment = Size(0);
    let outcome = perform(&study, 2, &Silent);
    let result = &outcome.experiments[0];
    assert_eq!((result.runs, result.wanted), (8, 9));
    assert_eq!(result.failures.len(), 1, "{:?}", result.failures);
    assert!(result.failures[0].starts_with("cubic, seed 2: "), "{:?}", result.failures);
    assert!(outcome.claims[0].verdict.holds, "it is not of that case");
    assert_eq!(outcome.claims[1].failure.as_deref(), Some("1 of 3 seeds have no value"));
    assert!(!outcome.claims[1].verdict.holds);
    let page = Page::new(&study, &outcome, None).markdown("..");
    assert!(page.contains("Failed: cubic, seed 2: "), "{page}");
}

#[test]
fn a_measure_of_several_things_fails_and_hides_nothing() {
    let folder = changed("expected.toml", "link = \"r > c\"", "link = \"*\"");
    let outcome = outcome(&folder, Quickness::Quick, 2);
    let failures = &outcome.experiments[0].failures;
    assert_eq!(failures.len(), 3, "{failures:?}");
    assert!(failures[0].starts_with("aimd, seed 1: `queue` has 4 values"), "{failures:?}");
    assert!(outcome.claims[1].verdict.holds);
}

#[test]
fn a_measure_of_flows_may_use_a_former_name() {
    let of = |thing: &str| {
        let measure = format!("{{ {thing}, value = \"false_timeouts\" }}");
        changed("expected.toml", "{ flow = \"c\", value = \"fct_s\" }", &measure)
    };
    let study = load(of("flow = \"c\"").path(), Quickness::Whole).unwrap();
    let measures = study.experiments[0].measures.iter();
    let of_flow: Vec<What> = measures.filter(|one| one.name == "fct").map(|one| one.what).collect();
    assert_eq!(of_flow, [What::Value("false_losses")]);
    assert!(mistakes(&of("node = \"c\"")).contains("there is no `false_timeouts`"));
}

#[test]
fn mistakes_are_reported_with_their_place() {
    for (from, to, line, wanted) in [
        ("9 Mbit/s\"", "9\"", 25, "9 of what? Write the unit"),
        ("tolerance = \"10 %\"\n", "", 21, "claim `rate` has no `tolerance`"),
        ("reason = \"a tenth\"\n", "", 26, "a tolerance needs its `reason`"),
        ("{rate.cubic}", "{rate.cubik}", 32, "did you mean `cubic`?"),
        ("\"it-does-not\"", "\"it-does\"", 39, "deviations.md has no heading `it-does`"),
        ("\"a tenth\"\n", "\"a tenth\"\noff = \"it-does-not\"\n", 28, "`found`, as \"12 Mbit/s\""),
        ("= \"it-does-not\"\n", "= \"deviations\"\n", 39, "no experiment shows `deviations`"),
        ("explained = \"it-does-not\"", "found = \"1 < 2\"", 39, "is `explained` or `off`"),
        ("id = \"order\"", "id = \"rate\"", 29, "there is another claim `rate`"),
        ("\"goodput_mbps\"", "\"goodput_mbs\"", 17, "did you mean `goodput_mbps`?"),
        ("control = \"cubic\"", "control = \"reno\"", 14, "case `cubic`: no combination"),
        ("name = \"window\"\n", "name = \"bottleneck\"\n", 49, "another experiment `bottleneck`"),
        ("deviation = \"it-does-not\"\n", "", 39, "no experiment shows `it-does-not`"),
        ("x = \"link.queue\"", "x = \"link.delay\"", 61, "`link.delay` is not swept"),
        ("tolerance = \"20 %\"", "tolerance = \"2 s\"", 33, "what counts as equal is a share"),
        ("\"Completion times\"", "\"Rates\"", 109, "another picture with the title `Rates`"),
        ("log = true\nunit", "share = true\nunit", 61, "`share` is only for lines over `time`"),
        ("unit = \"Mbit/s\"\nmarks", "log = true\nmarks", 41, "the time axis is linear"),
        ("\naimd = \"AIMD\"", "\nreno = \"AIMD\"", 115, "nothing is called `reno`"),
        ("title = \"One flow\"", "titel = \"One flow\"", 8, "titel"),
    ] {
        let found = mistakes(&changed("expected.toml", from, to));
        let first = found.lines().next().unwrap_or_default();
        assert!(first.contains(&format!("expected.toml:{line}:")), "{to}: {found}");
        assert!(first.contains(wanted), "{to}: {found}");
    }
    let found = mistakes(&changed("expected.toml", "deviation = \"it-does-not\"\n", ""));
    assert!(found.contains("expected.toml:49:8: a sensitivity names the heading"), "{found}");
}

#[test]
fn people_read_labels_and_units_and_not_names_of_fields() {
    let page = |folder: &TempDir| {
        let study = load(folder.path(), Quickness::Whole).unwrap();
        Page::new(&study, &perform(&study, 2, &Silent), None).html()
    };
    let html = page(&unchanged());
    for wanted in [
        r#""label":"AIMD","colour""#,
        r#"{"label":"queue of the link","unit":"packets","most":null,"log":20.0}"#,
        r#"{"label":"goodput","unit":"Mbit/s","most":null,"log":null}"#,
        ">AIMD</td>",
    ] {
        assert!(html.contains(wanted), "{wanted}: {html}");
    }
    assert!(!html.contains("link.queue"), "{html}");
    let series = "series = \"goodput_mbps\"\nunit = \"Mbit/s\"";
    let folder = changed("expected.toml", series, "series = \"utilization\"");
    let file = folder.path().join("expected.toml");
    let text = fs::read_to_string(&file).unwrap();
    let of_link = "link = \"*\"\nseries = \"utilization\"";
    fs::write(&file, text.replace("flow = \"c\"\nseries = \"utilization\"", of_link)).unwrap();
    let ends = r#"{"label":"time in use","unit":"","most":1.0,"log":null}"#;
    assert!(page(&folder).contains(ends), "a share ends at one");
}

#[test]
fn experiments_and_scenarios_belong_together() {
    let folder = unchanged();
    fs::copy(folder.path().join("bottleneck.toml"), folder.path().join("other.toml")).unwrap();
    assert!(mistakes(&folder).contains("other.toml has no [[experiment]]"));
    fs::remove_file(folder.path().join("other.toml")).unwrap();
    fs::remove_file(folder.path().join("bottleneck.toml")).unwrap();
    assert!(mistakes(&folder).contains("there is no bottleneck.toml beside this file"));
}

#[test]
fn mistakes_in_scenarios_are_reported_once() {
    let found = mistakes(&changed("bottleneck.toml", "10 Mbit/s", "10 parsecs"));
    assert!(found.contains("bottleneck.toml:11:8: "), "{found}");
    assert_eq!(found.matches("bottleneck.toml:11:8: ").count(), 1, "found once: {found}");
}

#[test]
fn a_folder_lacks_what_it_lacks() {
    for name in ["README.md", "deviations.md", "expected.toml"] {
        let folder = unchanged();
        fs::remove_file(folder.path().join(name)).unwrap();
        let error = load(folder.path(), Quickness::Quick).unwrap_err();
        assert!(error.to_string().ends_with(&format!("has no {name}")), "{error}");
    }
}

/// The study, of which two cases are run on daemons too, for a second.
fn on_testbed(more: &str) -> TempDir {
    let section = "[experiment.testbed]\ncases = [\"cubic\", \"aimd\"]\n\
                   set = [\"scenario.duration=1 s\"]\n";
    changed(
        "expected.toml",
        "[experiment.measures]",
        &format!("{section}{more}[experiment.measures]"),
    )
}

#[test]
fn testbed_runs_have_the_settings_of_their_cases() {
    let study = load(on_testbed("").path(), Quickness::Whole).unwrap();
    let planned = study.experiments[0].testbed.as_ref().unwrap();
    let names: Vec<&str> =
        planned.cases.iter().map(|case| &*study.experiments[0].cases[*case].name).collect();
    assert_eq!(names, ["cubic", "aimd"]);
    let runs = planned.batch.runs.iter();
    let runs: Vec<_> = runs.map(|run| (&*run.settings[0].1, run.scenario.duration.0)).collect();
    assert_eq!(runs, [("cubic", 1_000_000_000), ("aimd", 1_000_000_000)]);
    assert!(study.experiments[1].testbed.is_none());
}

#[test]
fn mistakes_in_testbed_sections_are_reported() {
    for (more, wanted) in [("cause = 3\n", "cause"), ("causes = \"\"\n", "unknown field `causes`")]
    {
        assert!(mistakes(&on_testbed(more)).contains(wanted), "{}", mistakes(&on_testbed(more)));
    }
    for (from, to, wanted) in [
        ("[\"cubic\", \"aimd\"]", "[\"reno\"]", "no case is called `reno`"),
        ("scenario.duration=1 s", "scenario.length=1 s", "[experiment.testbed]: "),
    ] {
        let folder = on_testbed("");
        let path = folder.path().join("expected.toml");
        let text = fs::read_to_string(&path).unwrap().replacen(from, to, 1);
        fs::write(&path, text).unwrap();
        assert!(mistakes(&folder).contains(wanted), "{}", mistakes(&folder));
    }
}

#[test]
fn testbed_results_are_shown_beside_simulated_results() {
    let page = |more: &str, real: f64| {
        let study = load(on_testbed(more).path(), Quickness::Quick).unwrap();
        let planned = study.experiments[0].testbed.as_ref().unwrap();
        let simulated = scenario::execute(&planned.batch, 0, &Silent).unwrap();
        let mut measured = simulated.clone();
        for flow in &mut measured.flows {
            flow.bytes = (flow.bytes as f64 * real) as u64;
            flow.goodput_mbps = flow.goodput_mbps.map(|rate| rate * real);
        }
        let daemons = study::OnDaemons {
            on_daemons: study.name.clone(),
            version: String::new(),
            experiments: vec![study::ExperimentOnDaemons {
                experiment: "bottleneck".to_owned(),
                rows: study::Row::of("cubic", &simulated, &measured),
                failures: vec!["aimd: no room".to_owned()],
            }],
        };
        let outcome = perform(&study, 2, &Silent);
        let page = Page::new(&study, &outcome, Some(&daemons)).markdown("..");
        // The result is the same if the page is written before or after.
        let before = Page::new(&study, &outcome, None).markdown("..");
        assert_eq!(daemons.put_into(&before, &study, false), page);
        assert_eq!(daemons.put_into(&page, &study, false), page);
        let html = daemons.put_into(&Page::new(&study, &outcome, None).html(), &study, true);
        assert_eq!(html.matches(">simulated</th>").count(), 1);
        page
    };
    let far = page("", 0.9);
    assert!(
        far.contains("On real daemons, one run of each, with `scenario.duration=1 s`"),
        "{far}"
    );
    assert!(far.contains("| **-10.0 %** |"), "{far}");
    assert!(far.contains("Why they are apart is not known."), "{far}");
    assert!(far.contains("Failed: aimd: no room."), "{far}");
    assert!(page("cause = \"It is late.\"\n", 0.9).contains("It is late."));
    let near = page("cause = \"It is late.\"\n", 0.97);
    assert!(near.contains("| -3.0 % |") && !near.contains("It is late."), "{near}");
}

/// Lets one run be done.
struct Once(AtomicBool);

impl Watch for Once {
    fn seconds(&self) -> f64 {
        0.0
    }

    fn progress(&self, progress: Progress) -> bool {
        if progress.now == progress.end {
            return !self.0.swap(true, Relaxed);
        }
        !self.0.load(Relaxed)
    }
}

/// Ends each run as soon as it can.
struct Ended;

impl Watch for Ended {
    fn seconds(&self) -> f64 {
        0.0
    }

    fn progress(&self, _progress: Progress) -> bool {
        false
    }

    fn hashing(&self, _run: usize) -> Option<OnHashing> {
        Some(Box::new(|_| false))
    }
}

#[test]
fn a_study_ends_while_an_object_larger_than_any_disk_is_hashed() {
    let size = "size = \"1000000000000000000 B\"\nsegment = \"8000 B\"\n#";
    let folder = changed("bottleneck.toml", "size = \"100 MB\"\nsegment = \"1 kB\"\nsigning", size);
    let outcome = perform(&load(folder.path(), Quickness::Whole).unwrap(), 1, &Ended);
    assert!(outcome.interrupted);
}

#[test]
fn claims_whose_runs_were_interrupted_are_neither_refuted_nor_explained() {
    let study = load(unchanged().path(), Quickness::Whole).unwrap();
    let outcome = perform(&study, 1, &Once(AtomicBool::new(false)));
    assert!(outcome.interrupted);
    let cut: Vec<_> = outcome.claims.iter().filter(|claim| !claim.verdict.judged).collect();
    assert!(!cut.is_empty());
    assert!(cut.iter().all(|claim| claim.verdict() == "not judged" && !claim.is_open()));
    assert!(!outcome.claims.iter().any(ClaimResult::is_open), "{}", outcome.counted());
    assert!(outcome.counted().contains("not judged: interrupted"), "{}", outcome.counted());
}
