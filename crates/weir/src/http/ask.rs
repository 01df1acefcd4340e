//! The request.

use super::encoding;
use super::mirror::{Described, Resource};
use super::range::Ranges;
use hyper::header::{
    HeaderMap, HeaderName, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE,
    IF_UNMODIFIED_SINCE, RANGE,
};
use hyper::{Method, StatusCode, Uri};
use net::text::shortened;
use packet::{Name, UriError};
use router::guard::Rejection;
use std::str::FromStr;
use std::time::SystemTime;

/// A longer name leaves no room in a packet for the other fields.
const LONGEST: usize = 8000;

/// Characters of a method, a name or a mistake in one that a rejection repeats.
pub(super) const SHOWN: usize = 200;

/// A request that can be answered.
#[derive(Debug)]
pub struct Ask {
    /// The requested name.
    pub name: Name,
    /// The headers are wanted alone.
    pub is_head: bool,
    /// The requested parts, if not all.
    pub ranges: Option<Ranges>,
    /// The range is good for this version alone.
    pub if_range: Option<String>,
    /// The only versions that the client wants, if the object exists.
    pub if_match: Vec<String>,
    /// Versions that the client has.
    pub if_none_match: Vec<String>,
    /// The client has the object as of this time.
    pub if_modified_since: Option<SystemTime>,
    /// The client takes only an object that is not newer than this time.
    pub if_unmodified_since: Option<SystemTime>,
    /// The client accepts content compressed by gzip.
    pub accepts_gzip: bool,
    /// The request for the folder of that name, if it is one.
    pub folder: Option<FolderAsk>,
    /// The name is one of a file of an HTTP origin.
    pub is_mirrored: bool,
    /// The origin's answer, once it is known.
    pub described: Option<Described>,
    /// The media type that the uploader of the object gave, once it is known.
    pub media_type: Option<String>,
}

/// The content that a gateway serves.
#[derive(Clone, Copy, Debug)]
pub struct Served<'a> {
    /// Names under one of these.
    pub prefixes: &'a [Name],
    /// Paths with files of HTTP origins.
    pub mirrors: &'a [Mirror],
}

/// A path below which the files of an HTTP origin are, and their prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirror {
    path: String,
    prefix: Name,
}

impl FromStr for Mirror {
    type Err = String;

    fn from_str(text: &str) -> Result<Mirror, String> {
        let form = "write it like /hub=/example/hub";
        let (path, name) = text.split_once('=').ok_or(form)?;
        if !path.starts_with('/') || path.contains(['?', '#', '%']) {
            return Err(format!("{path} is not an HTTP path; {form}"));
        }
        let prefix: Name = name.parse().map_err(|error: UriError| error.to_string())?;
        if prefix.is_empty() || is_scoped(&prefix) {
            return Err(format!("{name} is not a name for an origin's files; {form}"));
        }
        let path = path.trim_end_matches('/').to_owned();
        Ok(Mirror { path, prefix })
    }
}

impl Mirror {
    /// The path below the mirror's.
    fn within<'a>(&self, path: &'a str) -> Option<&'a str> {
        let rest = path.strip_prefix(&self.path)?;
        if rest.is_empty() { Some("") } else { rest.strip_prefix('/') }
    }

    /// The name of a file of the mirror with the longest path that has this path below it.
    fn find(mirrors: &[Mirror], uri: &Uri) -> Option<Result<Name, Rejection>> {
        let found = mirrors.iter().filter_map(|mirror| Some((mirror, mirror.within(uri.path())?)));
        let (mirror, path) = found.max_by_key(|(mirror, _)| mirror.path.len())?;
        let resource = Resource::from_path(path, uri.query());
        Some(resource.map(|resource| resource.name(&mirror.prefix)).map_err(|why| {
            Rejection::new(StatusCode::BAD_REQUEST, format!("no file has this path: {why}"))
        }))
    }
}

/// A request for a folder: its path ends in a slash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderAsk {
    /// Only entries with this in their name, here or below.
    pub query: Option<String>,
    /// For a program.
    pub json: bool,
}

impl Ask {
    /// Reads a request.
    ///
    /// # Errors
    /// It asks for something else than content by its name, for a name that only programs of this
    /// host may use, or for a name that is not under one of `prefixes`.
    pub fn read(
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        served: Served<'_>,
    ) -> Result<Ask, Rejection> {
        let is_head = method == Method::HEAD;
        if !is_head && method != Method::GET {
            let method = shortened(method.as_str(), SHOWN);
            let text = format!("{method} is not served here; use GET or HEAD");
            return Err(Rejection::new(StatusCode::METHOD_NOT_ALLOWED, text));
        }
        let mirrored = Mirror::find(served.mirrors, uri).transpose()?;
        let is_mirrored = mirrored.is_some();
        let (name, is_folder) = match mirrored {
            Some(name) => (name, false),
            None => named(uri.path(), served.prefixes)?,
        };
        Ok(Ask {
            name,
            is_head,
            // It has a meaning with GET only.
            ranges: text(headers, &RANGE).filter(|_| !is_head).and_then(Ranges::parse),
            if_range: text(headers, &IF_RANGE).map(str::to_owned),
            if_match: tags(headers, &IF_MATCH).map(str::to_owned).collect(),
            if_none_match: tags(headers, &IF_NONE_MATCH).map(bare_tag).collect(),
            if_modified_since: date(headers, &IF_MODIFIED_SINCE),
            if_unmodified_since: date(headers, &IF_UNMODIFIED_SINCE),
            accepts_gzip: encoding::accepts_gzip(headers),
            folder: is_folder.then(|| FolderAsk {
                query: uri.query().and_then(query),
                json: encoding::prefers_json(headers),
            }),
            is_mirrored,
            described: None,
            media_type: None,
        })
    }

    /// True if the client has no use for this version, such as a player that has begun another one.
    /// The tag counts, or else the time (RFC 9110, section 13.2.2). No weak tag matches another
    /// (section 13.1.1).
    pub fn fails_precondition(&self, tag: Option<&str>, modified: Option<SystemTime>) -> bool {
        if !self.if_match.is_empty() {
            let strong = tag.filter(|tag| is_strong(tag));
            return self.if_match.iter().all(|one| one != "*" && Some(&**one) != strong);
        }
        modified.zip(self.if_unmodified_since).is_some_and(|(modified, since)| modified > since)
    }

    /// The client has this version. The tag counts, or else the time.
    pub fn has(&self, tag: Option<&str>, modified: Option<SystemTime>) -> bool {
        if !self.if_none_match.is_empty() {
            return tag.is_some_and(|tag| is_among(&self.if_none_match, tag));
        }
        modified.zip(self.if_modified_since).is_some_and(|(modified, since)| modified <= since)
    }

    /// True if the answer may be that the object has not changed.
    pub fn is_conditional(&self) -> bool {
        !self.if_none_match.is_empty() || self.if_modified_since.is_some()
    }

    /// The client's range applies to any version, or to the version with this tag. A weak tag does
    /// not prove that the client's part is of this version (RFC 9110, section 13.1.5).
    pub fn wants_range_of(&self, tag: Option<&str>) -> bool {
        let strong = tag.filter(|tag| is_strong(tag));
        self.if_range.as_deref().is_none_or(|only| Some(only.trim()) == strong)
    }
}

/// The words after `q=`, as a form sends them.
fn query(fields: &str) -> Option<String> {
    let coded = fields.split('&').find_map(|field| field.strip_prefix("q="))?;
    let mut rest = coded.as_bytes();
    let mut words = Vec::with_capacity(rest.len());
    while let Some((byte, behind)) = rest.split_first() {
        let digits = behind.get(..2).filter(|_| *byte == b'%');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let coded = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        words.push(coded.unwrap_or(if *byte == b'+' { b' ' } else { *byte }));
        rest = if coded.is_some() { &behind[2..] } else { behind };
    }
    let words = String::from_utf8_lossy(&words).trim().to_owned();
    (!words.is_empty()).then_some(words)
}

/// The text of a field; `None` if it is not there, or is no text.
pub(super) fn text<'a>(headers: &'a HeaderMap, field: &HeaderName) -> Option<&'a str> {
    headers.get(field)?.to_str().ok()
}

/// The date of a field. Invalid dates are ignored (RFC 9110, section 13.1.3).
pub(super) fn date(headers: &HeaderMap, field: &HeaderName) -> Option<SystemTime> {
    httpdate::parse_http_date(text(headers, field)?).ok()
}

/// All tags of a field.
pub(super) fn tags<'a>(
    headers: &'a HeaderMap,
    field: &HeaderName,
) -> impl Iterator<Item = &'a str> {
    let lists = headers.get_all(field).iter().filter_map(|value| value.to_str().ok());
    let tags = lists.flat_map(|list| {
        // A tag may contain a comma, between its quotes.
        let mut is_quoted = false;
        list.split(move |char| {
            is_quoted ^= char == '"';
            char == ',' && !is_quoted
        })
    });
    tags.map(str::trim)
}

/// True if a request has the content of this tag, by its field If-None-Match (RFC 9110, section
/// 13.1.2).
#[must_use]
pub fn has_tag(headers: &HeaderMap, tag: &str) -> bool {
    is_among(tags(headers, &IF_NONE_MATCH).map(bare_tag), tag)
}

/// True if one of the tags is this one, without the mark of weak tags, or `*`.
fn is_among(bare: impl IntoIterator<Item = impl AsRef<str>>, tag: &str) -> bool {
    let wanted = bare_tag(tag);
    bare.into_iter().any(|one| one.as_ref() == "*" || one.as_ref() == wanted)
}

/// True if equal tags are of equal content, byte by byte (RFC 9110, section 8.8.3).
#[must_use]
pub fn is_strong(tag: &str) -> bool {
    tag.len() > 1 && tag.starts_with('"') && tag.ends_with('"')
}

/// A tag without the mark of weak ones, which is of no account where tags are compared to save a
/// transfer.
fn bare_tag(tag: &str) -> String {
    tag.strip_prefix("W/").unwrap_or(tag).to_owned()
}

pub(super) fn name(path: &str) -> Result<Name, Rejection> {
    let name: Name = path.parse().map_err(|error: UriError| {
        if least_len(path) > LONGEST {
            return too_long();
        }
        let mistake = shortened(&error.to_string(), SHOWN);
        Rejection::new(StatusCode::BAD_REQUEST, format!("the path is not a name: {mistake}"))
    })?;
    if name.as_ref().is_empty() {
        let text = "the path has no name; ask for one like /example/film.webm";
        return Err(Rejection::new(StatusCode::BAD_REQUEST, text));
    }
    if name.as_ref().encoded_len() > LONGEST {
        return Err(too_long());
    }
    Ok(name)
}

/// The name of a path, and true if the path is that of a folder.
fn named(path: &str, prefixes: &[Name]) -> Result<(Name, bool), Rejection> {
    // The last slash belongs to the path alone.
    let within = path.strip_suffix('/').filter(|name| !name.is_empty() && !name.ends_with('/'));
    let name = name(within.unwrap_or(path))?;
    if is_scoped(&name) {
        let text = format!(
            "{} is not served here: names below /localhost and /localhop are for the \
             programs of one host; ask for a name below {}",
            shortened(&name.to_string(), SHOWN),
            list(prefixes)
        );
        return Err(Rejection::new(StatusCode::FORBIDDEN, text));
    }
    if !prefixes.iter().any(|under| is_under(&name, under)) {
        let text = format!(
            "{} is not served here; ask for a name below {}, or start the gateway with \
             another --prefix",
            shortened(&name.to_string(), SHOWN),
            list(prefixes)
        );
        return Err(Rejection::new(StatusCode::FORBIDDEN, text));
    }
    Ok((name, within.is_some()))
}

fn too_long() -> Rejection {
    let text = format!("the name has more than {LONGEST} bytes; nothing is called so");
    Rejection::new(StatusCode::URI_TOO_LONG, text)
}

/// The least length of a name from a path that is no name: two bytes each at least for components
/// of the generic type, and three characters for a byte at most.
fn least_len(path: &str) -> usize {
    path.split('/').skip(1).map(|component| 2 + component.len().div_ceil(3)).sum()
}

/// Names that forwarders keep on a host or a link, where they command the forwarder. Management
/// ignores the type of their first component, so it is ignored here too. Interests for other names
/// cannot reach them: a fetch requests only names below its own.
#[must_use]
pub fn is_scoped(name: &Name) -> bool {
    let first = name.as_ref().first();
    first.is_some_and(|first| [&b"localhost"[..], b"localhop"].contains(&first.value()))
}

/// True if the name is the prefix or below it.
pub fn is_under(name: &Name, prefix: &Name) -> bool {
    name.as_ref().starts_with(prefix.as_ref())
}

/// The item with the longest prefix that has the name at or below it.
pub fn nearest<'a, T>(name: &Name, items: &'a [T], prefix: impl Fn(&T) -> &Name) -> Option<&'a T> {
    let above = items.iter().filter(|item| is_under(name, prefix(item)));
    above.max_by_key(|item| prefix(item).len())
}

pub(super) fn list(names: &[Name]) -> String {
    let names: Vec<_> = names.iter().map(Name::to_string).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(method: &Method, path: &str, fields: &[(&str, &str)]) -> Result<Ask, Rejection> {
        let mut headers = HeaderMap::new();
        for (field, value) in fields {
            headers.append(field.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        }
        let (prefixes, mirrors) = (&["/a".parse().unwrap()], &["/m=/b/hub".parse().unwrap()]);
        Ask::read(method, &path.parse().unwrap(), &headers, Served { prefixes, mirrors })
    }

    fn rejected(method: &Method, path: &str) -> (u16, String) {
        let rejection = ask(method, path, &[]).unwrap_err();
        (rejection.status.as_u16(), rejection.text)
    }

    #[test]
    fn a_path_is_a_name() {
        let name = |path: &str| ask(&Method::GET, path, &[]).unwrap().name.to_string();
        assert_eq!(name("/a/film.webm"), "/a/film.webm");
        assert_eq!(name("/a/film.webm/v=7?start=3"), "/a/film.webm/v=7");
        assert_eq!(name("/a/%41%2F%FF"), "/a/A%2F%FF");
        assert_eq!(name("http://host:80/a/b"), "/a/b");
    }

    #[test]
    fn a_path_of_a_mirror_is_a_file_of_its_origin() {
        let name = |path: &str| {
            let ask = ask(&Method::GET, path, &[]).unwrap();
            assert!(ask.is_mirrored && ask.folder.is_none());
            ask.name.to_string()
        };
        assert_eq!(name("/m/a/b.bin"), "/b/hub/a/b.bin");
        assert_eq!(name("/m/v=7?a=b"), "/b/hub/v%3D7/32=query/a%3Db");
        assert_eq!(name("/m"), "/b/hub");
        for path in ["/m/../x", "/m/%2e%2e/x", "/m//x", "/m/a%2F..%2Fb"] {
            assert_eq!(rejected(&Method::GET, path).0, 400, "{path}");
        }
        assert_eq!(rejected(&Method::GET, "/ma/x").0, 403);
        let longest: [Mirror; 2] = ["/=/a", "/m=/b"].map(|text| text.parse().unwrap());
        let found = |path: &'static str| Mirror::find(&longest, &Uri::from_static(path));
        assert_eq!(found("/m/x").unwrap().unwrap().to_string(), "/b/x");
        assert_eq!(found("/mx").unwrap().unwrap().to_string(), "/a/mx");
        for wrong in ["/m", "m=/a", "/m=/", "/m=/localhost/a"] {
            assert!(wrong.parse::<Mirror>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn invalid_names_are_rejected_with_a_reason() {
        for path in ["/", "/a/%4", "/a/..", "/a/sha256digest=12", "/a//b"] {
            let (status, text) = rejected(&Method::GET, path);
            assert_eq!(status, 400, "{path}: {text}");
            assert!(text.starts_with("the path ") && text.contains("/example/"), "{text}");
        }
        assert_eq!(rejected(&Method::GET, &format!("/a/{}", "x".repeat(9000))).0, 414);
        assert_eq!(rejected(&Method::GET, &"/a".repeat(5000)).0, 414);
        let (status, text) = rejected(&Method::GET, &format!("/a/{}%4", "x".repeat(5000)));
        assert!(status == 400 && text.len() < 1000, "{status} {text}");
        assert!(rejected(&Method::GET, &format!("/b/{}", "x".repeat(5000))).1.len() < 1000);
        let (status, text) = rejected(&Method::GET, "/b/film");
        let expected = "/b/film is not served here; ask for a name below /a, or start the gateway \
                        with another --prefix";
        assert_eq!((status, &*text), (403, expected));
        assert_eq!(rejected(&Method::GET, "/ab").0, 403);
        let (status, text) = rejected(&Method::POST, "/a/film");
        assert_eq!((status, &*text), (405, "POST is not served here; use GET or HEAD"));
    }

    #[test]
    fn names_of_a_hosts_own_programs_are_never_served() {
        for path in [
            "/localhost",
            "/localhop",
            "/localhop/v=7",
            "/localhost/nfd/faces/list",
            "/localhop/nfd/rib/register/x",
            "/%6cocalhost/nfd",
            "/%6C%6F%63alhost/nfd",
            "/loc%61lhop",
            "/8=localhost/nfd",
            "/32=localhost/nfd",
            "/999=localhop",
            "/8=%6cocalhost/nfd?x",
            "http://host/localhost/nfd",
        ] {
            for prefix in ["/", "/localhost", "/localhop"] {
                let (uri, prefix) = (path.parse().unwrap(), prefix.parse().unwrap());
                let served = Served { prefixes: &[prefix], mirrors: &[] };
                let read = Ask::read(&Method::GET, &uri, &HeaderMap::new(), served);
                let rejection = read.unwrap_err();
                assert_eq!(rejection.status.as_u16(), 403, "{path}");
                assert!(rejection.text.contains("programs of one host"), "{}", rejection.text);
            }
        }
        let everything = Served { prefixes: &["/".parse().unwrap()], mirrors: &[] };
        for path in ["/localhosts/a", "/a/localhost", "/LOCALHOST/a"] {
            let read =
                Ask::read(&Method::GET, &path.parse().unwrap(), &HeaderMap::new(), everything);
            assert!(read.is_ok(), "{path}");
        }
        let read = Ask::read(
            &Method::GET,
            &"/a".parse().unwrap(),
            &HeaderMap::new(),
            Served { prefixes: &[], mirrors: &[] },
        );
        assert_eq!(read.unwrap_err().status.as_u16(), 403, "nothing is served without a prefix");
    }

    #[test]
    fn versions_that_the_client_has() {
        let fields = [("if-none-match", "W/\"v=6\", \"v=7\""), ("if-none-match", "\"x\"")];
        let ask = ask(&Method::GET, "/a/b", &fields).unwrap();
        let has = |ask: &Ask, tag| ask.has(Some(tag), None);
        assert!(has(&ask, "\"v=6\"") && has(&ask, "\"v=7\"") && has(&ask, "\"x\""));
        assert!(has(&ask, "W/\"v=7\""), "weak tags are compared without their mark");
        assert!(!has(&ask, "\"v=8\"") && !ask.has(None, None));
        let any = Ask { if_none_match: vec!["*".to_owned()], ..ask };
        assert!(has(&any, "\"v=8\""));
    }

    #[test]
    fn versions_that_alone_are_wanted() {
        let only = |list: &str| ask(&Method::GET, "/a/b", &[("if-match", list)]).unwrap();
        assert!(!ask(&Method::GET, "/a/b", &[]).unwrap().fails_precondition(None, None));
        assert!(
            !only("\"v=6\", \"v=7\"").fails_precondition(Some("\"v=7\""), None)
                && !only("*").fails_precondition(None, None)
        );
        for other in ["\"v=6\"", "W/\"v=7\"", ""] {
            assert!(only(other).fails_precondition(Some("\"v=7\""), None), "{other}");
        }
        assert!(
            only("W/\"7\"").fails_precondition(Some("W/\"7\""), None),
            "only strong tags match"
        );
    }

    #[test]
    fn a_range_may_be_for_one_version_only_and_is_for_get_alone() {
        let fields = [("range", "bytes=5-"), ("if-range", "\"v=7\"")];
        let get = ask(&Method::GET, "/a/b", &fields).unwrap();
        assert_eq!(get.ranges, Ranges::parse("bytes=5-"));
        assert!(get.wants_range_of(Some("\"v=7\"")));
        assert!(!get.wants_range_of(Some("\"v=8\"")) && !get.wants_range_of(None));
        assert_eq!(ask(&Method::HEAD, "/a/b", &fields).unwrap().ranges, None);
        let weak = ask(&Method::GET, "/a/b", &[fields[0], ("if-range", "W/\"7\"")]).unwrap();
        assert!(!weak.wants_range_of(Some("W/\"7\"")), "parts of two versions would be one file");
        let always = ask(&Method::GET, "/a/b", &fields[..1]).unwrap();
        assert!(always.wants_range_of(None));
    }

    #[test]
    fn a_tag_may_have_a_comma() {
        let ask = ask(&Method::GET, "/a/b", &[("if-none-match", r#""x", "1,2""#)]).unwrap();
        assert!(ask.has(Some(r#""1,2""#), None) && ask.has(Some(r#""x""#), None));
        assert!(!ask.has(Some(r#""1"#), None) && !ask.has(Some(r#"2""#), None));
    }

    #[test]
    fn times_count_where_no_tag_is_given() {
        const THEN: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
        let time = httpdate::parse_http_date(THEN).unwrap();
        let later = time + std::time::Duration::from_secs(1);
        let ask = |fields: &[(&str, &str)]| ask(&Method::GET, "/a/b", fields).unwrap();
        let since = ask(&[("if-modified-since", THEN)]);
        assert!(since.has(Some("\"v=7\""), Some(time)) && since.is_conditional());
        assert!(!since.has(None, Some(later)) && !since.has(None, None));
        let both = ask(&[("if-modified-since", THEN), ("if-none-match", "\"v=6\"")]);
        assert!(!both.has(Some("\"v=7\""), Some(time)), "the tag counts");
        let unless = ask(&[("if-unmodified-since", THEN)]);
        assert!(
            unless.fails_precondition(None, Some(later))
                && !unless.fails_precondition(None, Some(time))
        );
        assert!(!unless.fails_precondition(None, None) && !unless.is_conditional());
        let both = ask(&[("if-unmodified-since", THEN), ("if-match", "*")]);
        assert!(!both.fails_precondition(None, Some(later)), "the tag counts");
        let wrong = ask(&[("if-modified-since", "yesterday"), ("if-unmodified-since", "")]);
        assert!(!wrong.has(None, Some(time)) && !wrong.fails_precondition(None, Some(later)));
    }

    #[test]
    fn a_path_with_a_slash_at_its_end_is_a_folder() {
        let folder = |path: &str| ask(&Method::GET, path, &[]).unwrap().folder;
        assert_eq!(folder("/a/b"), None);
        assert_eq!(folder("/a/b/"), Some(FolderAsk::default()));
        let query = |fields: &str| folder(&format!("/a/?{fields}")).unwrap().query;
        assert_eq!(query("x=1&q=two+words%2F%C3%A9"), Some("two words/é".to_owned()));
        assert_eq!(query("q=100%&q=2").as_deref(), Some("100%"));
        assert_eq!((query("q="), query("q=+"), query("p=1")), (None, None, None));
        assert_eq!(query("q=%FF%zz%1").as_deref(), Some("\u{fffd}%zz%1"));
        let json = ask(&Method::GET, "/a/", &[("accept", "application/json")]).unwrap();
        assert!(json.folder.unwrap().json);
        assert_eq!(rejected(&Method::GET, "/a//").0, 400);
        assert_eq!(rejected(&Method::GET, "//").0, 400);
        assert_eq!(rejected(&Method::GET, "/localhost/").0, 403);
    }
}
