//! The network as SVG: nodes by role, links by rate.

mod labels;

use self::labels::Labels;
use super::link_label::link_label;
use super::role::Role;
use crate::layout::{Arrangement, Layout};
use crate::model::Scenario;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The maximum number of links with labels: more would hide the picture. Tooltips have all labels.
const MOST_LABELS: usize = 40;
/// The maximum number of nodes with names beside all of them; of more, only consumers and
/// producers have names.
const MOST_NAMES: usize = 80;
/// The maximum number of consumers with names: more would lie over each other.
const MOST_CONSUMERS: usize = 60;
/// The side of the square that a node has for itself in a crowded picture.
const ROOM: f64 = 44.0;
/// Around the picture, or more where a name needs it.
const MARGIN: f64 = 60.0;
/// Between a name and the edge.
const EDGE: f64 = 8.0;
/// The width of a letter of a name.
const LETTER: f64 = 7.6;
/// Below it, for the legend.
const LEGEND: f64 = 64.0;

/// Colours of Okabe and Ito, which colour-blind people can tell apart; forms carry the same
/// meaning.
const STYLE: &str = "\
text{font:13px system-ui,sans-serif;fill:#1a1a1a}\
.l{stroke:#b4b4b4;stroke-linecap:round}\
.s{font-size:11px;fill:#555}\
.h{paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}\
.n{stroke:#fff;stroke-width:1.5px}\
.c{fill:#0072b2}.p{fill:#d55e00}.b{fill:#cc79a7}.f{fill:#777}\
.g{fill:#fff}\
@media(prefers-color-scheme:dark){text{fill:#e8e8e8}.s{fill:#b0b0b0}.l{stroke:#5c5f66}\
.h{stroke:#16181c}.n{stroke:#16181c}.c{fill:#56b4e9}.p{fill:#e69f00}.b{fill:#e5a0c6}\
.f{fill:#a0a0a0}.g{fill:#16181c}}";

/// Draws the network.
#[must_use]
pub fn svg(scenario: &Scenario, layout: &Layout) -> String {
    let scale = match layout.arrangement {
        Arrangement::Layered => [170.0, 56.0],
        _ if scenario.nodes.len() > MOST_NAMES => {
            // Room for every node, however long a link is.
            let side = (scenario.nodes.len() as f64).sqrt() * ROOM;
            [(side / layout.size[0].max(layout.size[1]).max(1.0)).max(ROOM); 2]
        }
        _ => [120.0, 120.0],
    };
    let roles = scenario.roles();
    let mut places: Vec<[f64; 2]> = Vec::new();
    for node in 0..scenario.nodes.len() {
        let [x, y] = layout.places.get(node).copied().unwrap_or_default();
        places.push([x * scale[0], y * scale[1]]);
    }
    let names = names(scenario, &roles, layout.arrangement);
    let inner = layout.size[0] * scale[0];
    let [mut left, mut right] = [MARGIN; 2];
    for ([x, _], name) in places.iter().zip(&names) {
        if let Some(name) = name {
            let [low, high] = name.reach(*x);
            left = left.max(EDGE - low);
            right = right.max(high + EDGE - inner);
        }
    }
    for [x, y] in &mut places {
        *x += left;
        *y += MARGIN;
    }
    let width = (inner + left + right).max(440.0);
    let height = layout.size[1] * scale[1] + 2.0 * MARGIN + LEGEND;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\" aria-labelledby=\"t d\">\n\
         <title id=\"t\">{}: the network</title>\n<desc id=\"d\">{}</desc>\n\
         <style>{STYLE}</style>\n<rect class=\"g\" width=\"100%\" height=\"100%\"/>\n",
        escaped(&scenario.name),
        escaped(&described(scenario, &roles)),
    );
    links(&mut out, scenario, &names, &places);
    nodes(&mut out, scenario, &roles, &names, &places);
    legend(&mut out, scenario, &roles, height - LEGEND + 8.0);
    out.push_str("</svg>\n");
    out
}

/// The picture in words.
fn described(scenario: &Scenario, roles: &[Role]) -> String {
    let mut parts = vec![format!("{} nodes, {} links", roles.len(), scenario.links.len())];
    for role in [Role::Consumer, Role::Producer, Role::Both, Role::Forwarder] {
        let count = roles.iter().filter(|other| **other == role).count();
        if count > 0 {
            parts.push(format!("{count} × {}", role.name()));
        }
    }
    parts.join("; ")
}

/// How thick a link is: two more for each power of ten of its rate, from 1 Mbit/s on.
fn thickness(bits: u64, links: usize) -> f64 {
    let powers = (bits.max(1) as f64 / 1e6).max(0.1);
    // A logarithm for a picture need not be exact to the last bit, but it must be the same
    // everywhere.
    let share = match links {
        0..=MOST_LABELS => 1.0,
        41..=400 => 0.5,
        _ => 0.25,
    };
    (2.0 + 2.0 * libm::log10(powers)).clamp(1.0, 12.0) * share
}

/// The name beside or below a node.
struct Name {
    text: String,
    anchor: &'static str,
    /// From the node's centre.
    offset: [f64; 2],
}

impl Name {
    /// The left and the right end for a node at this place.
    fn reach(&self, x: f64) -> [f64; 2] {
        let (x, width) = (x + self.offset[0], self.text.chars().count() as f64 * LETTER);
        match self.anchor {
            "end" => [x - width, x],
            "start" => [x, x + width],
            _ => [x - width / 2.0, x + width / 2.0],
        }
    }
}

/// The radius of a node.
fn radius(nodes: usize) -> f64 {
    if nodes > MOST_NAMES { 6.0 } else { 9.0 }
}

/// The names of the nodes that have room for one.
fn names(scenario: &Scenario, roles: &[Role], arrangement: Arrangement) -> Vec<Option<Name>> {
    let is_crowded = scenario.nodes.len() > MOST_NAMES;
    let size = radius(scenario.nodes.len());
    let consumers = roles.iter().filter(|role| **role == Role::Consumer).count();
    let mut names = Vec::new();
    for (node, role) in scenario.nodes.iter().zip(roles) {
        let is_hidden = match role {
            Role::Forwarder => is_crowded,
            Role::Consumer => consumers > MOST_CONSUMERS,
            Role::Producer | Role::Both => false,
        };
        let (anchor, offset) = match (arrangement, role) {
            (Arrangement::Layered, Role::Consumer) => ("end", [-size - 6.0, 4.5]),
            (Arrangement::Layered, Role::Producer) => ("start", [size + 6.0, 4.5]),
            _ => ("middle", [0.0, size + 15.0]),
        };
        names.push((!is_hidden).then(|| Name { text: node.name.clone(), anchor, offset }));
    }
    names
}

fn links(out: &mut String, scenario: &Scenario, names: &[Option<Name>], places: &[[f64; 2]]) {
    let many = scenario.links.len();
    let mut pairs: BTreeMap<[usize; 2], f64> = BTreeMap::new();
    let mut labels = Labels::default();
    let mut lines = Vec::new();
    for link in &scenario.links {
        let [a, b] = link.ends;
        // Links between the same two nodes stand beside each other.
        let beside = pairs.entry([a.min(b), a.max(b)]).or_insert(-1.0);
        *beside += 1.0;
        let ([x1, y1], [x2, y2]) = (places[a], places[b]);
        let length = ((x2 - x1) * (x2 - x1) + (y2 - y1) * (y2 - y1)).sqrt().max(1.0);
        let aside = *beside * 14.0;
        let [dx, dy] = [(y1 - y2) / length * aside, (x2 - x1) / length * aside];
        let ends = [[x1 + dx, y1 + dy], [x2 + dx, y2 + dy]];
        let thick = thickness(link.directions.iter().map(|d| d.rate.0).max().unwrap_or(0), many);
        let [from, to] = link.ends.map(|end| escaped(&scenario.nodes[end].name));
        let label = link_label(link);
        let _ = writeln!(
            out,
            "<line class=\"l\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" \
             stroke-width=\"{thick:.1}\"><title>{from} to {to}: {label}, queue {}</title></line>",
            ends[0][0], ends[0][1], ends[1][0], ends[1][1], link.directions[0].queue,
        );
        labels.line(ends);
        lines.push((ends, thick, label));
    }
    if many > MOST_LABELS {
        return;
    }
    let size = radius(scenario.nodes.len());
    for (node, name) in names.iter().enumerate() {
        let [x, y] = places[node];
        labels.keep_free([x - size, y - size, x + size, y + size]);
        if let Some(name) = name {
            let ([left, right], y) = (name.reach(x), y + name.offset[1]);
            labels.keep_free([left, y - 11.0, right, y + 4.0]);
        }
    }
    for (ends, thick, label) in lines {
        let (rate, delay) = label.split_once(", ").unwrap_or((&label, ""));
        let [x, y] = labels.place(ends, thick, [rate, delay]);
        let _ = writeln!(
            out,
            "<text class=\"s h\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{rate}\
             <tspan x=\"{x:.1}\" dy=\"12\">{delay}</tspan></text>",
            y - 3.0
        );
    }
}

fn nodes(
    out: &mut String,
    scenario: &Scenario,
    roles: &[Role],
    names: &[Option<Name>],
    places: &[[f64; 2]],
) {
    let size = radius(scenario.nodes.len());
    // Those who ask and serve stand before the others.
    let mut order: Vec<usize> = (0..roles.len()).collect();
    order.sort_by_key(|node| std::cmp::Reverse(roles[*node]));
    for i in order {
        let (node, role) = (&scenario.nodes[i], &roles[i]);
        let [x, y] = places[i];
        let text = escaped(&node.name);
        let form = form(*role, x, y, size);
        let _ = writeln!(out, "<g>{form}<title>{text}: {}</title></g>", role.name());
        let Some(Name { anchor, offset: [dx, dy], .. }) = &names[i] else { continue };
        let (x, y) = (x + dx, y + dy);
        let _ = writeln!(
            out,
            "<text class=\"h\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>"
        );
    }
}

/// Consumers are circles, producers squares, those who are both diamonds; forwarders small circles.
fn form(role: Role, x: f64, y: f64, size: f64) -> String {
    match role {
        Role::Consumer => {
            format!("<circle class=\"n c\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{size}\"/>")
        }
        Role::Forwarder => {
            let size = size * 0.75;
            format!("<circle class=\"n f\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{size:.1}\"/>")
        }
        Role::Producer => {
            let (x, y, side) = (x - size, y - size, 2.0 * size);
            format!(
                "<rect class=\"n p\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{side}\" height=\"{side}\"/>"
            )
        }
        Role::Both => {
            let s = size * 1.3;
            format!(
                "<path class=\"n b\" d=\"M{:.1} {y:.1}L{x:.1} {:.1}L{:.1} {y:.1}L{x:.1} {:.1}Z\"/>",
                x - s,
                y - s,
                x + s,
                y + s
            )
        }
    }
}

fn legend(out: &mut String, scenario: &Scenario, roles: &[Role], y: f64) {
    let mut x = 24.0;
    for role in [Role::Consumer, Role::Producer, Role::Both, Role::Forwarder] {
        if !roles.contains(&role) {
            continue;
        }
        out.push_str(&form(role, x, y, 7.0));
        let _ = writeln!(
            out,
            "<text class=\"s\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            x + 13.0,
            y + 4.0,
            role.name()
        );
        x += 40.0 + role.name().len() as f64 * 6.5;
    }
    let rates = scenario.links.iter().flat_map(|link| link.directions.iter().map(|d| d.rate));
    let mut rates: Vec<_> = rates.collect();
    rates.sort_unstable();
    rates.dedup();
    let shown: Vec<_> = match rates[..] {
        [] => Vec::new(),
        [one] => vec![one],
        [least, .., most] => vec![least, most],
    };
    let (mut x, y) = (18.0, y + 26.0);
    for rate in shown {
        let _ = writeln!(
            out,
            "<line class=\"l\" x1=\"{x}\" y1=\"{y:.1}\" x2=\"{}\" y2=\"{y:.1}\" \
             stroke-width=\"{:.1}\"/><text class=\"s\" x=\"{}\" y=\"{:.1}\">{rate}</text>",
            x + 28.0,
            thickness(rate.0, scenario.links.len()),
            x + 38.0,
            y + 4.0
        );
        x += 130.0;
    }
}

/// The text as it may stand in XML.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
