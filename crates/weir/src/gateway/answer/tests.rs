//! The bytes of a fetch that go into an answer.

use super::*;
use hyper::header::{HeaderMap, RANGE};
use hyper::{Method, Uri};
use weir::http::ask::Served;

/// An answer about an object of 3500 bytes in segments of 1000, and the receiver of its head.
fn answering(range: Option<&str>) -> (Answering, oneshot::Receiver<Outcome>) {
    let (mut sink, take) = asked(&Method::GET, range);
    sink.begin(&ObjectInfo {
        name: "/a/film.webm/v=7".parse().unwrap(),
        segments: Some(4),
        segment_size: Some(1000),
        size: Some(3500),
        root_digest: None,
    });
    (sink, take)
}

/// An answer without an object yet.
fn asked(method: &Method, range: Option<&str>) -> (Answering, oneshot::Receiver<Outcome>) {
    let mut headers = HeaderMap::new();
    range.map(|range| headers.insert(RANGE, range.parse().unwrap()));
    let uri = Uri::from_static("/a/film.webm");
    let served = Served { prefixes: &["/a".parse().unwrap()], mirrors: &[] };
    let ask = Ask::read(method, &uri, &headers, served).unwrap();
    let (give, take) = oneshot::channel();
    (Answering::new(ask, give).unwrap(), take)
}

fn segment(n: u8, bytes: usize) -> Vec<u8> {
    vec![n; bytes]
}

fn body(mut take: oneshot::Receiver<Outcome>) -> (u16, Vec<u8>, bool) {
    let Ok(Ok(head)) = take.try_recv() else { panic!("no head") };
    let (mut reader, mut all) = (head.body.unwrap(), Vec::new());
    loop {
        match reader.wait_next() {
            Some(Ok(bytes)) => all.extend_from_slice(&bytes),
            end => return (head.status.as_u16(), all, end.is_none()),
        }
    }
}

#[test]
fn of_the_segments_at_the_ends_of_a_range_only_its_bytes_are_given() {
    let (mut sink, mut take) = answering(Some("bytes=900-3099"));
    assert!(take.try_recv().is_err(), "nothing is answered before something was verified");
    for n in 0..3 {
        sink.write(n, n * 1000, &segment(n as u8, 1000));
    }
    assert!(sink.complete().is_err(), "a hundred bytes are missing");
    sink.write(3, 3000, &segment(3, 500));
    assert!(sink.complete().is_ok() && sink.take_failure().is_none());
    sink.end();
    let expected = [segment(0, 100), segment(1, 1000), segment(2, 1000), segment(3, 100)];
    assert_eq!(body(take), (206, expected.concat(), true));
}

#[test]
fn a_segment_of_another_length_is_not_given() {
    for (n, bytes) in [(0, 999), (0, 1001), (3, 1000), (3, 0)] {
        let (mut sink, mut take) = answering(None);
        sink.write(n, n * 1000, &segment(0, bytes));
        let error = sink.take_failure().unwrap().to_string();
        assert!(error.starts_with("/a/film.webm is not as long as its metadata say"), "{error}");
        assert!(take.try_recv().is_err(), "there is still time for a proper status");
    }
    let (mut sink, take) = answering(None);
    sink.write(0, 0, &segment(0, 1000));
    sink.write(1, 1000, &segment(1, 1));
    assert!(sink.take_failure().is_some());
    drop(sink);
    assert_eq!(body(take), (200, segment(0, 1000), false));
}

#[test]
fn the_store_knows_sizes_that_the_fetch_does_not() {
    let (mut sink, mut take) = asked(&Method::HEAD, None);
    let name: Name = "/a/film.webm/v=7".parse().unwrap();
    let (size, segment_size) = (3500, 1000);
    sink.stored = Some(Kept { name: name.clone(), size, segment_size, media_type: None });
    // As with a segment that comes before the packet that describes the version.
    let (segments, segment_size, size, root_digest) = (None, None, None, None);
    sink.begin(&ObjectInfo { name, segments, segment_size, size, root_digest });
    sink.write(0, 0, &segment(0, 1000));
    let Ok(Ok(head)) = take.try_recv() else { panic!("no head") };
    assert_eq!(head.headers.get("content-length").unwrap(), "3500");
    assert_eq!(head.headers.get("accept-ranges").unwrap(), "bytes");
}

/// As with a segment that comes before the packet that describes the version.
#[test]
fn the_fetch_of_a_range_ends_with_it_although_the_end_of_the_object_is_not_known() {
    let (mut sink, _take) = asked(&Method::GET, Some("bytes=100-1099,3000-3099"));
    let name: Name = "/a/film.webm/v=7".parse().unwrap();
    let (size, segment_size) = (3500, 1000);
    sink.stored = Some(Kept { name: name.clone(), size, segment_size, media_type: None });
    let (segments, segment_size, size, root_digest) = (None, None, None, None);
    let info = ObjectInfo { name, segments, segment_size, size, root_digest };
    sink.begin(&info);
    sink.write(0, 0, &segment(0, 1000));
    assert!(!sink.is_satisfied());
    sink.write(1, 1000, &segment(1, 1000));
    assert!(sink.is_satisfied() && sink.complete().is_err(), "the first of two runs");
    sink.run = 1;
    assert!(!sink.is_satisfied());
    sink.begin(&info);
    sink.write(3, 3000, &segment(3, 500));
    assert!(sink.is_satisfied() && sink.complete().is_ok() && sink.take_failure().is_none());
}

#[test]
fn a_forged_size_does_not_end_an_answer() {
    let (mut sink, take) = asked(&Method::GET, None);
    let name = "/a/film.webm/v=7".parse().unwrap();
    let (segments, segment_size, size, root_digest) = (Some(4), None, Some(1000), None);
    sink.begin(&ObjectInfo { name, segments, segment_size, size, root_digest });
    sink.write(0, 0, &segment(0, 1000));
    assert!(sink.take_failure().is_none() && !sink.is_satisfied());
    drop(sink);
    assert_eq!(body(take), (200, segment(0, 1000), false), "the answer is cut, not whole");
}

#[test]
fn a_client_that_is_gone_is_noticed_with_the_head_and_without() {
    let (mut sink, take) = answering(None);
    assert!(sink.take_failure().is_none());
    drop(take);
    assert_eq!(sink.take_failure().unwrap().to_string(), "the client disconnected");
    let (mut sink, take) = answering(None);
    sink.write(0, 0, &segment(0, 1000));
    assert!(sink.take_failure().is_none());
    drop(take);
    assert!(sink.take_failure().is_some());
}
