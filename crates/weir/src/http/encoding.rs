//! The forms of content that a client takes.

use hyper::header::{ACCEPT, ACCEPT_ENCODING, HeaderMap, HeaderName};

/// Objects with fewer bytes are not compressed: a packet or two has them anyway.
pub const LEAST: u64 = 512;

/// True if the client takes gzip (RFC 9110, section 12.5.3).
#[must_use]
pub fn accepts_gzip(headers: &HeaderMap) -> bool {
    let gzip = quality(headers, &ACCEPT_ENCODING, "gzip");
    let gzip = gzip.or_else(|| quality(headers, &ACCEPT_ENCODING, "*"));
    gzip.is_some_and(|quality| quality > 0.0)
}

/// True if the client is a program that reads JSON, and would not rather have a page.
#[must_use]
pub fn prefers_json(headers: &HeaderMap) -> bool {
    let json = quality(headers, &ACCEPT, "application/json").unwrap_or(0.0);
    json > 0.0 && json >= quality(headers, &ACCEPT, "text/html").unwrap_or(0.0)
}

/// The quality that a list gives to a member.
fn quality(headers: &HeaderMap, field: &HeaderName, member: &str) -> Option<f32> {
    let lists = headers.get_all(field).iter().filter_map(|list| list.to_str().ok());
    let mut members = lists.flat_map(|list| list.split(',')).map(|one| {
        let (name, parameters) = one.split_once(';').unwrap_or((one, ""));
        (name.trim(), parameters)
    });
    let (_, parameters) = members.find(|(name, _)| name.eq_ignore_ascii_case(member))?;
    let quality = parameters.split(';').find_map(|one| {
        let (name, value) = one.split_once('=')?;
        name.trim().eq_ignore_ascii_case("q").then(|| value.trim().parse().unwrap_or(0.0))
    });
    Some(quality.unwrap_or(1.0))
}

/// True if content of a media type becomes shorter by compression.
#[must_use]
pub fn is_text(media_type: &str) -> bool {
    const OTHERS: [&str; 6] = [
        "application/dash+xml",
        "application/json",
        "application/vnd.apple.mpegurl",
        "application/wasm",
        "application/xml",
        "image/svg+xml",
    ];
    media_type.starts_with("text/") || OTHERS.contains(&media_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(field: HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(field, value.parse().unwrap())])
    }

    #[test]
    fn gzip_is_used_only_if_the_client_accepts_it() {
        let accepts = |value: &str| accepts_gzip(&headers(ACCEPT_ENCODING, value));
        for yes in ["gzip", "br, gzip", "GZIP;q=0.1", "*", "deflate, *;q=0.5", "gzip ; q=1.0"] {
            assert!(accepts(yes), "{yes}");
        }
        for no in ["", "br", "gzip;q=0", "gzip;q=0.000, *", "*;q=0", "identity", "gzip;q=x"] {
            assert!(!accepts(no), "{no}");
        }
        assert!(!accepts_gzip(&HeaderMap::new()));
    }

    #[test]
    fn browsers_get_pages_and_programs_lists() {
        let prefers = |value: &str| prefers_json(&headers(ACCEPT, value));
        assert!(prefers("application/json") && prefers("text/html;q=0.5, application/json"));
        assert!(!prefers("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"));
        assert!(!prefers("*/*") && !prefers_json(&HeaderMap::new()));
    }
}
