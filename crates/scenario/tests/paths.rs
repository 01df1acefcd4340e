//! Several paths to a producer are of use when one of them breaks.

mod support;

use scenario::{execute_all, parse};
use support::Patient;

/// A consumer, two ways of different length, a producer; the shorter one breaks after 20 ms.
const TEXT: &str = r#"
    [scenario]
    duration = "60 s"
    [[node]]
    name = ["c", "a", "b", "d", "p"]
    [[link]]
    between = ["c", "a"]
    rate = "10 Mbit/s"
    delay = "1 ms"
    [[link]]
    between = ["a", "p"]
    rate = "10 Mbit/s"
    delay = "1 ms"
    [[link]]
    between = ["a", "b"]
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
    [[content]]
    name = "/x"
    at = "p"
    size = "200 kB"
    segment = "1 kB"
    [[consumer]]
    at = "c"
    name = "/x"
    control = "aimd"
    [[fault]]
    at = "20 ms"
    kind = "link-down"
    link = ["a", "p"]
"#;

#[test]
fn a_fetch_goes_on_by_the_second_path_when_the_first_breaks() {
    let run = |paths: u32| {
        let batch = parse(TEXT, "t.toml", &[format!("paths={paths}")]);
        let batch = batch.unwrap_or_else(|e| panic!("{e}"));
        execute_all(&batch, 1, &Patient).expect("it can be built").remove(0)
    };
    assert!(!run(1).flows[0].complete, "there is no other way");
    let two = run(2);
    assert!(two.flows[0].complete, "{:?}", two.flows[0]);
    let data = |from: &str, to: &str| {
        let link = two.links.iter().find(|l| l.from == from && l.to == to).expect("a link");
        link.data
    };
    assert!(data("d", "b") > 100, "most Data came by the longer way: {}", data("d", "b"));
    assert_eq!(data("b", "d"), 0, "and none went back");
}
