//! The body of an answer: one part of the object, or several with a head each.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::Range;

/// A part of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The text before it.
    pub head: String,
    /// Its bytes in the object; without an end if the size is unknown.
    pub bytes: Range<u64>,
}

/// The parts of a body, in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    all: Vec<Part>,
    /// The text behind the last.
    tail: String,
}

impl Parts {
    /// These bytes alone.
    #[must_use]
    pub fn one(bytes: Range<u64>) -> Parts {
        Parts { all: vec![Part { head: String::new(), bytes }], tail: String::new() }
    }

    /// Several ranges of an object of this media type and size, as multipart/byteranges
    /// (RFC 9110, section 14.6), and the media type of the body.
    #[must_use]
    pub fn several(ranges: &[Range<u64>], media_type: &str, size: u64) -> (Parts, String) {
        let boundary = format!("{:016x}{:016x}", random(), random());
        let all = ranges.iter().map(|bytes| {
            let (first, last) = (bytes.start, bytes.end - 1);
            let head = format!(
                "\r\n--{boundary}\r\nContent-Type: {media_type}\r\n\
                 Content-Range: bytes {first}-{last}/{size}\r\n\r\n"
            );
            Part { head, bytes: bytes.clone() }
        });
        let all = all.collect();
        let tail = format!("\r\n--{boundary}--\r\n");
        (Parts { all, tail }, format!("multipart/byteranges; boundary={boundary}"))
    }

    /// The parts.
    #[must_use]
    pub fn all(&self) -> &[Part] {
        &self.all
    }

    /// The text behind the last part.
    #[must_use]
    pub fn tail(&self) -> &str {
        &self.tail
    }

    /// Bytes of the object; `None` if their number is unknown.
    #[must_use]
    pub fn content_len(&self) -> Option<u64> {
        self.all.iter().try_fold(0, |sum: u64, part| match part.bytes.end {
            u64::MAX => None,
            _ => sum.checked_add(len(&part.bytes)),
        })
    }

    /// Bytes of the body; `None` if their number is unknown, or larger than all numbers.
    #[must_use]
    pub fn body_len(&self) -> Option<u64> {
        let texts: usize = self.all.iter().map(|part| part.head.len()).sum();
        self.content_len()?.checked_add((texts + self.tail.len()) as u64)
    }

    /// The runs of segments of this many bytes with these bytes, of `segments` in all.
    #[must_use]
    pub fn runs(&self, each: u64, segments: u64) -> Vec<Range<u64>> {
        let mut runs: Vec<Range<u64>> = Vec::with_capacity(self.all.len());
        for part in &self.all {
            let run = run(&part.bytes, each, segments);
            match runs.last_mut() {
                Some(last) if run.start <= last.end => last.end = last.end.max(run.end),
                _ => runs.push(run),
            }
        }
        runs
    }
}

/// The segments with these bytes; at least one.
#[must_use]
pub fn run(bytes: &Range<u64>, each: u64, segments: u64) -> Range<u64> {
    let (each, last) = (each.max(1), segments.saturating_sub(1));
    let first = (bytes.start / each).min(last);
    first..bytes.end.div_ceil(each).clamp(first + 1, segments.max(1))
}

/// A number for a boundary that no content contains, by accident or on purpose.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

fn len(bytes: &Range<u64>) -> u64 {
    bytes.end - bytes.start
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "a list of one range is meant")]
mod tests {
    use super::*;

    #[test]
    fn several_parts_are_separated_by_the_boundary_of_the_type() {
        let (parts, media_type) = Parts::several(&[0..5, 1000..2001], "text/plain", 5000);
        let boundary = media_type.strip_prefix("multipart/byteranges; boundary=").unwrap();
        let mut body = String::new();
        for part in parts.all() {
            body += &part.head;
            body += &"x".repeat((part.bytes.end - part.bytes.start) as usize);
        }
        body += parts.tail();
        assert_eq!(parts.body_len(), Some(body.len() as u64));
        assert_eq!(parts.content_len(), Some(5 + 1001));
        let between = format!("\r\n--{boundary}");
        let pieces: Vec<_> = body.split(&between).collect();
        let head = "\r\nContent-Type: text/plain\r\nContent-Range: bytes";
        assert_eq!(pieces[0], "");
        assert_eq!(pieces[1], format!("{head} 0-4/5000\r\n\r\nxxxxx"));
        assert!(pieces[2].starts_with(&format!("{head} 1000-2000/5000\r\n\r\nx")));
        assert_eq!(pieces[3..], ["--\r\n"]);
        let (_, other) = Parts::several(&[0..5, 1000..2001], "text/plain", 5000);
        assert_ne!(media_type, other);
    }

    #[test]
    fn parts_within_one_run_of_segments_are_fetched_together() {
        let (parts, _) = Parts::several(&[0..5, 500..900, 3500..3600, 9990..9999], "a/b", 10_000);
        assert_eq!(parts.runs(1000, 10), [0..1, 3..4, 9..10]);
        assert_eq!(parts.runs(4000, 3), [0..1, 2..3]);
        assert_eq!(parts.runs(3000, 4), [0..2, 3..4]);
        assert_eq!(Parts::one(0..u64::MAX).body_len(), None);
        let size = u64::MAX - 1;
        assert_eq!(Parts::several(&[0..1, 200..size], "text/plain", size).0.body_len(), None);
        assert_eq!(Parts::one(0..0).runs(1000, 1), [0..1]);
    }
}
