use super::*;
use scenario::result::{Flow, Link, Node, RunId};

/// A run of one flow over one link, whose mean queue is 40 kB until the flow ends.
fn run(seed: u64, goodput: f64, settings: &[(&str, &str)]) -> RunResult {
    let flow = Flow {
        flow: "c /film".to_owned(),
        start_s: 0.0,
        end_s: Some(8.0 / goodput),
        bytes: 1_000_000,
        goodput_mbps: Some(goodput),
        fct_s: Some(8.0 / goodput),
        ..Flow::default()
    };
    let link = Link {
        from: "p".to_owned(),
        to: "c".to_owned(),
        queue_mean_bytes: 40_000.0 * (8.0 / goodput) / 10.0,
        data: 1000,
        bytes: 1_100_000,
        ..Link::default()
    };
    RunResult {
        id: RunId {
            scenario: "one".to_owned(),
            seed,
            settings: settings.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            ..RunId::default()
        },
        duration_s: 10.0,
        flows: vec![flow],
        links: vec![link],
        nodes: vec![Node { node: "c".to_owned(), ..Node::default() }],
        ..RunResult::default()
    }
}

/// Compares two folders, `a` and `b`.
fn compared(first: Vec<RunResult>, second: Vec<RunResult>) -> Result<Comparison, ReportError> {
    let results = Results::of_runs(&[("a", first), ("b", second)]);
    Comparison::new(&results, &["a".into(), "b".into()], 0.05)
}

fn of<'c>(case: &'c Case, kind: &str, quantity: &str) -> &'c Difference {
    let found = case.differences.iter().find(|d| d.kind == kind && d.quantity == quantity);
    found.unwrap_or_else(|| panic!("no {quantity} of a {kind}"))
}

#[test]
fn equal_seeds_make_pairs_in_whatever_order_they_were_run() {
    let first = [(1, 8.0), (2, 9.0), (3, 10.0)].map(|(seed, mbps)| run(seed, mbps, &[]));
    let second = [(3, 10.9), (1, 9.0), (2, 10.1)].map(|(seed, mbps)| run(seed, mbps, &[]));
    let found = compared(first.to_vec(), second.to_vec()).unwrap();
    let [case] = &*found.cases else { panic!("{:?}", found.cases) };
    assert_eq!((case.method, &*case.first_seeds), (Method::Paired, &[1, 2, 3][..]));
    // 1, 1.1, 0.9: standard error 0.057735, t(2) = 4.303; a ninth of the mean 9.
    let goodput = of(case, "flow", "goodput_mbps");
    let difference = goodput.difference.unwrap();
    assert!((difference.mean - 1.0).abs() < 1e-9 && difference.n == 3);
    assert!((difference.ci95.unwrap() - 0.24843).abs() < 1e-5);
    assert!((goodput.share.unwrap() - 1.0 / 9.0).abs() < 1e-9 && goodput.beyond);
    let queue = of(case, "link", "queue_mean_bytes");
    assert!(queue.main && !queue.beyond);
    assert_eq!(queue.resolution, 1100.0, "the mean packet of the link");
}

#[test]
fn other_seeds_make_two_samples() {
    let first = [4.0, 6.0, 8.0].into_iter().zip(1..).map(|(mbps, seed)| run(seed, mbps, &[]));
    let second = [10.0, 12.0, 14.0, 16.0, 18.0].into_iter().zip(11..);
    let second = second.map(|(mbps, seed)| run(seed, mbps, &[]));
    let found = compared(first.collect(), second.collect()).unwrap();
    assert_eq!(found.cases[0].method, Method::Welch);
    let difference = of(&found.cases[0], "flow", "goodput_mbps").difference.unwrap();
    // As in the test of the interval itself.
    assert!((difference.mean - 8.0).abs() < 1e-9);
    assert!((difference.ci95.unwrap() - 4.69398).abs() < 1e-5);
    assert!(found.notes.iter().any(|text| text.contains("Welch")), "{:?}", found.notes);
}

#[test]
fn single_runs_claim_no_interval() {
    let found = compared(vec![run(1, 8.0, &[])], vec![run(1, 8.2, &[])]).unwrap();
    let goodput = of(&found.cases[0], "network", "goodput_mbps");
    assert_eq!(found.cases[0].method, Method::Single);
    assert_eq!((goodput.difference.unwrap().ci95, goodput.share_ci95), (None, None));
    assert_eq!((found.main, found.beyond), (5, 0), "{:?}", found.cases);
    assert!(found.agrees());
    assert!(found.sentence().starts_with("None of 5 "), "{}", found.sentence());
}

#[test]
fn runs_are_matched_by_the_settings_that_distinguish_them() {
    let rates = |control: &str, more: &str| {
        ["10 Mbit/s", more].map(|rate| run(1, 8.0, &[("link.rate", rate), ("control", control)]))
    };
    let found = compared(rates("aimd", "20 Mbit/s").into(), rates("bbr", "30 Mbit/s").into());
    let found = found.unwrap();
    // The control is the subject of the comparison, the rate is not.
    let [case] = &*found.cases else { panic!("{:?}", found.cases) };
    assert_eq!(label(&case.settings), "link.rate 10 Mbit/s");
    assert_eq!(found.only_first.iter().map(label).collect::<Vec<_>>(), ["link.rate 20 Mbit/s"]);
    assert_eq!(found.only_second.iter().map(label).collect::<Vec<_>>(), ["link.rate 30 Mbit/s"]);
    assert!(found.notes.contains(&"only b has runs with link.rate 30 Mbit/s".to_owned()));
}

#[test]
fn flows_of_only_one_result_are_reported() {
    let mut more = run(1, 8.0, &[]);
    let extra = Flow { flow: "d /film".to_owned(), ..more.flows[0].clone() };
    more.flows.push(extra);
    more.duration_s = 20.0;
    more.interrupted = true;
    let found = compared(vec![run(1, 8.0, &[])], vec![more]).unwrap();
    assert!(!found.agrees() && found.alone == 1, "a flow that is missing is no agreement");
    assert!(found.sentence().ends_with("has a flow or workload more"), "{}", found.sentence());
    let thing = Thing { kind: "flow", entity: "d /film".to_owned() };
    assert_eq!(
        (&*found.cases[0].only_first, &*found.cases[0].only_second),
        (&[][..], &[thing][..])
    );
    // The flows end after a second; of 10 and 20 s the mean queue is 4 kB.
    let queue = of(&found.cases[0], "link", "queue_mean_bytes");
    assert_eq!((queue.first.unwrap().mean, queue.second.unwrap().mean), (40_000.0, 80_000.0));
    let text = found.notes.join("\n");
    for wanted in ["only b has flow d /film", "a last 10.0 s, of b 20.0 s", "1 of 1 runs of b"] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
}

#[test]
fn nothing_in_common_is_an_error() {
    let rejected = |first: Vec<RunResult>, second: Vec<RunResult>| match compared(first, second) {
        Err(error @ ReportError::NothingInCommon { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let mut strange = run(1, 8.0, &[]);
    strange.flows[0].flow = "x /y".to_owned();
    strange.links.clear();
    strange.nodes.clear();
    let why = rejected(vec![run(1, 8.0, &[])], vec![strange]);
    assert!(why.contains("a and b have nothing in common: no flow, workload"), "{why}");
    let rated = |rates: [&str; 2]| rates.map(|rate| run(1, 8.0, &[("link.rate", rate)])).to_vec();
    let why = rejected(rated(["1", "2"]), rated(["3", "4"]));
    assert!(why.contains("link.rate"), "{why}");
    assert!(rejected(Vec::new(), vec![run(1, 8.0, &[])]).contains("a has no run"));
}

#[test]
fn a_sentence_names_what_is_farthest_apart() {
    let mut slow = run(1, 4.0, &[]);
    slow.links[0].queue_mean_bytes *= 2.5;
    let found = compared(vec![run(1, 8.0, &[])], vec![slow]).unwrap();
    // Goodput and completion, of the flow and of everything, and the queue.
    assert_eq!((found.main, found.beyond), (5, 5));
    let text = found.sentence();
    assert!(text.ends_with("most the mean queue of p > c (+150 %)"), "{text}");
    let shown: Vec<&str> = found.first_of(&found.cases[0]).map(|one| one.quantity).collect();
    assert_eq!(
        shown,
        ["goodput_mbps", "finished", "fct_s", "goodput_mbps", "fct_s", "queue_mean_bytes"],
        "what is nothing in both is left out"
    );
}

#[test]
fn a_difference_below_the_resolution_has_no_mark_and_is_named() {
    // 1 kB less on average in the queue: a large share, and less than the packet of 1.1 kB.
    let mut other = run(1, 8.0, &[]);
    let mut first = run(1, 8.0, &[]);
    (first.links[0].queue_mean_bytes, other.links[0].queue_mean_bytes) = (600.0, 500.0);
    let found = compared(vec![first], vec![other]).unwrap();
    let queue = of(&found.cases[0], "link", "queue_mean_bytes").row().unwrap();
    assert_eq!((&*queue.cells[6], &*queue.mark), ("-16.7", ""));
    let text = found.sentence();
    assert!(text.starts_with("None of 5 ") && text.ends_with("by less than a packet"), "{text}");
    assert!(found.legend("a").contains("by more than a packet in a queue"));
}

#[test]
fn people_read_units_and_signs() {
    let found = compared(vec![run(1, 8.0, &[])], vec![run(1, 7.0, &[])]).unwrap();
    let row = of(&found.cases[0], "flow", "goodput_mbps").row().unwrap();
    assert_eq!(row.label, "goodput (Mbit/s)");
    assert_eq!(row.cells, ["8.00", "", "7.00", "", "-1.00", "", "-12.5", ""]);
    let queue = of(&found.cases[0], "link", "queue_mean_bytes").row().unwrap();
    assert_eq!((queue.label, &*queue.cells[0]), ("mean queue (kB)", "40.0"));
    assert_eq!(of(&found.cases[0], "link", "bytes").row(), None, "no table has it");
    let mut never = run(1, 8.0, &[]);
    never.flows[0].fct_s = None;
    let found = compared(vec![run(1, 8.0, &[])], vec![never]).unwrap();
    let row = of(&found.cases[0], "flow", "fct_s").row().unwrap();
    assert_eq!((&*row.cells[2], &*row.mark), ("-", "* in 1 and 0 runs"));
    assert!(found.sentence().ends_with("(not in all runs of both)"), "{}", found.sentence());
}

#[test]
fn different_drivers_are_reported() {
    let by = |driver: &str| {
        let mut result = run(1, 8.0, &[]);
        result.id.driver = driver.to_owned();
        vec![result]
    };
    let text = |one: &str, other: &str| compared(by(one), by(other)).unwrap().notes.join("; ");
    let both = text("simulator", "testbed");
    assert!(both.contains("a was simulated, b ran on real daemons"), "{both}");
    assert!(!text("testbed", "testbed").contains("daemons"));
}
