//! A content store near by has the beginning of an object, and the producer the rest.

mod support;

use scenario::{execute_all, parse};
use support::Patient;

/// Consumer one has fetched the beginning when consumer two begins, whose own link is the
/// bottleneck.
const TEXT: &str = r#"
    [scenario]
    duration = "30 s"
    [[node]]
    name = ["one", "two", "producer"]
    [[node]]
    name = ["near"]
    content_store = "64 MB"
    [[link]]
    between = ["one", "near"]
    rate = "100 Mbit/s"
    delay = "1 ms"
    [[link]]
    between = ["two", "near"]
    rate = "20 Mbit/s"
    delay = "4 ms"
    [[link]]
    between = ["near", "producer"]
    rate = "100 Mbit/s"
    delay = "12 ms"
    [[content]]
    name = "/film"
    at = "producer"
    size = "20 MB"
    [[consumer]]
    at = "one"
    name = "/film"
    control = "rate:interests=40"
    [[consumer]]
    at = "two"
    name = "/film"
    start = "2 s"
"#;

/// The round-trip time of the store is known for ten seconds; a window that it is enough for is a
/// third of what the way to the producer takes.
#[test]
fn the_default_fills_its_link_when_data_comes_from_further_away() {
    let batch = parse(TEXT, "t.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    let run = execute_all(&batch, 1, &Patient).expect("it can be built").remove(0);
    let second = &run.flows[1];
    let took = second.fct_s.unwrap_or(f64::INFINITY);
    // 20 MB take 8 s at 20 Mbit/s.
    assert!(took < 9.0, "{took} s, {:?}", second.goodput_mbps);
}
