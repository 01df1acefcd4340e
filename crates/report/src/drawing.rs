//! Pictures as files: SVG, PNG and PDF.
//!
//! A page draws its pictures by a script, for the width of the window. Files for papers and slides
//! are drawn here, with the same colours, line styles and axes.

mod axis;
mod figure;
mod font;
mod pdf;
mod png;
mod scene;
mod svg;
#[cfg(test)]
mod tests;

pub use figure::{Look, MOST_COLUMNS};
pub(crate) use scene::MARKS;

use crate::picture::Picture;

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For browsers and editors of drawings.
    Svg,
    /// For slides and chats, two pixels for each unit.
    Png,
    /// For papers, with its font inside.
    Pdf,
}

impl Format {
    /// The format of files that end like this.
    #[must_use]
    pub fn of_ending(ending: &str) -> Option<Format> {
        match ending.to_ascii_lowercase().as_str() {
            "svg" => Some(Format::Svg),
            "png" => Some(Format::Png),
            "pdf" => Some(Format::Pdf),
            _ => None,
        }
    }
}

/// The content of a file with this picture.
#[must_use]
pub fn file(picture: &Picture, look: &Look, format: Format) -> Vec<u8> {
    let Some(font) = font::Font::new() else { return Vec::new() };
    match format {
        Format::Svg => svg::file(&figure::scene(picture, look, &font.stretched())).into_bytes(),
        Format::Png => png::file(&figure::scene(picture, look, &font), &font),
        Format::Pdf => pdf::file(&figure::scene(picture, look, &font), &font),
    }
}

/// The mark of a point of the nth line, as the path of an SVG element.
pub(crate) fn mark_path(number: usize, [x, y]: [f64; 2], size: f64) -> String {
    svg::path(&scene::mark(number, scene::Point::new(x, y), size))
}
