//! `weir put`

use crate::cli::PutArgs;
use crate::exit::{Failure, Kind};
use crate::file::{FileSource, Watch};
use crate::identity::{self, Signing};
use crate::outage::{Outage, Outcome};
use crate::output::{self, Progress};
use crate::producer;
use crate::producer::Look;
use crate::signals::Stop;
use net::client::{Address, CommandError, Connection};
use packet::{Component, Name};
use security::{Certificate, Signer};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;
use transport::publish::{Preparation, Publication, Publish, Spec};

/// The result of serving, for programs.
#[derive(Serialize)]
struct Summary {
    objects: Vec<Object>,
    answered: u64,
    content_bytes: u64,
    refused: u64,
    unknown: u64,
    dropped: u64,
    malformed: u64,
    failed: u64,
}

#[derive(Serialize)]
struct Object {
    name: String,
    bytes: u64,
    segments: u64,
}

/// Publishes and serves.
pub fn run(args: &PutArgs) -> Result<(), Failure> {
    reject_version(args)?;
    reject_equal_names(args)?;
    let Signing { signer, chain, remark } = identity::signing(args.sign.as_ref(), &args.name)?;
    if args.sign_segments && matches!(signer, Signer::Digest) {
        let why = remark.unwrap_or_else(|| "there is no key to sign segments by".to_owned());
        return Err(Failure::new(Kind::Usage, why)
            .then("name a key by --sign, or make one: weir key new NAME --default"));
    }
    if let Some(remark) = remark.filter(|_| !args.output.quiet) {
        output::note(&remark);
    }
    let stop = Stop::listen().map_err(|error| Failure::new(Kind::Failed, error))?;
    // Before hours of hashing, see whether there is a forwarder at all.
    let mut connection = Connection::open(Address::find(args.forwarder.socket.as_deref())?)?;
    let mut publish = Publish::new();
    let mut watches = Vec::new();
    for path in &args.files {
        let (publication, watch) = prepare(args, path, &signer, &stop)?;
        publish.add(publication);
        watches.push(watch);
    }
    publish.claim(args.name.clone());
    let keys = serve_certificates(&mut publish, &chain, args);
    let progress = Progress::new("sent", args.output.quiet);
    let served = serve(&mut connection, &mut publish, &watches, &keys, args, &progress, &stop);
    progress.end();
    served?;
    if args.output.json {
        output::json(&summary(&publish))?;
    }
    Ok(())
}

/// Registers what is published, and serves it to the end.
fn serve(
    connection: &mut Connection,
    publish: &mut Publish,
    watches: &[Watch],
    keys: &[Name],
    args: &PutArgs,
    progress: &Progress,
    stop: &Stop,
) -> Result<(), Failure> {
    let mut registered = Vec::new();
    let mut greet = |connection: &mut Connection| {
        registered = register(connection, &args.name, keys, args.output.quiet)?;
        Ok(())
    };
    let shown = Some(progress).filter(|_| !args.output.quiet);
    let mut outage = Outage::new("weir put", stop, shown, connection.now());
    match greet(connection) {
        // It was there before the files were hashed, which may have taken hours.
        Err(CommandError::Connection(lost)) => {
            if outage.end(connection, lost, None, &mut greet)? != Outcome::Back {
                let message = "interrupted while there was no forwarder";
                return Err(
                    Failure::new(Kind::Interrupted, message).then(producer::NOTHING_PUBLISHED)
                );
            }
        }
        other => other?,
    }
    if !args.output.quiet && !args.output.json {
        say_what_is_served(publish);
    }
    let look = Look { progress, stop, verbose: args.output.verbose };
    let linger = args.linger;
    producer::serve(connection, publish, watches, linger, &look, &mut outage, &mut greet)?;
    // The forwarder would notice by itself; saying it saves consumers a time-out.
    for name in &registered {
        connection.unregister(name).ok();
    }
    Ok(())
}

fn say_what_is_served(publish: &Publish) {
    for object in publish.objects() {
        output::note(&format!(
            "serving {} ({}, {}); Ctrl-C ends it",
            object.object(),
            control::Size(object.size()),
            match object.segments() {
                1 => "1 segment".to_owned(),
                n => format!("{n} segments"),
            }
        ));
    }
}

/// Serves the certificates, too, so that consumers that trust an issuer can follow the chain.
/// Returns the prefixes to register for that.
fn serve_certificates(publish: &mut Publish, chain: &[Certificate], args: &PutArgs) -> Vec<Name> {
    let mut keys = Vec::new();
    for certificate in chain {
        publish.add_packet(certificate.wire().clone());
        let key = certificate.key_name();
        if !key.as_ref().starts_with(args.name.as_ref()) {
            keys.push(key);
        }
    }
    keys
}

/// Registers the prefix, which has to succeed, and those of certificates, which need not. Returns
/// the prefixes that are registered.
fn register(
    connection: &mut Connection,
    name: &Name,
    keys: &[Name],
    quiet: bool,
) -> Result<Vec<Name>, CommandError> {
    connection.register(name)?;
    let mut registered = vec![name.clone()];
    for key in keys {
        match connection.register(key) {
            Ok(()) => registered.push(key.clone()),
            Err(error @ CommandError::Connection(_)) => return Err(error),
            Err(error) if !quiet => {
                output::note(&format!("consumers cannot fetch the certificate of {key}: {error}"));
            }
            Err(_) => {}
        }
    }
    Ok(registered)
}

fn prepare(
    args: &PutArgs,
    path: &Path,
    signer: &Signer,
    stop: &Stop,
) -> Result<(Publication, Watch), Failure> {
    let source = source(path, stop)?;
    let watch = source.watch().map_err(|error| cannot_publish(path, &error))?;
    let (name, version) = (object_name(args, path)?, source.version());
    let mut spec = match args.sign_segments {
        true => Spec::signed_by(signer.clone(), name, version),
        false => Spec::new(name, version),
    };
    if let Some(size) = args.segment_size {
        spec.segment_size = usize::try_from(size.0).unwrap_or(usize::MAX);
    }
    let preparation = Preparation::new(spec, source, signer)?;
    let doing = if args.sign_segments { "signing" } else { "hashing" };
    let progress = Progress::new(&format!("{doing} {}", path.display()), args.output.quiet);
    let publication = producer::prepare(preparation, signer, &progress, stop);
    progress.end();
    Ok((publication?, watch))
}

/// The bytes of a file, or all that standard input brings.
fn source(path: &Path, stop: &Stop) -> Result<FileSource, Failure> {
    if path.as_os_str() != "-" {
        return FileSource::open(path).map_err(|error| cannot_publish(path, &error));
    }
    let input = std::io::stdin().as_fd().try_clone_to_owned().map(File::from);
    let spooled = input.and_then(|mut input| FileSource::spool(&mut stop.interrupts(&mut input)));
    spooled.map_err(|error| match stop.requested() {
        true => Failure::new(Kind::Interrupted, "interrupted while reading standard input")
            .then(producer::NOTHING_PUBLISHED),
        false => Failure::new(Kind::File, format!("cannot publish standard input: {error}"))
            .then("it is kept in a file in TMPDIR while it is served; is there room?"),
    })
}

fn cannot_publish(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(Kind::File, format!("cannot publish {}: {error}", path.display()))
        .then("name a file that can be read, or `-` for standard input")
}

/// The name itself for one file; with the file's name behind it for several.
fn object_name(args: &PutArgs, path: &Path) -> Result<Name, Failure> {
    if args.files.len() == 1 {
        return Ok(args.name.clone());
    }
    let file = path.file_name().filter(|_| path.as_os_str() != "-").ok_or_else(|| {
        let message = format!(
            "of several files each is published by its name, and `{}` has none",
            path.display()
        );
        Failure::new(Kind::Usage, message).then("publish it alone")
    })?;
    let component = Component::generic(std::os::unix::ffi::OsStrExt::as_bytes(file));
    Ok(args.name.clone().with(&component))
}

/// Consumers take the last version of a name for that of the object, so they would not find it.
fn reject_version(args: &PutArgs) -> Result<(), Failure> {
    let version = args.name.as_ref().last().filter(|last| last.as_version_any().is_some());
    if args.files.len() > 1 || version.is_none() {
        return Ok(());
    }
    let parent = args.name.as_ref().parent().to_name();
    Err(Failure::new(Kind::Usage, format!("{} ends in a version already", args.name))
        .then(&format!("publish as {parent}: the file's time becomes the version")))
}

/// Of two files with one name only one could be fetched.
fn reject_equal_names(args: &PutArgs) -> Result<(), Failure> {
    let mut named = BTreeMap::new();
    for path in &args.files {
        let name = object_name(args, path)?;
        if let Some(other) = named.insert(name.to_string(), path) {
            let message = format!(
                "`{}` and `{}` would both be published as {name}",
                other.display(),
                path.display()
            );
            return Err(Failure::new(Kind::Usage, message)
                .then("publish one of them under another name, by a `weir put` of its own"));
        }
    }
    Ok(())
}

fn summary(publish: &Publish) -> Summary {
    let stats = *publish.stats();
    let objects = publish.objects().iter().map(|object| Object {
        name: object.object().to_string(),
        bytes: object.size(),
        segments: object.segments(),
    });
    Summary {
        objects: objects.collect(),
        answered: stats.answered,
        content_bytes: stats.content_bytes,
        refused: stats.refused,
        unknown: stats.unknown,
        dropped: stats.dropped,
        malformed: stats.malformed,
        failed: stats.failed,
    }
}
