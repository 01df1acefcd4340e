//! The failures of requests to a bucket.

use std::fmt;

/// A failed request to a bucket, after all attempts.
#[derive(Clone, Debug)]
pub struct BucketError {
    action: &'static str,
    object: String,
    cause: Cause,
    text: String,
}

/// The kind of a failure, by which the user chooses the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The object does not exist.
    Absent,
    /// The bucket does not exist.
    NoBucket,
    /// The server does not accept the credentials, or they do not permit the request.
    Rejected,
    /// The condition of the request is not true.
    Condition,
    /// The server has no room.
    Full,
    /// The server reports a fault of its own, or too many requests.
    Busy,
    /// The server does not answer, or ends the connection.
    Unreachable,
    /// The server answers too slowly.
    Slow,
    /// The server does not support the request, or answers in another way than S3 servers do.
    Unsupported,
    /// The settings of this program are incomplete or wrong.
    Settings,
    /// The request is not wanted any more.
    Interrupted,
    /// The object has other bytes than were written.
    Damaged,
}

impl BucketError {
    /// A failure of an action on an object: `read`, `write`, `list` or `remove`.
    #[cfg(feature = "s3")]
    pub(crate) fn new(action: &'static str, object: String, cause: Cause, text: String) -> Self {
        BucketError { action, object, cause, text }
    }

    /// The failure of an interrupted upload.
    #[cfg(feature = "s3")]
    pub(crate) fn interrupted(object: String) -> Self {
        BucketError::new("write", object, Cause::Interrupted, "interrupted".to_owned())
    }

    /// The kind.
    #[must_use]
    pub fn cause(&self) -> Cause {
        self.cause
    }
}

impl fmt::Display for BucketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {} {}: {}", self.action, self.object, self.text)
    }
}

impl std::error::Error for BucketError {}
