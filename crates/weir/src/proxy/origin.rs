//! Origins: the names and addresses that the user has given.

use hyper::Uri;
use hyper::header::{HeaderName, HeaderValue};
use packet::Name;
use std::fmt;
use std::path::Path;
use weir::http::ask::is_scoped;

/// Where the files below a prefix come from.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The prefix.
    pub prefix: Name,
    base: Uri,
    path: String,
}

impl Origin {
    /// The scheme, host and port.
    pub fn site(&self) -> Site {
        Site::of(&self.base).unwrap_or_default()
    }

    /// The address of a file: its path and query, below the base.
    ///
    /// # Errors
    /// The address is too long or malformed.
    pub fn address(&self, target: &str) -> Result<Uri, String> {
        let site = self.site();
        let text = format!("{site}{}{target}", self.path);
        text.parse().map_err(|error| format!("{error}"))
    }
}

/// Reads `NAME=URL`.
pub fn origin(text: &str) -> Result<Origin, String> {
    let form = "write it like /example/hub=https://hub.example/files/";
    let (name, url) = text.split_once('=').ok_or(form)?;
    let prefix: Name = name.parse().map_err(|error: packet::UriError| error.to_string())?;
    if prefix.is_empty() || is_scoped(&prefix) {
        return Err(format!("{name} is not a name that all hosts can use; {form}"));
    }
    if url.contains(['?', '#', '@']) || !url.is_ascii() {
        return Err(format!("an origin has no `?`, `#` and `@`; {form}"));
    }
    let base: Uri = url.parse().map_err(|error| format!("{url} is not a URL: {error}; {form}"))?;
    Site::of(&base).ok_or_else(|| format!("{url} is not an HTTP or HTTPS URL; {form}"))?;
    let mut path = base.path().to_owned();
    if !path.ends_with('/') {
        path.push('/');
    }
    Ok(Origin { prefix, base, path })
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.site(), self.path)
    }
}

/// A host that answers by HTTP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    is_encrypted: bool,
    host: String,
    port: u16,
}

impl Site {
    /// The site of an address; `None` if it is not one of HTTP or HTTPS, or has a user in it.
    pub fn of(address: &Uri) -> Option<Site> {
        let is_encrypted = match address.scheme_str()? {
            "https" => true,
            "http" => false,
            _ => return None,
        };
        let authority = address.authority()?;
        let host = authority.host().to_ascii_lowercase();
        if authority.as_str().contains('@') || host.is_empty() {
            return None;
        }
        let port = authority.port_u16().unwrap_or(if is_encrypted { 443 } else { 80 });
        Some(Site { is_encrypted, host, port })
    }

    /// By HTTPS.
    pub fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }

    /// The host.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Content from `other` may come instead of this one's: not in plain text instead of TLS.
    pub fn permits(&self, other: &Site) -> bool {
        other.is_encrypted || !self.is_encrypted
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_encrypted { "https" } else { "http" };
        write!(f, "{scheme}://{}:{}", self.host, self.port)
    }
}

/// A site that redirects may lead to, as the user writes it: `HOST` or `HOST:PORT`.
pub fn redirect(text: &str) -> Result<(String, Option<u16>), String> {
    let uri = format!("http://{text}/").parse::<Uri>().ok().filter(|uri| uri.path() == "/");
    match uri.as_ref().and_then(|uri| Some((Site::of(uri)?.host, uri.port_u16()))) {
        Some(site) => Ok(site),
        None => Err(format!("{text} is not a host; write it like cdn.example or cdn.example:8443")),
    }
}

/// Reads headers for the origin, such as credentials, one per line, from a file.
///
/// # Errors
/// The file cannot be read, or a line is no header. The text does not repeat the line.
pub fn headers(path: &Path) -> Result<Vec<(HeaderName, HeaderValue)>, String> {
    let shown = path.display();
    let text = net::bounded::text(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let mut headers = Vec::new();
    for (line, number) in text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
        headers.push(header(line).ok_or_else(|| {
            format!("line {number} of {shown} is not a header such as `Name: value`")
        })?);
    }
    Ok(headers)
}

fn header(line: &str) -> Option<(HeaderName, HeaderValue)> {
    let (field, value) = line.split_once(':')?;
    let field = field.trim().parse().ok()?;
    let mut value = HeaderValue::from_str(value.trim()).ok()?;
    value.set_sensitive(true);
    Some((field, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_has_a_name_and_a_base() {
        let read = origin("/example/hub=HTTP://Host:8000/a").unwrap();
        assert_eq!(read.to_string(), "http://host:8000/a/");
        assert_eq!(read.address("b?c").unwrap().to_string(), "http://host:8000/a/b?c");
        assert_eq!(origin("/e=https://host").unwrap().to_string(), "https://host:443/");
        for wrong in [
            "/example",
            "/=http://host/",
            "/localhost/a=http://host/",
            "/example=ftp://host/",
            "/example=file:///etc/passwd",
            "/example=host/a",
            "/example=http://user:secret@host/",
            "/example=http://host/?a",
        ] {
            assert!(origin(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_redirect_never_leaves_tls_and_names_a_host() {
        let site = |text: &str| Site::of(&text.parse().unwrap()).unwrap();
        assert!(site("https://a/").permits(&site("https://b/")));
        assert!(!site("https://a/").permits(&site("http://a/")));
        assert_eq!(redirect("Cdn.example").unwrap(), ("cdn.example".to_owned(), None));
        assert_eq!(redirect("127.0.0.1:80").unwrap(), ("127.0.0.1".to_owned(), Some(80)));
        assert!(redirect("a/b").is_err() && redirect("u@a").is_err() && redirect("").is_err());
    }
}
