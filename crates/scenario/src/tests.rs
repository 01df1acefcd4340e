mod demand;
mod mistakes;

use crate::model::{FaultKind, Impairment, Loss, Manner, Queue, Reorder};
use crate::{Batch, Scenario, ScenarioError, parse};
use control::{Duration, Rate, Size};

const NODES: &str = "[[node]]\nname = [\"a\", \"b\", \"c\"]\n";
const LINKS: &str = "[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"10 Mbit/s\"\n\
                     [[link]]\nbetween = [\"b\", \"c\"]\nrate = \"10 Mbit/s\"\n";
const WORK: &str = "[[content]]\nname = \"/x\"\nat = \"c\"\nsize = \"1 MB\"\n\
                    [[consumer]]\nat = \"a\"\nname = \"/x\"\n";

const FULL: &str = r#"
        [scenario]
        name = "full"
        duration = "2 min"
        seed = 7
        routing = "listed"
        strategy = "multicast"
        [[node]]
        name = "a"
        content_store = "1 MB"
        policy = "lfu"
        admission = "20 %"
        strategy = "best-route"
        [[node]]
        name = ["b"]
        [[link]]
        between = ["a", "b"]
        rate = "10 Mbit/s"
        delay = "5 ms"
        queue = "1500 kB"
        loss = "1 %"
        marker = "codel:target=15 ms"
        reorder = "2 %"
        reorder_by = "3 ms"
        [link.back]
        rate = "1 Mbit/s"
        loss = { to_bad = 0.01, to_good = "25 %" }
        queue = "9 packets"
        [[content]]
        name = "/x/y"
        at = ["b"]
        size = "1 MB"
        segment = "1 kB"
        [[consumer]]
        at = "a"
        name = "/x/y"
        start = "1 s"
        stop = "3 s"
        rate = "140.5 /s"
        [[route]]
        at = "a"
        prefix = "/x"
        via = "b"
        cost = 5
        [[fault]]
        at = "1 s"
        kind = "link-rate"
        link = ["b", "a"]
        rate = "2 Mbit/s"
        [[fault]]
        at = "2 s"
        kind = "node-crash"
        node = "b"
"#;

fn batch(text: &str, settings: &[&str]) -> Batch {
    let settings: Vec<String> = settings.iter().map(|s| (*s).to_owned()).collect();
    parse(text, "dir/test.toml", &settings).unwrap_or_else(|e| panic!("{e}"))
}

fn one(text: &str) -> Scenario {
    Scenario::clone(&batch(text, &[]).runs[0].scenario)
}

#[test]
fn a_scheme_as_a_whole_is_everywhere_where_no_other_is_named() {
    let text = line(
        "[scenario]\nduration = \"1 s\"\nscheme = \"pcon:law=cubic\"\n\
         [[node]]\nname = \"d\"\nstrategy = \"multicast\"\n\
         [[link]]\nbetween = [\"c\", \"d\"]\nrate = \"1 Mbit/s\"\nmarker = \"red\"\n\
         [[consumer]]\nat = \"b\"\nname = \"/x\"\ncontrol = \"packet-pair+aimd\"\n\
         [[consumer]]\nat = \"b\"\nname = \"/x\"\n\
         control = { scheme = \"aimd\", beta = 0.7, startup = \"packet-pair:pairs=1\" }\n",
    );
    let scenario = one(&text);
    let strategies: Vec<_> = scenario.nodes.iter().map(|n| n.strategy.to_string()).collect();
    assert_eq!(strategies.iter().filter(|s| *s == "pcon:law=cubic").count(), 3, "{strategies:?}");
    assert!(strategies.contains(&"multicast".to_owned()));
    let mut markers: Vec<_> = scenario.links.iter().flat_map(|l| &l.directions).collect();
    markers.retain(|d| d.parts.shaper.is_none() && d.parts.stamper.is_none());
    let markers: Vec<_> = markers.iter().map(|d| d.parts.marker.as_ref().unwrap()).collect();
    let of = |name| markers.iter().filter(|m| m.scheme().name == name).count();
    assert_eq!((of("pcon"), of("red")), (4, 2));
    let controls = scenario.consumers.iter().map(|c| match &c.manner {
        Manner::Fetch { control, .. } => control.to_string(),
        other => panic!("{other:?}"),
    });
    let startups = ["packet-pair+aimd", "packet-pair:pairs=1+aimd:beta=0.7"];
    assert_eq!(controls.collect::<Vec<_>>(), [startups[0], startups[1], "pcon:law=cubic"]);
}

/// A line of three nodes with more about it. The line is behind, so that places are those of
/// `more`.
fn line(more: &str) -> String {
    let head = if more.contains("[scenario]") { "" } else { "[scenario]\nduration = \"1 s\"\n" };
    format!("{more}\n{head}{NODES}{LINKS}{WORK}")
}

/// The mistakes of a text, each as `line:column: message`.
fn wrong(text: &str, settings: &[&str]) -> Vec<String> {
    let settings: Vec<String> = settings.iter().map(|s| (*s).to_owned()).collect();
    match parse(text, "test.toml", &settings) {
        Err(ScenarioError::Mistakes(found)) => {
            found.iter().map(|m| format!("{}:{}: {}", m.line, m.column, m.message)).collect()
        }
        other => panic!("no mistake in {text}: {other:?}"),
    }
}

#[test]
fn omitted_fields_have_defaults() {
    let s = one(&line(""));
    assert_eq!((s.name.as_str(), s.seed, s.duration), ("test", 1, Duration::from_secs(1)));
    let [there, back] = &s.links[0].directions;
    assert_eq!((there.rate, back.delay), (Rate::from_mbps(10), Duration::ZERO));
    assert_eq!((there.queue, back.queue), (Queue::Packets(100), Queue::Packets(100)));
    assert_eq!(there.impairment, Impairment::default());
    assert_eq!(s.nodes[0].content_store.capacity, 0);
    let Manner::Fetch { control, patience, .. } = &s.consumers[0].manner else { panic!("a fetch") };
    let default = schemes::defaults::CONTROLLER;
    assert_eq!((control.scheme().name, *patience), (default, Duration::from_secs(30)));
    assert_eq!((s.contents[0].segment, s.contents[0].at[..].first()), (Size(8000), Some(&2)));
}

#[test]
fn a_full_file_is_understood() {
    let s = one(FULL);
    assert_eq!((s.name.as_str(), s.seed, s.duration), ("full", 7, Duration::from_secs(120)));
    assert_eq!(s.nodes[0].strategy.scheme().name, "best-route");
    assert_eq!(s.nodes[1].strategy.scheme().name, "multicast");
    assert_eq!(s.nodes[0].content_store.capacity, 1_000_000);
    let [there, back] = &s.links[0].directions;
    assert_eq!((there.queue, back.queue), (Queue::Size(Size(1_500_000)), Queue::Packets(9)));
    assert_eq!((there.rate, back.rate), (Rate::from_mbps(10), Rate::from_mbps(1)));
    assert_eq!(back.delay, Duration::from_millis(5), "as there, unless said otherwise");
    assert_eq!(there.impairment.loss, Loss::Random(0.01));
    let bursts =
        Loss::GilbertElliott { to_bad: 0.01, to_good: 0.25, loss_good: 0.0, loss_bad: 1.0 };
    assert_eq!(back.impairment.loss, bursts);
    let reorder = Reorder { probability: 0.02, by: Duration::from_millis(3) };
    assert_eq!([there.impairment.reorder, back.impairment.reorder], [reorder; 2]);
    assert!(there.parts.marker.is_some() && back.parts.marker.is_some());
    let Manner::Constant { per_second, range: 1, stop } = s.consumers[0].manner else {
        panic!("constant")
    };
    assert_eq!((per_second, stop), (140.5, Some(Duration::from_secs(3))));
    assert_eq!((s.routes[0].cost, s.routes.len()), (5, 1));
    let rate = FaultKind::LinkRate { link: 0, direction: 1, rate: Rate::from_mbps(2) };
    assert_eq!(s.faults[0].kind, rate);
    assert_eq!(s.faults[1].kind, FaultKind::NodeCrash(1));
}

#[test]
fn a_trace_of_rates_is_a_change_for_each() {
    let fault = "[[fault]]\nat = \"1 s\"\nkind = \"link-rates\"\nlink = [\"b\", \"a\"]\n\
                 rates = [\"2 Mbit/s\", \"500 kbit/s\", \"3 Mbit/s\"]\nevery = \"250 ms\"\n";
    let faults = one(&line(&format!("[scenario]\nduration = \"1 s\"\n{fault}"))).faults;
    let found: Vec<_> = faults.into_iter().map(|fault| (fault.at, fault.kind)).collect();
    let change = |rate| FaultKind::LinkRate { link: 0, direction: 1, rate };
    let expected = [(1000, 2_000_000), (1250, 500_000), (1500, 3_000_000)];
    let expected = expected.map(|(ms, rate)| (Duration::from_millis(ms), change(Rate(rate))));
    assert_eq!(found, expected);
}

#[test]
fn missing_sections_are_reported() {
    let found = wrong("", &[]);
    assert!(found.iter().any(|m| m.contains("`[scenario]`")), "{found:?}");
    assert!(found.iter().any(|m| m.contains("`[[node]]`")), "{found:?}");
    let found = wrong(&format!("[scenario]\nduration = \"1 s\"\n{NODES}{LINKS}"), &[]);
    assert!(found[0].contains("no consumer or workload is defined"), "{found:?}");
}

#[test]
fn two_of_one_name_are_a_mistake() {
    let twice = line("[[node]]\nname = \"a\"");
    assert!(wrong(&twice, &[])[0].contains("there are two nodes `a`"));
    let below = line("[[content]]\nname = \"/x/y\"\nat = \"a\"\nsize = \"1 B\"");
    assert!(wrong(&below, &[])[0].contains("one is the prefix of the other"));
}

#[test]
fn consumers_must_find_their_way() {
    let text = format!("[scenario]\nduration = \"1 s\"\n{NODES}{WORK}");
    let found = wrong(&text, &[]);
    assert!(found[0].contains("`a` has no route to `/x`"), "{found:?}");
    let circle = line(
        "[scenario]\nduration = \"1 s\"\nrouting = \"listed\"\n\
         [[route]]\nat = \"a\"\nprefix = \"/\"\nvia = \"b\"\n\
         [[route]]\nat = \"b\"\nprefix = \"/x\"\nvia = \"a\"",
    );
    let found = wrong(&circle, &[]);
    assert!(found[0].contains("go in a circle: `a`, `b`, `a`"), "{found:?}");
}

#[test]
fn routes_take_the_smallest_delay_or_the_fewest_hops() {
    let more = |routing: &str| {
        format!(
            "[scenario]\nduration = \"1 s\"\nrouting = \"{routing}\"\n\
             [[link]]\nbetween = [\"a\", \"c\"]\nrate = \"1 Mbit/s\"\ndelay = \"9 ms\""
        )
    };
    let at_a = |routing: &str| {
        let s = one(&line(&more(routing)));
        s.routes.iter().filter(|r| r.at == 0).map(|r| (r.link, r.cost)).collect::<Vec<_>>()
    };
    // Link 0 is the one of 9 ms from a to c; links 1 and 2 have no delay.
    assert_eq!(at_a("delay"), [(1, 0)]);
    assert_eq!(at_a("hops"), [(0, 1)]);
}

#[test]
fn nodes_of_a_generated_network_can_be_configured() {
    let s = one("[scenario]\nduration = \"1 s\"\n\
         [topology]\ngenerator = \"dumbbell\"\nsize = 2\nrate = \"10 Mbit/s\"\n\
         access = { rate = \"1 Gbit/s\", delay = \"1 ms\" }\n\
         [[node]]\nname = \"left\"\ncontent_store = \"1 MB\"\n\
         [[content]]\nname = \"/x\"\nat = \"p1\"\nsize = \"1 MB\"\n\
         [[consumer]]\nat = [\"c0\", \"c1\"]\nname = \"/x\"\n");
    let names: Vec<_> = s.nodes.iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["left", "right", "c0", "p0", "c1", "p1"]);
    assert_eq!(s.nodes[0].content_store.capacity, 1_000_000);
    assert_eq!(s.links[0].directions[0].rate, Rate::from_mbps(10));
    assert_eq!(s.links[1].directions[1].rate, Rate::from_mbps(1000));
    assert_eq!((s.consumers.len(), s.consumers[1].at), (2, 4));
}

#[test]
fn settings_change_fields_by_section_and_by_name() {
    let text = line("");
    let settings = [
        "duration=2 s",
        "link.a-b.rate=5 Mbit/s",
        "consumer.a.control=aimd",
        "seed=9",
        "strategy=multicast",
    ];
    let batch = batch(&text, &settings);
    let s = &batch.runs[0].scenario;
    assert!(s.nodes.iter().all(|node| node.strategy.scheme().name == "multicast"));
    assert_eq!((s.duration, s.seed), (Duration::from_secs(2), 9));
    let rates: Vec<_> = s.links.iter().map(|l| l.directions[0].rate).collect();
    assert_eq!(rates, [Rate::from_mbps(5), Rate::from_mbps(10)]);
    assert!(matches!(&s.consumers[0].manner,
        Manner::Fetch { control, .. } if control.scheme().name == "aimd"));
    for (setting, words) in [
        ("seed", "KEY=VALUE"),
        ("lnk.rate=1", "did you mean `link`?"),
        ("link.a-c.rate=1 Mbit/s", "no `[[link]]` called `a-c`"),
        ("link.rate=0 bit/s", "lets nothing pass"),
    ] {
        let found = wrong(&text, &[setting]);
        assert!(found.len() == 1 && found[0].contains(words), "{setting}: {found:?}");
        assert!(found[0].starts_with("1:"), "{found:?}");
    }
}

#[test]
fn a_sweep_gives_every_combination_and_repeats_it() {
    let more = "[scenario]\nduration = \"1 s\"\nseed = 5\n\
                [sweep]\ncontrol = [\"aimd\", \"cubic\"]\nlink.queue = [\"10 packets\", \"9 kB\"]\n\
                repetitions = 2";
    let batch = batch(&line(more), &[]);
    let runs: Vec<_> = batch
        .runs
        .iter()
        .map(|run| {
            let values: Vec<_> = run.settings.iter().map(|(_, value)| value.as_str()).collect();
            format!("{} {}", values.join(" "), run.seed)
        })
        .collect();
    let wanted = ["aimd 10 packets", "aimd 9 kB", "cubic 10 packets", "cubic 9 kB"];
    let wanted: Vec<_> = wanted.iter().flat_map(|c| [format!("{c} 5"), format!("{c} 6")]).collect();
    assert_eq!(runs, wanted);
    assert_eq!(batch.runs[2].scenario.links[0].directions[0].queue, Queue::Size(Size(9000)));
}

#[test]
fn a_set_field_is_not_swept() {
    let text = line("[sweep]\ncontrol = [\"aimd\", \"cubic\"]\nlink.queue = [\"9 kB\", \"8 kB\"]");
    let batch = batch(&text, &["control=bic"]);
    let runs: Vec<_> = batch.runs.iter().map(|run| &*run.settings).collect();
    let queue = |value: &str| [("link.queue".to_owned(), value.to_owned())];
    assert_eq!(runs, [queue("9 kB"), queue("8 kB")]);
    assert!(batch.runs.iter().all(|run| matches!(&run.scenario.consumers[0].manner,
        Manner::Fetch { control, .. } if control.scheme().name == "bic")));
    let found = wrong(&text.replace("[\"aimd\", \"cubic\"]", "\"aimd\""), &["control=bic"]);
    assert!(found[0].contains("it takes a list of values"), "{found:?}");
}

#[test]
fn the_file_with_its_defaults_means_the_same() {
    let text = line(
        "[[fault]]\nat = \"1 s\"\nkind = \"link-down\"\nlink = [\"a\", \"b\"]\n\
         [[consumer]]\nat = \"b\"\nname = \"/x\"\nrate = \"5 /s\"",
    );
    let first = batch(&text, &["link.b-c.loss=1 %"]);
    let filled = first.runs[0].filled.to_string();
    assert!(filled.contains("queue = \"100 packets\"\n"), "{filled}");
    let second = batch(&filled, &[]);
    let shown = |batch: &Batch| format!("{:?}", batch.runs[0].scenario);
    assert_eq!(shown(&first), shown(&second));
    assert_eq!(second.runs[0].filled.as_ref(), filled);
}
