//! What kind of content a name stands for, by its extension.

/// What is not known.
const OCTETS: &str = "application/octet-stream";

/// By extension, in lower case. Types are those that IANA has registered.
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
    ("xml", "application/xml"),
    ("zip", "application/zip"),
];

/// The media type of a file of this name.
pub fn media_type(file: &str) -> &'static str {
    let Some((_, extension)) = file.rsplit_once('.') else { return OCTETS };
    let extension = extension.to_ascii_lowercase();
    let found = TYPES.binary_search_by_key(&extension.as_str(), |(known, _)| known);
    found.map_or(OCTETS, |at| TYPES[at].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_are_found_in_the_order_of_the_alphabet() {
        assert!(TYPES.is_sorted_by(|a, b| a.0 < b.0));
        for (extension, kind) in TYPES {
            assert_eq!(media_type(&format!("a.b.{extension}")), *kind);
        }
        assert_eq!(media_type("FILM.WEBM"), "video/webm");
        for unknown in ["webm", "film.", "film.exe", "", "."] {
            assert_eq!(media_type(unknown), OCTETS, "{unknown}");
        }
    }
}
