//! The state of a file at its origin, by its headers, and the version derived from them.

use hyper::header::{
    CONTENT_ENCODING, CONTENT_RANGE, ETAG, HeaderMap, HeaderName, IF_MODIFIED_SINCE, IF_NONE_MATCH,
    LAST_MODIFIED,
};
use sha2::{Digest as _, Sha256};
use std::ops::Range;
use std::time::UNIX_EPOCH;
use weir::http::ask::is_strong;

/// Versions above this are digests, not times; see `weir::http::plan`.
const DIGEST: u64 = 1 << 62;
/// See the Docker-Content-Digest header of the OCI distribution specification.
const DIGEST_OF_CONTENT: HeaderName = HeaderName::from_static("docker-content-digest");
/// Numbers that count as seconds since 1970: from 2001 to 2286.
const SECONDS: Range<u64> = 1_000_000_000..10_000_000_000;

/// The headers that change with the content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validators {
    etag: Option<String>,
    modified: Option<String>,
    /// The digest of the content, which an OCI registry sends with a blob or manifest.
    digest: Option<String>,
}

impl Validators {
    /// Those of an answer.
    pub fn of(headers: &HeaderMap) -> Validators {
        Validators {
            etag: text(headers, &ETAG),
            modified: text(headers, &LAST_MODIFIED),
            digest: text(headers, &DIGEST_OF_CONTENT),
        }
    }

    /// Equal validators are of equal content: a strong tag or a digest is among them. Weak tags and
    /// times do not prove that (RFC 9110, sections 8.8.1 and 8.8.2.2), so answers that have only
    /// these must not be combined (section 15.3.7.3).
    pub fn are_strong(&self) -> bool {
        self.digest.is_some() || self.etag.as_deref().is_some_and(is_strong)
    }

    /// True if both are of equal content, so that an answer with these may continue one with those.
    /// An equal strong tag suffices (RFC 9110, sections 8.8.3.2 and 15.3.7.3); hosts of one origin
    /// may have other times of a file's change.
    pub fn prove(&self, other: &Validators) -> bool {
        match (&self.digest, &other.digest) {
            (Some(one), Some(another)) => one == another,
            _ => self.strong_etag().is_some() && self.strong_etag() == other.strong_etag(),
        }
    }

    fn strong_etag(&self) -> Option<&str> {
        self.etag.as_deref().filter(|etag| is_strong(etag))
    }

    /// The headers of a request for an answer without content if nothing has changed. No header has
    /// the digest: HTTP has no condition for it.
    pub fn conditions(&self) -> Vec<(HeaderName, String)> {
        let etag = self.etag.clone().map(|etag| (IF_NONE_MATCH, etag));
        let modified = self.modified.clone().map(|modified| (IF_MODIFIED_SINCE, modified));
        etag.or(modified).into_iter().collect()
    }

    /// The version of a file of this size in segments of this size. Equal files of an origin have
    /// equal versions, whichever proxy publishes them. It grows with the time of the file's change,
    /// if the origin has that.
    pub fn version(&self, size: u64, segment_size: u64) -> u64 {
        let mut hash = Sha256::new();
        for text in [&self.etag, &self.modified, &self.digest] {
            let bytes = text.as_deref().unwrap_or_default().as_bytes();
            hash.update((bytes.len() as u64).to_be_bytes());
            hash.update(bytes);
        }
        hash.update(size.to_be_bytes());
        hash.update(segment_size.to_be_bytes());
        let digest = first(&hash.finalize());
        let time = self.modified.as_deref().and_then(|text| httpdate::parse_http_date(text).ok());
        let since = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        match since.map(|since| since.as_secs()).filter(|seconds| SECONDS.contains(seconds)) {
            Some(seconds) => seconds * 1_000_000 + digest % 1_000_000,
            None => digest >> 2 | DIGEST,
        }
    }

    /// The version, if another one is known: other content has another version, even if both were
    /// made within one second and their digests agree in the few digits that a time leaves.
    pub fn version_beside(&self, known: Option<u64>, size: u64, segment_size: u64) -> u64 {
        let version = self.version(size, segment_size);
        version + u64::from(known == Some(version))
    }
}

/// The version of content without strong validators: its digest.
pub struct ContentVersion(Sha256);

impl ContentVersion {
    /// The version of no content, in segments of this size.
    pub fn new(segment_size: u64) -> ContentVersion {
        let mut hash = Sha256::new();
        hash.update(segment_size.to_be_bytes());
        ContentVersion(hash)
    }

    /// Appends content.
    pub fn add(&mut self, content: &[u8]) {
        self.0.update(content);
    }

    /// The version.
    pub fn end(self) -> u64 {
        first(&self.0.finalize()) >> 2 | DIGEST
    }
}

/// The version of a document about an answer.
pub fn version_of_head(document: &[u8]) -> u64 {
    first(&Sha256::digest(document)) >> 2 | DIGEST
}

fn first(digest: &[u8]) -> u64 {
    digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The bytes of a file that an answer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The first one.
    pub first: u64,
    /// Their number, if the origin states it.
    pub len: Option<u64>,
    /// Bytes of the file, if the origin states it.
    pub size: Option<u64>,
}

impl Extent {
    /// Reads the headers of an answer with the status 200 or 206. `len` is its Content-Length, if
    /// any.
    ///
    /// # Errors
    /// They do not fit together, or the content is compressed. The text follows the origin's name.
    pub fn of(status: u16, headers: &HeaderMap, len: Option<u64>) -> Result<Extent, &'static str> {
        let mut codings = headers.get_all(CONTENT_ENCODING).iter();
        if codings.any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
            return Err("compresses what was requested uncompressed");
        }
        if status == 200 {
            return Ok(Extent { first: 0, len, size: len });
        }
        let (part, size) = content_range(headers)
            .ok_or("sends a part of a file without a complete Content-Range")?;
        let covered = part.end - part.start;
        if len.is_some_and(|len| len != covered) {
            return Err("sends a part whose length is not that of its Content-Range");
        }
        Ok(Extent { first: part.start, len: Some(covered), size: Some(size) })
    }
}

/// The bytes of a part and the size of the whole, if the origin states both.
fn content_range(headers: &HeaderMap) -> Option<(Range<u64>, u64)> {
    let text = headers.get(CONTENT_RANGE)?.to_str().ok()?.strip_prefix("bytes ")?;
    let (part, whole) = text.split_once('/')?;
    let (first, last) = part.split_once('-')?;
    let (first, last, whole): (u64, u64, u64) =
        (first.parse().ok()?, last.parse().ok()?, whole.parse().ok()?);
    (first <= last && last < whole).then_some((first..last + 1, whole))
}

/// The time for which an answer may be used, in seconds, if the origin limits it.
pub fn max_age(headers: &HeaderMap) -> Option<u64> {
    let fields = headers.get_all(hyper::header::CACHE_CONTROL).iter();
    let text = fields.filter_map(|field| field.to_str().ok()).map(str::to_ascii_lowercase);
    let text: Vec<String> = text.collect();
    let words = text.iter().flat_map(|text| text.split(',')).map(str::trim);
    let ages = words.filter_map(|word| match word.split_once('=') {
        Some(("max-age" | "s-maxage", age)) => age.trim_matches('"').parse().ok(),
        None if matches!(word, "no-store" | "no-cache" | "private") => Some(0),
        _ => None,
    });
    ages.min()
}

/// The text of a field; `None` if it is not there, is empty, or is no text.
fn text(headers: &HeaderMap, field: &HeaderName) -> Option<String> {
    let text = headers.get(field)?.to_str().ok()?;
    if text.is_empty() {
        return None;
    }
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    fn headers(fields: &[(&'static str, &'static str)]) -> HeaderMap {
        let read = |(field, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(field), HeaderValue::from_static(value))
        };
        fields.iter().map(read).collect()
    }

    fn version(fields: &[(&'static str, &'static str)], size: u64) -> u64 {
        Validators::of(&headers(fields)).version(size, 8000)
    }

    #[test]
    fn equal_validators_are_equal_versions_and_later_files_have_greater_ones() {
        let (old, new) = ("Fri, 20 Nov 2026 13:24:39 GMT", "Fri, 20 Nov 2026 13:24:40 GMT");
        let one = version(&[("etag", "\"a\""), ("last-modified", old)], 5);
        assert_eq!(one, version(&[("last-modified", old), ("etag", "\"a\"")], 5));
        assert_eq!(one / 1_000_000, 1_795_181_079);
        assert_ne!(one, version(&[("etag", "\"b\""), ("last-modified", old)], 5));
        assert_ne!(one, version(&[("etag", "\"a\""), ("last-modified", old)], 6));
        assert!(one < version(&[("etag", "\"a\""), ("last-modified", new)], 5));
        assert!(version(&[("etag", "\"a\"")], 5) >= DIGEST);
        let beside = |known| Validators::of(&headers(&[])).version_beside(known, 5, 8000);
        let own = version(&[], 5);
        assert_eq!([None, Some(own + 1), Some(own)].map(beside), [own, own, own + 1]);
        assert!(version(&[("last-modified", "yesterday")], 5) >= DIGEST);
        let version_of = |pieces: &[&[u8]]| {
            let mut version = ContentVersion::new(8000);
            pieces.iter().for_each(|piece| version.add(piece));
            version.end()
        };
        assert_ne!(version_of(&[b"a"]), version_of(&[b"b"]));
        assert_eq!(version_of(&[b"ab", b"c"]), version_of(&[b"a", b"bc"]));
    }

    #[test]
    fn only_strong_tags_and_digests_prove_that_content_is_equal() {
        let are_strong = |fields: &[_]| Validators::of(&headers(fields)).are_strong();
        assert!(are_strong(&[("etag", "\"a\"")]));
        assert!(are_strong(&[("docker-content-digest", "sha256:aa"), ("etag", "W/\"a\"")]));
        let date = ("last-modified", "Fri, 20 Nov 2026 13:24:39 GMT");
        // Unquoted text is no tag (RFC 9110, section 8.8.3).
        for weak in ["W/\"a\"", "", "a", "\"", "\"a", "w/\"a\""] {
            assert!(!are_strong(&[("etag", weak), date]), "{weak}");
        }
        assert!(!are_strong(&[date]) && !are_strong(&[]));
    }

    #[test]
    fn an_equal_strong_tag_or_digest_proves_equal_content() {
        let one = [("etag", "\"a\""), ("last-modified", "Fri, 20 Nov 2026 13:24:39 GMT")];
        let digest = ("docker-content-digest", "sha256:aa");
        let proves = |one: &[_], another: &[_]| {
            Validators::of(&headers(one)).prove(&Validators::of(&headers(another)))
        };
        assert!(proves(&one, &one) && proves(&one, &one[..1]) && proves(&[digest], &[digest]));
        assert!(proves(&[digest, ("etag", "\"a\"")], &[digest, ("etag", "\"b\"")]));
        assert!(!proves(&one, &one[1..]) && !proves(&one, &[("etag", "\"b\""), one[1]]));
        assert!(!proves(&[("etag", "W/\"a\"")], &[("etag", "W/\"a\"")]));
        assert!(!proves(&[digest], &one) && !proves(&[], &[]));
        let other = ("docker-content-digest", "sha256:ab");
        assert!(!proves(&[one[0], digest], &[one[0], other]));
    }

    #[test]
    fn a_digest_distinguishes_versions_but_is_no_condition() {
        let digest = [("docker-content-digest", "sha256:aa")];
        let only = Validators::of(&headers(&digest));
        assert!(only.are_strong() && only.conditions().is_empty());
        assert!(version(&digest, 5) >= DIGEST);
        assert_ne!(version(&digest, 5), version(&[("docker-content-digest", "sha256:ab")], 5));
        assert_ne!(version(&digest, 5), version(&[("etag", "sha256:aa")], 5));
        let tagged = Validators::of(&headers(&[digest[0], ("etag", "\"a\"")]));
        assert_eq!(tagged.conditions(), [(IF_NONE_MATCH, "\"a\"".to_owned())]);
    }

    #[test]
    fn a_part_is_read_if_it_makes_sense() {
        let range = |text| content_range(&headers(&[("content-range", text)]));
        assert_eq!(range("bytes 5-9/100"), Some((5..10, 100)));
        for wrong in ["bytes 5-9/*", "bytes 9-5/100", "bytes 5-100/100", "bytes */100", "5-9/100"] {
            assert_eq!(range(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_answer_that_contradicts_itself_has_no_bytes_of_a_file() {
        let part = ("content-range", "bytes 5-9/100");
        let extent = |status, fields: &[_], len| Extent::of(status, &headers(fields), len);
        let found = |first, len, size| Ok(Extent { first, len, size });
        assert_eq!(extent(206, &[part], Some(5)), found(5, Some(5), Some(100)));
        assert_eq!(extent(206, &[part], None), found(5, Some(5), Some(100)));
        assert_eq!(extent(200, &[part], Some(7)), found(0, Some(7), Some(7)));
        assert_eq!(extent(200, &[("content-encoding", "Identity")], None), found(0, None, None));
        for (status, fields, len) in [
            (206, &[part][..], Some(6)),
            (206, &[], Some(5)),
            (206, &[part, ("content-encoding", "gzip")], Some(5)),
            (200, &[("content-encoding", "gzip")], Some(5)),
        ] {
            assert!(extent(status, fields, len).is_err(), "{status} {fields:?} {len:?}");
        }
    }

    #[test]
    fn the_strictest_limit_of_an_age_counts() {
        let age = |text| max_age(&headers(&[("cache-control", text)]));
        assert_eq!(age("public, max-age=60"), Some(60));
        assert_eq!(age("Max-Age=60, no-cache"), Some(0));
        assert_eq!((age("public"), age("max-age=x")), (None, None));
        let lines = [("cache-control", "public, max-age=60"), ("cache-control", "no-cache")];
        let all = lines.map(|(field, value)| {
            (HeaderName::from_static(field), HeaderValue::from_static(value))
        });
        let mut both = HeaderMap::new();
        all.into_iter().for_each(|(field, value)| _ = both.append(field, value));
        assert_eq!(max_age(&both), Some(0));
    }
}
