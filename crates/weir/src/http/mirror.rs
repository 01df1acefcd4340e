//! Files of HTTP origins under names: `weir proxy` publishes them, and `weir gateway` makes HTTP of
//! them again.
//!
//! A path below the origin's base is a name below the prefix, with a generic component for each
//! part. A query is one component more, behind the keyword `query`. The answer's status, headers
//! and version are a JSON document below the keyword `http`; its content is the object itself. See
//! `docs/reference/wire.md`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::StatusCode;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use packet::{Component, Name, NameRef};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// The keyword before a query.
const QUERY: &[u8] = b"query";
/// The keyword of the document about the answer.
const HEAD: &[u8] = b"http";
/// The maximum number of bytes of a path and its query in a name. Metadata has the name twice: the
/// rest of a packet is for the prefix and the signature.
const LONGEST: usize = 4000;
/// Bytes that a component of a name has besides its value, at most (NDN Packet Format
/// Specification, "TLV Encoding").
const HEADER: usize = 4;
/// The maximum number of bytes of a document about an answer.
pub const LONGEST_HEAD: usize = 32_000;
/// The maximum number of bytes of an inline body, and of the sum of all headers.
pub const LONGEST_PART: usize = 8000;

/// Headers of an origin that its consumers receive.
const PASSED: &[&str] = &[
    "content-disposition",
    "content-language",
    "content-type",
    "docker-content-digest",
    "docker-distribution-api-version",
    "etag",
    "last-modified",
    "link",
    "oci-filters-applied",
    "oci-subject",
    "retry-after",
    "www-authenticate",
    "x-error-code",
    "x-error-message",
    "x-linked-etag",
    "x-linked-size",
    "x-repo-commit",
];

/// True if consumers receive this header; S3's of objects by their prefixes.
#[must_use]
pub fn is_passed(field: &str) -> bool {
    let prefixes = ["x-amz-checksum-", "x-amz-meta-", "x-amz-version-id", "x-amz-delete-marker"];
    PASSED.contains(&field) || prefixes.iter().any(|prefix| field.starts_with(prefix))
}

/// The path and query of a file, below the base of its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    parts: Vec<Vec<u8>>,
    query: Option<String>,
}

impl Resource {
    /// Reads the path of a request, without a slash at its beginning.
    ///
    /// # Errors
    /// The path could lead out of the base, or is too long. The text has the reason.
    pub fn from_path(path: &str, query: Option<&str>) -> Result<Resource, &'static str> {
        if path.len() > LONGEST {
            return Err("the path is too long");
        }
        let parts = path.split('/').map(|part| decoded(part.as_bytes()));
        let parts: Vec<_> =
            parts.collect::<Option<_>>().ok_or("a % is not followed by two digits")?;
        Resource::new(parts, query.filter(|query| !query.is_empty()).map(str::to_owned))
    }

    /// Reads a name from component `from` on. Returns the number of the first component behind the
    /// resource, too.
    ///
    /// # Errors
    /// As for [`Resource::from_path`].
    pub fn from_name(name: NameRef<'_>, from: usize) -> Result<(Resource, usize), &'static str> {
        let parts: Vec<_> =
            (from..).map_while(|at| generic(name, at)).map(<[u8]>::to_vec).collect();
        let mut end = from + parts.len();
        let mut query = None;
        if name.get(end).is_some_and(|part| part.is_keyword(QUERY)) {
            let text = generic(name, end + 1).and_then(|value| std::str::from_utf8(value).ok());
            query = Some(text.ok_or("the query is not text")?.to_owned());
            end += 2;
        }
        // The base has no component: an empty one would be another name for it.
        if matches!(&parts[..], [only] if only.is_empty()) {
            return Err("the only part of the path is empty");
        }
        let empty = parts.is_empty();
        let parts = if empty { vec![Vec::new()] } else { parts };
        Ok((Resource::new(parts, query)?, end))
    }

    fn new(parts: Vec<Vec<u8>>, query: Option<String>) -> Result<Resource, &'static str> {
        let values = parts.iter().map(Vec::len).chain(query.as_ref().map(String::len));
        if values.map(|len| len + HEADER).sum::<usize>() > LONGEST {
            return Err("the path with its query is too long");
        }
        let (last, before) = parts.split_last().ok_or("there is no path")?;
        if before.iter().any(Vec::is_empty) {
            return Err("a part of the path is empty");
        }
        if !before.iter().chain([last]).all(|part| is_safe_decoded(part)) {
            return Err("a part of the path is `.` or `..`, or has a control character");
        }
        if let Some(query) = &query
            && query.bytes().any(|byte| !byte.is_ascii_graphic() || byte == b'#')
        {
            return Err("the query has a character that none may have");
        }
        Ok(Resource { parts, query })
    }

    /// The name below a prefix.
    #[must_use]
    pub fn name(&self, prefix: &Name) -> Name {
        let is_base = self.parts.len() == 1 && self.parts[0].is_empty();
        let parts = if is_base { &[][..] } else { &self.parts };
        let mut name = prefix.clone();
        for part in parts {
            name = name.with(&Component::generic(part));
        }
        match &self.query {
            Some(query) => {
                let query = Component::generic(query.as_bytes());
                name.with(&Component::keyword(QUERY)).with(&query)
            }
            None => name,
        }
    }

    /// The path and query for the request line, to be appended to a base that ends in a slash.
    #[must_use]
    pub fn target(&self) -> String {
        let mut target = String::new();
        for (at, part) in self.parts.iter().enumerate() {
            if at > 0 {
                target.push('/');
            }
            for byte in part {
                match byte {
                    b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => target.push(char::from(*byte)),
                    _ if b"-._~!$&'()*,;=:@".contains(byte) => target.push(char::from(*byte)),
                    // Into memory, which does not fail.
                    _ => drop(write!(target, "%{byte:02X}")),
                }
            }
        }
        if let Some(query) = &self.query {
            target.push('?');
            target.push_str(query);
        }
        target
    }
}

/// The type of a generic component.
const GENERIC: u16 = 8;

/// The name of the document about the answer for the resource of this name.
#[must_use]
pub fn head_name(resource: &Name) -> Name {
    resource.clone().with(&Component::keyword(HEAD))
}

/// True if component `at` begins the name of a document about an answer.
#[must_use]
pub fn is_head(name: NameRef<'_>, at: usize) -> bool {
    name.get(at).is_some_and(|part| part.is_keyword(HEAD))
}

/// No origin takes this part for another place than one below its base, however it decodes slashes.
fn is_safe(part: &[u8]) -> bool {
    if part.iter().any(u8::is_ascii_control) {
        return false;
    }
    let has_slash = part.iter().any(is_slash);
    !part.split(is_slash).any(|piece| {
        // Servlet containers drop parameters, from a semicolon on, before they resolve dots.
        let bare = piece.split(|byte| *byte == b';').next().unwrap_or_default();
        matches!(bare, b"." | b"..") || has_slash && piece.is_empty()
    })
}

fn is_slash(byte: &u8) -> bool {
    matches!(byte, b'/' | b'\\')
}

/// The value of a component, if it is a generic one.
fn generic(name: NameRef<'_>, at: usize) -> Option<&[u8]> {
    name.get(at).filter(|part| part.typ() == GENERIC).map(|part| part.value())
}

/// The same, however often the origin decodes percent signs, and if it leaves wrong ones as they
/// are.
fn is_safe_decoded(part: &[u8]) -> bool {
    let mut part = part.to_vec();
    loop {
        if !is_safe(&part) {
            return false;
        }
        // Each turn makes it shorter.
        let next = decoded_leniently(&part);
        if next == part {
            return true;
        }
        part = next;
    }
}

/// The bytes behind percent signs. One without two digits stays.
fn decoded_leniently(text: &[u8]) -> Vec<u8> {
    let (mut rest, mut bytes) = (text, Vec::with_capacity(text.len()));
    while let Some((byte, behind)) = rest.split_first() {
        let digits = behind.get(..2).filter(|_| *byte == b'%');
        match digits.and_then(|digits| decoded(&[b'%', digits[0], digits[1]])) {
            Some(decoded) => {
                bytes.extend(decoded);
                rest = &behind[2..];
            }
            None => {
                bytes.push(*byte);
                rest = behind;
            }
        }
    }
    bytes
}

/// The bytes behind percent signs; `None` if one has no two digits.
fn decoded(text: &[u8]) -> Option<Vec<u8>> {
    let (mut rest, mut bytes) = (text, Vec::with_capacity(text.len()));
    while let Some((byte, behind)) = rest.split_first() {
        rest = behind;
        if *byte != b'%' {
            bytes.push(*byte);
            continue;
        }
        let digits = behind.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
        bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        rest = &behind[2..];
    }
    Some(bytes)
}

/// The answer of an origin, without its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Described {
    /// The HTTP status: 200, or an error.
    pub status: u16,
    /// The version of the object with the content, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// The headers that consumers receive.
    pub headers: Vec<(String, String)>,
    /// The body of an error in base64.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
}

impl Described {
    /// An error, with those of these headers that are passed on and fit, and the beginning of the
    /// body.
    #[must_use]
    pub fn error(status: u16, headers: &HeaderMap, body: &[u8]) -> Described {
        let body = STANDARD.encode(&body[..body.len().min(LONGEST_PART)]);
        Described { status, version: None, headers: passed(headers), body }
    }

    /// An answer with content.
    #[must_use]
    pub fn content(version: u64, headers: &HeaderMap) -> Described {
        let (headers, body) = (passed(headers), String::new());
        Described { status: 200, version: Some(version), headers, body }
    }

    /// Reads a document, which came from the network.
    ///
    /// # Errors
    /// It is invalid. The text has the reason.
    pub fn read(document: &[u8]) -> Result<Described, String> {
        let described: Described =
            serde_json::from_slice(document).map_err(|error| error.to_string())?;
        let is_error = (400..=599).contains(&described.status);
        match (described.status, described.version) {
            (200, Some(_)) => Ok(described),
            (_, None) if is_error => Ok(described),
            (status, _) => {
                Err(format!("it has status {status}, which is neither 200 nor an error"))
            }
        }
    }

    /// The status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::BAD_GATEWAY)
    }

    /// The headers that consumers receive, and no others.
    #[must_use]
    pub fn headers(&self) -> HeaderMap {
        let fields = self.headers.iter().filter_map(|(field, value)| {
            let field = field.parse::<HeaderName>().ok().filter(|f| is_passed(f.as_str()))?;
            Some((field, HeaderValue::from_str(value).ok()?))
        });
        fields.collect()
    }

    /// The body of an error.
    #[must_use]
    pub fn body(&self) -> Vec<u8> {
        STANDARD.decode(&self.body).unwrap_or_default()
    }
}

fn passed(headers: &HeaderMap) -> Vec<(String, String)> {
    let (mut passed, mut room) = (Vec::new(), LONGEST_PART);
    for (field, value) in headers {
        if let Ok(value) = value.to_str()
            && is_passed(field.as_str())
            && let Some(left) = room.checked_sub(field.as_str().len() + value.len())
        {
            room = left;
            passed.push((field.as_str().to_owned(), value.to_owned()));
        }
    }
    passed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(path: &str, query: Option<&str>) -> (String, String) {
        let resource = Resource::from_path(path, query).unwrap();
        let name = resource.name(&"/example/hub".parse().unwrap());
        let again = Resource::from_name(head_name(&name).as_ref(), 2).unwrap();
        assert_eq!(again, (resource.clone(), name.len()));
        assert!(is_head(head_name(&name).as_ref(), name.len()));
        (name.to_string(), resource.target())
    }

    #[test]
    fn a_path_is_a_name_and_the_name_is_the_path() {
        let text = |(name, target): (&str, &str)| (name.to_owned(), target.to_owned());
        for (path, query, expected) in [
            ("a/b.bin", None, ("/example/hub/a/b.bin", "a/b.bin")),
            ("a%20b/v=7", None, ("/example/hub/a%20b/v%3D7", "a%20b/v=7")),
            ("sha256:12@x+y", None, ("/example/hub/sha256%3A12%40x%2By", "sha256:12@x%2By")),
            ("refs%2Fpr%2F1/f", None, ("/example/hub/refs%2Fpr%2F1/f", "refs%2Fpr%2F1/f")),
            ("a", Some("x=%2F&y"), ("/example/hub/a/32=query/x%3D%252F%26y", "a?x=%2F&y")),
            ("", None, ("/example/hub", "")),
        ] {
            assert_eq!(round(path, query), text(expected), "{path}");
        }
        // A slash at the end is an empty component.
        assert_eq!(round("v2/", None).1, "v2/");
    }

    #[test]
    fn no_path_leads_out_of_the_base() {
        for path in [
            "..",
            "a/../b",
            "a/./b",
            "a//b",
            "/a",
            "%2e%2e/a",
            "a/..%2Fb",
            "..%5Cb",
            "%252e%252e",
            "a/%252e%252e%252fb",
            "a%00",
            "a%0d%0aHost:x",
            "a/%2F%2Fhost",
            "..;/a",
            "a/..;x/b",
            "%252e%252e%252f%25zz",
            "%25zz%252f..%252fsecret",
            "%25252e%25252e",
            "%4",
            "%+1",
        ] {
            assert!(Resource::from_path(path, None).is_err(), "{path}");
        }
        for query in ["a b", "a#b", "a\r\nb", "ä"] {
            assert!(Resource::from_path("a", Some(query)).is_err(), "{query}");
        }
        assert!(Resource::from_path(&"a/".repeat(LONGEST), None).is_err());
        let half = "a".repeat(LONGEST / 2 - HEADER);
        assert!(Resource::from_path(&half, Some(&half)).is_ok());
        for longer in [format!("{half}a"), "a/".repeat(LONGEST / 5)] {
            assert!(Resource::from_path(&longer, Some(&half)).is_err(), "{longer}");
        }
        let name: Name = "/p/a".parse::<Name>().unwrap().with(&Component::generic(b".."));
        assert!(Resource::from_name(name.as_ref(), 1).is_err());
        // Otherwise it would get Data of the name without it.
        let empty: Name = "/p".parse::<Name>().unwrap().with(&Component::generic(b""));
        for name in [empty.clone(), empty.with(&Component::keyword(HEAD))] {
            assert!(Resource::from_name(name.as_ref(), 1).is_err(), "{name}");
        }
        assert_eq!(round("%2541", None).1, "%2541", "a percent sign is one");
    }

    #[test]
    fn a_document_has_only_what_consumers_may_receive() {
        let fields = [
            ("etag", "\"1\""),
            ("set-cookie", "secret"),
            ("x-amz-meta-a", "b"),
            ("link", "</a>; rel=\"next\""),
        ];
        let headers: HeaderMap = fields
            .map(|(field, value)| (HeaderName::from_static(field), HeaderValue::from_static(value)))
            .into_iter()
            .collect();
        let described = Described::content(7, &headers);
        let document = serde_json::to_vec(&described).unwrap();
        let read = Described::read(&document).unwrap();
        assert_eq!(read, described);
        assert!(read.headers().get("set-cookie").is_none());
        assert_eq!((read.headers().len(), read.status().as_u16()), (3, 200));
        // A forger can write anything.
        let forged = br#"{"status":404,"headers":[["set-cookie","a"],["etag","\n"]],"body":"?"}"#;
        let forged = Described::read(forged).unwrap();
        assert_eq!((forged.headers().len(), forged.body()), (0, Vec::new()));
        for wrong in [
            r#"{"status":301,"headers":[]}"#,
            r#"{"status":200,"headers":[]}"#,
            r#"{"status":404,"version":1,"headers":[]}"#,
            "",
        ] {
            assert!(Described::read(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_document_stays_small() {
        let mut headers = HeaderMap::new();
        for n in 0..100 {
            let field = format!("x-amz-meta-{n}").parse::<HeaderName>().unwrap();
            headers.insert(field, HeaderValue::from_str(&"x".repeat(1000)).unwrap());
        }
        let described = Described::error(404, &headers, &[0; 100_000]);
        assert_eq!(described.body().len(), LONGEST_PART);
        assert!(serde_json::to_vec(&described).unwrap().len() < LONGEST_HEAD);
    }
}
