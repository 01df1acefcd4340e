//! URIs of faces as forwarders write them.

use crate::exit::{Failure, Kind};
use net::uri::{FaceUri, Transport, UriError};

/// A URI as forwarders write it: a host is looked up, a port filled in.
pub fn canonical(uri: &str) -> Result<String, Failure> {
    let uri: FaceUri = uri.parse().map_err(|error: UriError| Failure::new(Kind::Usage, error))?;
    let FaceUri::Internet { transport, .. } = &uri else { return Ok(uri.to_string()) };
    let address = uri
        .resolve()
        .map_err(|error| Failure::new(Kind::Failed, format!("cannot find {uri}: {error}")))?;
    Ok(match transport {
        Transport::Udp => FaceUri::udp(address).to_string(),
        Transport::Tcp => FaceUri::tcp(address).to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_are_sent_as_forwarders_write_them() {
        for (given, sent) in [
            ("udp://127.0.0.1", "udp4://127.0.0.1:6363"),
            ("tcp6://[::1]:9", "tcp6://[::1]:9"),
            ("unix:///run/nfd/nfd.sock", "unix:///run/nfd/nfd.sock"),
        ] {
            assert_eq!(canonical(given).unwrap(), sent);
        }
        assert!(canonical("127.0.0.1").unwrap_err().to_string().contains("no `://`"));
    }
}
