//! Where a store is.

use std::fmt;
use std::path::{Path, PathBuf};

/// The beginning of the address of a bucket.
const SCHEME: &str = "s3://";

/// Where a store is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// In a folder of this host.
    Folder(PathBuf),
    /// In a bucket of an S3 server.
    Bucket(BucketAddress),
}

/// A bucket, and the prefix of the store's objects in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BucketAddress {
    bucket: String,
    prefix: String,
}

impl BucketAddress {
    /// The address after `s3://`; `None` if it has no bucket, or is malformed.
    fn parse(text: &str) -> Option<BucketAddress> {
        let (bucket, prefix) = text.split_once('/').unwrap_or((text, ""));
        let prefix = prefix.trim_end_matches('/');
        let is_wrong = bucket.is_empty()
            || bucket.contains(|c: char| c.is_control() || c.is_whitespace())
            || prefix.contains(|c: char| c.is_control())
            || (!prefix.is_empty()
                && prefix.split('/').any(|part| matches!(part, "" | "." | "..")));
        let (bucket, prefix) = (bucket.to_owned(), prefix.to_owned());
        (!is_wrong).then_some(BucketAddress { bucket, prefix })
    }

    /// The name of the bucket.
    #[must_use]
    pub fn bucket(&self) -> &str {
        &self.bucket
    }

    /// The key of an object of the store.
    #[must_use]
    pub fn key(&self, name: &str) -> String {
        match self.prefix.as_str() {
            "" => name.to_owned(),
            prefix => format!("{prefix}/{name}"),
        }
    }
}

impl fmt::Display for BucketAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}", self.bucket)?;
        if self.prefix.is_empty() { Ok(()) } else { write!(f, "/{}", self.prefix) }
    }
}

impl Address {
    /// The address in the words of a command: a path, or `s3://BUCKET/PREFIX`. `None` if it begins
    /// like the latter, with `s3:`, and names no bucket; a folder of such a name is `./s3:…`.
    #[must_use]
    pub fn of(text: &Path) -> Option<Address> {
        match text.to_str().filter(|text| text.starts_with("s3:")) {
            Some(text) => {
                text.strip_prefix(SCHEME).and_then(BucketAddress::parse).map(Address::Bucket)
            }
            None => Some(Address::Folder(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Address> {
        Address::of(Path::new(text))
    }

    #[test]
    fn buckets_and_folders_differ() {
        assert_eq!(of("kept"), Some(Address::Folder("kept".into())));
        assert_eq!(of("./s3://a"), Some(Address::Folder("./s3://a".into())));
        for (text, shown, key) in [
            ("s3://media", "s3://media", "store"),
            ("s3://media/", "s3://media", "store"),
            ("s3://media/a/b/", "s3://media/a/b", "a/b/store"),
        ] {
            let Some(Address::Bucket(bucket)) = of(text) else { panic!("{text}") };
            assert_eq!(bucket.to_string(), shown);
            assert_eq!((bucket.bucket(), bucket.key("store").as_str()), ("media", key));
        }
        for bad in [
            "s3://",
            "s3:///a",
            "s3:a",
            "s3:/a",
            "s3://a b",
            "s3://a//b",
            "s3://a/../b",
            "s3://a/b\n",
        ] {
            assert_eq!(of(bad), None, "{bad}");
        }
    }
}
