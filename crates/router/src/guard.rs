//! The guard of an HTTP server on this host, such as the gateway. It admits only requests for this
//! server, and none that a foreign page has a browser send.
//!
//! A browser sends requests for any page that it shows, also to servers of its own host. Three
//! headers tell such requests apart. `Host` names the server that the page believes in; a page
//! whose name was made to point here (DNS rebinding) sends its own name. `Origin` and
//! `Sec-Fetch-Site` (<https://www.w3.org/TR/fetch-metadata/>) say whose page asks. Programs that
//! are no browsers send neither of these two, and pass.

use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::http::uri::Authority;
use hyper::{Method, StatusCode, Uri, Version};
use net::text::shortened;
use std::net::{IpAddr, Ipv6Addr};

const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// Characters of a name or an origin that a rejection repeats.
const SHOWN: usize = 200;

/// Why a request is not answered, for its sender.
#[derive(Debug)]
pub struct Rejection {
    /// By a number.
    pub status: StatusCode,
    /// In words: what is wrong, and what to do about it.
    pub text: String,
    /// Where the content is instead, for a redirection.
    pub location: Option<String>,
}

impl Rejection {
    /// A rejection.
    pub fn new(status: StatusCode, text: impl Into<String>) -> Rejection {
        Rejection { status, text: text.into(), location: None }
    }
}

/// The server behind the guard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Server {
    #[default]
    Gateway,
    /// The daemon's metrics.
    Metrics,
    /// The documentation.
    Docs,
}

/// The hosts and origins that a server serves beside programs and pages of this host.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    server: Server,
    hosts: Vec<String>,
    origins: Vec<String>,
    /// Any address may stand for this host, such as one that is translated on the way.
    by_any_address: bool,
}

/// The parts of a request's head that the guard checks.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The method.
    pub method: &'a Method,
    /// The target.
    pub uri: &'a Uri,
    /// Of HTTP.
    pub version: Version,
    /// All fields.
    pub headers: &'a HeaderMap,
    /// The address of this host that the client has connected to.
    pub local: IpAddr,
}

impl Guard {
    /// A guard that lets requests for these names of hosts pass, and those of pages of these
    /// origins.
    ///
    /// # Errors
    /// The first of them that is none, with what is wrong about it.
    pub fn new(hosts: &[String], origins: &[String]) -> Result<Guard, String> {
        let hosts = hosts.iter().map(|host| configured_host(host));
        let origins = origins.iter().map(|origin| configured_origin(origin));
        Ok(Guard {
            hosts: hosts.collect::<Result<_, _>>()?,
            origins: origins.collect::<Result<_, _>>()?,
            ..Guard::default()
        })
    }

    /// The guard of metrics at this address, on a host of this name. A collector asks for the
    /// address or the name that it was configured with. Beyond loopback it may be any address,
    /// since no page can have one for its name without being served there.
    #[must_use]
    pub fn of_metrics(listen: IpAddr, host_name: &str) -> Guard {
        let by_any_address = !listen.to_canonical().is_loopback();
        let names = [host_name, host_name.split('.').next().unwrap_or_default()];
        let hosts = match by_any_address {
            true => names.iter().filter_map(|name| configured_host(name).ok()).collect(),
            false => Vec::new(),
        };
        Guard { server: Server::Metrics, hosts, origins: Vec::new(), by_any_address }
    }

    /// The guard of the documentation's pages. Browsers ask for them at the address that the server
    /// listens on.
    #[must_use]
    pub fn of_docs() -> Guard {
        Guard { server: Server::Docs, ..Guard::default() }
    }

    /// Pages of other origins may ask.
    #[must_use]
    pub fn has_origins(&self) -> bool {
        !self.origins.is_empty()
    }

    /// Lets a request pass, and returns the origin that the answer may be shown to, if that is a
    /// configured one.
    ///
    /// # Errors
    /// It is for another server, or a page asks that may not.
    pub fn admit(&self, head: &Head<'_>) -> Result<Option<HeaderValue>, Rejection> {
        let authority = self.authority(head)?;
        let origins: Vec<_> = head.headers.get_all(ORIGIN).iter().collect();
        let origin = match origins[..] {
            [] => None,
            [one] => Some(one),
            _ => {
                let text = "the request has several Origin headers; send one, or none";
                return Err(Rejection::new(StatusCode::BAD_REQUEST, text));
            }
        };
        if let Some(origin) = origin {
            if self.origins.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes()) {
                return Ok(Some(origin.clone()));
            }
            if !is_own(origin, authority.as_ref()) {
                let shown = shortened(&String::from_utf8_lossy(origin.as_bytes()), SHOWN);
                return Err(self.foreign(&format!("a page of {shown} asks")));
            }
        }
        self.check_site(head)?;
        Ok(None)
    }

    /// The name and port of the server that the request is for; `None` with HTTP/1.0, which needs
    /// not name it.
    fn authority(&self, head: &Head<'_>) -> Result<Option<Authority>, Rejection> {
        let hosts: Vec<_> = head.headers.get_all(HOST).iter().collect();
        let host = match hosts[..] {
            [one] => match parse(one.as_bytes()) {
                Some(host) => Some(host),
                None => return Err(self.bad("the Host header is malformed")),
            },
            [] if head.version < Version::HTTP_11 => None,
            // RFC 9113, section 8.3.1: HTTP/2 has the authority in the target.
            [] if head.version == Version::HTTP_2 && head.uri.authority().is_some() => None,
            [] => return Err(self.bad("the request has no Host header")),
            _ => return Err(self.bad("the request has several Host headers")),
        };
        if head.version == Version::HTTP_2
            && let (Some(host), Some(target)) = (&host, head.uri.authority())
            && !host.as_str().eq_ignore_ascii_case(target.as_str())
        {
            return Err(self.bad("the Host header contradicts :authority"));
        }
        // RFC 9112, section 3.2.2: the target's authority counts, if it has one.
        let authority = match head.uri.authority() {
            Some(target) => match parse(target.as_str().as_bytes()) {
                Some(target) => Some(target),
                None => return Err(self.bad("the request's target has a malformed host")),
            },
            None => host,
        };
        if let Some(authority) = &authority
            && !self.knows(authority.host(), head.local)
        {
            return Err(self.misdirected(&shortened(authority.host(), SHOWN)));
        }
        Ok(authority)
    }

    fn knows(&self, host: &str, local: IpAddr) -> bool {
        let by_address = address(host).is_some_and(|address| {
            self.by_any_address || address.is_loopback() || address == local.to_canonical()
        });
        by_address
            || host.eq_ignore_ascii_case("localhost")
            || self.hosts.iter().any(|name| name.eq_ignore_ascii_case(host))
    }

    /// A page may ask if it is one of this gateway, and a click on any page may lead here.
    fn check_site(&self, head: &Head<'_>) -> Result<(), Rejection> {
        let mut sites = head.headers.get_all(SITE).iter();
        if sites.all(|site| site == "none" || site == "same-origin") {
            return Ok(());
        }
        let navigates =
            has_only(head.headers, MODE, "navigate") && has_only(head.headers, DEST, "document");
        if *head.method == Method::GET && navigates {
            return Ok(());
        }
        Err(self.foreign("a page of another site asks"))
    }

    fn misdirected(&self, name: &str) -> Rejection {
        let text = match self.server {
            Server::Gateway => format!(
                "this gateway is not {name}; use the address that it listens on, or let it be \
                 called so with --host {name}"
            ),
            Server::Metrics => format!(
                "this daemon is not {name}; use the address that it listens on for collectors of \
                 metrics"
            ),
            Server::Docs => {
                format!("this server is not {name}; open the address that `weir docs` has printed")
            }
        };
        Rejection::new(StatusCode::MISDIRECTED_REQUEST, text)
    }

    fn bad(&self, what: &str) -> Rejection {
        let who = match self.server {
            Server::Gateway => "gateway",
            Server::Metrics => "daemon",
            Server::Docs => "server",
        };
        let text = format!("{what}; send one, with the name and port that the {who} listens on");
        Rejection::new(StatusCode::BAD_REQUEST, text)
    }

    fn foreign(&self, who: &str) -> Rejection {
        let next = match self.server {
            Server::Gateway => {
                "may not read through this gateway; allow the page's origin with --origin, or \
                 open the address itself"
            }
            Server::Metrics => "may not read metrics; open the address itself",
            Server::Docs => "may not read the documentation; open the address itself",
        };
        Rejection::new(StatusCode::FORBIDDEN, format!("{who}, and pages {next}"))
    }
}

/// A host and perhaps a port, without a user.
fn parse(bytes: &[u8]) -> Option<Authority> {
    let authority = Authority::try_from(bytes).ok()?;
    let (host, text) = (authority.host(), authority.as_str());
    let port = text.strip_prefix(host)?;
    // Without a sign, which the reader of numbers would take.
    let has_digits = port.strip_prefix(':').is_some_and(|port| {
        port.bytes().all(|digit| digit.is_ascii_digit()) && port.parse().is_ok_and(|_: u16| true)
    });
    let is_port = port.is_empty() || port == ":" || has_digits;
    (!host.is_empty() && is_port).then_some(authority)
}

/// The address that a host is written as, if it is one.
fn address(host: &str) -> Option<IpAddr> {
    match host.strip_prefix('[') {
        Some(rest) => {
            let address: Ipv6Addr = rest.strip_suffix(']')?.parse().ok()?;
            Some(IpAddr::V6(address).to_canonical())
        }
        None => host.parse().ok().map(IpAddr::V4),
    }
}

/// Returns `true` if this header is there once, with this value.
fn has_only(headers: &HeaderMap, name: HeaderName, value: &str) -> bool {
    let mut all = headers.get_all(name).iter();
    all.next().is_some_and(|one| one == value) && all.next().is_none()
}

/// A page that this gateway has served, at the name under which it was asked.
fn is_own(origin: &HeaderValue, authority: Option<&Authority>) -> bool {
    let (Ok(origin), Some(authority)) = (origin.to_str(), authority) else { return false };
    let (rest, port) = if let Some(rest) = origin.strip_prefix("http://") {
        (rest, ":80")
    } else if let Some(rest) = origin.strip_prefix("https://") {
        // A server before this one does the encryption.
        (rest, ":443")
    } else {
        return false;
    };
    let authority = authority.as_str();
    let authority = authority.strip_suffix(port).unwrap_or(authority);
    rest.strip_suffix(port).unwrap_or(rest).eq_ignore_ascii_case(authority)
}

fn configured_host(host: &str) -> Result<String, String> {
    let bracketed = format!("[{host}]");
    let host = if host.parse::<Ipv6Addr>().is_ok() { &bracketed } else { host };
    match parse(host.as_bytes()) {
        Some(authority) if authority.as_str() == authority.host() => Ok(host.to_owned()),
        _ => Err(format!("--host {host} is not a host name; write it without scheme and port")),
    }
}

/// As browsers write it: in lower case, without the scheme's own port.
fn configured_origin(origin: &str) -> Result<String, String> {
    let lower = origin.to_ascii_lowercase();
    let lower = lower.strip_suffix('/').unwrap_or(&lower);
    let (scheme, host) = lower.split_once("://").ok_or_else(|| no_origin(origin))?;
    let port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => "",
    };
    let is_scheme = !scheme.is_empty()
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let host = host.strip_suffix(port).filter(|_| !port.is_empty()).unwrap_or(host);
    if !is_scheme || parse(host.as_bytes()).is_none() {
        return Err(no_origin(origin));
    }
    Ok(format!("{scheme}://{host}"))
}

fn no_origin(origin: &str) -> String {
    format!(
        "--origin {origin} is not an origin; write scheme, host and port, as in \
         http://player.example:8000"
    )
}

#[cfg(test)]
mod tests;
