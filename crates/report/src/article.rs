//! A page of running text with pictures in it.

use crate::page::{data, figure, head};
use crate::picture::Picture;

/// The mark of a picture in a text, on a line of its own: `<!-- picture: ID -->`.
const BEGIN: &str = "<!-- picture: ";
const END: &str = " -->";

/// A self-contained page for a browser. `body` is HTML with a line `<!-- picture: ID -->` for each
/// picture.
#[must_use]
pub fn article(title: &str, body: &str, pictures: &[Picture]) -> String {
    let mut out = String::new();
    head(&mut out, title);
    out += "<main class=\"article\">\n";
    let mut drawn: Vec<&Picture> = Vec::new();
    out += &figures(body, |id| {
        let picture = pictures.iter().find(|picture| picture.id == id)?;
        let mut text = String::new();
        figure(&mut text, picture);
        drawn.push(picture);
        Some(text)
    });
    out += "</main>\n";
    data(&mut out, &drawn);
    out += "</html>\n";
    out
}

/// Replaces each picture of a text by the result of `shown` for its name; `None` removes the mark.
pub fn figures(body: &str, mut shown: impl FnMut(&str) -> Option<String>) -> String {
    let mut out = String::new();
    for line in body.lines() {
        let id = line.trim().strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(END));
        match id {
            Some(id) => out += &shown(id).unwrap_or_default(),
            None => out += line,
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{Axis, Form};

    #[test]
    fn pictures_stand_at_their_places_in_the_text() {
        let picture = Picture {
            id: "rate".to_owned(),
            title: "Rates <1>".to_owned(),
            caption: String::new(),
            form: Form::Curve,
            x: Axis::new("delay", "ms"),
            y: Axis::new("rate", "Mbit/s"),
            panels: Vec::new(),
            corner: String::new(),
            heads: Vec::new(),
        };
        let body = "<p>before</p>\n<!-- picture: rate -->\n<p>behind</p>\n<!-- picture: none -->";
        let page = article("A title", body, &[picture]);
        let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}: {page}"));
        assert!(place("before") < place("<figure id=\"rate\""));
        assert!(place("Rates &lt;1&gt;") < place("behind"));
        assert!(!page.contains("<!-- picture"), "{page}");
    }
}
