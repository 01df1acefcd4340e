//! From a picture of curves or points to a drawing: title, legend, panels with their axes, caption.

use super::axis::{Scale, Tick};
use super::font::Font;
use super::scene::{Anchor, Fill, Item, Pen, Point, Scene, Text, mark, through, within};
use crate::dashes::DASHES;
use crate::picture::{Axis, Form, Line, Panel, Picture, ROOM_FOR_INTERVALS};

/// The look of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Its width in CSS pixels: 96 to the inch.
    pub width: f64,
    /// Title and caption are in the drawing.
    pub has_texts: bool,
    /// The most panels in a row.
    pub columns: usize,
}

const MARGIN: f64 = 12.0;
const GAP: f64 = 18.0;
/// Panels are at least this wide if there are several in a row.
const NARROWEST: f64 = 220.0;
/// The most panels in a row of a picture.
pub const MOST_COLUMNS: usize = 4;
const TITLE: f64 = 16.0;
const SMALL: f64 = 11.0;
const NORMAL: f64 = 12.0;
const LINE_WIDTH: f64 = 2.0;
const MARK: f64 = 3.0;
/// The drawing of a picture, with room for the letters of a font.
pub fn scene(picture: &Picture, look: &Look, font: &Font) -> Scene {
    let mut sheet = Sheet { font, items: Vec::new(), width: look.width, y: MARGIN };
    if look.has_texts {
        sheet.paragraph(&picture.title, TITLE, "ink");
        sheet.y += 6.0;
    }
    legend(&mut sheet, picture);
    panels(&mut sheet, picture, look.columns);
    if look.has_texts {
        sheet.y += 6.0;
        sheet.paragraph(&picture.caption, SMALL, "soft");
    }
    let (title, height) = (picture.title.clone(), (sheet.y + MARGIN).ceil());
    Scene { title, width: look.width, height, items: sheet.items }
}

/// A drawing that grows downwards.
struct Sheet<'f> {
    font: &'f Font,
    items: Vec<Item>,
    width: f64,
    /// Everything above has been drawn.
    y: f64,
}

impl Sheet<'_> {
    fn text(&mut self, at: Point, text: &str, anchor: Anchor, look: &Lettering) {
        let Lettering { size, colour } = *look;
        self.items.push(Item::Text(Text { at, text: text.to_owned(), anchor, size, colour }));
    }

    /// A text in as many lines as it needs.
    fn paragraph(&mut self, text: &str, size: f64, colour: &'static str) {
        for line in self.font.wrapped(text, size, self.width - 2.0 * MARGIN) {
            self.y += size * 1.3;
            let at = Point::new(MARGIN, self.y - size * 0.3);
            self.text(at, &line, Anchor::Start, &Lettering { size, colour });
        }
    }
}

/// Size and colour of letters.
struct Lettering {
    size: f64,
    colour: &'static str,
}

const LABEL: Lettering = Lettering { size: NORMAL, colour: "ink" };
const TICK: Lettering = Lettering { size: SMALL, colour: "soft" };

fn colour(line: &Line) -> String {
    format!("c{}", line.colour)
}

fn pen(line: &Line) -> Pen {
    let dash = DASHES[line.dash % DASHES.len()].to_vec();
    Pen { colour: colour(line), width: LINE_WIDTH, dash }
}

/// The lines of all panels, each once.
fn legend(sheet: &mut Sheet<'_>, picture: &Picture) {
    let mut lines: Vec<&Line> = Vec::new();
    for line in picture.panels.iter().flat_map(|panel| &panel.lines) {
        if !line.label.is_empty() && !lines.iter().any(|known| known.label == line.label) {
            lines.push(line);
        }
    }
    if lines.is_empty() {
        return;
    }
    let mut x = MARGIN;
    sheet.y += 16.0;
    for line in lines {
        let width = 34.0 + sheet.font.width(&line.label, NORMAL);
        if x > MARGIN && x + width > sheet.width - MARGIN {
            x = MARGIN;
            sheet.y += 18.0;
        }
        let middle = Point::new(x + 13.0, sheet.y - 4.0);
        let is_joined = picture.form != Form::Scatter || line.raw.is_empty();
        if is_joined {
            let ends = [middle.plus(-13.0, 0.0), middle.plus(13.0, 0.0)];
            sheet.items.push(Item::Line(through(ends), pen(line)));
        }
        if !line.raw.is_empty() {
            let shape = mark(line.dash, middle, MARK);
            sheet.items.push(Item::Area(shape, Fill::new(&colour(line), 1.0)));
        }
        sheet.text(Point::new(x + 32.0, sheet.y), &line.label, Anchor::Start, &LABEL);
        x += width + 16.0;
    }
    sheet.y += 8.0;
}

/// The values that the axes of all panels have room for; they have one scale.
struct Extent {
    x: Vec<f64>,
    y: Vec<f64>,
}

impl Extent {
    fn new(picture: &Picture) -> Extent {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        let (mut across, mut up) = (Vec::new(), Vec::new());
        for line in picture.panels.iter().flat_map(|panel| &panel.lines) {
            for pair in line.raw.chunks_exact(2).chain(line.smooth.chunks_exact(2)) {
                x.push(pair[0]);
                y.push(pair[1]);
            }
            line.band.chunks_exact(3).for_each(|three| up.extend(&three[1..]));
            line.across.chunks_exact(3).for_each(|three| across.extend(&three[1..]));
        }
        Extent { x: with_room(x, across, &picture.x), y: with_room(y, up, &picture.y) }
    }
}

/// Points, and intervals within the room for them. A logarithmic axis has zero for points only.
fn with_room(mut points: Vec<f64>, intervals: Vec<f64>, axis: &Axis) -> Vec<f64> {
    let most = points.iter().copied().fold(0.0, f64::max) * ROOM_FOR_INTERVALS;
    let least = points.iter().copied().fold(0.0, f64::min) * ROOM_FOR_INTERVALS;
    for end in intervals {
        if axis.log.is_none() || end > 0.0 {
            points.push(end.clamp(least, most));
        }
    }
    points
}

fn panels(sheet: &mut Sheet<'_>, picture: &Picture, columns: usize) {
    let room = sheet.width - 2.0 * MARGIN;
    let fitting = ((room + GAP) / (NARROWEST + GAP)) as usize;
    let columns = picture.panels.len().min(fitting.clamp(1, columns.max(1))).max(1);
    let width = (room - GAP * (columns - 1) as f64) / columns as f64;
    let tall = (width * 0.6).clamp(130.0, 330.0);
    let extent = Extent::new(picture);
    let y = Scale::new(&picture.y, &extent.y, [tall, 0.0]);
    let ticks = y.ticks(45.0, |_| 0.0);
    let widest = ticks.iter().map(|tick| sheet.font.width(&tick.text, SMALL)).fold(0.0, f64::max);
    let left = widest + 10.0;
    let x = Scale::new(&picture.x, &extent.x, [left, width - 8.0]);
    let has_titles = picture.panels.iter().any(|panel| !panel.title.is_empty());
    for row in picture.panels.chunks(columns) {
        let top = sheet.y + if has_titles { 40.0 } else { 24.0 };
        for (column, panel) in row.iter().enumerate() {
            let start = MARGIN + column as f64 * (width + GAP);
            let frame = Frame {
                start,
                x: x.moved([start + left, start + width - 8.0]),
                y: y.moved([top + tall, top]),
                left: start + left,
                right: start + width - 8.0,
                bottom: top + tall,
            };
            if has_titles {
                let at = Point::new(start, top - 26.0);
                sheet.text(at, &panel.title, Anchor::Start, &LABEL);
            }
            axes(sheet, picture, &frame, top);
            lines(sheet, picture, panel, &frame);
        }
        sheet.y = top + tall + 40.0;
    }
}

/// Where a panel is.
struct Frame {
    start: f64,
    x: Scale,
    y: Scale,
    left: f64,
    right: f64,
    bottom: f64,
}

impl Frame {
    fn at(&self, x: f64, y: f64) -> Point {
        Point::new(self.x.at(x), self.y.at(y))
    }

    /// The places of pairs.
    fn points(&self, flat: &[f64]) -> Vec<Point> {
        flat.chunks_exact(2).map(|pair| self.at(pair[0], pair[1])).collect()
    }
}

fn name(axis: &Axis) -> String {
    match axis.unit.as_str() {
        "" => axis.label.clone(),
        unit => format!("{} ({unit})", axis.label),
    }
}

fn axes(sheet: &mut Sheet<'_>, picture: &Picture, frame: &Frame, top: f64) {
    let Frame { left, right, bottom, .. } = *frame;
    for Tick { at, text } in frame.y.ticks(45.0, |_| 0.0) {
        sheet.items.push(straight([Point::new(left, at), Point::new(right, at)], "grid"));
        let place = Point::new(left - 6.0, at + 4.0);
        sheet.text(place, &text, Anchor::End, &TICK);
    }
    let ticks = frame.x.ticks(60.0, |text| sheet.font.width(text, SMALL));
    for Tick { at, text } in ticks {
        sheet.items.push(straight([Point::new(at, bottom), Point::new(at, bottom + 4.0)], "soft"));
        sheet.text(Point::new(at, bottom + 16.0), &text, Anchor::Middle, &TICK);
    }
    sheet.items.push(straight([Point::new(left, bottom), Point::new(right, bottom)], "soft"));
    sheet.text(Point::new(frame.start, top - 10.0), &name(&picture.y), Anchor::Start, &TICK);
    sheet.text(Point::new(right, bottom + 31.0), &name(&picture.x), Anchor::End, &TICK);
}

/// A thin line between two points.
fn straight(ends: [Point; 2], colour: &str) -> Item {
    Item::Line(through(ends), Pen::solid(colour, 1.0))
}

fn lines(sheet: &mut Sheet<'_>, picture: &Picture, panel: &Panel, frame: &Frame) {
    let is_scatter = picture.form == Form::Scatter;
    // Dashed lines are drawn on top: on an equal line they are seen.
    let mut order: Vec<&Line> = panel.lines.iter().collect();
    order.sort_by_key(|line| line.dash != 0);
    for line in &order {
        match is_scatter {
            true => intervals(sheet, line, frame),
            false => band(sheet, line, frame),
        }
    }
    for line in &order {
        let joined = if is_scatter { &[] } else { line.raw.as_slice() };
        for flat in [joined, &line.smooth].into_iter().filter(|flat| flat.len() > 2) {
            sheet.items.push(Item::Line(through(frame.points(flat)), pen(line)));
        }
    }
    for line in order {
        for point in frame.points(&line.raw) {
            let shape = mark(line.dash, point, MARK);
            sheet.items.push(Item::Area(shape, Fill::new(&colour(line), 1.0)));
        }
    }
}

/// The band around a line.
fn band(sheet: &mut Sheet<'_>, line: &Line, frame: &Frame) {
    if line.band.len() > 3 {
        let upper = line.band.chunks_exact(3).map(|band| frame.at(band[0], band[2]));
        let lower = line.band.chunks_exact(3).map(|band| frame.at(band[0], band[1]));
        let around = upper.chain(lower.rev());
        sheet.items.push(Item::Area(within(around), Fill::new(&colour(line), 0.2)));
    } else {
        intervals(sheet, line, frame);
    }
}

/// The intervals of single points.
fn intervals(sheet: &mut Sheet<'_>, line: &Line, frame: &Frame) {
    let up = line.band.chunks_exact(3).map(|b| [frame.at(b[0], b[1]), frame.at(b[0], b[2])]);
    let across = line.across.chunks_exact(3);
    let across = across.map(|b| [frame.at(b[1], b[0]), frame.at(b[2], b[0])]);
    let pen = Pen::solid(&colour(line), 1.2);
    let ends: Vec<[Point; 2]> = up.chain(across).collect();
    sheet.items.extend(ends.into_iter().map(|ends| Item::Line(through(ends), pen.clone())));
}
