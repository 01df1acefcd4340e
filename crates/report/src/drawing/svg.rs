//! A drawing as SVG, light or dark as the reader prefers.

use super::scene::{Anchor, Item, Pen, Point, Scene, Step, Text};
use crate::colours;
use crate::text::escaped;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The file.
pub fn file(scene: &Scene) -> String {
    let (width, height) = (number(scene.width), number(scene.height));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\"><title>{}</title><style>{}</style>\
         <rect class=\"f-paper\" width=\"100%\" height=\"100%\"/>\n",
        escaped(&scene.title),
        style(scene)
    );
    for item in &scene.items {
        let _ = match item {
            Item::Area(steps, fill) => {
                let opacity = match fill.opacity {
                    1.0 => String::new(),
                    opacity => format!(" opacity=\"{}\"", number(opacity)),
                };
                writeln!(out, "<path class=\"f-{}\"{opacity} d=\"{}\"/>", fill.colour, path(steps))
            }
            Item::Line(steps, pen) => {
                let Pen { colour, width, dash } = pen;
                let dash: Vec<String> = dash.iter().map(|length| number(*length)).collect();
                let dash = match dash.is_empty() {
                    true => String::new(),
                    false => format!(" stroke-dasharray=\"{}\"", dash.join(" ")),
                };
                let (width, path) = (number(*width), path(steps));
                writeln!(
                    out,
                    "<path class=\"s-{colour}\" stroke-width=\"{width}\"{dash} d=\"{path}\"/>"
                )
            }
            Item::Text(text) => writeln!(out, "{}", written(text)),
        };
    }
    out + "</svg>\n"
}

fn written(text: &Text) -> String {
    let anchor = match text.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    format!(
        "<text class=\"f-{}\" x=\"{}\" y=\"{}\" font-size=\"{}\"{anchor}>{}</text>",
        text.colour,
        number(text.at.x),
        number(text.at.y),
        number(text.size),
        escaped(&text.text)
    )
}

/// The used colours, for light and for dark ground.
fn style(scene: &Scene) -> String {
    let mut fills = BTreeSet::from(["paper"]);
    let mut pens = BTreeSet::new();
    for item in &scene.items {
        match item {
            Item::Area(_, fill) => fills.insert(&*fill.colour),
            Item::Line(_, pen) => pens.insert(&*pen.colour),
            Item::Text(text) => fills.insert(text.colour),
        };
    }
    let mut out = "text{font-family:system-ui,Roboto,\"Segoe UI\",\"Helvetica Neue\",sans-serif;\
                   font-variant-numeric:tabular-nums}path[stroke-width]{fill:none;\
                   stroke-linejoin:round}"
        .to_owned();
    let mut dark = String::new();
    for (name, on_light, on_dark) in colours::all() {
        for (kind, property, used) in [("f", "fill", &fills), ("s", "stroke", &pens)] {
            if used.contains(name.as_str()) {
                let _ = write!(out, ".{kind}-{name}{{{property}:{on_light}}}");
                let _ = write!(dark, ".{kind}-{name}{{{property}:{on_dark}}}");
            }
        }
    }
    let _ = write!(out, "@media (prefers-color-scheme:dark){{{dark}}}");
    out
}

/// The steps in the form of a path's `d`.
pub fn path(steps: &[Step]) -> String {
    let mut out = String::new();
    for step in steps {
        out += &match step {
            Step::Move(to) => format!("M{}", pair(to)),
            Step::Line(to) => format!("L{}", pair(to)),
            Step::Curve([a, b, c]) => format!("C{} {} {}", pair(a), pair(b), pair(c)),
            Step::Close => "Z".to_owned(),
        };
    }
    out
}

fn pair(point: &Point) -> String {
    format!("{} {}", number(point.x), number(point.y))
}

/// To the hundredth.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
