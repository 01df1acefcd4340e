//! The request that uploads an object.

use super::ask::{SHOWN, date, is_scoped, list, name, nearest, tags};
use super::media::read_media_type;
use hyper::header::{
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, HeaderMap,
    HeaderName, IF_MATCH, IF_NONE_MATCH, IF_UNMODIFIED_SINCE, TRANSFER_ENCODING,
};
use hyper::{StatusCode, Uri};
use net::text::{shortened, visible};
use packet::tlv::types::GENERIC;
use packet::{ComponentRef, Name};
use router::guard::Rejection;
use sha2::{Digest, Sha256};
use std::time::SystemTime;

/// The most bytes of a component: file systems have no longer names.
const LONGEST: usize = 255;
/// The type of the fields of a form, which is no type of a file.
const FORM: &str = "application/x-www-form-urlencoded";
/// The fewest characters of a token.
const FEWEST: usize = 16;

/// An upload that may be received.
#[derive(Debug)]
pub struct Put {
    /// The name of the object, without a version.
    pub name: Name,
    /// The size of the body, if the request has it.
    pub size: Option<u64>,
    /// The media type of the object, if the request has one.
    pub media_type: Option<String>,
    /// One of these versions must be there; `None`: any or none.
    if_match: Option<Vec<String>>,
    /// None of these versions may be there.
    if_none_match: Vec<String>,
    /// No later version may be there.
    if_unmodified_since: Option<SystemTime>,
}

impl Put {
    /// Reads a request.
    ///
    /// # Errors
    /// The name is not one below `prefixes`, or has reserved components, or the body is not the
    /// whole object as it is.
    pub fn read(uri: &Uri, headers: &HeaderMap, prefixes: &[Name]) -> Result<Put, Rejection> {
        if uri.path().ends_with('/') {
            let text = "the path is that of a folder; append a file name";
            return Err(Rejection::new(StatusCode::BAD_REQUEST, text));
        }
        let name = name(uri.path())?;
        check_name(&name, prefixes)?;
        if headers.contains_key(CONTENT_RANGE) {
            let text = "a part of an object cannot be uploaded; send all of it, without \
                        Content-Range";
            return Err(Rejection::new(StatusCode::BAD_REQUEST, text));
        }
        check_codings(headers)?;
        let media_type = given_type(headers)?;
        let size = headers.get(CONTENT_LENGTH).and_then(|size| size.to_str().ok());

        Ok(Put {
            name,
            size: size.and_then(|size| size.parse().ok()),
            media_type,
            // One without a tag, or whose tag is no text, permits no version.
            if_match: headers
                .contains_key(IF_MATCH)
                .then(|| tags(headers, &IF_MATCH).map(str::to_owned).collect()),
            if_none_match: tags(headers, &IF_NONE_MATCH).map(str::to_owned).collect(),
            if_unmodified_since: date(headers, &IF_UNMODIFIED_SINCE),
        })
    }

    /// Checks the conditions against the tag of the newest version, if one exists, and its time
    /// (RFC 9110, section 13.2.2).
    ///
    /// # Errors
    /// A condition does not hold.
    pub fn check(&self, tag: Option<&str>, modified: Option<SystemTime>) -> Result<(), Rejection> {
        let is_later = self.if_match.is_none()
            && modified
                .zip(self.if_unmodified_since)
                .is_some_and(|(modified, since)| modified > since);
        let text = match (tag, &self.if_match) {
            (None, Some(_)) => "there is no version yet; leave If-Match out",
            (Some(tag), Some(tags)) if !tags.iter().any(|one| permits(one, tag)) => {
                "there is another version; get it, and decide again"
            }
            (Some(_), _) if is_later => "there is a later version; get it, and decide again",
            (Some(tag), _) if self.if_none_match.iter().any(|one| permits(opaque(one), tag)) => {
                "it is there already; leave If-None-Match out to replace it"
            }
            _ => return Ok(()),
        };
        Err(Rejection::new(StatusCode::PRECONDITION_FAILED, text))
    }
}

/// Returns `true` if a tag of a condition matches the version of this tag.
fn permits(one: &str, tag: &str) -> bool {
    one == "*" || one.replace("-gzip\"", "\"") == tag
}

/// A tag without the mark of weak ones. `W/*` is no tag.
fn opaque(one: &str) -> &str {
    match one.strip_prefix("W/") {
        Some(tag) if tag.starts_with('"') => tag,
        _ => one,
    }
}

/// The codings that a field lists.
fn codings<'a>(headers: &'a HeaderMap, field: &HeaderName) -> impl Iterator<Item = &'a [u8]> {
    let lists = headers.get_all(field).iter();
    let codings = lists.flat_map(|list| list.as_bytes().split(|byte| *byte == b','));
    codings.map(<[u8]>::trim_ascii).filter(|coding| !coding.is_empty())
}

/// Checks that the body consists of the object's bytes. The HTTP library removes only chunks.
///
/// # Errors
/// The body has another coding: of its content (RFC 9110, section 8.4), or of its transfer (RFC
/// 9112, section 6.1).
fn check_codings(headers: &HeaderMap) -> Result<(), Rejection> {
    let mut content = codings(headers, &CONTENT_ENCODING);
    if !content.all(|coding| coding.eq_ignore_ascii_case(b"identity")) {
        let text = "the body is encoded; send it as it is, without Content-Encoding";
        return Err(Rejection::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
    }
    // Chunks of chunks are not allowed (RFC 9112, section 6.1).
    let mut transfer = codings(headers, &TRANSFER_ENCODING);
    let is_plain = transfer.next().is_none_or(|coding| coding.eq_ignore_ascii_case(b"chunked"));
    if !is_plain || transfer.next().is_some() {
        let text = "the body has a transfer coding that is not known here; send it without, or in \
                    chunks";
        return Err(Rejection::new(StatusCode::NOT_IMPLEMENTED, text));
    }
    Ok(())
}

/// The media type of the body.
///
/// # Errors
/// It is malformed, too long, or not one.
fn given_type(headers: &HeaderMap) -> Result<Option<String>, Rejection> {
    let mut all = headers.get_all(CONTENT_TYPE).iter();
    let Some(first) = all.next() else { return Ok(None) };
    let given = first.to_str().ok().and_then(|text| read_media_type(text.trim()));
    let Some(given) = given.filter(|_| all.next().is_none()) else {
        let text = "the Content-Type is malformed, or longer than 200 bytes; send one like \
                    `text/plain; charset=utf-8`, or none";
        return Err(Rejection::new(StatusCode::BAD_REQUEST, text));
    };
    // Programs send it unasked with any body.
    let bare = given.split(';').next().unwrap_or_default().trim_end();
    Ok((!bare.eq_ignore_ascii_case(FORM)).then(|| given.to_owned()))
}

/// Checks the name of an upload. Its components below the prefix are those of files and folders.
///
/// # Errors
/// Consumers could not find it, it is reserved, or it lies elsewhere.
pub fn check_name(name: &Name, prefixes: &[Name]) -> Result<(), Rejection> {
    if is_scoped(name) {
        let text = format!(
            "{} cannot be uploaded: names below /localhost and /localhop are for the programs of \
             one host; choose a name below {}",
            shortened(&name.to_string(), SHOWN),
            list(prefixes)
        );
        return Err(Rejection::new(StatusCode::FORBIDDEN, text));
    }
    let under = nearest(name, prefixes, |prefix| prefix).map(Name::len);
    let Some(under) = under.filter(|under| name.len() > *under) else {
        let what = shortened(&name.to_string(), SHOWN);
        let text =
            format!("{what} cannot be uploaded here; choose a name below {}", list(prefixes));
        return Err(Rejection::new(StatusCode::FORBIDDEN, text));
    };
    name.as_ref().components().skip(under).try_for_each(check_component)
}

fn check_component(component: ComponentRef<'_>) -> Result<(), Rejection> {
    let value = component.value();
    let text = std::str::from_utf8(value).ok();
    let why = match text {
        _ if component.typ() != GENERIC => "it is a reserved component, such as a version",
        None => "it is not text in UTF-8",
        Some("") => "it is empty",
        Some("." | "..") => "it leads to another folder",
        Some(text) if text.contains('/') => "it contains a slash",
        Some(text) if text != visible(text) => "it contains control characters",
        Some(text) if text.len() > LONGEST => "it is longer than 255 bytes",
        Some(_) => return Ok(()),
    };
    let shown = shortened(&component.to_string(), SHOWN);
    let text = format!("{shown} cannot be a part of the name: {why}; choose another name");
    Err(Rejection::new(StatusCode::BAD_REQUEST, text))
}

/// The secret that permits uploads. Only its digest is kept, so comparing takes the same time for
/// all wrong ones.
#[derive(Clone, Debug)]
pub struct Token([u8; 32]);

impl Token {
    /// The token in the text of a file.
    ///
    /// # Errors
    /// It is too short, or cannot be sent in a header; the text has the reason.
    pub fn read(text: &str) -> Result<Token, &'static str> {
        let token = text.trim();
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("it has other characters than letters, digits and signs of ASCII");
        }
        if token.len() < FEWEST {
            return Err("it has fewer than 16 characters");
        }
        Ok(Token(Sha256::digest(token).into()))
    }

    /// True if the request has it: `Authorization: Bearer TOKEN` (RFC 6750, section 2.1).
    #[must_use]
    pub fn is_in(&self, headers: &HeaderMap) -> bool {
        let mut all = headers.get_all(AUTHORIZATION).iter();
        let (Some(one), None) = (all.next(), all.next()) else { return false };
        let Some((scheme, token)) = one.as_bytes().split_at_checked(7) else { return false };
        let given: [u8; 32] = Sha256::digest(token.trim_ascii()).into();
        scheme.eq_ignore_ascii_case(b"Bearer ") && given == self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    fn put(path: &str, fields: &[(&str, &str)]) -> Result<Put, Rejection> {
        let mut headers = HeaderMap::new();
        for (field, value) in fields {
            headers.append(field.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        }
        Put::read(&path.parse().unwrap(), &headers, &["/a/up".parse().unwrap()])
    }

    fn rejected(path: &str) -> u16 {
        let rejection = put(path, &[]).unwrap_err();
        assert!(
            rejection.text.contains(';') || rejection.text.contains("no name"),
            "{}",
            rejection.text
        );
        rejection.status.as_u16()
    }

    #[test]
    fn a_name_below_the_prefix_is_that_of_a_file() {
        for (path, expected) in
            [("/a/up/x", "/a/up/x"), ("/a/up/b/%C3%A9%20?q", "/a/up/b/%C3%A9%20")]
        {
            assert_eq!(put(path, &[]).unwrap().name.to_string(), expected);
        }
        let size = |fields: &[(&str, &str)]| put("/a/up/x", fields).unwrap().size;
        assert_eq!((size(&[("content-length", "17")]), size(&[])), (Some(17), None));
    }

    #[test]
    fn the_type_that_a_client_gives_is_kept_if_it_is_one() {
        let of = |fields: &[(&str, &str)]| put("/a/up/x", fields).map(|put| put.media_type);
        let one = |text: &str| of(&[("content-type", text)]).unwrap();
        assert_eq!(of(&[]).unwrap(), None);
        assert_eq!(one(" Text/Plain;charset=utf-8 "), Some("Text/Plain;charset=utf-8".to_owned()));
        assert_eq!(one("application/x-www-form-urlencoded; charset=utf-8"), None);
        for wrong in ["text", "text/html, image/png", &format!("a/{}", "x".repeat(200))] {
            assert_eq!(of(&[("content-type", wrong)]).unwrap_err().status, 400, "{wrong}");
        }
        let twice = [("content-type", "text/plain"), ("content-type", "text/html")];
        assert_eq!(of(&twice).unwrap_err().status, 400);
    }

    #[test]
    fn other_names_are_rejected() {
        for path in ["/a/up", "/a/x", "/x", "/localhost/x", "/localhop/x", "/8=localhost/x"] {
            assert_eq!(rejected(path), 403, "{path}");
        }
        for path in [
            "/a/up/",
            "/a/up/x/",
            "/",
            "/a/up/..",
            "/a/up/.",
            "/a/up/.../x",
            "/a/up/.....",
            "/a/up/%2e%2e",
            "/a/up/a%2Fb",
            "/a/up/a%00",
            "/a/up/a%0a",
            "/a/up/%C2%9b",
            "/a/up/%FD%01",
            "/a/up/%00%01",
            "/a/up/x/v=7",
            "/a/up/seg=7",
            "/a/up/32=metadata",
            "/a/up/32=tree/x",
            "/a/up/9=x",
            &format!("/a/up/{}", "x".repeat(256)),
        ] {
            assert_eq!(rejected(path), 400, "{path}");
        }
        assert_eq!(rejected(&format!("/a/up/{}", "x".repeat(9000))), 414);
    }

    #[test]
    fn a_body_is_the_whole_object() {
        let status = |field| put("/a/up/x", &[field]).unwrap_err().status.as_u16();
        assert_eq!(status(("content-range", "bytes 0-3/9")), 400);
        for coding in ["gzip", "identity, gzip", "gzip,identity", "br"] {
            assert_eq!(status(("content-encoding", coding)), 415, "{coding}");
        }
        for coding in ["gzip, chunked", "gzip", "chunked, gzip", "chunked, chunked"] {
            assert_eq!(status(("transfer-encoding", coding)), 501, "{coding}");
        }
        for fields in [
            [("content-encoding", "identity"), ("content-encoding", "gzip")],
            [("transfer-encoding", "gzip"), ("transfer-encoding", "chunked")],
            [("transfer-encoding", "chunked"), ("transfer-encoding", "chunked")],
        ] {
            assert!(put("/a/up/x", &fields).is_err(), "{fields:?}");
        }
        for field in [("content-encoding", "Identity"), ("transfer-encoding", "Chunked")] {
            assert!(put("/a/up/x", &[field]).is_ok());
        }
    }

    #[test]
    fn a_condition_without_a_tag_permits_nothing() {
        for value in [&b""[..], b" ", b"\"\xff\"", b","] {
            let mut headers = HeaderMap::new();
            headers.insert(IF_MATCH, HeaderValue::from_bytes(value).unwrap());
            let path = "/a/up/x".parse().unwrap();
            let put = Put::read(&path, &headers, &["/a/up".parse().unwrap()]).unwrap();
            for tag in [None, Some("\"v=7\"")] {
                assert_eq!(put.check(tag, None).unwrap_err().status, 412, "{value:?}");
            }
        }
    }

    #[test]
    fn conditions_are_about_the_newest_version() {
        let holds =
            |fields: &[(&str, &str)], tag| put("/a/up/x", fields).unwrap().check(tag, None).is_ok();
        let (new, old) = (Some("\"v=7\""), None);
        for (fields, tag, expected) in [
            (vec![], new, true),
            (vec![("if-none-match", "*")], new, false),
            (vec![("if-none-match", "*")], old, true),
            (vec![("if-none-match", "W/*")], new, true),
            (vec![("if-none-match", "W/\"v=7\"")], new, false),
            (vec![("if-none-match", "\"v=6\"")], new, true),
            (vec![("if-match", "*")], new, true),
            (vec![("if-match", "*")], old, false),
            (vec![("if-match", "\"v=6\", \"v=7\"")], new, true),
            (vec![("if-match", "\"v=7-gzip\"")], new, true),
            (vec![("if-match", "W/\"v=7\"")], new, false),
            (vec![("if-match", "\"v=6\"")], new, false),
        ] {
            assert_eq!(holds(&fields, tag), expected, "{fields:?} {tag:?}");
        }
    }

    #[test]
    fn only_the_whole_token_is_one() {
        let token = Token::read(" 0123456789abcdef\n").unwrap();
        let has = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(AUTHORIZATION, value.parse().unwrap());
            }
            token.is_in(&headers)
        };
        for value in ["Bearer 0123456789abcdef", "bearer  0123456789abcdef"] {
            assert!(has(&[value]), "{value}");
        }
        for wrong in ["", "Bearer", "Bearer ", "Basic 0123456789abcdef", "Bearer 0123456789abcde"] {
            assert!(!has(&[wrong]), "{wrong}");
        }
        assert!(!has(&[]) && !has(&["Bearer 0123456789abcdef"; 2]));
        assert!(Token::read("short").is_err() && Token::read("0123456789 abcdef").is_err());
    }
}
