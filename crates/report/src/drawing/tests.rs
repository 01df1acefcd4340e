use super::*;
use crate::colours;
use crate::picture::{Axis, Form, Line, Panel};
use scene::{Item, Scene};

fn picture(panels: usize) -> Picture {
    let line = |label: &str, colour, raw: &[f64]| Line {
        label: label.to_owned(),
        colour,
        dash: colour,
        raw: raw.to_vec(),
        band: raw.chunks(2).flat_map(|p| [p[0], p[1] - 1.0, p[1] + 1.0]).collect(),
        ..Line::default()
    };
    let panel = |number: usize| Panel {
        title: if panels > 1 { format!("panel {number}") } else { String::new() },
        lines: vec![
            line("bbr <1>", 0, &[0.0, 8.0, 5.0, 8.0, 10.0, 8.0]),
            line("cubic", 1, &[0.0, 2.0, 5.0, 3.0, 10.0, 2.0]),
        ],
        ..Panel::default()
    };
    Picture {
        id: "one".to_owned(),
        title: "A title that is long enough for two lines, and says what was found ± 1".to_owned(),
        caption: "A caption.".to_owned(),
        form: Form::Sweep,
        x: Axis::new("link.loss", "%"),
        y: Axis::new("goodput", "Mbit/s"),
        panels: (0..panels).map(panel).collect(),
        corner: String::new(),
        heads: Vec::new(),
    }
}

const LOOK: Look = Look { width: 400.0, has_texts: true, columns: MOST_COLUMNS };

fn drawn(picture: &Picture, look: &Look) -> Scene {
    figure::scene(picture, look, &font::Font::new().unwrap())
}

#[test]
fn texts_are_inside_and_do_not_overlap() {
    let font = font::Font::new().unwrap();
    for (panels, width) in [(1, 300.0), (1, 720.0), (5, 400.0), (5, 720.0), (25, 1000.0)] {
        let scene = drawn(&picture(panels), &Look { width, ..LOOK });
        let mut boxes: Vec<[f64; 4]> = Vec::new();
        for item in &scene.items {
            let Item::Text(text) = item else { continue };
            let wide = font.width(&text.text, text.size);
            let left = font.start(text);
            let new = [left, left + wide, text.at.y - text.size * 0.7, text.at.y];
            let what = format!("{panels} panels, {width} wide: {text:?}");
            assert!(new[0] >= 0.0 && new[1] <= scene.width && new[3] <= scene.height, "{what}");
            let meets = |old: &[f64; 4]| {
                new[0] < old[1] && old[0] < new[1] && new[2] < old[3] && old[2] < new[3]
            };
            assert!(!boxes.iter().any(meets), "{what}");
            boxes.push(new);
        }
    }
}

#[test]
fn a_bare_figure_has_axes_alone() {
    let texts = |has_texts| -> Vec<String> {
        let scene = drawn(&picture(1), &Look { has_texts, ..LOOK });
        let text = |item: &Item| match item {
            Item::Text(text) => Some(text.text.clone()),
            _ => None,
        };
        scene.items.iter().filter_map(text).collect()
    };
    assert!(texts(true).contains(&"A caption.".to_owned()));
    let bare = texts(false);
    assert!(!bare.contains(&"A caption.".to_owned()), "{bare:?}");
    for text in ["goodput (Mbit/s)", "link.loss (%)", "bbr <1>", "cubic", "0", "10"] {
        assert!(bare.contains(&text.to_owned()), "{text}: {bare:?}");
    }
}

#[test]
fn svg_has_escaped_texts_and_colours_for_light_and_dark() {
    let text = String::from_utf8(file(&picture(2), &LOOK, Format::Svg)).unwrap();
    assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
    assert!(text.contains(">bbr &lt;1&gt;</text>") && !text.contains("<1>"));
    let of = |name: &str| colours::all().iter().find(|known| known.0 == name).unwrap();
    let (_, light, dark) = of("c1");
    let (before, after) = text.split_once("@media (prefers-color-scheme:dark)").unwrap();
    assert!(before.contains(&format!(".s-c1{{stroke:{light}}}")), "{before}");
    assert!(after.contains(&format!(".s-c1{{stroke:{dark}}}")));
    assert!(!text.contains("NaN") && !text.contains("inf"));
}

#[test]
fn png_has_two_pixels_for_each_unit_and_the_lines_in_their_colours() {
    let bytes = file(&picture(1), &LOOK, Format::Png);
    let mut reader = ::png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let height = drawn(&picture(1), &LOOK).height;
    assert_eq!((info.width, f64::from(info.height)), (800, height * 2.0));
    let count = |colour: [u8; 3]| pixels.chunks(3).filter(|pixel| **pixel == colour).count();
    for name in ["c0", "c1", "ink", "soft", "grid"] {
        assert!(count(colours::on_paper(name)) > 20, "{name}");
    }
    let white = count([255; 3]);
    assert!(white * 2 > pixels.len() / 3, "{white} pixels of paper");
}

#[test]
fn pdf_has_its_font_and_texts_that_can_be_searched() {
    let bytes = file(&picture(1), &LOOK, Format::Pdf);
    let has = |text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
    assert!(bytes.starts_with(b"%PDF-") && has(b"%%EOF"));
    assert!(has(b"/FontFile2") && has(b"/ToUnicode") && has(b"Roboto-Regular"));
    assert!(has(b"[0 0 300 "), "400 pixels are 300 points");
    // The band is transparent.
    assert!(has(b"/ca 0.2"));
}

#[test]
fn endings_select_the_format() {
    let all = ["svg", "PNG", "pdf", "jpg", ""].map(Format::of_ending);
    assert_eq!(all, [Some(Format::Svg), Some(Format::Png), Some(Format::Pdf), None, None]);
}

/// The picture with other intervals around its first line.
fn with_band(band: &[f64]) -> Picture {
    let mut one = picture(1);
    one.panels[0].lines.truncate(1);
    one.panels[0].lines[0].band = band.to_vec();
    one
}

fn texts(picture: &Picture) -> Vec<String> {
    let text = |item: &Item| match item {
        Item::Text(text) => Some(text.text.clone()),
        _ => None,
    };
    drawn(picture, &LOOK).items.iter().filter_map(text).collect()
}

#[test]
fn a_wide_interval_does_not_squeeze_the_line() {
    // The line is at 8, so intervals have room up to 12, and the axis ends at the next tick.
    let wide = with_band(&[0.0, 0.0, 900.0, 10.0, 7.0, 9.0]);
    let texts = texts(&wide);
    assert!(texts.contains(&"15".to_owned()) && !texts.contains(&"20".to_owned()), "{texts:?}");
    let scene = drawn(&wide, &LOOK);
    let inside = |point: &scene::Point| (0.0..=scene.height).contains(&point.y);
    for item in &scene.items {
        let Item::Area(steps, _) = item else { continue };
        let ends = steps.iter().filter_map(|step| match step {
            scene::Step::Move(to) | scene::Step::Line(to) => Some(to),
            _ => None,
        });
        assert!(ends.into_iter().all(inside), "{steps:?}");
    }
    assert!(crate::picture::are_cut(&wide.panels, &wide.y));
    assert!(!crate::picture::are_cut(&picture(1).panels, &wide.y));
}

#[test]
fn an_interval_that_touches_zero_gives_a_logarithmic_axis_no_zero() {
    let log = |band: &[f64]| {
        let mut one = with_band(band);
        one.y = one.y.logarithmic([8.0], true);
        one
    };
    let touching = log(&[0.0, 0.0, 9.0, 10.0, 7.0, 9.0]);
    let ticks = texts(&touching);
    // One zero, that of the x axis.
    assert_eq!(ticks.iter().filter(|text| *text == "0").count(), 1, "{ticks:?}");
    assert_eq!(ticks, texts(&log(&[0.0, 7.0, 9.0, 10.0, 7.0, 9.0])));
    assert!(crate::picture::are_cut(&touching.panels, &touching.y));
}
