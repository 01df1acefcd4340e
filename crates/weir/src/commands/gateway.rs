//! `weir gateway`

mod folders;
mod uploads;

use crate::cli::GatewayArgs;
use crate::exit::{Failure, Kind};
use crate::gateway::{Gateway, Log, Player, Slots, Tls, serve};
use crate::signals::Stop;
use crate::transfer::Transfers;
use folders::Fetched;
use net::client::{Address, Connection};
use packet::Name;
use router::guard::Guard;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use weir::http::ask::is_scoped;

/// Answers HTTP requests until interrupted.
pub fn run(args: &GatewayArgs) -> Result<(), Failure> {
    check(&args.prefix, args.mirror.is_empty())?;
    let token = uploads::check(args)?;
    let guard = Guard::new(&args.host, &args.origin);
    let guard = guard.map_err(|wrong| Failure::new(Kind::Usage, wrong))?;
    let files = args.web.tls_cert.as_deref().zip(args.web.tls_key.as_deref());
    let tls = files.map(|(chain, key)| Tls::read(chain, key)).transpose()?;
    let player = Player::find(args.web.player.as_deref())?;
    let transfers = Transfers::new(&args.transfer)?;
    let stop = Stop::listen().map_err(|error| Failure::new(Kind::Failed, error))?;
    let address = Address::find(args.forwarder.socket.as_deref())?;
    // Better now than at the first request.
    Connection::open(address.clone())?;
    let listener = TcpListener::bind(args.listen).map_err(|error| taken(args.listen, &error))?;
    let listening = listener.local_addr().map_err(|error| taken(args.listen, &error))?;
    let log = Log::start(args.json, args.quiet, args.access_log.as_deref())?;
    let (prefixes, clients) = (args.prefix.clone(), args.clients.get().into());
    let slots = Slots::new(clients);
    let client_timeout = args.client_timeout;
    let lines = log.clone();
    let patience = args.transfer.patience;
    let (to, with) = (address.clone(), transfers.clone());
    let folders = Fetched { address: to, transfers: with, patience };
    let (store, uploads) = uploads::open(args, token, &stop)?;
    let publisher = store.map(|store| uploads::publish(&address, store, args.quiet, &log));
    let publisher = publisher.transpose()?;
    log.listening(listening, tls.is_some())?;
    let ended = stop.clone();
    let threads = uploads.as_ref().map(|uploads| Arc::clone(uploads.threads()));
    let gateway = Gateway {
        address,
        transfers,
        prefixes,
        mirrors: args.mirror.clone(),
        guard,
        folders: Box::new(folders),
        player,
        uploads,
        slots,
        client_timeout,
        tls,
        log,
        stop,
    };
    let served = serve(gateway, listener, clients);
    threads.into_iter().for_each(|threads| threads.join());
    // A failure of the publisher was reported when it came.
    publisher.filter(|_| ended.requested()).into_iter().for_each(|thread| drop(thread.join()));
    served.and(lines.finish())
}

/// Checks that the gateway serves something, and no names of this host's programs.
fn check(prefixes: &[Name], is_alone: bool) -> Result<(), Failure> {
    if prefixes.is_empty() && is_alone {
        let next = "say which with --prefix, such as --prefix /example; --prefix / serves them all";
        return Err(Failure::new(Kind::Usage, "the gateway has no names to serve").then(next));
    }
    match prefixes.iter().find(|prefix| is_scoped(prefix)) {
        Some(prefix) => {
            let what = format!(
                "--prefix {prefix} cannot be served: names below /localhost and /localhop are for \
                 the programs of one host"
            );
            Err(Failure::new(Kind::Usage, what).then("choose another prefix"))
        }
        None => Ok(()),
    }
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
