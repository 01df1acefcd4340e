//! The font of files: Roboto Regular (Apache License 2.0, Google), with the letters of Latin, Greek
//! and arithmetic. `scripts/figure-font` makes it.

use super::scene::{Anchor, Text};
use ttf_parser::{Face, GlyphId};

/// The file.
pub const FILE: &[u8] = include_bytes!("../../assets/figure.ttf");

/// The font.
pub struct Font {
    face: Face<'static>,
    /// Room for another font's wider letters, as a factor.
    stretch: f64,
}

impl Font {
    pub fn new() -> Option<Font> {
        Face::parse(FILE, 0).ok().map(|face| Font { face, stretch: 1.0 })
    }

    /// With room for the letters of the fonts that browsers have.
    pub fn stretched(self) -> Font {
        Font { stretch: 1.2, ..self }
    }

    pub fn face(&self) -> &Face<'static> {
        &self.face
    }

    /// Units of the font for the size of its letters.
    pub fn units(&self) -> f64 {
        f64::from(self.face.units_per_em())
    }

    /// The glyph of a letter; a question mark if the font lacks it.
    pub fn glyph(&self, letter: char) -> GlyphId {
        let glyph = self.face.glyph_index(letter).or_else(|| self.face.glyph_index('?'));
        glyph.unwrap_or_default()
    }

    /// The width of a glyph in units.
    pub fn advance(&self, glyph: GlyphId) -> f64 {
        f64::from(self.face.glyph_hor_advance(glyph).unwrap_or_default())
    }

    /// The width of a text.
    pub fn width(&self, text: &str, size: f64) -> f64 {
        let units: f64 = text.chars().map(|letter| self.advance(self.glyph(letter))).sum();
        units * size / self.units() * self.stretch
    }

    /// Where a text begins, from the left.
    pub fn start(&self, text: &Text) -> f64 {
        let width = self.width(&text.text, text.size);
        match text.anchor {
            Anchor::Start => text.at.x,
            Anchor::Middle => text.at.x - width / 2.0,
            Anchor::End => text.at.x - width,
        }
    }

    /// The text in lines of at most this width.
    pub fn wrapped(&self, text: &str, size: f64, width: f64) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split_whitespace() {
            match lines.last_mut() {
                Some(last) if self.width(&format!("{last} {word}"), size) <= width => {
                    last.push(' ');
                    last.push_str(word);
                }
                _ => lines.push(word.to_owned()),
            }
        }
        lines
    }
}
