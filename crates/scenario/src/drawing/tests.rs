use super::{svg, text};
use crate::{Layout, Scenario, parse};

fn scenario(topology: &str, producer: &str, consumers: &str) -> Scenario {
    let text = format!(
        "[scenario]\nduration = \"1 s\"\n[topology]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n\
         {topology}\n[[content]]\nname = \"/x\"\nat = {producer}\nsize = \"1 kB\"\n\
         [[consumer]]\nat = {consumers}\nname = \"/x\"\n"
    );
    let batch = parse(&text, "t.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    Scenario::clone(&batch.runs[0].scenario)
}

fn drawn(scenario: &Scenario, width: usize) -> String {
    let lines = text(scenario, &Layout::new(scenario), width);
    assert!(lines.iter().all(|line| line.chars().count() <= width), "{lines:#?}");
    lines.join("\n")
}

#[test]
fn a_dumbbell_is_drawn_with_what_its_links_can() {
    let s = scenario(
        "generator = \"dumbbell\"\nsize = 2\naccess = { rate = \"1 Gbit/s\" }",
        "[\"p0\", \"p1\"]",
        "[\"c0\", \"c1\"]",
    );
    let found = drawn(&s, 120);
    let rows: Vec<&str> = found.lines().collect();
    let (access, core) = ("─ 1.00 Gbit/s, 5.00 ms ─", "─ 10.0 Mbit/s, 5.00 ms ─");
    assert_eq!(rows.len(), 5, "{found}");
    assert!(rows[0].starts_with(&format!("▸ c0 {access}┐ ")), "{found}");
    assert!(rows[0].ends_with(&format!(" ┌{access} ◂ p0")), "{found}");
    assert!(rows[1].contains(&format!("├── ○ left {core}")), "{found}");
    assert!(rows[1].ends_with(" ○ right ──┤"), "{found}");
    assert_eq!(rows[4], "▸ consumer   ◂ producer   ○ forwarder");
    let up = rows[0].chars().position(|c| c == '┐');
    assert_eq!(rows[1].chars().position(|c| c == '├'), up);
    assert_eq!(rows[2].chars().position(|c| c == '┘'), up);
    let narrow = drawn(&s, 60);
    let rows: Vec<&str> = narrow.lines().collect();
    assert_eq!(
        rows[..3],
        [
            "▸ c0 ──┐                          ┌── ◂ p0",
            "       ├── ○ left ───── ○ right ──┤",
            "▸ c1 ──┘                          └── ◂ p1",
        ],
        "\n{narrow}"
    );
}

#[test]
fn networks_too_large_to_draw_are_listed_by_role() {
    let s = scenario(
        "generator = \"grid\"\nrows = 3\ncolumns = 3",
        "[\"n2_2\"]",
        "[\"n0_0\", \"n0_1\"]",
    );
    let found = drawn(&s, 60);
    let rows: Vec<&str> = found.lines().collect();
    assert_eq!(rows[0], "all links: 10.0 Mbit/s, 5.00 ms, 100 packets");
    assert_eq!(rows[1], "▸ n0_0 ── n0_1, n1_0");
    assert_eq!(rows[3], "◂ n2_2 ── n2_1, n1_2", "producers stand behind consumers");
    let s = scenario("generator = \"star\"\nsize = 900", "\"n1\"", "\"n2\"");
    let found = drawn(&s, 80);
    assert!(found.lines().count() < 60 && found.contains("858 more"), "{found}");
    assert!(found.contains("○ n0 ── n1, n2,") && found.contains("887 more"), "{found}");
}

#[test]
fn the_picture_is_xml_with_everything_in_it() {
    let mut s = scenario("generator = \"line\"\nsize = 3", "\"n2\"", "\"n0\"");
    s.nodes[1].name = "<b> & \"c\"".to_owned();
    let picture = svg(&s, &Layout::new(&s));
    let tree = roxmltree::Document::parse(&picture).unwrap();
    let count = |name: &str| tree.descendants().filter(|n| n.tag_name().name() == name).count();
    // A line for each link and one for the rate in the legend.
    assert_eq!(count("line"), 3);
    let texts: Vec<_> = tree.descendants().filter_map(|n| n.text()).collect();
    assert!(texts.contains(&"<b> & \"c\""), "{texts:?}");
    assert!(texts.iter().any(|t| t.contains("3 nodes, 2 links")), "{texts:?}");
    assert!(texts.iter().any(|t| t.contains("queue 100 packets")), "{texts:?}");
    assert_eq!(picture, svg(&s, &Layout::new(&s)));
}

/// Numbers of an attribute of all elements with this name.
fn numbers(picture: &str, element: &str, attribute: &str) -> Vec<f64> {
    let tree = roxmltree::Document::parse(picture).unwrap();
    let found = tree.descendants().filter(|n| n.tag_name().name() == element);
    found.filter_map(|n| n.attribute(attribute)?.parse().ok()).collect()
}

#[test]
fn long_names_are_inside_of_the_picture() {
    let mut s = scenario("generator = \"line\"\nsize = 3", "\"n2\"", "\"n0\"");
    let short = svg(&s, &Layout::new(&s));
    s.nodes[0].name = "a consumer with a long name".to_owned();
    s.nodes[2].name = "a producer".to_owned();
    let long = svg(&s, &Layout::new(&s));
    let tree = roxmltree::Document::parse(&long).unwrap();
    let name = |text: &str| {
        let mut nodes = tree.descendants();
        nodes.find(|n| n.tag_name().name() == "text" && n.text() == Some(text)).unwrap()
    };
    let x = |text: &str| name(text).attribute("x").map(str::parse::<f64>);
    let width = numbers(&long, "svg", "width")[0];
    let at = x("a consumer with a long name").unwrap().unwrap();
    assert!(at > 27.0 * 7.0, "{at} of {width}");
    assert!(x("a producer").unwrap().unwrap() < width - 70.0);
    assert!(width > numbers(&short, "svg", "width")[0]);
}

#[test]
fn labels_cover_neither_nodes_nor_links_nor_each_other() {
    // Two consumers before one router: lines that slope, with labels that could lie on them.
    let s = scenario("generator = \"dumbbell\"\nsize = 2", "\"p0\"", "[\"c0\", \"c1\"]");
    let picture = svg(&s, &Layout::new(&s));
    let tree = roxmltree::Document::parse(&picture).unwrap();
    let number =
        |n: roxmltree::Node<'_, '_>, key| n.attribute(key).unwrap().parse::<f64>().unwrap();
    let is_label = |n: &roxmltree::Node<'_, '_>| n.attribute("class") == Some("s h");
    let half = 30.0;
    let boxes: Vec<[f64; 4]> = tree
        .descendants()
        .filter(is_label)
        .map(|n| {
            let (x, y) = (number(n, "x"), number(n, "y"));
            [x - half, y - 9.0, x + half, y + 13.0]
        })
        .collect();
    assert_eq!(boxes.len(), 5);
    let is_within = |b: &[f64; 4], x: f64, y: f64| b[0] < x && x < b[2] && b[1] < y && y < b[3];
    for (i, one) in boxes.iter().enumerate() {
        for other in &boxes[..i] {
            let apart = one[2] <= other[0] || other[2] <= one[0];
            assert!(apart || one[3] <= other[1] || other[3] <= one[1], "{one:?}, {other:?}");
        }
        for line in tree.descendants().filter(|n| n.has_tag_name("line")) {
            let [x1, y1, x2, y2] = ["x1", "y1", "x2", "y2"].map(|key| number(line, key));
            for share in (0..=100).map(|p| f64::from(p) / 100.0) {
                let (x, y) = (x1 + (x2 - x1) * share, y1 + (y2 - y1) * share);
                assert!(!is_within(one, x, y), "{one:?}: {x}, {y}");
            }
        }
    }
}
