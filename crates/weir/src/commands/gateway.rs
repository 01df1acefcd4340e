//! `weir gateway`

use crate::cli::GatewayArgs;
use crate::exit::{Failure, Kind};
use crate::gateway::{Gateway, Log, serve};
use crate::signals::Stop;
use crate::transfer::Transfers;
use net::client::{Address, Connection};
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};

/// Answers HTTP requests until interrupted.
pub fn run(args: &GatewayArgs) -> Result<(), Failure> {
    let transfers = Transfers::new(&args.transfer)?;
    let stop = Stop::listen().map_err(|error| Failure::new(Kind::Failed, error))?;
    let address = Address::find(args.forwarder.socket.as_deref())?;
    // Better now than at the first request.
    Connection::open(address.clone())?;
    let listener = TcpListener::bind(args.listen).map_err(|error| taken(args.listen, &error))?;
    let listening = listener.local_addr().map_err(|error| taken(args.listen, &error))?;
    let log = Log { json: args.json, quiet: args.quiet };
    let (prefixes, clients) = (args.prefix.clone(), args.clients.get().into());
    let gateway = Gateway { address, transfers, prefixes, clients, log, stop };
    log.listening(listening);
    serve(gateway, listener)
}

fn taken(address: SocketAddr, error: &std::io::Error) -> Failure {
    let next = match error.kind() {
        ErrorKind::AddrInUse => "another program has that port; choose another with --listen",
        ErrorKind::PermissionDenied => {
            "ports below 1024 are for root; choose another with --listen"
        }
        _ => "choose an address of this host with --listen",
    };
    Failure::new(Kind::Failed, format!("cannot listen on {address}: {error}")).then(next)
}
