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

pub use figure::Look;

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
    let scene = figure::scene(picture, look);
    match format {
        Format::Svg => svg::file(&scene).into_bytes(),
        Format::Png => png::file(&scene),
        Format::Pdf => pdf::file(&scene),
    }
}
