//! Requests of HTTP clients to the gateway: whatever their target and headers, the guard lets no
//! page of a foreign origin and no foreign host pass, no name of a host's own programs is served,
//! and an answer's planned length, range and segments fit each other.
//!
//! The input's first bytes choose the object's size and segment size; the rest is a request's head.
#![no_main]

use hyper::header::{CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::{Method, Uri, Version};
use libfuzzer_sys::fuzz_target;
use packet::Name;
use router::guard::{Guard, Head, Rejection};
use std::net::{IpAddr, Ipv4Addr};
use transport::fetch::ObjectInfo;
use weir::http::ask::{Ask, Served, is_scoped};
use weir::http::plan::Plan;

const FOREIGN: &str = "https://evil.example";

struct Request {
    method: Method,
    uri: Uri,
    version: Version,
    headers: HeaderMap,
}

/// Reads a head as a server does.
fn request(input: &[u8]) -> Option<Request> {
    let mut fields = [httparse::EMPTY_HEADER; 32];
    let mut head = httparse::Request::new(&mut fields);
    if !head.parse(input).ok()?.is_complete() {
        return None;
    }
    let mut headers = HeaderMap::new();
    for field in head.headers.iter() {
        let name = HeaderName::from_bytes(field.name.as_bytes()).ok()?;
        headers.append(name, HeaderValue::from_bytes(field.value).ok()?);
    }
    Some(Request {
        method: head.method?.parse().ok()?,
        uri: head.path?.parse().ok()?,
        version: if head.version? == 0 { Version::HTTP_10 } else { Version::HTTP_11 },
        headers,
    })
}

fn name(uri: &str) -> Name {
    uri.parse().expect("a name")
}

thread_local! {
    static GUARD: Guard = Guard::new(
        &["media.example".to_owned()],
        &["https://player.example".to_owned()],
    )
    .expect("names and origins");
}

fuzz_target!(|input: &[u8]| {
    let Some(([size, segment, known], input)) = input.split_first_chunk() else { return };
    let Some(request) = request(input) else { return };
    let Request { method, uri, version, headers } = &request;
    let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let head = Head { method, uri, version: *version, headers, local };
    match GUARD.with(|guard| guard.admit(&head)) {
        Err(rejection) => check_rejection(&rejection),
        Ok(shown_to) => {
            let is = |field, value: &str| headers.get_all(field).iter().any(|found| found == value);
            assert!(!is(ORIGIN, FOREIGN), "a page of {FOREIGN} may ask");
            assert!(uri.authority().is_some() || !is(HOST, "evil.example"));
            assert!(shown_to.is_none_or(|origin| origin == "https://player.example"));
        }
    }
    let prefixes = [name("/example"), name("/localhost/nfd")];
    let mirrors = ["/m=/example/m".parse().expect("a mirror")];
    match Ask::read(method, uri, headers, Served { prefixes: &prefixes, mirrors: &mirrors }) {
        Err(rejection) => check_rejection(&rejection),
        Ok(ask) => {
            assert!(!is_scoped(&ask.name) && ask.name.as_ref().starts_with(prefixes[0].as_ref()));
            answer(&ask, u64::from(*size) << (known >> 3), u64::from(*segment), *known);
        }
    }
});

fn check_rejection(rejection: &Rejection) {
    assert!(rejection.status.is_client_error() && !rejection.text.is_empty());
}

/// Of the object's sizes what `known` says is known; its lowest bit says whether it fits.
fn answer(ask: &Ask, size: u64, segment: u64, known: u8) {
    let segments = size.div_ceil(segment.max(1)).max(1) + u64::from(known & 1);
    let info = ObjectInfo {
        name: ask.name.clone(),
        segments: Some(segments),
        segment_size: (known & 2 == 0).then_some(segment),
        size: (known & 4 == 0).then_some(size),
        root_digest: None,
    };
    let plan = Plan::new(ask, &info);
    assert!(!ask.is_head || plan.body.is_none());
    let stated = plan.headers.get(CONTENT_LENGTH).map(|value| value.to_str().expect("digits"));
    if let (Some(body), Some(stated)) = (&plan.body, stated) {
        assert_eq!(stated.parse().ok(), body.body_len());
        assert!(!plan.is_compressed);
        let mut before = 0;
        for part in body.all() {
            assert!(before <= part.bytes.start && part.bytes.end <= size);
            before = part.bytes.end;
        }
    }
    let Some((runs, sizes)) = plan.runs().zip(plan.sizes) else { return };
    for (at, wanted) in runs.iter().enumerate() {
        assert!(wanted.start < wanted.end && wanted.end <= sizes.segments);
        assert!(at == 0 || runs[at - 1].end < wanted.start);
        let rest = plan.rest(at).segments;
        assert!(!rest.overlaps(wanted));
        let others: u64 = rest.iter().map(|run| run.end - run.start).sum();
        assert_eq!(others + (wanted.end - wanted.start), sizes.segments);
    }
}
