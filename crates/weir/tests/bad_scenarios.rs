//! Bad scenarios are explained, each mistake once with its place and the way out; nothing is run
//! and nothing is written.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// A file that is right; each case puts one mistake into it, or several.
const RIGHT: &str = r#"[scenario]
duration = "1 s"
routing = "listed"
[[node]]
name = ["a", "b", "c"]
[[link]]
between = ["a", "b"]
rate = "10 Mbit/s"
delay = "5 ms"
[[link]]
between = ["b", "c"]
rate = "10 Mbit/s"
marker = "codel"
[[content]]
name = "/x"
at = "c"
size = "10 kB"
[[consumer]]
at = "a"
name = "/x"
control = "aimd"
[[route]]
at = "a"
prefix = "/x"
via = "b"
[[route]]
at = "b"
prefix = "/x"
via = "c"
"#;

fn weir(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_weir"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program can be run")
}

/// Checks and runs a text. Returns the messages of both commands, which must be the same.
fn reported(text: &[u8]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("s.toml"), text).expect("a file");
    let check = weir(folder.path(), &["scenario", "check", "s.toml"]);
    let files = ["--out", "out", "--pcap", "p.pcapng", "--events", "e.jsonl"];
    let run = weir(folder.path(), &[&["sim", "run", "s.toml"], &files[..]].concat());
    for output in [&check, &run] {
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(output.stdout.is_empty(), "{output:?}");
    }
    assert_eq!(check.stderr, run.stderr);
    let left: Vec<_> = fs::read_dir(folder.path()).expect("the folder").flatten().collect();
    assert_eq!(left.len(), 1, "nothing is written: {left:?}");
    String::from_utf8(check.stderr).expect("text")
}

/// The lines that report mistakes: those with the file's name and a place.
fn mistakes(reported: &str) -> Vec<&str> {
    reported.lines().filter(|line| line.starts_with("s.toml:")).collect()
}

/// A text of the right file, its replacement, and the messages that this brings: each its place and
/// some of its words.
type Case = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const CASES: &[Case] = &[
    // A missing node.
    (
        "at = \"c\"",
        "at = \"d\"",
        &[("s.toml:16:6: ", "there is no node `d`; did you mean `a`? Valid are `a`, `b`, `c`")],
    ),
    // Routes in a circle.
    (
        "via = \"c\"",
        "via = \"a\"",
        &[("s.toml:29:7: ", "go in a circle: `a`, `b`, `a`; lead one of them elsewhere")],
    ),
    // A name without a producer.
    (
        "name = \"/x\"\ncontrol",
        "name = \"/z\"\ncontrol",
        &[("s.toml:20:8: ", "no producer for `/z`; did you mean `/x`?")],
    ),
    // A zero rate.
    (
        "10 Mbit/s\"\ndelay",
        "0 Mbit/s\"\ndelay",
        &[("s.toml:8:8: ", "a rate of zero lets nothing pass; write it like \"10 Mbit/s\"")],
    ),
    // An unknown scheme.
    ("\"aimd\"", "\"amid\"", &[("s.toml:21:11: ", "did you mean `aimd`?")]),
    ("\"codel\"", "\"codle\"", &[("s.toml:13:10: ", "did you mean `codel`?")]),
    // An unknown unit.
    ("\"5 ms\"", "\"5 msec\"", &[("s.toml:9:9: ", "the unit is unknown; write it like \"5 ms\"")]),
    // A negative time.
    (
        "\"1 s\"",
        "\"-1 s\"",
        &[("s.toml:2:12: ", "`-1 s` is not a duration: it is negative; write it like \"5 ms\"")],
    ),
    // A node without a way.
    (
        "at = \"b\"\nprefix = \"/x\"",
        "at = \"b\"\nprefix = \"/w\"",
        &[("s.toml:20:8: ", "`b` has no route to `/x`; join it to a producer by links")],
    ),
    // Several: consequences of a mistake are not reported.
    (
        "rate = \"10 Mbit/s\"\nmarker = \"codel\"",
        "rate = \"0 Mbit/s\"\nmarker = \"codle\"\nqueue = \"5 pakets\"",
        &[
            ("s.toml:12:8: ", "lets nothing pass"),
            ("s.toml:13:10: ", "did you mean `codel`?"),
            ("s.toml:14:9: ", "`5 pakets`"),
        ],
    ),
    (
        "name = [\"a\", \"b\", \"c\"]",
        "name = [\"a\", \"b\"]",
        &[
            ("s.toml:11:17: ", "no node `c`"),
            ("s.toml:16:6: ", "no node `c`"),
            ("s.toml:29:7: ", "no node `c`"),
        ],
    ),
];

#[test]
fn each_mistake_is_one_message_with_its_place_and_the_way_out() {
    for (right, wrong, messages) in CASES {
        let text = RIGHT.replacen(right, wrong, 1);
        assert_ne!(text, RIGHT, "{right}");
        let reported = reported(text.as_bytes());
        let found = mistakes(&reported);
        assert_eq!(found.len(), messages.len(), "{wrong}: {reported}");
        for (line, (place, words)) in found.iter().zip(*messages) {
            assert!(line.starts_with(place) && line.contains(words), "{wrong}: {reported}");
        }
        let many = messages.len();
        let head = if many == 1 { "a mistake".to_owned() } else { format!("{many} mistakes") };
        assert!(
            reported.starts_with(&format!("weir: s.toml has {head}; nothing was run; fix")),
            "{reported}"
        );
    }
}

#[test]
fn mistakes_of_all_kinds_in_one_file_are_all_reported() {
    let text = RIGHT
        .replacen("\"1 s\"", "\"-1 s\"", 1)
        .replacen("10 Mbit/s\"\ndelay", "0 Mbit/s\"\ndelay", 1)
        .replacen("\"5 ms\"", "\"5 msec\"", 1)
        .replacen("\"codel\"", "\"codle\"", 1)
        .replacen("\"aimd\"", "\"amid\"", 1)
        .replacen("via = \"c\"", "via = \"a\"", 1)
        + "[[consumer]]\nat = \"b\"\nname = \"/nowhere\"\n[[consumer]]\nat = \"e\"\nname = \"/x\"\n\
           [[consumer]]\nat = \"a\"\nname = \"/x\"\n";
    let reported = reported(text.as_bytes());
    let places: Vec<&str> =
        mistakes(&reported).iter().filter_map(|line| line.split_once(": ").map(|m| m.0)).collect();
    let wanted = [
        "s.toml:2:12",
        "s.toml:8:8",
        "s.toml:9:9",
        "s.toml:13:10",
        "s.toml:21:11",
        "s.toml:29:7",
        "s.toml:32:8",
        "s.toml:34:6",
    ];
    assert_eq!(places, wanted, "{reported}");
}

#[test]
fn a_file_that_is_none_is_rejected_before_it_is_read_through() {
    let large = reported(&vec![b'#'; 4_000_001]);
    assert!(large.contains("s.toml has 4000001 bytes, a scenario at most 4000000"), "{large}");
    let crowd = format!("{RIGHT}{}", "x = 1\n".repeat(100_000));
    assert!(mistakes(&reported(crowd.as_bytes())).len() <= 2, "TOML itself rejects the second `x`");
    let crowd: String = (0..100_000).map(|i| format!("[[node]]\nx{i} = 1\n")).collect();
    let reported = reported(crowd.as_bytes());
    assert!(mistakes(&reported).len() <= 202, "so many are reported and no more");
    assert!(reported.contains("there are more mistakes than are shown"));
    let folder = tempfile::tempdir().expect("a folder");
    let missing = weir(folder.path(), &["sim", "run", "none.toml", "--out", "out"]);
    assert_eq!(missing.status.code(), Some(7));
    let words = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(words.contains("cannot read the scenario none.toml"), "{words}");
    assert!(!folder.path().join("out").exists());
}
