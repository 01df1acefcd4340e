//! The error answers of an S3 server, and requests without an answer.

use crate::fault::Cause;
use std::fmt;
use std::io::{self, Read};
use ureq::Body;
use ureq::http::Response;

/// Bytes of an answer that may explain a failure.
const MOST_BYTES: u64 = 64 << 10;
/// The maximum number of characters that a message repeats from an answer.
const MOST_CHARACTERS: usize = 200;

/// The failure of one attempt of a request.
#[derive(Debug)]
pub struct Failure {
    cause: Cause,
    text: String,
    is_passing: bool,
}

impl Failure {
    /// A failure that lasts.
    pub fn new(cause: Cause, text: String) -> Failure {
        Failure { cause, text, is_passing: false }
    }

    fn passing(cause: Cause, text: String) -> Failure {
        Failure { cause, text, is_passing: true }
    }

    /// The kind.
    pub fn cause(&self) -> Cause {
        self.cause
    }

    /// True if another attempt may succeed.
    pub fn is_passing(&self) -> bool {
        self.is_passing
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The failure of a request without an answer.
pub fn lost(error: &ureq::Error) -> Failure {
    match error {
        ureq::Error::Timeout(_) => {
            Failure::passing(Cause::Slow, "the server does not answer in time".to_owned())
        }
        error => {
            Failure::passing(Cause::Unreachable, format!("the server does not answer: {error}"))
        }
    }
}

/// The failure of an answer that ends early.
pub fn cut_off(error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::TimedOut => {
            Failure::passing(Cause::Slow, "the answer does not go on".to_owned())
        }
        _ => Failure::passing(Cause::Unreachable, format!("the answer ends early: {error}")),
    }
}

/// The failure of a body shorter than announced.
pub fn short(found: u64, announced: u64) -> Failure {
    let text = format!("the answer ends early, after {found} of {announced} bytes");
    Failure::passing(Cause::Unreachable, text)
}

/// The failure of an error answer.
pub fn refused(response: Response<Body>) -> Failure {
    let status = response.status().as_u16();
    let mut body = Vec::new();
    let read = response.into_body().into_reader().take(MOST_BYTES).read_to_end(&mut body);
    if let Err(error) = read {
        return cut_off(&error);
    }
    let body = String::from_utf8_lossy(&body);
    of_status(status, element(&body, "Code"), element(&body, "Message"))
}

/// The failure of an answer whose status alone is a success.
pub fn refused_late(body: &[u8]) -> Failure {
    let body = String::from_utf8_lossy(body);
    of_status(500, element(&body, "Code"), element(&body, "Message"))
}

fn of_status(status: u16, code: Option<&str>, message: Option<&str>) -> Failure {
    let mut text = format!("the server answers {status}");
    if let Some(code) = code {
        text = format!("{text} {}", clean(code));
    }
    if let Some(message) = message.filter(|message| !message.is_empty()) {
        text = format!("{text}: {}", clean(message));
    }
    let cause = match (status, code) {
        (_, Some("NoSuchBucket" | "InvalidBucketName")) => Cause::NoBucket,
        (_, Some("QuotaExceeded" | "XMinioStorageFull" | "InsufficientCapacity")) => Cause::Full,
        (_, Some("NoSuchKey" | "NoSuchUpload")) => Cause::Absent,
        // Some servers answer unknown keys with 404, and a code of their own.
        (_, Some("InvalidAccessKeyId" | "XAdminUserNotFound")) => Cause::Rejected,
        (401 | 403, _) => Cause::Rejected,
        (412, _) => Cause::Condition,
        (507, _) => Cause::Full,
        (501, _) => Cause::Unsupported,
        (408 | 409 | 425 | 429 | 500..=599, _) => return Failure::passing(Cause::Busy, text),
        // The bucket is in another region, or the endpoint is another server.
        (300..=399, _) => Cause::Settings,
        _ => Cause::Unsupported,
    };
    Failure::new(cause, text)
}

/// The text of an element of XML.
fn element<'a>(body: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = body.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(text, _)| text)
}

/// Text of the server for a terminal.
fn clean(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_control()).take(MOST_CHARACTERS).collect();
    text.trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_have_causes() {
        for (status, code, cause, is_passing) in [
            (404, Some("NoSuchBucket"), Cause::NoBucket, false),
            (400, Some("InvalidBucketName"), Cause::NoBucket, false),
            (404, Some("NoSuchKey"), Cause::Absent, false),
            (404, None, Cause::Unsupported, false),
            (404, Some("XAdminUserNotFound"), Cause::Rejected, false),
            (403, Some("SignatureDoesNotMatch"), Cause::Rejected, false),
            (412, None, Cause::Condition, false),
            (409, Some("ConditionalRequestConflict"), Cause::Busy, true),
            (503, Some("SlowDown"), Cause::Busy, true),
            (500, Some("QuotaExceeded"), Cause::Full, false),
            (507, None, Cause::Full, false),
            (501, None, Cause::Unsupported, false),
            (301, Some("PermanentRedirect"), Cause::Settings, false),
        ] {
            let failure = of_status(status, code, Some("why."));
            assert_eq!((failure.cause(), failure.is_passing()), (cause, is_passing), "{status}");
        }
        let failure = of_status(503, Some("SlowDown"), Some("Reduce\x1b[1m your rate."));
        assert_eq!(failure.to_string(), "the server answers 503 SlowDown: Reduce[1m your rate");
    }

    #[test]
    fn elements_are_found_in_errors() {
        let body = "<Error><Code>NoSuchKey</Code><Message></Message></Error>";
        assert_eq!(element(body, "Code"), Some("NoSuchKey"));
        assert_eq!(element(body, "Message"), Some(""));
        assert_eq!(element(body, "Key"), None);
    }
}
