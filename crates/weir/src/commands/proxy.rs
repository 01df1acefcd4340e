//! `weir proxy`

use crate::cli::proxy::ProxyArgs;
use crate::exit::{Failure, Kind};
use crate::identity::{self, Signing};
use crate::outage::{Outage, Outcome};
use crate::output::{self, Progress, Recent};
use crate::proxy::{
    self, Client, Common, Counts, Limits, Maker, Origin, Outbox, Server, Slab, Table, Workers,
};
use crate::reach::Reach;
use crate::signals::Stop;
use client::parts::Limit;
use control::Duration;
use net::client::{CommandError, Connection};
use packet::Name;
use schemars::JsonSchema;
use security::{Certificate, Signer};
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The interval at which signals, expired Interests and the progress are looked at.
const TICK: Duration = Duration::from_millis(250);

/// A line of `weir proxy`.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
pub enum Printed {
    /// Serving begins.
    Begin(Beginning),
    /// Serving has ended.
    End(Counts),
}

/// The line when serving begins.
#[derive(JsonSchema, Serialize)]
pub struct Beginning {
    /// The origins.
    serving: Vec<Served>,
}

/// An origin that is served.
#[derive(JsonSchema, Serialize)]
pub struct Served {
    /// The name below which its files are published.
    name: String,
    /// The URL of the origin.
    origin: String,
}

/// Publishes origins until interrupted.
pub fn run(args: &ProxyArgs) -> Result<(), Failure> {
    let origins = origins(args)?;
    let (signer, chain) = signing(args, &origins)?;
    let limits = limits(args)?;
    let mut all = origins.iter();
    if let Some(origin) = all.find(|origin| proxy::are_exposed(origin, &limits.headers)) {
        let what = format!("--headers has credentials, which {origin} would receive unencrypted");
        return Err(Failure::new(Kind::Usage, what).then("use an origin of HTTPS"));
    }
    let stop = Stop::listen().map_err(|error| Failure::new(Kind::Failed, error))?;
    let (mut reach, note) = Reach::producer(&args.reach, args.listen)?;
    if let Some(note) = note.filter(|_| !args.output.quiet) {
        output::note(&note);
    }
    let outbox = Arc::new(Outbox::new().map_err(|error| Failure::new(Kind::Failed, error))?);
    let wake_up = outbox.wake_up().map_err(|error| Failure::new(Kind::Failed, error))?;
    reach.connection.wake_on(wake_up);
    let slab = slab(args)?;
    let tables = tables(args, &origins, &limits, &slab, &outbox)?;
    let (maker, limit) = (Maker::new(signer), Limit::new(args.limit_rate));
    let mut prefixes: Vec<Name> = origins.iter().map(|origin| origin.prefix.clone()).collect();
    let served = origins.iter().cloned().zip(tables).collect();
    let mut server = Server::new(served, slab, outbox, maker, limit);
    for certificate in &chain {
        server.add_certificate(certificate.wire().clone());
        prefixes.push(certificate.key_name());
    }
    let progress = Progress::new("sent", args.output.quiet);
    let served = register(&mut reach.connection, &prefixes)
        .map_err(Failure::from)
        .and_then(|()| begin(args, &origins))
        .and_then(|()| {
            serve(&mut reach.connection, &mut server, args, &prefixes, &progress, &stop)
        });
    progress.end();
    served?;
    let counts = server.counts();
    if args.output.json {
        return output::json(&Printed::End(counts));
    }
    Ok(())
}

fn origins(args: &ProxyArgs) -> Result<Vec<Origin>, Failure> {
    let mut origins: Vec<Origin> = Vec::new();
    for text in &args.origin {
        origins.push(proxy::origin(text).map_err(|why| Failure::new(Kind::Usage, why))?);
    }
    for (at, origin) in origins.iter().enumerate() {
        if origins[..at].iter().any(|other| other.prefix == origin.prefix) {
            let what = format!("{} has two origins", origin.prefix);
            return Err(Failure::new(Kind::Usage, what).then("give each a name of its own"));
        }
    }
    Ok(origins)
}

/// The signer of all origins.
fn signing(args: &ProxyArgs, origins: &[Origin]) -> Result<(Signer, Vec<Certificate>), Failure> {
    let mut all = Vec::new();
    for origin in origins {
        let signing = identity::signing(args.sign.as_ref(), &origin.prefix)?;
        if let Some(remark) = signing.remark.as_ref().filter(|_| !args.output.quiet) {
            output::note(remark);
        }
        all.push(signing);
    }
    let is_unsigned = all.iter().any(|signing| matches!(signing.signer, Signer::Digest));
    Ok(match all.pop().filter(|_| !is_unsigned) {
        Some(Signing { signer, chain, .. }) => (signer, chain),
        None => (Signer::Digest, Vec::new()),
    })
}

fn limits(args: &ProxyArgs) -> Result<Limits, Failure> {
    let redirects = args.redirect.iter().map(|text| proxy::redirect(text));
    let redirects =
        redirects.collect::<Result<_, _>>().map_err(|why| Failure::new(Kind::Usage, why))?;
    let headers = args.headers.as_deref().map(proxy::headers).transpose();
    let headers = headers.map_err(|why| Failure::new(Kind::File, why))?.unwrap_or_default();
    Ok(Limits { redirects, patience: args.origin_timeout, headers })
}

fn slab(args: &ProxyArgs) -> Result<Arc<Slab>, Failure> {
    let folder = args.cache.clone().unwrap_or_else(std::env::temp_dir);
    Slab::new(&folder, args.cache_size.0).map_err(|error| {
        let what = format!("cannot make a cache in {}: {error}", folder.display());
        Failure::new(Kind::File, what).then("name another folder with --cache")
    })
}

/// The files of each origin, with its threads.
fn tables(
    args: &ProxyArgs,
    origins: &[Origin],
    limits: &Limits,
    slab: &Arc<Slab>,
    outbox: &Arc<Outbox>,
) -> Result<Vec<Table>, Failure> {
    let common = Common {
        slab: Arc::clone(slab),
        outbox: Arc::clone(outbox),
        ids: Arc::new(AtomicU64::new(0)),
        fresh: std::time::Duration::from_nanos(args.fresh.0),
    };
    let mut tables = Vec::new();
    for (number, origin) in origins.iter().enumerate() {
        let client = Client::new(origin.clone(), limits.clone());
        let client = client.map_err(|why| Failure::new(Kind::Failed, why))?;
        let workers = Workers::start(number, client, common.clone(), args.requests.get());
        let workers = workers.map_err(|error| Failure::new(Kind::Failed, error))?;
        tables.push(Table::new(Arc::clone(slab), workers));
    }
    Ok(tables)
}

fn begin(args: &ProxyArgs, origins: &[Origin]) -> Result<(), Failure> {
    if args.output.json {
        let serving = origins
            .iter()
            .map(|origin| Served { name: origin.prefix.to_string(), origin: origin.to_string() });
        return output::json(&Printed::Begin(Beginning { serving: serving.collect() }));
    }
    if !args.output.quiet {
        for origin in origins {
            output::note(&format!("serving {origin} below {}; Ctrl-C ends it", origin.prefix));
        }
    }
    Ok(())
}

fn register(connection: &mut Connection, prefixes: &[Name]) -> Result<(), CommandError> {
    for prefix in prefixes {
        connection.register(prefix)?;
    }
    Ok(())
}

/// Answers until interrupted. Waits for a forwarder that goes away.
fn serve(
    connection: &mut Connection,
    server: &mut Server,
    args: &ProxyArgs,
    prefixes: &[Name],
    progress: &Progress,
    stop: &Stop,
) -> Result<(), Failure> {
    let shown = Some(progress).filter(|_| !args.output.quiet);
    let mut outage = Outage::new("weir proxy", stop, shown, connection.now());
    let (mut tick, mut recent) = (connection.now(), Recent::default());
    let (mut before, mut complaint) = (Counts::default(), None);
    progress.begin_endless();
    while !stop.requested() {
        if let Err(lost) = connection.turn(server, tick + TICK) {
            server.forget_waiting();
            let outcome = outage
                .end(connection, lost, None, &mut |connection| register(connection, prefixes))?;
            if outcome != Outcome::Back {
                return Ok(());
            }
        }
        let now = connection.now();
        if now < tick + TICK {
            continue;
        }
        tick = now;
        server.expire(now, TICK);
        let counts = server.counts();
        if counts.answered > before.answered {
            outage.was_useful();
        }
        before = counts;
        progress.sent(counts.content_bytes, recent.look(now, counts.content_bytes));
        // Consumers repeat Interests that an origin does not answer.
        let failure = server.take_failure().filter(|why| complaint.as_ref() != Some(why));
        if let Some(why) = failure {
            progress.warn(&why);
            complaint = Some(why);
        }
    }
    for prefix in prefixes {
        // The forwarder would notice the end by itself; this saves consumers a time-out.
        connection.unregister(prefix).ok();
    }
    Ok(())
}
