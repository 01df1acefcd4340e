//! Markdown of the pages.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, html};

/// Markdown as HTML. Links and pictures of other files of the repository become text, because the
/// page is used without them.
pub fn to_html(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_HEADING_ATTRIBUTES;
    let (mut left_out, mut in_image) = (0, 0);
    let events = Parser::new_ext(markdown, options).filter(move |event| match event {
        Event::Start(Tag::Link { dest_url, .. })
            if !dest_url.starts_with('#')
                && !dest_url.contains("://")
                && !dest_url.ends_with(".html") =>
        {
            left_out += 1;
            false
        }
        Event::End(TagEnd::Link) if left_out > 0 => {
            left_out -= 1;
            false
        }
        Event::Start(Tag::Image { .. }) => {
            in_image += 1;
            false
        }
        Event::End(TagEnd::Image) => {
            in_image -= 1;
            false
        }
        _ => in_image == 0,
    });
    let mut out = String::new();
    html::push_html(&mut out, events);
    out
}

/// Text for a cell of a table: characters that would end the cell or have a meaning are escaped.
pub fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('~', "≈").replace('\n', " ")
}
