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
fn what_cannot_be_drawn_is_listed_by_role() {
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
