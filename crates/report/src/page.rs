//! The page: one self-contained file.

mod again;
mod differences;
mod tables;

use crate::answer;
use crate::colours;
use crate::comparison::Comparison;
use crate::dashes::{DASHES, stroke};
use crate::drawing;
use crate::error::ReportError;
use crate::picture::{Form, Line, Picture, ROOM_FOR_INTERVALS};
use crate::pictures::Pictures;
use crate::results::Results;
use crate::text::escaped;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

/// Scripts, in the order in which they need each other.
const SCRIPTS: &[&str] = &[
    include_str!("../assets/scale.js"),
    include_str!("../assets/labels.js"),
    include_str!("../assets/lines.js"),
    include_str!("../assets/dots.js"),
    include_str!("../assets/map.js"),
    include_str!("../assets/download.js"),
    include_str!("../assets/page.js"),
];

/// The report of the results in these folders, compared if there are several.
///
/// # Errors
/// One of them has no results, or they cannot be read.
pub fn page(folders: &[PathBuf]) -> Result<String, ReportError> {
    let results = Results::read(folders)?;
    let mut tables = (String::new(), String::new());
    tables::first(&mut tables.0, &results);
    tables::rest(&mut tables.1, &results);
    let sentences = [answer::question(&results), answer::answer(&results)];
    Ok(html(&results, "report", &sentences, &tables))
}

/// The same pictures with the differences of two folders.
pub(crate) fn compared(results: &Results, comparison: &Comparison) -> String {
    let Comparison { first, second, .. } = comparison;
    let question =
        format!("{}: how does {} differ from {}?", answer::name(results), second.name, first.name);
    let mut tables = (String::new(), String::new());
    differences::first(&mut tables.0, comparison);
    differences::rest(&mut tables.1, comparison);
    let sentences = [question, comparison.sentence() + "."];
    html(results, "comparison", &sentences, &tables)
}

/// A page with these tables and all pictures of the results.
fn html(
    results: &Results,
    what: &str,
    [question, answer]: &[String; 2],
    tables: &(String, String),
) -> String {
    let pictures = Pictures::new(results);
    let mut out = String::new();
    head(&mut out, &answer::name(results));
    out += "<main>\n";
    let _ = writeln!(
        out,
        "<header><p class=\"over\">Weir {what}</p><h1>{}</h1><p class=\"answer\">{}</p></header>",
        escaped(question),
        escaped(answer)
    );
    out += &tables.0;
    out += "<noscript><p>The pictures are drawn by a script, which this browser does not run; the \
            tables say the same.</p></noscript>\n";
    pictures.first.iter().for_each(|picture| figure(&mut out, picture));
    if !pictures.more.is_empty() {
        let names: Vec<&str> = pictures.more.iter().map(|p| p.y.label.as_str()).collect();
        let _ = writeln!(
            out,
            "<details class=\"more\"><summary>More pictures: {}</summary>",
            escaped(&names.join(", "))
        );
        pictures.more.iter().for_each(|picture| figure(&mut out, picture));
        out += "</details>\n";
    }
    out += &tables.1;
    again::section(&mut out, results);
    out += "</main>\n";
    let all: Vec<&Picture> = pictures.first.iter().chain(&pictures.more).collect();
    data(&mut out, &all);
    out += "</html>\n";
    out
}

pub(crate) fn head(out: &mut String, title: &str) {
    // The policy makes the browser reject every request.
    let _ = writeln!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{} - Weir</title>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n\
         <link rel=\"icon\" href=\"data:,\">",
        escaped(title)
    );
    let all = colours::all();
    let light: String = all.iter().map(|(name, light, _)| format!("--{name}:{light};")).collect();
    let dark: String = all.iter().map(|(name, _, dark)| format!("--{name}:{dark};")).collect();
    let _ = writeln!(
        out,
        "<style>:root{{{light}}}\n@media (prefers-color-scheme: dark){{:root{{{dark}}}}}\n\
         @media print{{:root{{{light}}}}}\n{}</style>",
        include_str!("../assets/page.css")
    );
    let mut drawing = include_str!("../assets/drawing.css").to_owned();
    for (name, ..) in all {
        if let Some(number) = name.strip_prefix('c') {
            let _ = write!(
                drawing,
                "\n.c{number} {{ stroke: var(--{name}); }} .f{number} {{ fill: var(--{name}); }}"
            );
        } else if name.starts_with('u') {
            let _ = write!(drawing, "\n.{name} {{ stroke: var(--{name}); }}");
        }
    }
    let _ = writeln!(out, "<style id=\"drawing\">{drawing}</style>");
}

pub(crate) fn figure(out: &mut String, picture: &Picture) {
    let kind = if picture.form == Form::Map { " class=\"map\"" } else { "" };
    let _ =
        writeln!(out, "<figure id=\"{}\"{kind}><h2>{}</h2>", picture.id, escaped(&picture.title));
    let several = if picture.panels.len() > 1 { " several" } else { "" };
    let _ = writeln!(out, "<div class=\"panels{several}\">");
    for (number, panel) in picture.panels.iter().enumerate() {
        out.push_str("<div class=\"panel\">");
        if !panel.title.is_empty() {
            let _ = write!(out, "<h3>{}</h3>", escaped(&panel.title));
        }
        let keys = match picture.form {
            Form::Map => "Arrow keys go from node to node and link to link",
            Form::Dots => "Arrow keys go from row to row",
            Form::Scatter => "Arrow keys go from point to point",
            Form::Time | Form::Curve | Form::Sweep | Form::Cdf => "Arrow keys move the cursor",
        };
        let _ = write!(
            out,
            "<div class=\"plot\" tabindex=\"0\" role=\"group\" aria-label=\"{}. {keys}; plus and \
             minus zoom, 0 shows all.\"><div></div><div class=\"tip\" role=\"status\" hidden>\
             </div></div>",
            escaped(&picture.title)
        );
        match picture.form {
            Form::Map => {}
            Form::Dots => values(out, picture, &panel.lines),
            Form::Time | Form::Curve | Form::Sweep | Form::Scatter | Form::Cdf => {
                legend(out, picture, number, &panel.lines)
            }
        }
        out.push_str("</div>\n");
    }
    out.push_str("</div>\n");
    if picture.form == Form::Map {
        tables::map_key(out);
    }
    let _ = writeln!(out, "<figcaption>{}</figcaption>", escaped(&picture.caption));
    out.push_str(
        "<div class=\"tools\"><button data-do=\"in\" aria-label=\"zoom in\">+</button>\
         <button data-do=\"out\" aria-label=\"zoom out\">−</button>\
         <button data-do=\"all\" disabled>show all</button>\
         <button class=\"apart\" data-do=\"svg\">save SVG</button>\
         <button data-do=\"csv\">save CSV</button></div></figure>\n",
    );
}

/// The legend, with the numbers of the lines: the picture as text.
fn legend(out: &mut String, picture: &Picture, panel: usize, lines: &[Line]) {
    let _ = write!(
        out,
        "<div class=\"scroll\" tabindex=\"0\"><table class=\"legend\"><tr>\
         <th class=\"left\">{}</th>",
        escaped(&picture.corner)
    );
    cells(out, "th", &picture.heads);
    out.push_str("</tr>");
    for (number, line) in lines.iter().enumerate() {
        let _ = write!(
            out,
            "<tr><td class=\"left\"><button data-line=\"{panel} {number}\" aria-pressed=\"true\">\
             <svg width=\"30\" height=\"10\" aria-hidden=\"true\">{}</svg>{}</button></td>",
            sample(picture.form, line),
            escaped(&line.label)
        );
        cells(out, "td", &line.cells);
        out.push_str("</tr>");
    }
    out.push_str("</table></div>");
}

/// A line's look, 30 pixels wide.
fn sample(form: Form, line: &Line) -> String {
    let mut out = String::new();
    if form != Form::Scatter || line.raw.is_empty() {
        let _ = write!(
            out,
            "<line class=\"line c{}\" x1=\"1\" x2=\"29\" y1=\"5\" y2=\"5\" \
             stroke-dasharray=\"{}\"/>",
            line.colour,
            stroke(line.dash)
        );
    }
    if matches!(form, Form::Sweep | Form::Scatter) && !line.raw.is_empty() {
        let shape = drawing::mark_path(line.dash, [15.0, 5.0], 3.5);
        let _ = write!(out, "<path class=\"f{}\" d=\"{shape}\"/>", line.colour);
    }
    out
}

fn values(out: &mut String, picture: &Picture, lines: &[Line]) {
    out.push_str("<details><summary>Values</summary><div class=\"scroll\"><table><tr><th></th>");
    cells(out, "th", &picture.heads);
    out.push_str("</tr>");
    for line in lines {
        let _ = write!(out, "<tr><td class=\"left\">{}</td>", escaped(&line.label));
        cells(out, "td", &line.cells);
        out.push_str("</tr>");
    }
    out.push_str("</table></div></details>");
}

fn cells(out: &mut String, tag: &str, texts: &[String]) {
    for text in texts {
        let _ = write!(out, "<{tag}>{}</{tag}>", escaped(text));
    }
}

pub(crate) fn data(out: &mut String, all: &[&Picture]) {
    let light: BTreeMap<&str, &str> =
        colours::all().iter().map(|(name, light, _)| (name.as_str(), light.as_str())).collect();
    let _ = writeln!(
        out,
        "<script type=\"application/json\" id=\"pictures\">{}</script>\n\
         <script type=\"application/json\" id=\"colours\">{}</script>",
        json(all),
        json(&serde_json::json!({ "light": light }))
    );
    let dashes: Vec<String> = (0..DASHES.len()).map(stroke).collect();
    let _ = writeln!(
        out,
        "<script>(() => {{\n\"use strict\";\nconst DASHES = {};\nconst MARKS = {};\n\
         const ROOM_FOR_INTERVALS = {ROOM_FOR_INTERVALS};\n{}}})();</script>",
        json(&dashes),
        json(&drawing::MARKS),
        SCRIPTS.join("\n")
    );
}

/// JSON in which no text can end the element that it is in.
fn json(value: &(impl serde::Serialize + ?Sized)) -> String {
    serde_json::to_string(value).unwrap_or_default().replace('<', "\\u003c")
}
