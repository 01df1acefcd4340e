use super::{batch, line, one, wrong};
use crate::model::{
    Adaptation, Asked, Distribution, Manner, Objects, Production, Request, Requests, ServiceSpec,
    SlowSegment, Spread, Warmup,
};
use crate::parse;
use control::{Duration, Rate, Size};
use forwarder::caching::OnPath;
use forwarder::tables::Admission;

/// Text added to a line of nodes, the place of its mistake, and the expected messages.
type Case = (&'static str, &'static str, &'static [&'static str]);

const CASES: &[Case] = &[
    (
        "[[content]]\nname = \"/y\"\nat = \"a\"\nsize = \"1 B\"\nobjects = 0",
        "5:11",
        &["a catalogue without objects"],
    ),
    (
        "[[content]]\nname = \"/y\"\nat = \"a\"\nsize = \"1 B\"\nobjects = -5",
        "5:11",
        &["number from 1 to"],
    ),
    (
        "[[content]]\nname = \"/y\"\nat = \"a\"\nsize = \"1 B\"\nobjects = \"many\"",
        "5:11",
        &["\"unlimited\" or \"listed\"", "the text \"many\""],
    ),
    ("[[content]]\nname = \"/y\"\nat = \"a\"", "1:1", &["needs a field `size`, or `video`"]),
    (
        "[[content]]\nname = \"/y\"\nat = \"a\"\nobjects = 5\n\
         size = { distribution = \"paretto\" }",
        "5:8",
        &["did you mean `pareto`?"],
    ),
    (
        "[[content]]\nname = \"/y\"\nat = \"a\"\nobjects = 5\nsize = { distribution = \"uniform\", \
         least = \"2 kB\", most = \"1 kB\" }",
        "5:8",
        &["`least` is not less than `most`"],
    ),
    (
        "[[content]]\nname = \"/y\"\nat = \"a\"\nsize = [{ class = \"mice\", size = \"1 B\" }]",
        "4:9",
        &["a class is {"],
    ),
    (
        "[[content]]\nname = \"/y\"\nat = \"a\"\nsize = \"1 B\"\nplacement = \"segments\"",
        "5:13",
        &["only one producer"],
    ),
    (
        "[[content]]\nname = \"/y\"\nat = [\"a\", \"c\"]\nsize = \"1 B\"\nplacement = \"segment\"",
        "5:13",
        &["did you mean `segments`?"],
    ),
    (
        "[[content]]\nname = \"/y\"\nat = \"a\"\nvideo = { ladder = [\"2 Mbit/s\", \"1 Mbit/s\"], \
         segment = \"2 s\", length = \"9 s\" }",
        "4:9",
        &["rates that ascend"],
    ),
    (
        "[[content]]\nname = \"/y\"\nat = \"a\"\n\
         video = { ladder = [\"1 Mbit/s\"], length = \"9 s\" }",
        "4:9",
        &["it needs all of"],
    ),
    ("[[workload]]\nat = \"a\"\nname = \"/x\"", "1:1", &["needs a field `rate`, or a `trace`"]),
    (
        "[[workload]]\nat = \"a\"\nname = \"/z\"\nrate = \"1 /s\"",
        "3:8",
        &["no producer for `/z`", "did you mean `/x`?"],
    ),
    (
        "[[workload]]\nat = \"a\"\nname = \"/x\"\nrate = \"1 /s\"\nalpha = -0.8",
        "5:9",
        &["-0.8 is negative", "from 0 on"],
    ),
    (
        "[[workload]]\nat = \"a\"\nname = \"/x\"\nrate = \"1 /s\"\nstart = \"-1 s\"",
        "5:9",
        &["it is negative"],
    ),
    (
        "[[workload]]\nat = \"a\"\nname = \"/x\"\nrate = \"1 /s\"\nstart = \"3 s\"\nstop = \"2 s\"",
        "6:8",
        &["not later than `start`"],
    ),
    (
        "[[workload]]\nat = \"a\"\nname = \"/x\"\nrate = \"1 /s\"\narrivals = \"poison\"",
        "5:12",
        &["did you mean `poisson`?"],
    ),
    (
        "[[workload]]\nat = \"a\"\nname = \"/x\"\nrate = \"1 /s\"\nrequest = \"chunk\"\n\
         control = \"aimd\"",
        "6:11",
        &["one Interest and has none"],
    ),
    (
        "[[workload]]\nat = \"a\"\nname = \"/x\"\nrate = \"1 /s\"\nadaptation = \"rate\"",
        "5:14",
        &["only a consumer or workload of a content with `video`"],
    ),
    (
        "[[workload]]\nname = \"/x\"\ntrace = \"there-is-none.csv\"",
        "3:9",
        &["cannot read `there-is-none.csv`", "folder of the scenario"],
    ),
    (
        "[[content]]\nname = \"/y\"\nat = \"a\"\nsize = \"1 B\"\nproduction = \"inorder\"",
        "5:14",
        &["did you mean `in-order`?"],
    ),
    (
        "[[content]]\nname = \"/y\"\nat = \"a\"\nsize = \"1 B\"\nproduction = \"in-order\"",
        "5:14",
        &["a manifest lists segments that are not made yet", "signing = \"none\""],
    ),
    (
        "[[content]]\nname = \"/y\"\nat = \"a\"\nsize = \"1 B\"\nobjects = 5\nsigning = \"none\"\n\
         production = \"in-order\"",
        "7:14",
        &["for one object"],
    ),
    (
        "[[content]]\nname = \"/y\"\nat = \"a\"\nsize = \"1 B\"\nsigning = \"none\"\n\
         production = \"in-order\"\nservice_queue = 5",
        "7:17",
        &["has no queue"],
    ),
    (
        "[[content]]\nname = \"/y\"\nat = \"a\"\nsize = \"1 B\"\nslow_time = \"1 s\"",
        "5:13",
        &["only `production = \"in-order\"`"],
    ),
    ("[caching]\nat = \"router\"", "2:6", &["did you mean `routers`?"]),
    ("[caching]\nadmission = \"lcdd\"", "2:13", &["`lcdd` is not a rule", "did you mean `lcd`?"]),
    ("[caching]\nadmission = \"probcache:windw=3\"", "2:13", &["no parameter `windw`", "`window`"]),
    ("[caching]\ncontent_store = \"5 pakets\"", "2:17", &["unit is unknown", "\"1000 packets\""]),
    ("[caching]\nwarmup = \"atuo\"", "2:10", &["or it is \"auto\""]),
    ("[[node]]\nname = \"d\"\npolicy = \"lfru\"", "3:10", &["`lfru`", "`lru`"]),
];

#[test]
fn mistakes_of_workloads_have_their_place_and_the_way_out() {
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

#[test]
fn a_catalogue_and_its_workload_are_understood() {
    let s = one(&line(
        "[[content]]\nname = \"/v\"\nat = [\"b\", \"c\"]\nobjects = 50\nplacement = \"objects\"\n\
         size = [{ class = \"mice\", share = \"90 %\", size = \"10 kB\" },\n\
         { class = \"elephants\", share = 0.1, size = { distribution = \"exponential\", \
         mean = \"1 MB\" } }]\n\
         [[workload]]\nat = \"a\"\nname = [\"/v\", \"/x\"]\nrate = \"2 /s\"\nalpha = 1\nq = 2.5\n\
         stop = \"9 s\"\ncount = 7\ncontrol = \"aimd\"\nlisted = 3",
    ));
    let Objects::Numbered { count: Some(50), classes } = &s.contents[0].objects else { panic!() };
    assert_eq!(
        (classes[0].name.as_str(), classes[0].size),
        ("mice", Distribution::Constant(10_000))
    );
    assert_eq!(classes[1].size, Distribution::Exponential { mean: 1e6 });
    // 0.9 * 10 kB + 0.1 * 1 MB
    assert_eq!((s.contents[0].size, s.contents[0].placement), (Size(109_000), Spread::Objects));
    let workload = &s.workloads[0];
    assert_eq!((workload.name.as_str(), &workload.contents[..]), ("/v /x", &[0, 1][..]));
    assert_eq!((&workload.at[..], workload.listed), (&[0][..], 3));
    let Requests::Drawn { per_second, alpha, q, span, count, .. } = workload.requests else {
        panic!("drawn")
    };
    assert_eq!((per_second, alpha, q, count), (2.0, 1.0, 2.5, Some(7)));
    assert_eq!(span, (Duration::ZERO, Some(Duration::from_secs(9))));
    assert!(matches!(&workload.asked, Asked::Object(f) if f.control.scheme().name == "aimd"));
    // From a, both producers are over b; from b, the one at c is over the second link.
    assert_eq!(s.ways[0].links[0], [Some((0, 0)), Some((0, 0))]);
    assert_eq!(s.ways[0].links[1], [None, Some((1, 0))]);
}

#[test]
fn a_video_and_its_player_are_understood() {
    let s = one(&line(
        "[[content]]\nname = \"/v\"\nat = \"c\"\nvideo = { ladder = [\"1 Mbit/s\", \"2 Mbit/s\"], \
         segment = \"2 s\", length = \"9 s\" }\n\
         [[consumer]]\nat = \"a\"\nname = \"/v\"\nbuffer = \"24 s\"",
    ));
    let Objects::Video { ladder, segment, segments } = &s.contents[0].objects else { panic!() };
    assert_eq!(ladder, &[Rate::from_mbps(1), Rate::from_mbps(2)]);
    assert_eq!((*segment, *segments), (Duration::from_secs(2), 5));
    let Manner::Video { player, .. } = &s.consumers[0].manner else { panic!("a player") };
    let (reservoir, cushion) = (Duration::from_secs(9), Duration::from_millis(12_600));
    assert_eq!(player.adaptation, Adaptation::Buffer { reservoir, cushion });
}

#[test]
fn stores_of_all_routers_but_those_that_say_something_else() {
    let text = line(
        "[[node]]\nname = \"d\"\ncontent_store = \"7 packets\"\npolicy = \"lfu\"\n\
         [[link]]\nbetween = [\"d\", \"a\"]\nrate = \"1 Mbit/s\"\n\
         [caching]\ncontent_store = \"2 %\"\nadmission = \"lcd\"\nwarmup = \"3 s\"",
    );
    let s = one(&text);
    let packets = |name: &str| {
        let node = s.nodes.iter().find(|node| node.name == name).unwrap();
        (node.share.map(control::Ratio::get), node.content_store.packets)
    };
    assert_eq!((packets("a"), packets("d")), ((Some(0.02), 0), (None, 7)));
    assert_eq!(packets("c").0, None, "a producer is no router");
    assert_eq!(s.warmup, Warmup::Until(Duration::from_secs(3)));
    let a = s.nodes.iter().find(|node| node.name == "a").unwrap();
    assert_eq!(a.content_store.admission, Admission::OnPath(OnPath::LeaveCopyDown));
    let again = one(&batch(&text, &[]).runs[0].filled);
    assert_eq!(format!("{:?}", again.nodes), format!("{:?}", s.nodes), "with all defaults");
}

/// A scenario with a trace of this text, in a folder of its own.
fn traced(trace: &str) -> Result<crate::Scenario, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.csv"), trace).unwrap();
    let text = line(
        "[[content]]\nname = \"/w\"\nat = \"c\"\nobjects = \"listed\"\nsize = \"9 kB\"\n\
         [[workload]]\nname = [\"/w\", \"/x\"]\ntrace = \"t.csv\"",
    );
    let file = folder.path().join("s.toml");
    match parse(&text, &file.display().to_string(), &[]) {
        Ok(batch) => Ok(crate::Scenario::clone(&batch.runs[0].scenario)),
        Err(error) => {
            Err(error.to_string().replace(&folder.path().display().to_string(), "FOLDER"))
        }
    }
}

#[test]
fn a_trace_is_read_in_the_order_of_time() {
    let s = traced(
        "# who and when\nname, time ,node,size\n/w/a,2,a,500\n/w/b,\"0.5\",b,\n/x,20 ms,a,\n\
         /w/a,2.5,a,500\n",
    )
    .unwrap();
    let Objects::Listed(list) = &s.contents[0].objects else { panic!("listed") };
    assert_eq!(list.iter().map(|(_, size)| *size).collect::<Vec<_>>(), [500, 9000]);
    let Requests::Listed(requests) = &s.workloads[0].requests else { panic!("listed") };
    let request = |ms, node, content, object| Request {
        at: Duration::from_millis(ms),
        node,
        content,
        object,
    };
    let wanted = [
        request(20, 0, 1, 0),
        request(500, 1, 0, 1),
        request(2000, 0, 0, 0),
        request(2500, 0, 0, 0),
    ];
    assert_eq!(requests[..], wanted);
    assert_eq!(s.workloads[0].at, [0, 1]);
}

#[test]
fn a_bad_line_of_a_trace_is_named() {
    for (row, at, expected) in [
        ("-1,a,/w/a,5", "3:1", "the time `-1` is negative"),
        ("soon,a,/w/a,5", "3:1", "or a number of seconds"),
        ("1,e,/w/a,5", "3:3", "there is no node `e`"),
        ("1,a,/v/a,5", "3:5", "`/v/a` is not below `/w` or `/x`"),
        ("1,a,/w/a,0", "3:10", "a size of zero"),
        ("1,a,/w/one,6", "3:5", "the object had 5 bytes before, and has 6 here"),
        ("1,a", "3:1", "the line has 2 cells, the head line 4"),
    ] {
        let error = traced(&format!("time,node,name,size\n0,a,/w/one,5\n{row}\n")).unwrap_err();
        assert!(error.contains(&format!("FOLDER/t.csv:{at}: ")), "{row}: {error}");
        assert!(error.contains(expected), "{row}: {error}");
    }
    let error = traced("time,nod,name\n").unwrap_err();
    assert!(error.contains("t.csv:1:6: `nod` is not a column") && error.contains("`node`?"));
    assert!(traced("time,node,name\n").unwrap_err().contains("no request in the file"));
    assert!(traced("").unwrap_err().contains("the file is empty"));
}

#[test]
fn settings_reach_all_who_ask() {
    let more = "[[content]]\nname = \"/v\"\nat = \"c\"\nobjects = 5\nsize = \"1 kB\"\n\
                [[workload]]\nat = \"a\"\nname = \"/v\"\nrate = \"1 /s\"\n\
                [[workload]]\nat = \"a\"\nname = \"/v\"\nrate = \"1 /s\"\nrequest = \"chunk\"";
    let batch = batch(&line(more), &["control=aimd", "workload.alpha=0.5"]);
    let s = &batch.runs[0].scenario;
    let by_hand = matches!(&s.consumers[0].manner,
        Manner::Fetch { control, .. } if control.scheme().name == "aimd");
    let by_itself = matches!(&s.workloads[0].asked,
        Asked::Object(fetching) if fetching.control.scheme().name == "aimd");
    assert!(by_hand && by_itself);
    assert!(matches!(s.workloads[1].asked, Asked::Chunk(_)));
    assert_eq!(s.workloads[1].name, "/v #2");
}

#[test]
fn producers_have_the_configured_service_time() {
    let text = line(
        "[[content]]\nname = \"/y\"\nat = \"a\"\nsize = \"1 B\"\nservice_time = \"2.5 ms\"\n\
         service_queue = 24\n[[content]]\nname = \"/z\"\nat = \"a\"\nsize = \"1 B\"",
    );
    let scenario = one(&text);
    let service = |name: &str| {
        let name = name.parse().unwrap();
        scenario.contents.iter().find(|content| content.name == name).unwrap().service
    };
    let expected = ServiceSpec { time: Duration::from_micros(2_500), queue: 24 };
    assert_eq!((service("/y"), service("/z")), (Some(expected), None));
}

#[test]
fn producers_make_segments_in_order_if_configured() {
    let text = line(
        "[[content]]\nname = \"/y\"\nat = \"a\"\nsize = \"1 B\"\nsigning = \"none\"\n\
         production = \"in-order\"\n[[content]]\nname = \"/z\"\nat = \"a\"\nsize = \"1 B\"\n\
         signing = \"digest\"\nproduction = \"in-order\"\nslow_segment = 7\nslow_time = \"1 s\"",
    );
    let (first, slow) = (one(&text), SlowSegment { segment: 7, time: Duration::from_secs(1) });
    // The filled-in file says the same.
    for scenario in [&first, &one(&batch(&text, &[]).runs[0].filled)] {
        let production = |name: &str| {
            let name = name.parse().unwrap();
            scenario.contents.iter().find(|content| content.name == name).unwrap().production
        };
        assert_eq!(production("/x"), Production::OnDemand);
        assert_eq!(production("/y"), Production::InOrder { slow: None });
        assert_eq!(production("/z"), Production::InOrder { slow: Some(slow) });
    }
}
