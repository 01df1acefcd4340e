//! Requests to origins: the places that they may go to, and their time.

use super::origin::{Origin, Site};
use super::patient::Patient;
use control::Duration;
use hyper::header::{ACCEPT, ACCEPT_ENCODING, HeaderMap, HeaderName, HeaderValue, LOCATION};
use hyper::{Response, Uri};
use rustls::CertificateError;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use ureq::config::Config;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Body};
use url::Url;

/// The forms of registries' manifests before all others: a registry answers with none that a client
/// does not name, and all consumers of a name receive the same bytes.
const ACCEPTED: &str = "application/vnd.oci.image.index.v1+json, \
    application/vnd.oci.image.manifest.v1+json, \
    application/vnd.docker.distribution.manifest.list.v2+json, \
    application/vnd.docker.distribution.manifest.v2+json, */*";
/// Redirects that are followed.
const REDIRECTS: usize = 5;

/// The status of [`OriginError::busy`], and of no other failure.
pub const BUSY: u16 = 503;

/// The limits that the user sets.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Hosts, with a port if not any, that redirects may lead to besides the origin.
    pub redirects: Vec<(String, Option<u16>)>,
    /// The maximum time of each step: connecting, the head of an answer, the next bytes.
    pub patience: Duration,
    /// Headers for the origin itself.
    pub headers: Vec<(HeaderName, HeaderValue)>,
}

/// An answer.
pub struct Reply {
    /// The status.
    pub status: u16,
    /// Its headers, and those of earlier redirects that it lacks.
    pub headers: HeaderMap,
    /// The number of bytes of its body, if the origin states it.
    pub len: Option<u64>,
    /// Its body.
    pub body: Patient,
}

/// The reason why an origin has no answer, with the HTTP status for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginError {
    /// 502, 503 or 504.
    pub status: u16,
    /// The reason, for people.
    pub text: String,
}

impl OriginError {
    /// A bad answer.
    pub fn bad(text: impl Into<String>) -> OriginError {
        OriginError { status: 502, text: text.into() }
    }

    /// The proxy has no room now.
    pub fn busy(text: impl Into<String>) -> OriginError {
        OriginError { status: BUSY, text: text.into() }
    }
}

/// Sends the requests for one origin.
pub struct Client {
    origin: Origin,
    limits: Limits,
    agent: Agent,
    /// Has a new connection for each request.
    fresh: Agent,
}

impl Client {
    /// For an origin.
    ///
    /// # Errors
    /// The origin is encrypted, and this host trusts no certificate.
    pub fn new(origin: Origin, limits: Limits) -> Result<Client, String> {
        let mut tls = TlsConfig::builder();
        if origin.site().is_encrypted() {
            let found = rustls_native_certs::load_native_certs();
            let roots: Vec<_> = found
                .certs
                .iter()
                .map(|root| Certificate::from_der(root.as_ref()).to_owned())
                .collect();
            if roots.is_empty() {
                let why = "this host has no certificates of authorities that it trusts";
                return Err(format!("{why}; install ca-certificates, or name them: SSL_CERT_FILE"));
            }
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            tls = tls
                .root_certs(RootCerts::new_with_certs(&roots))
                .unversioned_rustls_crypto_provider(provider);
        }
        let (tls, idle) = (tls.build(), Config::default().max_idle_connections());
        let fresh = agent(&origin, &limits, tls.clone(), 0);
        let agent = agent(&origin, &limits, tls, idle);
        Ok(Client { origin, limits, agent, fresh })
    }

    /// The origin.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Requests a file, and follows permitted redirects.
    ///
    /// # Errors
    /// The origin does not answer, or redirects elsewhere.
    pub fn get(&self, target: &str, fields: &[(HeaderName, String)]) -> Result<Reply, OriginError> {
        let mut address = self.origin.address(target).map_err(OriginError::bad)?;
        let mut passed = HeaderMap::new();
        for _ in 0..=REDIRECTS {
            let mut reply = self.ask(&address, fields)?;
            let location = match reply.status {
                301 | 302 | 303 | 307 | 308 => reply.headers.get(LOCATION),
                _ => None,
            };
            let Some(location) = location else {
                for (field, value) in &passed {
                    reply.headers.entry(field).or_insert_with(|| value.clone());
                }
                return Ok(reply);
            };
            address = self.next(&address, location)?;
            for (field, value) in reply.headers {
                // Standard headers of a redirect describe the redirect, not the file.
                if let Some(field) = field
                    && field.as_str().starts_with("x-")
                {
                    passed.entry(field).or_insert(value);
                }
            }
        }
        Err(OriginError::bad(format!("{} redirects more than {REDIRECTS} times", self.origin)))
    }

    fn ask(&self, address: &Uri, fields: &[(HeaderName, String)]) -> Result<Reply, OriginError> {
        let response = match self.send(&self.agent, address, fields) {
            // The origin may have ended a kept connection just then. A GET may be repeated
            // (RFC 9112, section 9.3.1).
            Err(error) if is_end(&error) => self.send(&self.fresh, address, fields),
            other => other,
        };
        let response = response.map_err(|error| failed(address, &error))?;
        let (head, body) = response.into_parts();
        let len = body.content_length();
        let body = Patient::new(Box::new(body.into_reader()), self.limits.patience);
        Ok(Reply { status: head.status.as_u16(), headers: head.headers, len, body })
    }

    fn send(
        &self,
        agent: &Agent,
        address: &Uri,
        fields: &[(HeaderName, String)],
    ) -> Result<Response<Body>, ureq::Error> {
        let mut request = agent.get(address.clone());
        request = request.header(ACCEPT, ACCEPTED).header(ACCEPT_ENCODING, "identity");
        for (field, value) in fields {
            request = request.header(field, value);
        }
        // Redirects do not receive the headers for the origin.
        if Site::of(address).is_some_and(|site| site == self.origin.site()) {
            for (field, value) in &self.limits.headers {
                request = request.header(field, value);
            }
        }
        request.call()
    }

    /// The next address of a redirect.
    fn next(&self, from: &Uri, location: &HeaderValue) -> Result<Uri, OriginError> {
        let origin = &self.origin;
        let text = location.to_str().map_err(|_| no_url(origin))?;
        let site = Site::of(from).ok_or_else(|| no_url(origin))?;
        let base = Url::parse(&from.to_string()).map_err(|_| no_url(origin))?;
        let mut url = base.join(text).map_err(|_| no_url(origin))?;
        if !url.username().is_empty() || url.password().is_some() {
            let text =
                format!("{origin} redirects to a URL with credentials, which is not followed");
            return Err(OriginError::bad(text));
        }
        url.set_fragment(None);
        let next: Uri = url.as_str().parse().map_err(|_| no_url(origin))?;
        let to = Site::of(&next).ok_or_else(|| no_url(origin))?;
        if !site.permits(&to) {
            let text = format!("{origin} redirects from HTTPS to {to}, which is not encrypted");
            return Err(OriginError::bad(text));
        }
        let is_named = self.limits.redirects.iter().any(|(host, port)| {
            to.host() == host
                && port.is_none_or(|port| to.to_string().ends_with(&format!(":{port}")))
        });
        if to != origin.site() && !is_named {
            let host = to.host();
            let text = format!("{origin} redirects to {to}; `--redirect {host}` allows that");
            return Err(OriginError::bad(text));
        }
        Ok(next)
    }

    /// An answer that does not go on.
    pub fn stopped(&self, error: &io::Error) -> OriginError {
        let is_slow = matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock);
        let text = format!("{} does not go on: {error}", self.origin);
        OriginError { status: if is_slow { 504 } else { 502 }, text }
    }
}

/// The connection ended before an answer.
fn is_end(error: &ureq::Error) -> bool {
    use io::ErrorKind as E;
    let ureq::Error::Io(error) = error else { return false };
    let ends = [E::UnexpectedEof, E::ConnectionReset, E::ConnectionAborted, E::BrokenPipe];
    ends.contains(&error.kind())
}

/// The reason of a request without an answer. It never has the path or query, which may be secret.
fn failed(address: &Uri, error: &ureq::Error) -> OriginError {
    let site = Site::of(address).unwrap_or_default();
    let status = if matches!(error, ureq::Error::Timeout(_)) { 504 } else { 502 };
    let denied = match error {
        ureq::Error::Other(error) => error.downcast_ref::<Denied>(),
        _ => None,
    };
    let text = match (denied, tls_error(error)) {
        (Some(denied), _) => denied.to_string(),
        (_, Some(error)) => format!("no TLS with {site}: {}", reason(error)),
        _ => format!("{site} does not answer: {error}"),
    };
    OriginError { status, text }
}

fn tls_error(error: &ureq::Error) -> Option<&rustls::Error> {
    match error {
        ureq::Error::Rustls(error) => Some(error),
        ureq::Error::Io(error) => error.get_ref()?.downcast_ref(),
        _ => None,
    }
}

/// The reason why TLS fails, and the next step.
fn reason(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidCertificate(why) => match why {
            CertificateError::UnknownIssuer => {
                "no authority that this host trusts has signed its certificate; SSL_CERT_FILE \
                 names a file with other authorities"
                    .to_owned()
            }
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "its certificate has expired; compare the clocks of both hosts".to_owned()
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "its certificate is not valid yet; compare the clocks of both hosts".to_owned()
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "its certificate is for another host; use the name that the certificate has"
                    .to_owned()
            }
            other => format!("its certificate is not accepted: {other}"),
        },
        rustls::Error::InvalidMessage(_) => {
            "it sends something else than TLS; is it an origin of http?".to_owned()
        }
        other => other.to_string(),
    }
}

/// Headers that may be credentials.
const SECRET: &[&str] = &["auth", "cookie", "credential", "key", "secret", "session", "token"];

/// Sends requests to an origin. At most `idle` connections stay open between them.
fn agent(origin: &Origin, limits: &Limits, tls: TlsConfig, idle: usize) -> Agent {
    let step = Some(std::time::Duration::from_nanos(limits.patience.0));
    let config = Agent::config_builder()
        .tls_config(tls)
        .max_idle_connections(idle)
        .max_idle_connections_per_host(idle)
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        // Proxies of the environment would receive requests for private addresses.
        .proxy(None)
        .user_agent(concat!("weir/", env!("CARGO_PKG_VERSION")))
        .max_response_header_size(64 * 1024)
        .timeout_resolve(step)
        .timeout_connect(step)
        .timeout_recv_response(step)
        // A body has no limit in all: `Patient` ends a body without progress.
        .timeout_per_read(step)
        .build();
    let allowed = Allowed::new(origin, &limits.redirects);
    let resolver = Checked { inner: DefaultResolver::default(), allowed };
    Agent::with_parts(config, DefaultConnector::default(), resolver)
}

fn no_url(origin: &Origin) -> OriginError {
    OriginError::bad(format!("{origin} redirects to something that is not a URL"))
}

/// The credentials that a list of headers has are for a plain origin of another host.
pub fn are_exposed(origin: &Origin, headers: &[(HeaderName, HeaderValue)]) -> bool {
    let site = origin.site();
    let has_secret =
        headers.iter().any(|(field, _)| SECRET.iter().any(|word| field.as_str().contains(word)));
    has_secret && !site.is_encrypted() && !is_near(site.host())
}

/// The host of an address in a URL, if it is written as an address.
fn literal(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// This host. Names such as `127.example` are not.
fn is_near(host: &str) -> bool {
    host == "localhost" || literal(host).is_some_and(|at| at.to_canonical().is_loopback())
}

/// The hosts with permitted private addresses: those that the user has named by their address, and
/// the origin.
#[derive(Debug)]
struct Allowed {
    hosts: Vec<String>,
}

impl Allowed {
    fn new(origin: &Origin, redirects: &[(String, Option<u16>)]) -> Allowed {
        let hosts = redirects.iter().map(|(host, _)| host.clone());
        let literals = hosts.filter(|host| literal(host).is_some() || host == "localhost");
        Allowed { hosts: literals.chain([origin.site().host().to_owned()]).collect() }
    }

    fn permits(&self, host: &str, address: IpAddr) -> bool {
        self.hosts.contains(&host.to_ascii_lowercase()) || is_public(address)
    }
}

/// A host has private addresses only.
#[derive(Debug)]
struct Denied(String);

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = &self.0;
        write!(f, "{host} is at a private address, and redirects may lead to public ones only")
    }
}

impl std::error::Error for Denied {}

/// Resolves hosts, and leaves out addresses that they may not be at.
#[derive(Debug)]
struct Checked {
    inner: DefaultResolver,
    allowed: Allowed,
}

impl Resolver for Checked {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.inner.resolve(uri, config, timeout)?;
        let host = uri.host().unwrap_or_default();
        let mut kept = self.empty();
        for address in found.iter() {
            if self.allowed.permits(host, address.ip()) {
                kept.push(*address);
            }
        }
        if kept.is_empty() {
            return Err(ureq::Error::Other(Box::new(Denied(host.to_owned()))));
        }
        Ok(kept)
    }
}

/// An address of the public Internet, not of this host or its network.
fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => {
            let first = v6.segments()[0];
            // Global unicast, without translations of IPv4 (6to4, Teredo) and documentation.
            let is_translated = first == 0x2002 || v6.segments()[..2] == [0x2001, 0];
            first & 0xe000 == 0x2000 && !is_translated && v6.segments()[..2] != [0x2001, 0xdb8]
        }
    }
}

fn is_public_v4(v4: Ipv4Addr) -> bool {
    let [a, b, c, _] = v4.to_bits().to_be_bytes();
    let is_shared = a == 100 && b & 0xc0 == 64;
    let is_reserved = a == 0 || a >= 240 || (a, b & 0xfe) == (198, 18) || (a, b, c) == (192, 0, 0);
    !(v4.is_private()
        || v4.is_loopback()
        || v4.is_link_local()
        || v4.is_multicast()
        || v4.is_documentation()
        || is_shared
        || is_reserved)
}

#[cfg(test)]
mod tests {
    use super::super::origin::{origin, redirect};
    use super::*;

    fn client(base: &str, redirects: &[&str]) -> Client {
        let redirects = redirects.iter().map(|text| redirect(text).unwrap()).collect();
        let limits = Limits { redirects, patience: Duration::from_secs(1), headers: Vec::new() };
        Client::new(origin(&format!("/a={base}")).unwrap(), limits).unwrap()
    }

    #[test]
    fn a_redirect_goes_where_the_user_allows_it() {
        let client = client("http://host:80/x/", &["cdn.example", "127.0.0.1:81"]);
        let from = "http://host:80/x/a/b?c".parse().unwrap();
        let next = |to: &str| {
            let next = client.next(&from, &HeaderValue::from_str(to).unwrap());
            next.map(|uri| uri.to_string()).map_err(|rejected| rejected.text)
        };
        assert_eq!(next("/y").unwrap(), "http://host/y");
        assert_eq!(next("y?z#w").unwrap(), "http://host/x/a/y?z");
        // RFC 3986, section 5.4.
        assert_eq!(next("?y").unwrap(), "http://host/x/a/b?y");
        assert_eq!(next("#s").unwrap(), "http://host/x/a/b?c");
        assert_eq!(
            next("../y?u=http://evil.example/").unwrap().split_once('?').unwrap().0,
            "http://host/x/y"
        );
        assert_eq!(
            next("/y?u=http://evil.example/").unwrap(),
            "http://host/y?u=http://evil.example/"
        );
        assert_eq!(next("./../../../y").unwrap(), "http://host/y");
        assert_eq!(next("").unwrap(), "http://host/x/a/b?c");
        assert_eq!(next("http://HOST/y").unwrap(), "http://host/y");
        assert_eq!(next("//cdn.example/y").unwrap(), "http://cdn.example/y");
        assert_eq!(next("http://127.0.0.1:81/").unwrap(), "http://127.0.0.1:81/");
        for to in [
            "http://host:22/",
            "http://127.0.0.1/",
            "http://169.254.169.254/latest/meta-data",
            "//evil.example/y",
            "http://cdn.example@evil.example/",
            "http://user:secret@host/",
            "//user@cdn.example/y",
            "http://[::1]/",
            "http://2130706433/",
            "http://0x7f.1/",
            "mailto:y",
            "http://",
            "http://evil.example\\@host/",
            "file:///etc/passwd",
            "gopher://host/",
        ] {
            assert!(next(to).is_err(), "{to}: {:?}", next(to));
        }
        assert!(next("http://evil.example/").unwrap_err().contains("--redirect evil.example"));
    }

    #[test]
    fn names_of_other_hosts_may_not_be_private_addresses() {
        let client = client("http://host/", &["cdn.example", "10.0.0.1"]);
        let allowed = Allowed::new(&client.origin, &client.limits.redirects);
        let permits = |host: &str, at: &str| allowed.permits(host, at.parse().unwrap());
        assert!(permits("host", "10.0.0.1") && permits("10.0.0.1", "10.0.0.1"));
        assert!(permits("cdn.example", "8.8.8.8") && permits("cdn.example", "2606:4700::1"));
        for at in [
            "127.0.0.1",
            "10.0.0.1",
            "100.64.0.1",
            "169.254.169.254",
            "192.168.1.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1",
            "fd00::1",
            "::ffff:127.0.0.1",
            "2002:7f00:1::",
        ] {
            assert!(!permits("cdn.example", at), "{at}");
        }
    }
    #[test]
    fn credentials_go_in_the_clear_to_this_host_only() {
        let exposed = |base: &str, field: &'static str| {
            let field = HeaderName::from_static(field);
            let headers = [(field, HeaderValue::from_static("secret"))];
            are_exposed(&origin(&format!("/a={base}")).unwrap(), &headers)
        };
        for base in ["https://host/", "http://localhost/", "http://127.0.0.9/", "http://[::1]/"] {
            assert!(!exposed(base, "authorization"), "{base}");
        }
        for base in ["http://host/", "http://127.evil.example/", "http://10.0.0.1/"] {
            for field in ["authorization", "proxy-authorization", "cookie", "x-amz-security-token"]
            {
                assert!(exposed(base, field), "{base} {field}");
            }
            assert!(!exposed(base, "accept-language"));
        }
    }

    #[test]
    fn a_failure_of_tls_has_its_reason_and_no_secret() {
        let address = Uri::from_static("https://host/path?signature=secret");
        let text = |error| failed(&address, &error).text;
        let certificate = |why| ureq::Error::Rustls(rustls::Error::InvalidCertificate(why));
        assert!(text(certificate(CertificateError::UnknownIssuer)).contains("SSL_CERT_FILE"));
        assert!(text(certificate(CertificateError::Expired)).contains("expired"));
        let wrapped = rustls::Error::InvalidCertificate(CertificateError::NotValidForName);
        let wrapped = text(ureq::Error::Io(io::Error::other(wrapped)));
        assert!(
            wrapped.starts_with("no TLS with https://host:443: its certificate is for another")
        );
        let denied = Denied("cdn.example".to_owned());
        let denied = text(ureq::Error::Other(Box::new(denied)));
        assert!(denied.starts_with("cdn.example is at a private address"), "{denied}");
        assert!(!text(ureq::Error::HostNotFound).contains("secret"));
    }
}
