//! A table of response curves as a picture: a panel for each situation, on light and dark ground.

use std::fmt::Write;

const WIDTH: usize = 780;
const PANEL: (usize, usize) = (180, 110);
const GAP: (usize, usize) = (15, 42);
const COLUMNS: usize = 4;
const TOP: usize = 64;

const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#5a6370}\
    .title{font-size:15px;font-weight:600;fill:#1b1f23}.paper{fill:#fff}\
    .frame{fill:none;stroke:#dde1e6}.line{fill:none;stroke:#0072b2;stroke-width:2;\
    stroke-linejoin:round}@media(prefers-color-scheme:dark){text{fill:#a3adb8}\
    .title{fill:#e6e8ea}.paper{fill:#14171a}.frame{stroke:#30363d}.line{stroke:#4aa8e0}}";

/// The picture of a scheme's curves: names of situations, and for each the cells of its column.
/// A cell that is no number ends its line.
pub fn svg(scheme: &str, unit: &str, curves: &[(&str, Vec<String>)]) -> String {
    let rows = curves.len().div_ceil(COLUMNS);
    let height = TOP + rows * (PANEL.1 + GAP.1);
    // Writing to a string cannot fail.
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\"><title>Response of {scheme}: {unit} by round \
         trip</title>\n<style>{STYLE}</style>\n\
         <rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\"/>\n\
         <text class=\"title\" x=\"15\" y=\"24\">{scheme}</text>\n\
         <text x=\"15\" y=\"42\">{unit}, over round trips of 50 ms</text>\n"
    );
    for (i, (name, cells)) in curves.iter().enumerate() {
        let (x, y) =
            (15 + i % COLUMNS * (PANEL.0 + GAP.0 / 2), TOP + i / COLUMNS * (PANEL.1 + GAP.1));
        panel(&mut out, (x, y), name, cells);
    }
    out.push_str("</svg>\n");
    out
}

fn panel(out: &mut String, (x, y): (usize, usize), name: &str, cells: &[String]) {
    let values: Vec<f64> = cells.iter().map_while(|cell| cell.parse().ok()).collect();
    let most = values.iter().copied().fold(1.0, f64::max);
    let (width, height) = (PANEL.0 as f64, PANEL.1 as f64);
    let step = width / (cells.len().max(2) - 1) as f64;
    let points: Vec<String> = values
        .iter()
        .enumerate()
        .map(|(i, value)| {
            let (dx, dy) = (i as f64 * step, height - value / most * height);
            format!("{:.1},{:.1}", x as f64 + dx, y as f64 + dy)
        })
        .collect();
    let _ = writeln!(
        out,
        "<rect class=\"frame\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>\
         <polyline class=\"line\" points=\"{}\"/><text x=\"{x}\" y=\"{}\">{name}</text>\
         <text x=\"{}\" y=\"{}\" text-anchor=\"end\">0 to {most}</text>",
        points.join(" "),
        y + PANEL.1 + 15,
        x + PANEL.0,
        y + PANEL.1 + 15,
    );
}
