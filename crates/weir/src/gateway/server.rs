//! Connections of HTTP clients.

use crate::exit::{Failure, Kind};
use crate::gateway::clients::{Clients, Place};
use crate::gateway::context::Gateway;
use crate::gateway::reply;
use crate::gateway::respond::Ends;
use crate::gateway::source::Source;
use crate::gateway::stream::Watched;
use crate::gateway::wire::converse;
use std::net::{IpAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;

/// The time for which a signal, or a client that does not read, may go unnoticed.
const LOOK: Duration = Duration::from_millis(100);
/// Connections for each slot, and at least: most are idle, or wait.
const CONNECTIONS: usize = 8;
const FEWEST_CONNECTIONS: usize = 128;

/// Answers until a signal comes; `slots` requests at a time.
///
/// # Errors
/// The system has no resources for waiting.
pub fn serve(gateway: Gateway, listener: TcpListener, slots: usize) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let clients = Clients::new(FEWEST_CONNECTIONS.max(CONNECTIONS * slots));
    runtime
        .and_then(|runtime| runtime.block_on(accept(Arc::new(gateway), listener, clients)))
        .map_err(|error| Failure::new(Kind::Failed, format!("cannot serve: {error}")))
}

async fn accept(
    gateway: Arc<Gateway>,
    listener: TcpListener,
    clients: Arc<Clients>,
) -> std::io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    while !gateway.stop.requested() {
        for client in gateway.slots.stalled(gateway.client_timeout) {
            client.close();
        }
        match tokio::time::timeout(LOOK, listener.accept()).await {
            Ok(Ok((stream, peer))) => {
                // It fails if the client is gone.
                let Ok(local) = stream.local_addr() else { continue };
                match clients.admit(Source::of(peer, local)) {
                    Some(place) => {
                        begin(Arc::clone(&gateway), stream, [local.ip(), peer.ip()], place)
                    }
                    None if gateway.tls.is_none() => reply::turn_away(&stream),
                    None => {}
                }
            }
            Ok(Err(error)) => {
                gateway.log.note(format!("cannot accept a connection now: {error}"));
                tokio::time::sleep(LOOK).await;
            }
            Err(_) => {}
        }
    }
    Ok(())
}

fn begin(gateway: Arc<Gateway>, stream: TcpStream, ends: [IpAddr; 2], place: Place) {
    let client = Arc::clone(&place.client);
    let [local, peer] = ends;
    let ends = Ends { gateway, client: Arc::clone(&client), local, peer };
    let task = tokio::spawn(async move {
        let stream = Watched::new(stream, Arc::clone(&ends.client));
        converse(ends, stream).await;
        drop(place);
    });
    client.set_task(task.abort_handle());
}
