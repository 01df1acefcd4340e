//! `weir docs`

use crate::cli::docs::DocsArgs;
use crate::exit::{Failure, Kind};
use crate::signals::Stop;
use crate::{output, site};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{Error, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};

/// The program that opens an address in the browser of a desktop (freedesktop.org).
const OPENER: &str = "xdg-open";

/// The line that is printed when browsers can open the documentation.
#[derive(JsonSchema, Serialize)]
pub struct Ready<'a> {
    /// The address and port that a browser on this host opens.
    listening: SocketAddr,
    /// The folder of the documentation.
    folder: &'a Path,
}

/// Serves the documentation until interrupted.
pub fn run(args: &DocsArgs) -> Result<(), Failure> {
    let folder = site::find(args.folder.as_deref())?;
    let stop = Stop::listen().map_err(|error| Failure::new(Kind::Failed, error))?;
    let listener = TcpListener::bind(args.listen).map_err(|error| taken(args.listen, &error))?;
    let address = opened(listener.local_addr().map_err(|error| taken(args.listen, &error))?);
    let files = site::SiteFiles::open(&folder)?;
    if args.json {
        output::json(&Ready { listening: address, folder: &folder })?;
    } else {
        let from = folder.display();
        output::result(&format!("the documentation in {from} is at http://{address}/"))?;
        output::note("Ctrl-C ends it");
    }
    if args.open {
        open(address);
    }
    site::serve(files, listener, &stop)
}

/// The address that a browser on this host opens for a listener: loopback for any address.
fn opened(mut listening: SocketAddr) -> SocketAddr {
    if listening.ip().is_unspecified() {
        listening.set_ip(match listening {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    listening
}

/// Opens the first page. Without a browser it is only served.
fn open(address: SocketAddr) {
    let url = format!("http://{address}/");
    let mut opener = Command::new(OPENER);
    opener.arg(&url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let began = opener.spawn().and_then(|mut child| {
        // It may last as long as the browser, and its end is awaited so that it leaves no zombie.
        let thread = std::thread::Builder::new().name("opener".to_owned());
        thread.spawn(move || drop(child.wait())).map(drop)
    });
    if let Err(error) = began {
        let what = Failure::new(Kind::Failed, format!("cannot run {OPENER}: {error}"));
        output::note(&what.then(&format!("open {url} in a browser")).to_string());
    }
}

fn taken(address: SocketAddr, error: &Error) -> Failure {
    let next = match error.kind() {
        ErrorKind::AddrInUse => {
            "another program has that port; choose another with --listen 127.0.0.1:0"
        }
        ErrorKind::PermissionDenied => {
            "ports below 1024 are for root; choose another with --listen"
        }
        _ => "choose an address of this host with --listen",
    };
    Failure::new(Kind::Failed, format!("cannot listen on {address}: {error}")).then(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_address_is_opened_as_loopback() {
        for (listening, expected) in [
            ("0.0.0.0:80", "127.0.0.1:80"),
            ("[::]:80", "[::1]:80"),
            ("192.0.2.1:80", "192.0.2.1:80"),
        ] {
            assert_eq!(opened(listening.parse().unwrap()), expected.parse().unwrap());
        }
    }
}
