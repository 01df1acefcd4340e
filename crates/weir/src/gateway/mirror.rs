//! Files of HTTP origins: the path of a request is a name below a mirror, and a document below that
//! name has the status and headers of the origin's answer.

use crate::consumer::{self, Keep, Watch};
use crate::exit::{Failure, Kind};
use crate::gateway::context::Gateway;
use crate::gateway::folder::filled;
use crate::gateway::head::{Head, Outcome};
use crate::gateway::log::Answered;
use crate::gateway::status::status;
use crate::output::Progress;
use crate::signals::Stop;
use control::Size;
use hyper::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use net::client::Connection;
use packet::Component;
use router::guard::Rejection;
use transport::fetch::{FetchError, ObjectInfo, Resume, Sink, Status};
use weir::http::ask::Ask;
use weir::http::mirror::{Described, LONGEST_HEAD, head_name};
use weir::http::plan::confine;

/// The result of a request for a file of an origin.
pub enum Found {
    /// A version of the file, as any request for content is for one.
    Content(Box<Ask>),
    /// The answer: the origin has an error instead.
    Answer(Outcome),
}

/// Finds the version of the file, unless the request is not for a file of an origin.
pub fn find(gateway: &Gateway, mut ask: Ask, answered: &mut Answered, stop: &Stop) -> Found {
    if !ask.is_mirrored {
        return Found::Content(Box::new(ask));
    }
    match describe(gateway, &ask, stop) {
        Ok(described) => match described.version {
            Some(version) => {
                ask.name = ask.name.with(&Component::version(version));
                ask.described = Some(described);
                Found::Content(Box::new(ask))
            }
            None => {
                let outcome = error(&ask, &described);
                answered.status = described.status;
                answered.fail("the origin answers with an error");
                Found::Answer(outcome)
            }
        },
        Err(rejection) => {
            answered.status = rejection.status.as_u16();
            answered.fail(&rejection.text);
            Found::Answer(Err(rejection))
        }
    }
}

/// The answer of the origin without its content.
fn describe(gateway: &Gateway, ask: &Ask, stop: &Stop) -> Result<Described, Rejection> {
    let mut connection =
        Connection::open(gateway.address.clone()).map_err(|error| bad(&error.into()))?;
    let mut config =
        gateway.transfers.config(head_name(&ask.name)).map_err(|failure| bad(&failure))?;
    config.in_order = true;
    let mut fetch = gateway.transfers.fetch(config).map_err(|failure| bad(&failure))?;
    let progress = Progress::new("", true);
    let (verbose, resumes, absence, rate) = (false, false, None, None);
    let watch = Watch { progress: &progress, stop, verbose, resumes, absence, rate };
    let mut document = Document::default();
    let done = consumer::drive(&mut connection, &mut fetch, &mut document, &watch, &mut None);
    done.map_err(|failure| {
        let status = match fetch.status() {
            // A proxy answers for files that do not exist, too.
            Status::Failed(FetchError::NotFound { .. }) => hyper::StatusCode::GATEWAY_TIMEOUT,
            _ => status(&fetch),
        };
        Rejection::new(status, failure.to_string())
    })?;
    Described::read(&document.bytes).map_err(|why| {
        let what = format!("the document about {} cannot be read: {why}", ask.name);
        bad(&Failure::new(Kind::Failed, what))
    })
}

fn bad(failure: &Failure) -> Rejection {
    Rejection::new(hyper::StatusCode::BAD_GATEWAY, failure.to_string())
}

/// An error of the origin, as it is.
fn error(ask: &Ask, described: &Described) -> Outcome {
    let (mut headers, body) = (described.headers(), described.body());
    let media_type = headers.get(CONTENT_TYPE).and_then(|text| text.to_str().ok());
    let media_type = media_type.unwrap_or("text/plain").to_owned();
    confine(&mut headers, &media_type);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(CONTENT_LENGTH, body.len().into());
    let body = (!ask.is_head).then(|| filled(&body)).transpose()?;
    Ok(Head { status: described.status(), headers, body })
}

/// Receives a document.
#[derive(Default)]
struct Document {
    bytes: Vec<u8>,
    failure: Option<Failure>,
}

impl Sink for Document {
    fn begin(&mut self, _info: &ObjectInfo) -> Resume {
        self.bytes.clear();
        Resume::default()
    }

    fn write(&mut self, _segment: u64, _offset: u64, content: &[u8]) {
        if self.bytes.len() + content.len() > LONGEST_HEAD {
            let what = "the document about an answer of the origin is too long";
            self.failure = Some(Failure::new(Kind::Failed, what));
            return;
        }
        self.bytes.extend_from_slice(content);
    }
}

impl Keep for Document {
    fn room(&self) -> Option<Size> {
        Some(Size(LONGEST_HEAD as u64))
    }

    fn take_failure(&mut self) -> Option<Failure> {
        self.failure.take()
    }

    fn flush(&mut self) {}
}
