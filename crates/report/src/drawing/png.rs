//! A drawing as PNG, on light ground.

use super::font::Font;
use super::scene::{Fill, Item, Point, Scene, Step, Text};
use crate::colours;
use ::png::{BitDepth, ColorType, Encoder};
use zeno::{Cap, Command, Join, Mask, Stroke, Style};

/// Pixels for each unit.
const SCALE: f64 = 2.0;

/// The file.
pub fn file(scene: &Scene, font: &Font) -> Vec<u8> {
    let mut sheet = Sheet::new(scene);
    for item in &scene.items {
        match item {
            Item::Area(steps, fill) => sheet.paint(&commands(steps), Style::default(), fill),
            Item::Line(steps, pen) => {
                let dash: Vec<f32> = pen.dash.iter().map(|length| scaled(*length)).collect();
                let mut stroke = Stroke::new(scaled(pen.width));
                stroke.cap(Cap::Butt).join(Join::Round).dash(&dash, 0.0);
                sheet.paint(&commands(steps), Style::Stroke(stroke), &Fill::new(&pen.colour, 1.0));
            }
            Item::Text(text) => {
                let outline = outline(text, font);
                sheet.paint(&outline, Style::default(), &Fill::new(text.colour, 1.0));
            }
        }
    }
    sheet.encoded()
}

fn scaled(value: f64) -> f32 {
    (value * SCALE) as f32
}

/// Pixels of red, green and blue.
struct Sheet {
    width: u32,
    height: u32,
    pixels: Vec<u8>,
}

impl Sheet {
    fn new(scene: &Scene) -> Sheet {
        let [width, height] = [scene.width, scene.height]
            .map(|length| (length * SCALE).ceil().clamp(1.0, 20_000.0) as u32);
        let count = width as usize * height as usize;
        let pixels = colours::on_paper("paper").repeat(count);
        Sheet { width, height, pixels }
    }

    fn paint(&mut self, path: &[Command], style: Style<'_>, fill: &Fill) {
        let (mask, place) = Mask::new(path).style(style).render();
        let colour = colours::on_paper(&fill.colour);
        for (row, covers) in mask.chunks_exact(place.width.max(1) as usize).enumerate() {
            for (column, cover) in covers.iter().enumerate().filter(|(_, cover)| **cover > 0) {
                let x = i64::from(place.left) + column as i64;
                let y = i64::from(place.top) + row as i64;
                if let Some(pixel) = self.pixel(x, y) {
                    let share = f64::from(*cover) / 255.0 * fill.opacity;
                    for (part, new) in pixel.iter_mut().zip(colour) {
                        let mixed = f64::from(*part) * (1.0 - share) + f64::from(new) * share;
                        *part = mixed.round() as u8;
                    }
                }
            }
        }
    }

    /// A pixel of the sheet; `None` beyond its edges.
    fn pixel(&mut self, x: i64, y: i64) -> Option<&mut [u8]> {
        let [x, y] = [u32::try_from(x).ok()?, u32::try_from(y).ok()?];
        if x >= self.width || y >= self.height {
            return None;
        }
        let start = 3 * (y as usize * self.width as usize + x as usize);
        self.pixels.get_mut(start..start + 3)
    }

    fn encoded(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut encoder = Encoder::new(&mut out, self.width, self.height);
        encoder.set_color(ColorType::Rgb);
        encoder.set_depth(BitDepth::Eight);
        let written = encoder.write_header().and_then(|mut to| to.write_image_data(&self.pixels));
        // Memory takes everything.
        debug_assert!(written.is_ok());
        out
    }
}

fn at(point: Point) -> zeno::Point {
    zeno::Point::new(scaled(point.x), scaled(point.y))
}

fn commands(steps: &[Step]) -> Vec<Command> {
    steps
        .iter()
        .map(|step| match *step {
            Step::Move(to) => Command::MoveTo(at(to)),
            Step::Line(to) => Command::LineTo(at(to)),
            Step::Curve([a, b, to]) => Command::CurveTo(at(a), at(b), at(to)),
            Step::Close => Command::Close,
        })
        .collect()
}

/// The outlines of a text's letters.
fn outline(text: &Text, font: &Font) -> Vec<Command> {
    let mut letters = Letters {
        commands: Vec::new(),
        at: Point::new(font.start(text), text.at.y),
        unit: text.size / font.units(),
    };
    for letter in text.text.chars() {
        let glyph = font.glyph(letter);
        // A space has no outline.
        let _ = font.face().outline_glyph(glyph, &mut letters);
        letters.at.x += font.advance(glyph) * letters.unit;
    }
    letters.commands
}

/// Outlines of letters, from the font's units and upwards to pixels.
struct Letters {
    commands: Vec<Command>,
    at: Point,
    unit: f64,
}

impl Letters {
    fn place(&self, x: f32, y: f32) -> zeno::Point {
        at(self.at.plus(f64::from(x) * self.unit, -f64::from(y) * self.unit))
    }
}

impl ttf_parser::OutlineBuilder for Letters {
    fn move_to(&mut self, x: f32, y: f32) {
        self.commands.push(Command::MoveTo(self.place(x, y)));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.commands.push(Command::LineTo(self.place(x, y)));
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.commands.push(Command::QuadTo(self.place(x1, y1), self.place(x, y)));
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let handles = (self.place(x1, y1), self.place(x2, y2));
        self.commands.push(Command::CurveTo(handles.0, handles.1, self.place(x, y)));
    }

    fn close(&mut self) {
        self.commands.push(Command::Close);
    }
}
