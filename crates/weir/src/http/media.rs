//! Media types by the extension of a name, and the rights of their content in a browser.

use packet::NameRef;

/// The type of unknown content.
const BINARY: &str = "application/octet-stream";

/// Media types by extension, in lower case, as registered by IANA.
const TYPES: &[(&str, &str)] = &[
    ("aac", "audio/aac"),
    ("avif", "image/avif"),
    ("css", "text/css; charset=utf-8"),
    ("csv", "text/csv; charset=utf-8"),
    ("flac", "audio/flac"),
    ("gif", "image/gif"),
    ("gz", "application/gzip"),
    ("htm", "text/html; charset=utf-8"),
    ("html", "text/html; charset=utf-8"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript; charset=utf-8"),
    ("json", "application/json"),
    ("m3u8", "application/vnd.apple.mpegurl"),
    ("m4a", "audio/mp4"),
    ("m4s", "video/iso.segment"),
    ("m4v", "video/mp4"),
    ("md", "text/markdown; charset=utf-8"),
    ("mkv", "video/matroska"),
    ("mov", "video/quicktime"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("mpd", "application/dash+xml"),
    ("mpeg", "video/mpeg"),
    ("mpg", "video/mpeg"),
    ("oga", "audio/ogg"),
    ("ogg", "audio/ogg"),
    ("ogv", "video/ogg"),
    ("opus", "audio/ogg"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("ts", "video/mp2t"),
    ("txt", "text/plain; charset=utf-8"),
    ("vtt", "text/vtt; charset=utf-8"),
    ("wasm", "application/wasm"),
    ("wav", "audio/wav"),
    ("webm", "video/webm"),
    ("webp", "image/webp"),
    ("woff2", "font/woff2"),
    ("xml", "application/xml"),
    ("zip", "application/zip"),
];

/// The media type of a file of this name.
#[must_use]
pub fn media_type(file: &str) -> &'static str {
    let Some((_, extension)) = file.rsplit_once('.') else { return BINARY };
    let extension = extension.to_ascii_lowercase();
    let found = TYPES.binary_search_by_key(&extension.as_str(), |(known, _)| known);
    found.map_or(BINARY, |at| TYPES[at].1)
}

/// True if the player may be able to play a file of this name alone: a film, a sound or a playlist.
#[must_use]
pub fn is_playable(file: &str) -> bool {
    match media_type(file) {
        "application/vnd.apple.mpegurl" | "application/dash+xml" => true,
        // Parts of films.
        "video/iso.segment" | "video/mp2t" => false,
        other => other.starts_with("video/") || other.starts_with("audio/"),
    }
}

/// Bytes of the longest media type of an upload.
const LONGEST: usize = 200;

/// Optional whitespace (RFC 9110, section 5.6.3).
const SPACE: [char; 2] = [' ', '\t'];

/// The media type with its parameters (RFC 9110, section 8.3.1); `None` if it is malformed or
/// longer than 200 bytes. Without the parameters if one of them is malformed.
#[must_use]
pub fn read_media_type(text: &str) -> Option<&str> {
    let (bare, parameters) = text.split_once(';').unwrap_or((text, ""));
    let bare = bare.trim_matches(SPACE);
    let (kind, subtype) = bare.split_once('/')?;
    if text.len() > LONGEST || !is_token(kind) || !is_token(subtype) {
        return None;
    }
    Some(if are_parameters(parameters) { text } else { bare })
}

/// True for parameters with semicolons between them. Each may be empty (RFC 9110, section 5.6.6).
fn are_parameters(mut text: &str) -> bool {
    loop {
        text = text.trim_start_matches(SPACE);
        if !text.is_empty() && !text.starts_with(';') {
            let Some(rest) = after_parameter(text) else { return false };
            text = rest.trim_start_matches(SPACE);
        }
        match text.strip_prefix(';') {
            Some(rest) => text = rest,
            None => return text.is_empty(),
        }
    }
}

/// The text behind the parameter at its beginning; `None` if that is malformed.
fn after_parameter(text: &str) -> Option<&str> {
    let (_, value) = text.split_once('=').filter(|(name, _)| is_token(name))?;
    if let Some(quoted) = value.strip_prefix('"') {
        return after_quoted(quoted);
    }
    let end = value.bytes().position(|byte| !is_part_of_token(byte)).unwrap_or(value.len());
    // A byte outside of tokens may be the first of a longer character.
    value.get(end..).filter(|_| end > 0)
}

/// The text behind the end of a quoted string (RFC 9110, section 5.6.4); `None` if it has no end,
/// or characters that may not be in it.
fn after_quoted(text: &str) -> Option<&str> {
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return text.get(at + 1..),
            '\\' => _ = characters.next().filter(|(_, escaped)| is_quotable(*escaped))?,
            other if is_quotable(other) => {}
            _ => return None,
        }
    }
    None
}

/// A character that may be in a quoted string. Characters beyond ASCII are obsolete there.
fn is_quotable(character: char) -> bool {
    matches!(character, '\t' | ' '..='~')
}

/// A token (RFC 9110, section 5.6.2).
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(is_part_of_token)
}

fn is_part_of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// The file name of a name: the last component that is neither version nor segment, if it is a
/// text.
#[must_use]
pub fn called(name: NameRef<'_>) -> Option<String> {
    let last = name.components().rev().find(|component| {
        component.as_version_any().is_none() && component.as_segment_any().is_none()
    });
    last.and_then(|component| String::from_utf8(component.value().to_vec()).ok())
}

/// A page without origin, scripts, forms and requests: it may show itself, with its own styles.
const SANDBOX: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
                       base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Types that browsers show with a page of their own, which requests the content again. In a
/// sandbox it would be a foreign page, whose request is rejected. Content of these types runs no
/// scripts.
const VIEWER: &str = "default-src 'none'; img-src 'self'; media-src 'self'; style-src \
                      'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The same for the viewer of documents, which is a plug-in to its browser.
const DOCUMENT: &str = "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; base-uri \
                        'none'; form-action 'none'";

/// The Content-Security-Policy of served content of a media type. Any producer may publish, so no
/// content may act as a page of the gateway.
#[must_use]
pub fn policy(media_type: &str) -> &'static str {
    // Without parameters, such as the character set.
    let bare = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let (kind, _) = bare.split_once('/').unwrap_or_default();
    match (kind, &*bare) {
        // Documents of XML, such as images of SVG, can have scripts.
        _ if bare.ends_with("+xml") => SANDBOX,
        (_, "application/pdf") => DOCUMENT,
        ("image" | "video" | "audio", _) => VIEWER,
        _ => SANDBOX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_could_run_a_script_is_in_a_sandbox() {
        let in_sandbox = |file: &str| policy(media_type(file)).starts_with("sandbox;");
        let all = ["htm", "html", "svg", "xml", "js", "css", "json", "txt", "md", "wasm", "mpd"];
        for file in all.map(|extension| format!("a.{extension}")) {
            assert!(in_sandbox(&file), "{file}");
        }
        assert!(in_sandbox("unknown") && policy("").starts_with("sandbox;"));
        assert_eq!(policy("Image/SVG+XML; charset=utf-8"), SANDBOX);
        assert_eq!(policy("image/x+xml"), SANDBOX);
        assert_eq!(policy("application/pdf;version=1.7"), DOCUMENT);
        for file in ["a.png", "a.webm", "a.mp3", "a.pdf"] {
            assert!(!in_sandbox(file), "{file}");
        }
        for (extension, _) in TYPES {
            let policy = policy(media_type(&format!("a.{extension}")));
            assert!(policy.contains("default-src 'none'"), "{policy}");
            assert!(!policy.contains("script-src") && !policy.contains("allow-"), "{policy}");
        }
    }

    #[test]
    fn media_types_are_tokens_with_parameters() {
        for good in [
            "text/plain",
            "TEXT/x-a.b+c",
            "text/plain; charset=utf-8",
            "video/mp4;codecs=\"avc1.42E01E mp4a\" ; a=b",
            // Quoted strings may have anything but controls.
            "video/mp4; codecs=\"avc1.42E01E, mp4a.40.2\"",
            "text/plain; a=\"b;c\"",
            "text/plain; a=\"b\\\"; c=\\\\\";d=e",
            "text/plain; a=\"\"",
            "text/plain; a=\"b, text/html\"",
            "text/plain; a=\"\tb=c\"",
            // Parameters may be empty.
            "text/plain;",
            "text/plain; ;\t; a=b;",
        ] {
            assert_eq!(read_media_type(good), Some(good));
        }
        for bare in [
            "text/plain; charset",
            "text/plain; =x",
            "text/plain; a=",
            "text/plain; a =b",
            "text/plain; a= b",
            "text/plain; a=\"b",
            "text/plain; a=\"b\\",
            "text/plain; a=\"b\\\"",
            "text/plain; a=\"b\"c",
            "text/plain; a=\"b\", text/html",
            "text/plain; a=b\"c\"",
            "text/plain; a=b c",
            "text/plain; a=\u{e9}",
            "text/plain; a=b\u{e9}",
            "text/plain; a=\"\u{e9}\"",
            "text/plain; a=\"\\\u{e9}\"",
            "text/plain;codecs=vp8,opus",
            // No line begins a header of its own.
            "text/plain; a=\"b\r\nSet-Cookie: c=d\"",
            "text/plain; a=\"b\\\r\\\nSet-Cookie: c=d\"",
            "text/plain; a=b\r\nSet-Cookie: c=d",
            "text/plain;\r\n",
            "text/plain; a=\"\0\"",
            "text/plain; a=\"\x7f\"",
        ] {
            assert_eq!(read_media_type(bare), Some("text/plain"), "{bare}");
        }
        for wrong in [
            "",
            "text",
            "text/",
            "/plain",
            "text/plain/x",
            "text /plain",
            "text/plain, text/html",
            "text/plain\r\nx: y",
            "text/plain\r\n; a=b",
            "\r\ntext/plain; a=b",
        ] {
            assert_eq!(read_media_type(wrong), None, "{wrong}");
        }
        let long = format!("text/{}", "x".repeat(LONGEST - 5));
        assert!(read_media_type(&long).is_some());
        assert_eq!(read_media_type(&format!("{long}x")), None);
    }

    #[test]
    fn films_sounds_and_playlists_can_be_played() {
        for file in ["a.webm", "a.MP4", "a.mp3", "a.m3u8", "a.mpd"] {
            assert!(is_playable(file), "{file}");
        }
        for file in ["a.m4s", "a.ts", "a.png", "a.html", "a.vtt", "a"] {
            assert!(!is_playable(file), "{file}");
        }
    }

    #[test]
    fn extensions_are_found_in_the_order_of_the_alphabet() {
        assert!(TYPES.is_sorted_by(|a, b| a.0 < b.0));
        for (extension, kind) in TYPES {
            assert_eq!(media_type(&format!("a.b.{extension}")), *kind);
        }
        assert_eq!(media_type("FILM.WEBM"), "video/webm");
        for unknown in ["webm", "film.", "film.exe", "", "."] {
            assert_eq!(media_type(unknown), BINARY, "{unknown}");
        }
    }
}
