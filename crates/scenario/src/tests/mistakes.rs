use super::{line, wrong};

/// Text added to a line of nodes, the place of its mistake, and the expected messages.
type Case = (&'static str, &'static str, &'static [&'static str]);

const CASES: &[Case] = &[
    ("a = ", "1:5", &["not TOML"]),
    ("[[nodes]]\n", "1:3", &["`nodes`", "did you mean `node`?", "`link`"]),
    ("[scenario]\nduration = \"1 s\"\nsed = 1", "3:1", &["`sed`", "did you mean `seed`?"]),
    ("[scenario]\nseed = 1", "1:1", &["needs a field `duration`"]),
    ("[scenario]\nduration = \"-1 s\"", "2:12", &["`-1 s`", "it is negative", "\"5 ms\""]),
    ("[scenario]\nduration = \"0 s\"", "2:12", &["the duration must be longer than zero"]),
    ("[scenario]\nduration = \"5 parsecs\"", "2:12", &["unit is unknown"]),
    ("[scenario]\nduration = 5", "2:12", &["text in quotes", "the number 5"]),
    ("[scenario]\nduration = \"1 s\"\nrouting = \"hop\"", "3:11", &["did you mean `hops`?"]),
    // A value that a sweep replaces has to be right all the same; fields that it adds may be
    // missing.
    (
        "[[node]]\nname = \"d\"\npolicy = \"lur\"\n[sweep]\nnode.d.policy = [\"lru\", \"fifo\"]",
        "3:10",
        &["did you mean `lru`?"],
    ),
    ("[[node]]\nname = \"\"", "2:8", &["not empty"]),
    ("[[node]]\nname = \"d\"\npolicy = \"lur\"", "3:10", &["did you mean `lru`?"]),
    ("[[node]]\nname = \"d\"\nstrategy = \"codel\"", "3:12", &["no strategy", "multicast"]),
    ("[[node]]\nname = \"d\"\ncpu = \"0 %\"", "3:7", &["finer than 0.1 %"]),
    (
        "[[link]]\nbetween = [\"a\", \"d\"]\nrate = \"1 Mbit/s\"",
        "2:17",
        &["there is no node `d`", "`a`, `b`, `c`"],
    ),
    ("[[link]]\nbetween = [\"a\"]\nrate = \"1 Mbit/s\"", "2:11", &["[\"a\", \"b\"]"]),
    (
        "[[link]]\nbetween = [\"a\", \"a\"]\nrate = \"1 Mbit/s\"",
        "2:11",
        &["both ends are the same"],
    ),
    ("[[link]]\nbetween = [\"a\", \"c\"]", "1:1", &["a link needs a `rate`"]),
    (
        "[[link]]\nbetween = [\"a\", \"c\"]\nrate = \"0 Mbit/s\"",
        "3:8",
        &["rate of zero lets nothing pass"],
    ),
    (
        "[[link]]\nbetween = [\"a\", \"c\"]\nrate = \"1 Mbit/s\"\nqueue = \"0 packets\"",
        "4:9",
        &["holds nothing"],
    ),
    (
        "[[link]]\nbetween = [\"a\", \"c\"]\nrate = \"1 Mbit/s\"\nqueue = \"9 pakets\"",
        "4:9",
        &["`9 pakets`", "unit is unknown", "\"100 packets\""],
    ),
    (
        "[[link]]\nbetween = [\"a\", \"c\"]\nrate = \"1 Mbit/s\"\nloss = { to_bda = 0.1 }",
        "4:10",
        &["did you mean `to_bad`?"],
    ),
    (
        "[[link]]\nbetween = [\"a\", \"c\"]\nrate = \"1 Mbit/s\"\nloss = 2",
        "4:8",
        &["between 0 and 100 %"],
    ),
    (
        "[[link]]\nbetween = [\"a\", \"c\"]\nrate = \"1 Mbit/s\"\nback = { rat = \"1 bit/s\" }",
        "4:10",
        &["did you mean `rate`?"],
    ),
    (
        "[[link]]\nbetween = [\"a\", \"c\"]\nrate = \"1 Mbit/s\"\nmarker = \"codle\"",
        "4:10",
        &["`codle`", "did you mean `codel`?"],
    ),
    ("[[content]]\nname = \"/y\"\nat = \"e\"\nsize = \"1 B\"", "3:6", &["no node `e`"]),
    ("[[content]]\nname = \"/y\"\nat = \"a\"\nsize = \"0 B\"", "4:8", &["transfers nothing"]),
    (
        "[[content]]\nname = \"/y\"\nat = \"a\"\nsize = \"1 B\"\nsegment = \"9 kB\"",
        "5:11",
        &["between 1 B and 8192 B"],
    ),
    ("[[content]]\nname = \"y\"\nat = \"a\"\nsize = \"1 B\"", "2:8", &["not a name"]),
    (
        "[[consumer]]\nat = \"a\"\nname = \"/z\"",
        "3:8",
        &["no producer for `/z`", "did you mean `/x`?"],
    ),
    (
        "[[consumer]]\nat = \"a\"\nname = \"/x\"\ncontrol = \"cubik\"",
        "4:11",
        &["`cubik`", "did you mean `cubic`?"],
    ),
    (
        "[[consumer]]\nat = \"a\"\nname = \"/x\"\nrate = \"0 /s\"",
        "4:8",
        &["rate of zero nothing is requested"],
    ),
    ("[[consumer]]\nat = \"a\"\nname = \"/x\"\nrate = \"5 Hz\"", "4:8", &["`5 Hz`", "\"140 /s\""]),
    (
        "[[consumer]]\nat = \"a\"\nname = \"/x\"\nrate = \"5 /s\"\ncontrol = \"aimd\"",
        "5:11",
        &["but not both"],
    ),
    ("[[consumer]]\nat = \"a\"\nname = \"/x\"\nlifetime = \"0 s\"", "4:12", &["too short", "1 ms"]),
    (
        "[[consumer]]\nat = \"a\"\nname = \"/x\"\npatience = \"10 us\"",
        "4:12",
        &["too short", "1 ms"],
    ),
    (
        "[[route]]\nat = \"a\"\nprefix = \"/x\"\nvia = \"c\"",
        "4:7",
        &["no link joins `a` and `c`", "`b`"],
    ),
    ("[[fault]]\nat = \"1 s\"\nkind = \"link-dwn\"", "3:8", &["did you mean `link-down`?"]),
    (
        "[[fault]]\nat = \"1 s\"\nkind = \"link-rates\"\nlink = [\"a\", \"b\"]\nevery = \"1 s\"\n\
         rates = [\"1 Mbit/s\", \"0 bit/s\"]",
        "6:22",
        &["lets nothing pass"],
    ),
    (
        "[[fault]]\nat = \"1 s\"\nkind = \"link-rates\"\nlink = [\"a\", \"b\"]\nevery = \"1 s\"\n\
         rates = []",
        "6:9",
        &["a list of rates"],
    ),
    (
        "[[fault]]\nat = \"1 s\"\nkind = \"link-rates\"\nlink = [\"a\", \"b\"]\nevery = \"0 s\"\n\
         rates = [\"1 Mbit/s\", \"2 Mbit/s\"]",
        "5:9",
        &["each rate needs a time"],
    ),
    ("[[fault]]\nat = \"1 s\"\nkind = \"link-down\"", "3:8", &["needs a field `link`"]),
    (
        "[[fault]]\nat = \"1 s\"\nkind = \"node-crash\"\nnode = \"a\"\nrate = \"1 bit/s\"",
        "5:8",
        &["`node-crash` has none"],
    ),
    ("[sweep]\ncontrl = [\"aimd\"]", "2:1", &["`contrl`", "did you mean `control`?"]),
    ("[sweep]\nrate = [\"1 bit/s\"]", "2:1", &["`link.rate`", "write which"]),
    ("[sweep]\ncontrol = \"aimd\"", "2:11", &["list of values", "the text \"aimd\""]),
    ("[sweep]\ncontrol = [\"amd\"]", "2:12", &["did you mean `aimd`?"]),
    ("[sweep]\nrepetitions = 0", "2:15", &["whole number from 1 to 10000"]),
];

#[test]
fn every_mistake_has_its_place_the_text_and_the_way_out() {
    for (more, at, expected) in CASES {
        let found = wrong(&line(more), &[]);
        let first = &found[0];
        assert!(first.starts_with(&format!("{at}: ")), "{more}: {found:?}");
        assert_eq!(found.len(), 1, "{more}: {found:?}");
        for words in *expected {
            assert!(first.contains(words), "{more}: {first} lacks {words}");
        }
    }
}
