//! Requests to an S3 server: signed, limited in time, and repeated after passing failures.

use super::answer::{self, Failure};
use super::settings::Settings;
use crate::address::BucketAddress;
use crate::fault::{BucketError, Cause};
use rusty_s3::{Bucket, Credentials, Method, S3Action};
use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;
use ureq::config::Config;
use ureq::http::{Request, Response};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body, SendBody};
use url::Url;

/// A signed URL is valid for this long.
const VALID: Duration = Duration::from_secs(3600);
/// The pause after the first failure. Each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// The maximum number of bytes of an answer other than the content of an object.
const MOST_BYTES: u64 = 16 << 20;
/// The maximum number of idle connections.
const IDLE: usize = 16;

/// The bucket of a store on its server.
pub struct Client {
    address: BucketAddress,
    bucket: Bucket,
    credentials: Credentials,
    agent: Agent,
    attempts: u32,
}

/// The bytes that a request sends.
pub enum Sent<'a> {
    /// None.
    Nothing,
    /// These.
    Bytes(&'a [u8]),
    /// The bytes of a reader, which is made again for each attempt.
    Reader(&'a mut dyn Read),
}

/// A signed request.
pub struct Signed {
    method: Method,
    url: Url,
    headers: Vec<(&'static str, String)>,
}

impl Signed {
    /// Adds a header, which the signature need not cover.
    pub fn with(mut self, name: &'static str, value: String) -> Signed {
        self.headers.push((name, value));
        self
    }
}

impl Client {
    /// A client of a bucket.
    ///
    /// # Errors
    /// The settings are wrong.
    pub fn new(address: &BucketAddress, settings: Settings) -> Result<Client, Box<BucketError>> {
        let Settings { credentials, endpoint, style, region, attempts, timeout } = settings;
        let is_encrypted = endpoint.scheme() == "https";
        let bucket = Bucket::new(endpoint, style, address.bucket().to_owned(), region);
        let agent = agent(is_encrypted, timeout);
        let made =
            bucket.map_err(|error| error.to_string()).and_then(|bucket| Ok((bucket, agent?)));
        let (bucket, agent) = made.map_err(|why| {
            Box::new(BucketError::new("use", address.to_string(), Cause::Settings, why))
        })?;
        Ok(Client { address: address.clone(), bucket, credentials, agent, attempts })
    }

    /// The address of the store.
    pub fn address(&self) -> &BucketAddress {
        &self.address
    }

    /// The bucket, for the signature of a request.
    pub fn bucket(&self) -> &Bucket {
        &self.bucket
    }

    /// The keys that sign a request.
    pub fn credentials(&self) -> Option<&Credentials> {
        Some(&self.credentials)
    }

    /// The name of an object, for messages.
    pub fn title_of(&self, key: &str) -> String {
        format!("s3://{}/{key}", self.address.bucket())
    }

    /// Signs a request.
    pub fn sign<'a, A: S3Action<'a>>(&self, action: &A) -> Signed {
        Signed { method: A::METHOD, url: action.sign(VALID), headers: Vec::new() }
    }

    /// Performs an action that may fail for a time, in several attempts. `action` is its name for
    /// messages about the object `key`, in one word.
    ///
    /// # Errors
    /// The last failure.
    pub fn attempt<T>(
        &self,
        action: &'static str,
        key: &str,
        mut once: impl FnMut() -> Result<T, Failure>,
    ) -> Result<T, Box<BucketError>> {
        let mut attempt = 1;
        loop {
            let failure = match once() {
                Ok(done) => return Ok(done),
                Err(failure) => failure,
            };
            if failure.is_passing() && attempt < self.attempts {
                pause(attempt);
                attempt += 1;
                continue;
            }
            let text = match attempt {
                1 => failure.to_string(),
                count => format!("{failure}, at attempt {count} of {}", self.attempts),
            };
            let object = self.title_of(key);
            return Err(Box::new(BucketError::new(action, object, failure.cause(), text)));
        }
    }

    /// Sends a request, and returns a successful answer.
    ///
    /// # Errors
    /// The server does not answer, or answers with an error.
    pub fn send(&self, request: &Signed, sent: Sent<'_>) -> Result<Response<Body>, Failure> {
        let method = match request.method {
            Method::Head => "HEAD",
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Delete => "DELETE",
        };
        let mut builder = Request::builder().method(method).uri(request.url.as_str());
        for (name, value) in &request.headers {
            builder = builder.header(*name, value);
        }
        let body = match sent {
            Sent::Nothing => return self.run(builder.body(SendBody::none())),
            Sent::Bytes(bytes) => return self.run(builder.body(bytes)),
            Sent::Reader(reader) => SendBody::from_reader(reader),
        };
        self.run(builder.body(body))
    }

    fn run(
        &self,
        request: Result<Request<impl ureq::AsSendBody>, ureq::http::Error>,
    ) -> Result<Response<Body>, Failure> {
        let request = request.map_err(|error| Failure::new(Cause::Settings, error.to_string()))?;
        let response = self.agent.run(request).map_err(|error| answer::lost(&error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        Err(answer::refused(response))
    }

    /// The whole body of a short answer.
    ///
    /// # Errors
    /// It ends early, or is too long.
    pub fn text(&self, response: Response<Body>) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        let mut reader = response.into_body().into_reader().take(MOST_BYTES);
        reader.read_to_end(&mut bytes).map_err(|error| answer::cut_off(&error))?;
        Ok(bytes)
    }
}

/// Waits before the next attempt: half of the pause, and a random part of the other half, so that
/// many clients do not come back at once.
#[expect(clippy::disallowed_methods, reason = "requests have a thread of their own")]
fn pause(attempt: u32) {
    let doubled = 2u32.saturating_pow(attempt.saturating_sub(1));
    let whole = FIRST_PAUSE.saturating_mul(doubled).min(LONGEST_PAUSE);
    let random = getrandom::u32().unwrap_or(u32::MAX);
    std::thread::sleep(whole / 2 + (whole / 2).mul_f64(f64::from(random) / f64::from(u32::MAX)));
}

/// Sends requests. Each step of one has a limit of time.
fn agent(is_encrypted: bool, timeout: Duration) -> Result<Agent, String> {
    let step = Some(timeout);
    let builder = Config::builder()
        .max_idle_connections(IDLE)
        .max_idle_connections_per_host(IDLE)
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("weir/", env!("CARGO_PKG_VERSION")))
        .timeout_resolve(step)
        .timeout_connect(step)
        .timeout_recv_response(step)
        .timeout_per_read(step)
        .timeout_per_write(step);
    let builder = if is_encrypted { builder.tls_config(tls()?) } else { builder };
    Ok(builder.build().new_agent())
}

/// TLS with the authorities that this host trusts.
fn tls() -> Result<TlsConfig, String> {
    let found = rustls_native_certs::load_native_certs().certs;
    let roots: Vec<_> =
        found.iter().map(|root| Certificate::from_der(root.as_ref()).to_owned()).collect();
    if roots.is_empty() {
        let why = "this host has no certificates of authorities that it trusts";
        return Err(format!("{why}; install ca-certificates, or name them: SSL_CERT_FILE"));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&roots))
        .unversioned_rustls_crypto_provider(provider)
        .build())
}

/// The error of a read that a failure of the bucket has ended.
pub fn read_error(error: &BucketError) -> io::Error {
    let kind = match error.cause() {
        Cause::Absent => io::ErrorKind::NotFound,
        Cause::Damaged => io::ErrorKind::InvalidData,
        Cause::Slow => io::ErrorKind::TimedOut,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, error.to_string())
}
