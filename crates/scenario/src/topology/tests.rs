use super::shapes;
use super::sketch::Sketch;
use crate::model::{Loss, Queue, Scenario};
use crate::schema::{Generator, ShapeSection};
use crate::{ScenarioError, parse};
use control::{Duration, Rate, Ratio, Size};

fn edges(sketch: &Sketch) -> Vec<String> {
    let name = |i: usize| sketch.nodes[i].name.as_str();
    sketch.links.iter().map(|l| format!("{}-{}", name(l.ends[0]), name(l.ends[1]))).collect()
}

#[test]
fn small_shapes_are_as_drawn() {
    assert_eq!(edges(&shapes::line(3)), ["n0-n1", "n1-n2"]);
    assert_eq!(edges(&shapes::ring(3)), ["n0-n1", "n1-n2", "n2-n0"]);
    assert_eq!(edges(&shapes::star(3)), ["n0-n1", "n0-n2"]);
    assert_eq!(edges(&shapes::dumbbell(1)), ["left-right", "left-c0", "right-p0"]);
    assert_eq!(
        edges(&shapes::parking_lot(2)),
        ["r0-r1", "r1-r2", "r0-c", "r2-p", "r0-c0", "r1-p0", "r1-c1", "r2-p1"]
    );
    assert_eq!(edges(&shapes::tree(2, 2)), ["n0-n1", "n0-n2", "n1-n3", "n1-n4", "n2-n5", "n2-n6"]);
    assert_eq!(edges(&shapes::grid(2, 2)), ["n0_0-n0_1", "n0_0-n1_0", "n1_0-n1_1", "n0_1-n1_1"]);
    assert_eq!((shapes::line(1).nodes.len(), shapes::line(1).links.len()), (1, 0));
}

/// So that a network that is too large is rejected before it takes memory.
#[test]
fn the_nodes_of_a_network_are_known_before_it_is_made() {
    let shape = |size, rows, depth| ShapeSection {
        generator: None,
        size,
        rows,
        columns: 3,
        depth,
        branches: 3,
        drawn_from: 1,
        alpha: Ratio::default(),
        beta: Ratio::default(),
        across: None,
        attach: 1,
    };
    for (size, rows, depth) in [(3, 1, 1), (4, 2, 3), (9, 7, 5)] {
        let count = |generator| shapes::count(generator, &shape(size, rows, depth));
        let made = |sketch: Sketch| sketch.nodes.len();
        assert_eq!(count(Generator::Line), made(shapes::line(size)));
        assert_eq!(count(Generator::Ring), made(shapes::ring(size)));
        assert_eq!(count(Generator::Star), made(shapes::star(size)));
        assert_eq!(count(Generator::Waxman), made(shapes::bare(size)));
        assert_eq!(
            count(Generator::BarabasiAlbert),
            made(super::random::barabasi_albert(size, 1, 1))
        );
        assert_eq!(count(Generator::Dumbbell), made(shapes::dumbbell(size)));
        assert_eq!(count(Generator::ParkingLot), made(shapes::parking_lot(size)));
        assert_eq!(count(Generator::Grid), made(shapes::grid(rows, 3)));
        assert_eq!(count(Generator::Tree), made(shapes::tree(depth, 3)));
    }
    let huge = shape(usize::MAX, usize::MAX, 1000);
    for generator in [Generator::ParkingLot, Generator::Grid, Generator::Tree] {
        assert_eq!(shapes::count(generator, &huge), usize::MAX, "{generator:?}");
    }
}

/// The text of a scenario with this section `[topology]`, and a consumer and a producer at these
/// nodes.
fn text(topology: &str, [consumer, producer]: [&str; 2]) -> String {
    format!(
        "[topology]\n{topology}\n[scenario]\nduration = \"1 s\"\nrouting = \"metric\"\n\
         [[content]]\nname = \"/x\"\nat = \"{producer}\"\nsize = \"1 kB\"\n\
         [[consumer]]\nat = \"{consumer}\"\nname = \"/x\"\n"
    )
}

/// The place of the scenarios: beside the folder of the sample files.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/t.toml");

fn scenario(topology: &str, ends: [&str; 2]) -> Scenario {
    let batch = parse(&text(topology, ends), FILE, &[]).unwrap_or_else(|e| panic!("{e}"));
    Scenario::clone(&batch.runs[0].scenario)
}

/// `from-to: rate delay queue metric` for each link, with what differs on the way back.
fn links(s: &Scenario) -> Vec<String> {
    let link = |link: &crate::model::Link| {
        let [a, b] = link.ends.map(|end| s.nodes[end].name.as_str());
        let [there, back] = link.directions.each_ref().map(|d| {
            let queue = match d.queue {
                Queue::Packets(n) => format!("{n}p"),
                Queue::Size(Size(n)) => format!("{n}B"),
            };
            let mbit = d.rate.0 as f64 / 1e6;
            format!("{mbit} Mbit/s {}ns {queue} {}", d.delay.0, d.metric)
        });
        if there == back {
            format!("{a}-{b}: {there}")
        } else {
            format!("{a}-{b}: {there}; {back}")
        }
    };
    s.links.iter().map(link).collect()
}

#[test]
fn the_internet_topology_zoo_is_read() {
    let fields = "file = \"topologies/zoo.graphml\"\nrate = \"1 Gbit/s\"\ndelay = \"3 ms\"\n\
                  signal_speed = \"50 %\"";
    let s = scenario(fields, ["West", "None 3"]);
    let names: Vec<_> = s.nodes.iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["West", "East", "None 2", "None 3"]);
    // A degree of a great circle: 6371008.8 m times pi over 180, at half the speed of light.
    let degree = 6_371_008.8 * std::f64::consts::PI / 180.0 / (299_792_458.0 / 2.0) * 1e9;
    let degree = degree as u64;
    assert!(degree.abs_diff(741_813) < 2, "{degree}");
    let delays: Vec<_> = s.links.iter().map(|l| l.directions[1].delay.0).collect();
    for (delay, wanted) in delays.iter().zip([degree, degree, degree, 3_000_000]) {
        assert!(delay.abs_diff(wanted) <= 1, "{delays:?}");
    }
    let rates: Vec<_> = s.links.iter().map(|l| l.directions[0].rate.0).collect();
    assert_eq!(rates, [10_000_000_000, 2_500_000_000, 1_000_000_000, 155_000_000]);
    assert_eq!(s.links[1].ends, [1, 0], "two links of a bundle are two links");
    assert_eq!(s.links.len(), 4, "a link from a node to itself is none");
    let places: Vec<_> = s.nodes.iter().map(|n| n.position).collect();
    assert!(places[0].unwrap()[1] > places[2].unwrap()[1], "north is up");
    assert_eq!(places[3], None);
}

#[test]
fn other_graphml_has_quantities_with_units() {
    let s = scenario("file = \"topologies/units.graphml\"", ["a", "c"]);
    assert_eq!(
        links(&s),
        [
            "a-b: 10 Mbit/s 5000000ns 100p 2500; 2 Mbit/s 7000000ns 100p 1000",
            "b-c: 1 Mbit/s 1000000ns 20p 1000",
        ]
    );
    // By metric: 2.5 and 1, in thousandths.
    let costs: Vec<_> = s.routes.iter().map(|r| (r.at, r.cost)).collect();
    assert_eq!(costs, [(0, 3500), (1, 1000)]);
}

#[test]
fn fnss_topologies_are_read() {
    let fields = "file = \"topologies/fnss.xml\"\nformat = \"fnss\"\nsignal_speed = 0.5";
    let s = scenario(fields, ["Node 1", "3"]);
    let found = links(&s);
    assert_eq!(found[0], "Node 1-2: 10 Mbit/s 2500000ns 64p 4000");
    // 200 km at half of 299792.458 km/s.
    assert_eq!(found[1], "2-3: 0.5 Mbit/s 1334256ns 100p 1000");
    let s = scenario("file = \"topologies/directed.xml\"\nformat = \"fnss\"", ["0", "1"]);
    assert_eq!(
        links(&s),
        ["0-1: 1000 Mbit/s 10000ns 30000B 1000; 2000 Mbit/s 20000ns 100p 1000"],
        "two directed links are one with two directions"
    );
}

#[test]
fn rocketfuel_maps_and_weights_are_read() {
    let fields = "file = \"topologies/map.cch\"\nrate = \"1 Gbit/s\"\ndelay = \"2 ms\"";
    let s = scenario(fields, ["1", "40"]);
    let names: Vec<_> = s.nodes.iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["1", "3", "12", "40"]);
    let ends: Vec<_> = s.links.iter().map(|l| l.ends).collect();
    assert_eq!(ends, [[0, 1], [0, 2], [1, 2], [3, 2]]);
    let fields = "file = \"topologies/latencies.intra\"\nformat = \"rocketfuel-latencies\"\n\
                  rate = \"1 Gbit/s\"";
    let s = scenario(fields, ["Boston,+MA139", "Dallas,+TX131"]);
    assert_eq!(
        links(&s),
        [
            "Boston,+MA139-Chicago,+IL111: 1000 Mbit/s 12000000ns 100p 1000",
            "Chicago,+IL111-Dallas,+TX131: 1000 Mbit/s 10500000ns 100p 1000",
        ]
    );
    let fields = "file = \"topologies/weights.intra\"\nformat = \"rocketfuel-weights\"\n\
                  latencies = \"topologies/latencies.intra\"\nrate = \"1 Gbit/s\"";
    let s = scenario(fields, ["Boston,+MA139", "Dallas,+TX131"]);
    assert_eq!(
        links(&s)[0],
        "Boston,+MA139-Chicago,+IL111: 1000 Mbit/s 12000000ns 100p 25000; \
         1000 Mbit/s 12000000ns 100p 2500"
    );
}

#[test]
fn the_filled_in_file_finds_the_topology_from_anywhere() {
    let text = text("file = \"topologies/units.graphml\"", ["a", "c"]);
    let batch = parse(&text, FILE, &[]).unwrap();
    let again = parse(&batch.runs[0].filled, "elsewhere/t.toml", &[]).unwrap();
    assert_eq!(links(&again.runs[0].scenario), links(&batch.runs[0].scenario));
    assert!(!batch.runs[0].filled.contains("signal_speed = \"\""));
}

#[test]
fn annotated_topologies_of_ndnsim_are_read() {
    let fields = "file = \"topologies/ndnsim.txt\"\nformat = \"ndnsim\"\nrate = \"1 Mbit/s\"\n\
                  delay = \"1 ms\"";
    let s = scenario(fields, ["Src1", "Dst1"]);
    assert_eq!(
        links(&s),
        [
            "Src1-Rtr1: 10 Mbit/s 10000000ns 20p 1000",
            "Rtr1-Dst1: 1500 Mbit/s 250000000ns 40p 2000",
            "Src1-Dst1: 1 Mbit/s 1000000ns 100p 1000",
        ]
    );
    assert_eq!(s.links[1].directions[1].impairment.loss, Loss::Random(0.1));
    assert_eq!([s.nodes[0].position, s.nodes[2].position], [Some([3.0, -1.0]), None]);
}

#[test]
fn topologies_of_mini_ndn_are_read() {
    let fields = "file = \"topologies/mini-ndn.conf\"\nrate = \"20 Mbit/s\"";
    let s = scenario(fields, ["a", "d"]);
    let names: Vec<_> = s.nodes.iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c", "d", "s1"], "in lower case, as Mini-NDN has them");
    assert_eq!(
        links(&s),
        [
            "a-b: 20 Mbit/s 10000000ns 100p 1000",
            "a-c: 100 Mbit/s 10000000ns 50p 7000",
            // 10 ms, give or take 2000 us.
            "b-d: 20 Mbit/s 8000000ns 100p 1000",
            "c-s1: 0.5 Mbit/s 500000ns 100p 1000",
            "s1-d: 20 Mbit/s 1000ns 100p 1000",
        ]
    );
    let impairment = s.links[2].directions[1].impairment;
    assert_eq!(impairment.loss, Loss::Random(0.025));
    assert_eq!(impairment.jitter, Duration(4_000_000));
    let [x, y] = s.nodes[0].position.unwrap();
    // 0.5 (cos 2.64159, -sin 2.64159): the angle is pi less a half.
    assert!((x + 0.5 * 0.8775825618903728).abs() < 1e-9, "{x}");
    assert!((y + 0.5 * 0.479425538604203).abs() < 1e-9, "{y}");
    assert_eq!(s.nodes[2].position, None);
}

#[test]
fn drawn_networks_do_not_depend_on_the_seed_of_the_run() {
    let fields = "generator = \"waxman\"\nsize = 30\nrate = \"1 Mbit/s\"\nacross = \"20 ms\"";
    let [first, second] = [1, 2].map(|seed| {
        let text = text(fields, ["n0", "n29"]);
        let batch = parse(&text, FILE, &[format!("scenario.seed={seed}")]).unwrap();
        links(&batch.runs[0].scenario)
    });
    assert_eq!(first, second);
    let other = links(&scenario(&format!("{fields}\ndrawn_from = 2"), ["n0", "n29"]));
    assert_ne!(first, other);
    let s = scenario(
        "generator = \"barabasi-albert\"\nsize = 30\nattach = 3\nrate = \"1 Mbit/s\"",
        ["n0", "n29"],
    );
    assert_eq!((s.links.len(), s.links[0].directions[0].rate), (3 + 26 * 3, Rate::from_mbps(1)));
    assert_eq!(s.links[0].directions[0].delay, Duration::ZERO);
}

/// All mistakes of a scenario with this topology: the file's name, the line, the message.
fn wrong(topology: &str) -> Vec<String> {
    let text = text(topology, ["a", "b"]);
    match parse(&text, FILE, &[]) {
        Err(ScenarioError::Mistakes(found)) => found
            .iter()
            .map(|m| {
                let file = m.file.rsplit('/').next().unwrap_or_default();
                format!("{file}:{}:{}: {}", m.line, m.column, m.message)
            })
            .collect(),
        other => panic!("no mistake: {other:?}"),
    }
}

#[test]
fn a_wrong_section_is_an_error_that_names_what_it_lacks() {
    let rate = "rate = \"1 Mbit/s\"";
    for (fields, at, expected) in [
        (rate.to_owned(), "t.toml:1:1", "needs a `generator`, or a `file`"),
        (format!("generator = \"line\"\nfile = \"x\"\n{rate}"), "t.toml:3:8", "or a `file`"),
        (format!("generator = \"lien\"\n{rate}"), "t.toml:2:13", "did you mean `line`?"),
        (format!("generator = \"line\"\nalpha = 1\n{rate}"), "t.toml:3:9", "it has `size`"),
        (format!("generator = \"tree\"\ndepth = 16\n{rate}"), "t.toml:2:13", "at most 20000"),
        (
            format!("generator = \"barabasi-albert\"\nattach = 9\nsize = 9\n{rate}"),
            "t.toml:3:10",
            "of 9 nodes one cannot be joined to 9 others",
        ),
        (
            format!("generator = \"grid\"\nrows = 1000\ncolumns = 1000\n{rate}"),
            "t.toml:2:13",
            "it makes 1000000 nodes; at most 20000 are taken",
        ),
        (format!("generator = \"waxman\"\nbeta = 0\n{rate}"), "t.toml:3:8", "greater than zero"),
        ("generator = \"line\"".to_owned(), "t.toml:1:1", "a link needs a `rate`"),
        ("file = \"topologies/none.cch\"".to_owned(), "t.toml:2:8", "cannot read"),
        ("file = \"topologies\"\nformat = \"fnss\"".to_owned(), "t.toml:2:8", "not a file"),
        ("file = \"topologies/fnss.xml\"".to_owned(), "t.toml:2:8", "say which: `graphml`"),
        (
            "file = \"topologies/zoo.graphml\"\nsize = 3".to_owned(),
            "t.toml:3:8",
            "only generators have it",
        ),
        (
            "file = \"topologies/map.cch\"\ndelay = \"1 ms\"".to_owned(),
            "map.cch:2:1",
            "this link has no rate (3 more have none either)",
        ),
        (
            "file = \"topologies/zoo.graphml\"\nrate = \"1 Mbit/s\"".to_owned(),
            "zoo.graphml:41:5",
            "this link has no delay; say `delay = \"5 ms\"` in `[topology]`",
        ),
        (
            "file = \"topologies/map.cch\"\nformat = \"rocketfuel-latencies\"".to_owned(),
            "map.cch:2:1",
            "not a line of three words",
        ),
        (
            "file = \"topologies/ndnsim.txt\"\nformat = \"graphml\"".to_owned(),
            "ndnsim.txt:1:1",
            "not XML that is read here",
        ),
        (
            "file = \"topologies/map.cch\"\nrate = \"0 bit/s\"\ndelay = \"1 ms\"".to_owned(),
            "t.toml:3:8",
            "lets nothing pass",
        ),
    ] {
        let found = wrong(&fields);
        let is_expected = |m: &String| m.starts_with(&format!("{at}: ")) && m.contains(expected);
        assert!(found.iter().any(is_expected), "{fields}: {found:#?}");
    }
}

/// The mistakes of a file with this text.
fn wrong_in(format: &str, text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("f"), text).unwrap();
    let path = folder.path().join("f");
    let rest = "rate = \"1 Mbit/s\"\ndelay = \"1 ms\"";
    let fields = format!("file = \"{}\"\nformat = \"{format}\"\n{rest}", path.display());
    wrong(&fields)
}

fn explained(cases: &[(&str, String, &str, &str)]) {
    for (format, text, at, expected) in cases {
        let found = wrong_in(format, text);
        let is_expected = |m: &String| m.starts_with(at) && m.contains(expected);
        assert!(found.iter().any(is_expected), "{text}: {found:#?}");
    }
}

#[test]
fn wrong_xml_is_explained_by_line() {
    let graph = |inner: &str| {
        format!(
            "<graphml><key id=\"k\" attr.name=\"LinkSpeedRaw\"/><key id=\"l\" \
             attr.name=\"Latitude\"/><key id=\"m\" attr.name=\"Longitude\"/>\n\
             <graph>\n<node id=\"a\"/>\n<node id=\"b\"/>\n{inner}\n</graph></graphml>"
        )
    };
    let edge = |data: &str| graph(&format!("<edge source=\"a\" target=\"b\">{data}</edge>"));
    let fnss = |inner: &str| {
        format!(
            "<topology><node id=\"a\"/><node id=\"b\"/>\n\
         <link><from>a</from>{inner}</link></topology>"
        )
    };
    explained(&[
        ("graphml", "<graphml>\n<graph>".to_owned(), "f:1:1", "not XML that is read here"),
        ("graphml", "<html/>".to_owned(), "f:1:1", "no `<graphml>`"),
        (
            "graphml",
            graph("<edge source=\"a\" target=\"z\"/>"),
            "f:5:1",
            "`target` of this link is `z`",
        ),
        ("graphml", graph("<node id=\"a\"/>"), "f:5:1", "two nodes `a`"),
        ("graphml", graph("<hyperedge/>"), "f:5:1", "a link has two ends"),
        ("graphml", graph("<node/>"), "f:5:1", "needs an `id`"),
        (
            "graphml",
            edge("<data key=\"k\">fast</data>"),
            "f:5:29",
            "`fast` is not a number of bits",
        ),
        ("graphml", edge("<data key=\"k\">-1</data>"), "f:5:29", "above zero"),
        ("graphml", edge("<data key=\"k\">0</data>"), "f:5:29", "above zero"),
        ("graphml", edge("<data key=\"k\">NaN</data>"), "f:5:29", "above zero"),
        (
            "graphml",
            graph("<node id=\"c\"><data key=\"l\">91</data><data key=\"m\">0</data></node>"),
            "f:5:1",
            "no place at latitude 91",
        ),
        ("fnss", "<graphml/>".to_owned(), "f:1:1", "no `<topology>`"),
        ("fnss", fnss("<to>c</to>"), "f:2:1", "there is no node `c`"),
        ("fnss", fnss(""), "f:2:1", "one `<from>` and one `<to>`"),
        (
            "fnss",
            fnss("<to>b</to><property name=\"capacity\">5</property>"),
            "f:2:1",
            "needs a property `capacity_unit`",
        ),
        (
            "fnss",
            "<topology><property name=\"delay_unit\">parsec</property></topology>".to_owned(),
            "f:1:1",
            "the unit `parsec` is unknown; valid are `ns`",
        ),
    ]);
}

#[test]
fn wrong_lines_are_explained() {
    explained(&[
        ("rocketfuel-cch", "1 @a (1) -> <2> =x r0\n".to_owned(), "f:1:1", "no node `2`"),
        ("rocketfuel-cch", "\n  hello\n".to_owned(), "f:2:3", "not a line of a map"),
        ("rocketfuel-cch", "1 @a ->\n1 @b ->\n".to_owned(), "f:2:1", "two nodes `1`"),
        (
            "rocketfuel-latencies",
            "a b 3\na b -3\n".to_owned(),
            "f:2:1",
            "not a line of three words",
        ),
        ("ndnsim", "link\na b\n".to_owned(), "f:2:1", "there is no node `a`"),
        ("ndnsim", "a b\n".to_owned(), "f:1:1", "begins with a line `router`"),
        ("ndnsim", "router\na\nb\nlink\na a 1Mbps".to_owned(), "f:5:1", "the same node"),
        ("ndnsim", "router\na\nb\nlink\na b 0Mbps".to_owned(), "f:5:1", "bandwidth above zero"),
        ("ndnsim", "router\na\nb\nlink\na b 1Mpbs".to_owned(), "f:5:1", "write it like `10Mbps`"),
        ("ndnsim", "router\na\nb\nlink\na b 1ǒs".to_owned(), "f:5:1", "write it like `10Mbps`"),
        ("ndnsim", "router\na\nb\nlink\na b 1Mbps 1 -5ms".to_owned(), "f:5:1", "is negative"),
        ("ndnsim", "router\na\nb\nlink\na b 1Mbps 1 5ms 0".to_owned(), "f:5:1", "holds nothing"),
        ("ndnsim", "router\na\na\n".to_owned(), "f:3:1", "two nodes `a`"),
        ("ndnsim", "router\na NA x 2\n".to_owned(), "f:2:1", "both numbers"),
        ("ndnsim", "# nothing\n".to_owned(), "f:1:1", "there is no node in it"),
    ]);
}

#[test]
fn wrong_lines_of_mini_ndn_are_explained() {
    let nodes = "[nodes]\na: _\nb: _\n";
    let link = |options: &str| format!("{nodes}[links]\na:b {options}\n");
    let cases = [
        ("a: _\n".to_owned(), "f:1:1", "begins with a line `[nodes]`"),
        ("[stations]\nsta1: range=5\n".to_owned(), "f:1:1", "without wires cannot be read"),
        ("[hosts]\n".to_owned(), "f:1:1", "the section `[hosts]` is unknown"),
        ("[nodes]\na: _\nA: _\n".to_owned(), "f:3:1", "two nodes `a`"),
        ("[nodes]\na: radius\n".to_owned(), "f:2:1", "like `key=value`"),
        (format!("{nodes}[links]\na:z delay=1ms\n"), "f:5:1", "there is no node `z`"),
        (format!("{nodes}[links]\na b delay=1ms\n"), "f:5:1", "both ends are like `a:b`"),
        (format!("{nodes}[links]\na:a delay=1ms\n"), "f:5:1", "the same node"),
        (format!("{}a:b\n", link("")), "f:6:1", "two links `a:b`"),
        (link("delay"), "f:5:1", "like `delay=10ms`"),
        (link("delay=-3ms"), "f:5:1", "`-3ms` is not a time"),
        (link("delay=3parsec"), "f:5:1", "`3parsec` is not a time"),
        (link("bw=0"), "f:5:1", "`bw=0` is not a number of Mbit/s above zero"),
        (link("loss=101"), "f:5:1", "`loss=101` is not 0 to 100"),
        (link("max_queue_size=0"), "f:5:1", "not a number of packets"),
        (link("jitter=5"), "f:5:1", "a jitter needs a delay"),
        (link("delay=3us jitter=5"), "f:5:1", "a jitter needs a delay"),
        (link("enable_red=True"), "f:5:1", "`enable_red` cannot be read; there are `bw`"),
        (format!("{}[faces]\na:b cost=-1\n", link("")), "f:7:1", "a number from 0 on"),
        ("[nodes]\n".to_owned(), "f:1:1", "there is no node in it"),
    ];
    explained(&cases.map(|(text, at, expected)| ("mini-ndn", text, at, expected)));
}

#[test]
fn hostile_files_are_rejected_and_not_worked_on() {
    let bomb =
        "<!DOCTYPE g [<!ENTITY a \"aaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]><graphml>&b;</graphml>";
    let outside = "<!DOCTYPE g [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><graphml>&a;</graphml>";
    for text in [bomb, outside] {
        let found = wrong_in("graphml", text);
        assert!(found[0].contains("not XML that is read here"), "{found:?}");
    }
    let deep = format!("<graphml>{}{}</graphml>", "<a>".repeat(300_000), "</a>".repeat(300_000));
    assert!(wrong_in("graphml", &deep)[0].contains("no `<graphml>` with a `<graph>`"));
    let many = wrong_in("ndnsim", &format!("router\n{}", "a\n".repeat(100_000)));
    let of_file = many.iter().filter(|m| m.starts_with("f:")).count();
    assert_eq!(of_file, 21, "so many are reported, and that there are more");
    let crowd: String = (0..30_000).map(|i| format!("n{i}\n")).collect();
    assert!(wrong_in("ndnsim", &format!("router\n{crowd}"))[0].contains("at most 20000 nodes"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("big.cch");
    std::fs::File::create(&path).unwrap().set_len(crate::source::MAX_FILE + 1).unwrap();
    let found = wrong(&format!("file = \"{}\"", path.display()));
    assert!(found[0].contains("has 32000001 bytes; at most 32000000 are read"), "{found:?}");
    std::fs::write(&path, [0xff, 0xfe, 0]).unwrap();
    let found = wrong(&format!("file = \"{}\"", path.display()));
    assert!(found[0].contains("not text in UTF-8"), "{found:?}");
}
