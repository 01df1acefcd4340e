//! Strategies do in a network what they are for: a better path is found, a dead one is left, load
//! follows weights.

mod support;

use scenario::result::RunResult;
use scenario::{execute_all, parse};
use support::Patient;

/// A consumer behind a router that has two ways to the producer: a cheap one of 40 ms over `far`,
/// and a dear one of 5 ms over `near`.
const TWO_WAYS: &str = r#"
    [scenario]
    duration = "40 s"
    routing = "listed"
    [[node]]
    name = ["c", "r", "far", "near", "p"]
    [[link]]
    between = ["c", "r"]
    rate = "100 Mbit/s"
    delay = "1 ms"
    [[link]]
    between = ["r", "far"]
    rate = "100 Mbit/s"
    delay = "40 ms"
    [[link]]
    between = ["r", "near"]
    rate = "100 Mbit/s"
    delay = "5 ms"
    [[link]]
    between = ["far", "p"]
    rate = "100 Mbit/s"
    [[link]]
    between = ["near", "p"]
    rate = "100 Mbit/s"
    [[route]]
    at = "c"
    prefix = "/x"
    via = "r"
    [[route]]
    at = "r"
    prefix = "/x"
    via = "far"
    cost = 1
    [[route]]
    at = "r"
    prefix = "/x"
    via = "near"
    cost = 3
    [[route]]
    at = "far"
    prefix = "/x"
    via = "p"
    [[route]]
    at = "near"
    prefix = "/x"
    via = "p"
    [[content]]
    name = "/x"
    at = "p"
    size = "200 MB"
    [[consumer]]
    at = "c"
    name = "/x"
    rate = "200 /s"
"#;

fn run(strategy: &str, more: &str) -> RunResult {
    let text = format!("{TWO_WAYS}{more}");
    let set = [format!("strategy={strategy}")];
    let batch = parse(&text, "t.toml", &set).unwrap_or_else(|e| panic!("{e}"));
    execute_all(&batch, 1, &Patient).expect("it can be built").remove(0)
}

/// Interests that the router sent over one of the two.
fn over(result: &RunResult, node: &str) -> f64 {
    let link = result.links.iter().find(|link| link.from == "r" && link.to == node);
    link.map(|link| link.interests as f64).expect("the link is there")
}

/// The share of the Interests that went over the near one.
fn near(result: &RunResult) -> f64 {
    over(result, "near") / (over(result, "near") + over(result, "far"))
}

#[test]
fn asf_finds_the_shorter_way_though_it_is_the_dearer_one() {
    let result = run("asf", "");
    // A probe comes within five of the forty seconds, and all that follow go the shorter way.
    assert!(near(&result) > 0.85, "{}", near(&result));
    assert!(near(&run("best-route", "")) < 0.05);
}

/// The shorter way loses everything from 20 s on, without a word.
const DIES: &str = r#"
    [[fault]]
    at = "20 s"
    kind = "link-down"
    link = ["near", "p"]
"#;

#[test]
fn asf_leaves_a_way_that_nothing_comes_back_by() {
    let result = run("asf", DIES);
    let (near, far) = (over(&result, "near"), over(&result, "far"));
    // 15 to 20 s of 200 Interests a second each.
    assert!(near > 2500.0 && near < 4300.0, "{near}");
    assert!(far > 3500.0 && far < 5200.0, "{far}");
    assert!(result.flows[0].counters.data > 7500, "{:?}", result.flows[0].counters.data);
}

#[test]
fn weights_are_those_of_the_costs() {
    // 1 / 3 against 1 / 1: a quarter, within what 8000 draws may be off.
    let share = near(&run("weighted", ""));
    assert!((share - 0.25).abs() < 0.02, "{share}");
    let share = near(&run("random", ""));
    assert!((share - 0.5).abs() < 0.025, "{share}");
}

/// Strategies have NFD's names here, too.
#[test]
fn a_strategy_may_be_chosen_by_the_name_that_nfd_has_for_it() {
    let result = run("/localhost/nfd/strategy/random/v=1", "");
    assert_eq!(over(&result, "near"), over(&run("random", ""), "near"));
}

/// A ring of five without any route, with a tail: the consumer is at the one end, the producer two
/// and three hops away.
const RING: &str = r#"
    [scenario]
    duration = "700 s"
    routing = "listed"
    strategy = "self-learning"
    [[node]]
    name = ["c", "a", "b", "d", "p", "x"]
    [[link]]
    between = ["c", "a"]
    rate = "10 Mbit/s"
    delay = "1 ms"
    [[link]]
    between = ["a", "p"]
    rate = "10 Mbit/s"
    delay = "1 ms"
    [[link]]
    between = ["c", "b"]
    rate = "10 Mbit/s"
    delay = "1 ms"
    [[link]]
    between = ["b", "d"]
    rate = "10 Mbit/s"
    delay = "1 ms"
    [[link]]
    between = ["d", "p"]
    rate = "10 Mbit/s"
    delay = "1 ms"
    [[link]]
    between = ["b", "x"]
    rate = "10 Mbit/s"
    delay = "1 ms"
    [[content]]
    name = "/x"
    at = "p"
    size = "80 MB"
    [[consumer]]
    at = "c"
    name = "/x"
    rate = "10 /s"
"#;

#[test]
fn self_learning_finds_the_producer_and_learns_the_way() {
    let batch = parse(RING, "t.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    let result = execute_all(&batch, 1, &Patient).expect("it can be built").remove(0);
    let flow = &result.flows[0];
    assert_eq!(flow.counters.data + flow.in_flight, flow.counters.interests, "all were answered");
    let sent = |from: &str, to: &str| {
        let link = result.links.iter().find(|link| link.from == from && link.to == to);
        link.map(|link| link.interests).expect("the link is there")
    };
    // The first answer came over `a`. Ten minutes later the route ends, and all next hops are asked
    // once more, the second and last time that a tail without a producer gets an Interest.
    assert_eq!(sent("c", "a"), flow.counters.interests);
    assert_eq!((sent("c", "b"), sent("b", "x")), (2, 2));
}
