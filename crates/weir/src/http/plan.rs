//! The answer to a request, planned when the object is known: its head, and the segments of the
//! object for its body.

use super::ask::{Ask, date, text};
use super::encoding::{self, is_text};
use super::media::{called, media_type, policy};
use super::mirror::Described;
use super::parts::{self, Parts};
use hyper::StatusCode;
use hyper::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE,
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue, LAST_MODIFIED,
    REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use packet::Name;
use rangemap::RangeSet;
use std::ops::Range;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use transport::fetch::{ObjectInfo, Resume};

/// The publisher's sizes of the object. They are not signed: the received segments are compared
/// with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Bytes of the object.
    pub size: u64,
    /// Bytes of every segment but the last.
    pub segment: u64,
    /// Segments.
    pub segments: u64,
}

impl Sizes {
    /// The sizes that the object states, if they do not contradict each other.
    fn of(info: &ObjectInfo) -> Option<Sizes> {
        let (size, segment, segments) = (info.size?, info.segment_size?, info.segments?);
        (segments == size.div_ceil(segment.max(1)).max(1)).then_some(Sizes {
            size,
            segment,
            segments,
        })
    }

    /// The length of a segment's content.
    pub fn len_of(&self, segment: u64) -> u64 {
        let offset = segment.saturating_mul(self.segment);
        self.size.saturating_sub(offset).min(self.segment)
    }
}

/// The type of unknown content.
const BYTES: &str = "application/octet-stream";

/// A planned answer.
#[derive(Debug)]
pub struct Plan {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body, if it has one.
    pub body: Option<Parts>,
    /// Sizes, if they are known.
    pub sizes: Option<Sizes>,
    /// The body is compressed by gzip.
    pub is_compressed: bool,
}

impl Plan {
    /// Plans the answer.
    pub fn new(ask: &Ask, info: &ObjectInfo) -> Plan {
        let sizes = Sizes::of(info);
        let (tag, modified) = match &ask.described {
            Some(described) => validators(&described.headers()),
            None => (tag(&info.name), modified(&info.name)),
        };
        // Without the size of segments, nothing has verified the object's size. A body that ends at
        // a forged size would seem whole, so only an answer without a body states it.
        let size = sizes.map(|sizes| sizes.size);
        let size = size.or(info.size.filter(|_| ask.is_head && info.segment_size.is_none()));
        let mut plan = Plan::whole(ask, sizes, size);
        let packed = tag.as_deref().map(|tag| format!("{}-gzip\"", tag.trim_end_matches('"')));
        if let Some(tag) = if plan.is_compressed { &packed } else { &tag } {
            plan.set(ETAG, tag);
        }
        // Without it, caches would guess from the time of the last change.
        let is_fixed = tag.is_some() && info.name == ask.name && ask.described.is_none();
        let caching = if is_fixed { "max-age=31536000, immutable" } else { "no-cache" };
        plan.set(CACHE_CONTROL, caching);
        if let Some(modified) = modified {
            plan.set(LAST_MODIFIED, httpdate::fmt_http_date(modified));
        }
        // Both forms are of the same version. A range is one of the plain form alone.
        let tags = [tag.as_deref(), packed.as_deref().filter(|_| ask.ranges.is_none())];
        if tags.iter().all(|tag| ask.fails_precondition(*tag, modified)) {
            plan.status = StatusCode::PRECONDITION_FAILED;
            plan.body = None;
            plan.set(CONTENT_LENGTH, "0");
        } else if tags.iter().any(|tag| ask.has(*tag, modified)) {
            plan.status = StatusCode::NOT_MODIFIED;
            plan.body = None;
            plan.headers.remove(CONTENT_LENGTH);
        } else if let (Some(ranges), Some(sizes)) = (&ask.ranges, sizes)
            && ask.wants_range_of(tag.as_deref())
        {
            plan.cut(&ranges.of(sizes.size), sizes.size);
        } else if plan.is_compressed {
            plan.set(CONTENT_ENCODING, "gzip");
            plan.headers.remove(CONTENT_LENGTH);
        }
        plan
    }

    fn whole(ask: &Ask, sizes: Option<Sizes>, size: Option<u64>) -> Plan {
        let body = (!ask.is_head).then(|| Parts::one(0..size.unwrap_or(u64::MAX)));
        let file = called(ask.name.as_ref()).unwrap_or_default();
        let origin = ask.described.as_ref().map(Described::headers);
        let of_origin = |headers: &HeaderMap| {
            let field = headers.get(CONTENT_TYPE).and_then(|field| field.to_str().ok());
            field.unwrap_or(BYTES).to_owned()
        };
        let own = origin.as_ref().map(of_origin).or_else(|| ask.media_type.clone());
        let media_type = own.as_deref().unwrap_or_else(|| media_type(&file));
        let is_large = size.is_none_or(|size| size >= encoding::LEAST);
        // A range is one of the bytes as they are.
        let is_compressed = origin.is_none()
            && is_text(media_type)
            && ask.accepts_gzip
            && ask.ranges.is_none()
            && is_large;
        let (status, headers) = (StatusCode::OK, HeaderMap::new());
        let mut plan = Plan { status, headers, body, sizes, is_compressed };
        if origin.is_none() && is_text(media_type) {
            plan.set(VARY, "Accept-Encoding");
        }
        plan.headers.extend(origin.clone().unwrap_or_default());
        plan.set(CONTENT_TYPE, media_type);
        confine(&mut plan.headers, media_type);
        plan.set(ACCEPT_RANGES, if sizes.is_some() { "bytes" } else { "none" });
        if let Some(size) = size {
            plan.set(CONTENT_LENGTH, size.to_string());
        }
        plan
    }

    /// Answers with these bytes of it, or with an error if it has none of the requested bytes.
    fn cut(&mut self, ranges: &[Range<u64>], size: u64) {
        let parts = match ranges {
            [] => {
                self.status = StatusCode::RANGE_NOT_SATISFIABLE;
                self.set(CONTENT_RANGE, format!("bytes */{size}"));
                self.set(CONTENT_LENGTH, "0");
                self.body = None;
                return;
            }
            [bytes] => {
                let (first, last) = (bytes.start, bytes.end - 1);
                self.set(CONTENT_RANGE, format!("bytes {first}-{last}/{size}"));
                Parts::one(bytes.clone())
            }
            several => {
                let of = self.headers.get(CONTENT_TYPE).and_then(|of| of.to_str().ok());
                let (parts, media_type) = Parts::several(several, of.unwrap_or_default(), size);
                if parts.body_len().is_none() {
                    // The length of the body overflows; a server may ignore ranges.
                    return;
                }
                self.set(CONTENT_TYPE, media_type);
                parts
            }
        };
        self.status = StatusCode::PARTIAL_CONTENT;
        self.set(CONTENT_LENGTH, parts.body_len().unwrap_or_default().to_string());
        self.body = Some(parts);
    }

    fn set(&mut self, field: HeaderName, value: impl AsRef<str>) {
        if let Ok(value) = HeaderValue::from_str(value.as_ref()) {
            self.headers.insert(field, value);
        }
    }

    /// The runs of segments that have to be fetched: those of the body; without one, the first
    /// segment, which proves that the description of the object is by its publisher. `None` if the
    /// runs are unknown.
    pub fn runs(&self) -> Option<Vec<Range<u64>>> {
        let Sizes { segment, segments, .. } = self.sizes?;
        Some(match &self.body {
            Some(parts) => parts.runs(segment, segments),
            None => vec![parts::run(&(0..1), segment, segments)],
        })
    }

    /// The segments that need not be fetched for this run.
    pub fn rest(&self, run: usize) -> Resume {
        let run = self.runs().and_then(|runs| runs.get(run).cloned());
        let (Some(sizes), Some(wanted)) = (self.sizes, run) else {
            return Resume::default();
        };
        let mut segments = RangeSet::new();
        let others = [0..wanted.start, wanted.end..sizes.segments];
        others.into_iter().filter(|run| !run.is_empty()).for_each(|run| segments.insert(run));
        Resume { segments, bytes: wanted.start * sizes.segment }
    }
}

/// Sets headers for browsers: content of this type is not a page of the gateway. It has the stated
/// type, runs no scripts, is not for pages of other origins, and sends no Referer.
pub fn confine(headers: &mut HeaderMap, media_type: &str) {
    let resources = HeaderName::from_static("cross-origin-resource-policy");
    for (field, value) in [
        (CONTENT_SECURITY_POLICY, policy(media_type)),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (resources, "same-origin"),
        (REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(field, HeaderValue::from_static(value));
    }
}

/// The tag and time of a file of an HTTP origin: those of the origin.
fn validators(headers: &HeaderMap) -> (Option<String>, Option<SystemTime>) {
    (text(headers, &ETAG).map(str::to_owned), date(headers, &LAST_MODIFIED))
}

/// The tag of a version: the version.
fn tag(name: &Name) -> Option<String> {
    let version = name.as_ref().last().filter(|last| last.as_version_any().is_some())?;
    Some(format!("\"{version}\""))
}

/// Versions that count as times: from 2001 to 2286.
const MILLISECONDS: Range<u64> = 1_000_000_000_000..10_000_000_000_000;

/// The time of a version, if the version is a time: in milliseconds as `weir put` has it by
/// default, or in microseconds (NDN Naming Conventions, section 5). HTTP has seconds.
fn modified(name: &Name) -> Option<SystemTime> {
    modified_of(name.as_ref().last()?.as_version_any()?)
}

/// The time of this version.
#[must_use]
pub fn modified_of(version: u64) -> Option<SystemTime> {
    let seconds = [1000, 1_000_000].into_iter().find_map(|unit| {
        let range = MILLISECONDS.start * (unit / 1000)..MILLISECONDS.end * (unit / 1000);
        range.contains(&version).then_some(version / unit)
    })?;
    Some(UNIX_EPOCH + Duration::from_secs(seconds))
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "a list of one range is meant")]
mod tests {
    use super::*;
    use crate::http::ask::Served;
    use hyper::{Method, Uri};

    fn served(prefixes: &[Name]) -> Served<'_> {
        Served { prefixes, mirrors: &[] }
    }

    fn info(size: Option<u64>) -> ObjectInfo {
        ObjectInfo {
            name: "/a/film.webm/v=7".parse().unwrap(),
            segments: size.map(|size| size.div_ceil(1000).max(1)),
            segment_size: Some(1000),
            size,
            root_digest: None,
        }
    }

    fn plan(method: &Method, path: &str, fields: &[(&str, &str)], size: Option<u64>) -> Plan {
        let mut headers = HeaderMap::new();
        for (field, value) in fields {
            headers.append(field.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        }
        let ask = Ask::read(
            method,
            &path.parse::<Uri>().unwrap(),
            &headers,
            served(&["/a".parse().unwrap()]),
        )
        .unwrap();
        Plan::new(&ask, &info(size))
    }

    fn get(fields: &[(&str, &str)]) -> Plan {
        plan(&Method::GET, "/a/film.webm", fields, Some(10_500))
    }

    fn header(plan: &Plan, field: &str) -> String {
        plan.headers.get(field).map_or_else(String::new, |value| value.to_str().unwrap().into())
    }

    #[test]
    fn the_whole() {
        let plan = get(&[]);
        assert_eq!((plan.status.as_u16(), plan.body.clone()), (200, Some(Parts::one(0..10_500))));
        for (field, value) in [
            ("content-type", "video/webm"),
            ("content-length", "10500"),
            ("accept-ranges", "bytes"),
            ("etag", "\"v=7\""),
            ("cache-control", "no-cache"),
        ] {
            assert_eq!(header(&plan, field), value, "{field}");
        }
        assert_eq!((plan.runs(), plan.rest(0)), (Some(vec![0..11]), Resume::default()));
    }

    #[test]
    fn a_file_of_an_origin_has_the_headers_of_the_origin() {
        let mut ask = Ask::read(
            &Method::GET,
            &Uri::from_static("/a/b"),
            &HeaderMap::from_iter([(
                hyper::header::IF_NONE_MATCH,
                HeaderValue::from_static("\"x\""),
            )]),
            served(&["/a".parse().unwrap()]),
        )
        .unwrap();
        let fields = [("etag", "\"x\""), ("content-type", "text/html"), ("x-repo-commit", "1")];
        let fields = fields.map(|(field, value)| {
            (HeaderName::from_static(field), HeaderValue::from_static(value))
        });
        let headers: HeaderMap = fields.into_iter().collect();
        ask.described = Some(Described::content(7, &headers));
        ask.accepts_gzip = true;
        let known = Plan::new(&ask, &info(Some(5000)));
        assert_eq!((known.status.as_u16(), known.is_compressed), (304, false));
        ask.if_none_match.clear();
        let plan = Plan::new(&ask, &info(Some(5000)));
        for (field, value) in [
            ("etag", "\"x\""),
            ("content-type", "text/html"),
            ("x-repo-commit", "1"),
            ("content-length", "5000"),
            ("cache-control", "no-cache"),
        ] {
            assert_eq!(header(&plan, field), value, "{field}");
        }
        assert!(header(&plan, "content-security-policy").starts_with("sandbox"));
    }

    #[test]
    fn served_content_cannot_use_the_gateways_origin() {
        let of = |path: &str, fields| plan(&Method::GET, path, fields, Some(10_500));
        for fields in [&[][..], &[("range", "bytes=5-6")], &[("if-none-match", "*")]] {
            let plan = of("/a/page.html", fields);
            assert!(header(&plan, "content-security-policy").starts_with("sandbox; default-src"));
            assert_eq!(header(&plan, "x-content-type-options"), "nosniff");
            assert_eq!(header(&plan, "cross-origin-resource-policy"), "same-origin");
            assert_eq!(header(&plan, "referrer-policy"), "no-referrer");
        }
        let film = of("/a/film.webm", &[]);
        assert!(header(&film, "content-security-policy").contains("media-src 'self'"));
    }

    #[test]
    fn text_is_compressed_under_a_tag_of_its_own() {
        fn of(path: &str, fields: &[(&str, &str)]) -> Plan {
            plan(&Method::GET, path, fields, Some(10_500))
        }
        let gzip = ("accept-encoding", "gzip");
        let text = of("/a/b.txt", &[gzip]);
        assert!(text.is_compressed);
        for (field, value) in
            [("content-encoding", "gzip"), ("etag", "\"v=7-gzip\""), ("content-length", "")]
        {
            assert_eq!(header(&text, field), value, "{field}");
        }
        let plain = of("/a/b.txt", &[]);
        assert_eq!((plain.is_compressed, &*header(&plain, "vary")), (false, "Accept-Encoding"));
        assert_eq!(header(&plain, "etag"), "\"v=7\"");
        for (path, more) in [("/a/b.txt", ("range", "bytes=0-5")), ("/a/b.webm", gzip)] {
            let other = of(path, &[gzip, more]);
            assert!(!other.is_compressed, "{path}");
            assert_eq!(header(&other, "content-encoding"), "");
        }
        assert!(!plan(&Method::GET, "/a/b.txt", &[gzip], Some(100)).is_compressed);
        for (field, tag, status) in [
            ("if-none-match", "\"v=7-gzip\"", 304),
            ("if-none-match", "\"v=7\"", 304),
            ("if-none-match", "\"v=6-gzip\"", 200),
            ("if-match", "\"v=7-gzip\"", 200),
            ("if-match", "\"v=6-gzip\"", 412),
        ] {
            let known = of("/a/b.txt", &[gzip, (field, tag)]);
            assert_eq!(known.status.as_u16(), status, "{field}: {tag}");
        }
        let part = of("/a/b.txt", &[gzip, ("range", "bytes=5-9"), ("if-match", "\"v=7-gzip\"")]);
        assert_eq!(part.status.as_u16(), 412, "bytes of the two forms do not mix");
    }

    #[test]
    fn a_range_is_of_as_few_segments_as_it_can_be() {
        for (range, bytes, segments) in [
            ("bytes=0-0", "0-0", 0..1),
            ("bytes=999-1000", "999-1000", 0..2),
            ("bytes=1000-1999", "1000-1999", 1..2),
            ("bytes=3500-", "3500-10499", 3..11),
            ("bytes=-1", "10499-10499", 10..11),
            ("bytes=-501", "9999-10499", 9..11),
        ] {
            let plan = get(&[("range", range)]);
            assert_eq!(plan.status.as_u16(), 206);
            assert_eq!(header(&plan, "content-range"), format!("bytes {bytes}/10500"));
            assert_eq!(plan.runs(), Some(vec![segments.clone()]), "{range}");
            let body = plan.body.as_ref().and_then(Parts::body_len).unwrap();
            assert_eq!(header(&plan, "content-length"), body.to_string());
            let rest = plan.rest(0);
            assert_eq!(rest.bytes, segments.start * 1000);
            let there = (0..11).filter(|n| !rest.segments.contains(n)).collect::<Vec<_>>();
            assert_eq!(there, segments.collect::<Vec<_>>(), "{range}");
        }
    }

    #[test]
    fn several_ranges_are_parts_of_one_answer() {
        let plan = get(&[("range", "bytes=0-9,2500-2599,-10")]);
        assert_eq!((plan.status.as_u16(), &*header(&plan, "content-range")), (206, ""));
        assert!(header(&plan, "content-type").starts_with("multipart/byteranges; boundary="));
        let parts = plan.body.clone().unwrap();
        let bytes: Vec<_> = parts.all().iter().map(|part| part.bytes.clone()).collect();
        assert_eq!(bytes, [0..10, 2500..2600, 10_490..10_500]);
        assert!(parts.all()[0].head.contains("Content-Type: video/webm\r\n"));
        assert_eq!(header(&plan, "content-length"), parts.body_len().unwrap().to_string());
        assert_eq!(plan.runs(), Some(vec![0..1, 2..3, 10..11]));
        let rest = plan.rest(1);
        assert_eq!((rest.bytes, rest.segments.contains(&2)), (2000, false));
        assert!(rest.segments.contains(&1) && rest.segments.contains(&3));
        // The other two lie beyond, and one is left.
        let one = get(&[("range", "bytes=5-6,10500-,20000-")]);
        assert_eq!(header(&one, "content-range"), "bytes 5-6/10500");
        assert_eq!(get(&[("range", "bytes=10500-,20000-")]).status.as_u16(), 416);
    }

    #[test]
    fn versions_that_are_times_are_those_of_a_change() {
        let of = |version: u64| {
            let name: Name = format!("/a/v={version}").parse().unwrap();
            modified(&name).map(|time| time.duration_since(UNIX_EPOCH).unwrap().as_secs())
        };
        assert_eq!(of(1_795_181_079_307), Some(1_795_181_079));
        assert_eq!(of(1_795_181_079_307_000), Some(1_795_181_079));
        for number in [0, 7, 1_795_181_079, 99_999_999_999_999, u64::MAX] {
            assert_eq!(of(number), None, "{number}");
        }
        let info = ObjectInfo { name: "/a/b/v=784111777000".parse().unwrap(), ..info(Some(5)) };
        let ask = |fields: &HeaderMap| {
            let uri = Uri::from_static("/a/b");
            let ask =
                Ask::read(&Method::GET, &uri, fields, served(&["/a".parse().unwrap()])).unwrap();
            Plan::new(&ask, &info)
        };
        assert_eq!(header(&ask(&HeaderMap::new()), "last-modified"), "", "before 2001");
    }

    #[test]
    fn content_unchanged_since_a_date_is_not_sent() {
        let info = ObjectInfo { name: "/a/b/v=1795181079307".parse().unwrap(), ..info(Some(5)) };
        let status = |field: HeaderName, date: &'static str| {
            let fields = HeaderMap::from_iter([(field, HeaderValue::from_static(date))]);
            let uri = Uri::from_static("/a/b");
            let ask =
                Ask::read(&Method::GET, &uri, &fields, served(&["/a".parse().unwrap()])).unwrap();
            let plan = Plan::new(&ask, &info);
            assert_eq!(header(&plan, "last-modified"), "Fri, 20 Nov 2026 13:24:39 GMT");
            plan.status.as_u16()
        };
        let (then, before) = ("Fri, 20 Nov 2026 13:24:39 GMT", "Fri, 20 Nov 2026 13:24:38 GMT");
        let (since, unless) =
            (hyper::header::IF_MODIFIED_SINCE, hyper::header::IF_UNMODIFIED_SINCE);
        assert_eq!((status(since.clone(), then), status(since, before)), (304, 200));
        assert_eq!((status(unless.clone(), then), status(unless, before)), (200, 412));
    }

    #[test]
    fn replies_without_a_body_cost_one_segment() {
        let tag = "\"v=7\"";
        let beyond = get(&[("range", "bytes=10500-")]);
        assert_eq!(beyond.status.as_u16(), 416);
        assert_eq!(header(&beyond, "content-range"), "bytes */10500");
        let known = get(&[("if-none-match", tag), ("range", "bytes=0-5")]);
        assert_eq!((known.status.as_u16(), header(&known, "etag")), (304, tag.to_owned()));
        let other = get(&[("if-match", "\"v=6\""), ("range", "bytes=0-5")]);
        assert_eq!(other.status.as_u16(), 412);
        let head = plan(&Method::HEAD, "/a/film.webm", &[("range", "bytes=5-6")], Some(10_500));
        assert_eq!((head.status.as_u16(), &*header(&head, "content-length")), (200, "10500"));
        for plan in [beyond, known, other, head] {
            assert_eq!((plan.body.clone(), plan.runs()), (None, Some(vec![0..1])));
        }
    }

    #[test]
    fn a_range_of_another_version_is_the_whole() {
        let fields = |tag| [("range", "bytes=5-6"), ("if-range", tag)];
        assert_eq!(get(&fields("\"v=7\"")).status.as_u16(), 206);
        assert_eq!(get(&fields("\"v=6\"")).status.as_u16(), 200);
        assert_eq!(get(&fields("W/\"v=7\"")).status.as_u16(), 200);
    }

    #[test]
    fn without_a_size_there_are_no_ranges() {
        let plan = plan(&Method::GET, "/a/film.webm/v=7", &[("range", "bytes=5-6")], None);
        assert_eq!((plan.status.as_u16(), &*header(&plan, "content-length")), (200, ""));
        assert_eq!(header(&plan, "accept-ranges"), "none");
        assert_eq!((plan.body.clone(), plan.runs()), (Some(Parts::one(0..u64::MAX)), None));
        assert_eq!(header(&plan, "cache-control"), "max-age=31536000, immutable");
    }

    #[test]
    fn an_unverified_size_is_stated_without_a_body_only() {
        let ask = |method| {
            let uri = Uri::from_static("/a/film.webm");
            Ask::read(method, &uri, &HeaderMap::new(), served(&["/a".parse().unwrap()])).unwrap()
        };
        // As of a head, before a whole segment has confirmed the size of segments.
        let info = ObjectInfo { segment_size: None, ..info(Some(10_500)) };
        let head = Plan::new(&ask(&Method::HEAD), &info);
        assert_eq!((&*header(&head, "content-length"), &head.body), ("10500", &None));
        let whole = Plan::new(&ask(&Method::GET), &info);
        assert_eq!((&*header(&whole, "content-length"), whole.sizes), ("", None));
        assert_eq!(whole.body, Some(Parts::one(0..u64::MAX)), "a forged size ends no body");
        let wrong = ObjectInfo { segment_size: Some(1000), segments: Some(3), ..info };
        assert_eq!(header(&Plan::new(&ask(&Method::HEAD), &wrong), "content-length"), "");
    }

    #[test]
    fn the_type_of_the_uploader_comes_before_that_of_the_name() {
        let uri = Uri::from_static("/a/film.webm");
        let read =
            Ask::read(&Method::GET, &uri, &HeaderMap::new(), served(&["/a".parse().unwrap()]));
        let media_type = Some("text/html".to_owned());
        let plan = Plan::new(&Ask { media_type, ..read.unwrap() }, &info(Some(10)));
        assert_eq!(header(&plan, "content-type"), "text/html");
        assert!(header(&plan, "content-security-policy").starts_with("sandbox;"));
        assert_eq!(header(&plan, "x-content-type-options"), "nosniff");
    }

    #[test]
    fn sizes_that_contradict_each_other_are_none() {
        let sizes = |size, segments| {
            Sizes::of(&ObjectInfo { size: Some(size), segments: Some(segments), ..info(None) })
        };
        assert_eq!(sizes(10_500, 11).map(|sizes| sizes.len_of(10)), Some(500));
        assert_eq!(sizes(0, 1).map(|sizes| sizes.len_of(0)), Some(0));
        for (size, segments) in [(10_500, 10), (10_500, 12), (u64::MAX, 1), (0, 2)] {
            assert_eq!(sizes(size, segments), None);
        }
        let empty = plan(&Method::GET, "/a/b", &[], Some(0));
        assert_eq!((empty.body.clone(), empty.runs()), (Some(Parts::one(0..0)), Some(vec![0..1])));
    }
}
