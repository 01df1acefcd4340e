//! `weir put`

mod files;
mod printed;
mod trees;

use crate::cli::PutArgs;
use crate::exit::{Failure, Kind};
use crate::folder::component_of;
use crate::identity::{self, Signing};
use crate::outage::{Outage, Outcome};
use crate::output::{self, Progress};
use crate::producer::{self, Content, Look, ServeSettings};
use crate::reach::Reach;
use crate::signals::Stop;
use client::parts::MOST_COMPONENTS;
use control::Size;
use files::Files;
use net::client::{CommandError, Connection};
use packet::Name;
pub use printed::Printed;
use printed::{Beginning, Object, Summary};
use security::{Certificate, Signer};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use transport::publish::Publish;
use trees::Trees;

/// Publishes and serves.
pub fn run(args: &PutArgs) -> Result<(), Failure> {
    publish(args, false)
}

/// Publishes and serves; `watch`: changes in folders are noticed at once.
pub fn publish(args: &PutArgs, watch: bool) -> Result<(), Failure> {
    if args.files.len() == 1 {
        reject_version(&args.name.name)?;
    }
    let paths = named(args)?;
    let signing = identity::signing(args.serving.sign.as_ref(), &args.name.name)?;
    let Signing { signer, chain, remark } = signing;
    if args.sign_segments && matches!(signer, Signer::Digest) {
        let why = remark.unwrap_or_else(|| "there is no key to sign segments with".to_owned());
        return Err(Failure::new(Kind::Usage, why)
            .then("name a key with --sign, or make one: weir key new NAME --default"));
    }
    if let Some(remark) = remark.filter(|_| !args.output.quiet) {
        output::note(&remark);
    }
    let stop = Stop::listen().map_err(|error| Failure::new(Kind::Failed, error))?;
    // Before hours of hashing, check that a forwarder exists.
    let listen = args.serving.listen;
    let (mut reach, note) = Reach::producer(&args.reach, listen)?;
    if let Some(note) = note.filter(|_| !args.output.quiet) {
        output::note(&note);
    }
    let mut publish = Publish::new();
    let (folders, plain): (Vec<_>, Vec<_>) = paths.into_iter().partition(|(_, path)| path.is_dir());
    let filtered = !args.filter.include.is_empty() || !args.filter.exclude.is_empty();
    if filtered && folders.is_empty() {
        return Err(Failure::new(Kind::Usage, "--include and --exclude are for folders")
            .then("name the files that are to be published, or a folder"));
    }
    let mut content = Served {
        command: if watch { "weir share" } else { "weir put" },
        files: Files::publish(args, plain, &signer, &stop, &mut publish)?,
        trees: Trees::publish(args, folders, &signer, &stop, watch)?,
    };
    content.trees.serve(&mut publish);
    publish.claim(args.name.name.clone());
    let keys = serve_certificates(&mut publish, &chain, args);
    let progress = Progress::new("sent", args.output.quiet);
    let connection = &mut reach.connection;
    let ended = serve(connection, &mut publish, &mut content, &keys, args, &progress, &stop);
    progress.end();
    ended?;
    if args.output.json {
        output::json(&Printed::End(summary(&publish, &content)))?;
    }
    Ok(())
}

/// All published content.
struct Served {
    command: &'static str,
    files: Files,
    trees: Trees,
}

impl Content for Served {
    fn look(&mut self, publish: &mut Publish, look: &Look<'_>) -> Result<(), Failure> {
        let failure = publish.take_failure();
        self.files.look(publish, look)?;
        self.trees.look(publish, failure.as_ref(), look)
    }
}

/// Registers the published names, and serves them to the end.
fn serve(
    connection: &mut Connection,
    publish: &mut Publish,
    content: &mut Served,
    keys: &[Name],
    args: &PutArgs,
    progress: &Progress,
    stop: &Stop,
) -> Result<(), Failure> {
    let mut registered = Vec::new();
    let mut greet = |connection: &mut Connection| {
        registered = register(connection, &args.name.name, keys, args.output.quiet)?;
        Ok(())
    };
    let shown = Some(progress).filter(|_| !args.output.quiet);
    let mut outage = Outage::new(content.command, stop, shown, connection.now());
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
    if args.output.json {
        output::json(&Printed::Begin(Beginning { serving: objects(publish, content) }))?;
    } else if !args.output.quiet {
        objects(publish, content).iter().for_each(|object| output::note(&line(object)));
    }
    let look = Look { progress, stop, verbose: args.output.verbose };
    let settings = ServeSettings { linger: args.serving.linger, rate: args.serving.limit_rate };
    producer::serve(connection, publish, content, &settings, &look, &mut outage, &mut greet)?;
    // The forwarder would notice the end by itself; this saves consumers a time-out.
    for name in &registered {
        connection.unregister(name).ok();
    }
    Ok(())
}

/// The line about a served object.
fn line(object: &Object) -> String {
    let (count, unit) = match (object.files, object.segments) {
        (Some(files), _) => (files, "file"),
        (None, segments) => (segments.unwrap_or_default(), "segment"),
    };
    let (size, parts) = (Size(object.bytes), output::counted(count, unit));
    format!("serving {} ({size}, {parts}); Ctrl-C ends it", object.name)
}

/// Serves the certificates, too, so that consumers that trust an issuer can follow the chain.
/// Returns the prefixes to register for that.
fn serve_certificates(publish: &mut Publish, chain: &[Certificate], args: &PutArgs) -> Vec<Name> {
    let mut keys = Vec::new();
    for certificate in chain {
        publish.add_packet(certificate.wire().clone());
        let key = certificate.key_name();
        if !key.as_ref().starts_with(args.name.name.as_ref()) {
            keys.push(key);
        }
    }
    keys
}

/// Registers the prefix, which must succeed, and those of certificates, which may fail. Returns the
/// registered prefixes.
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

/// The names of all paths. Of two with one name only one could be fetched.
fn named(args: &PutArgs) -> Result<Vec<(Name, PathBuf)>, Failure> {
    let mut taken = BTreeMap::new();
    for path in &args.files {
        let name = object_name(args, path)?;
        if let Some(other) = taken.insert(name.to_string(), path) {
            let message = format!(
                "`{}` and `{}` would both be published as {name}",
                other.display(),
                path.display()
            );
            return Err(Failure::new(Kind::Usage, message)
                .then("publish one of them under another name, with a `weir put` of its own"));
        }
    }
    args.files
        .iter()
        .map(|path| {
            let name = object_name(args, path)?;
            reject_depth(&name, path)?;
            Ok((name, path.clone()))
        })
        .collect()
}

/// Rejects a name that no consumer could use to find the object.
pub fn reject_depth(name: &Name, path: &Path) -> Result<(), Failure> {
    // The object of a tree has a keyword more.
    let (len, most) = (name.len(), MOST_COMPONENTS - usize::from(path.is_dir()));
    if len <= most {
        return Ok(());
    }
    let message = format!("the name has {len} components, and consumers find {most} or fewer");
    Err(Failure::new(Kind::Usage, message).then("choose a shorter name"))
}

/// The name itself for one path; with the path's own name behind it for several, or if the name
/// ends in a slash.
fn object_name(args: &PutArgs, path: &Path) -> Result<Name, Failure> {
    if args.files.len() == 1 && !args.name.below {
        return Ok(args.name.name.clone());
    }
    let own = Some(path).filter(|path| path.as_os_str() != "-").and_then(component_of);
    let component = own.ok_or_else(|| {
        let message = format!(
            "of several files each is published by its name, and `{}` has none",
            path.display()
        );
        Failure::new(Kind::Usage, message).then("publish it alone")
    })?;
    Ok(args.name.name.clone().with(&component))
}

/// Consumers take the last version of a name for that of the object, so they would not find it.
pub fn reject_version(name: &Name) -> Result<(), Failure> {
    if name.as_ref().last().is_none_or(|last| last.as_version_any().is_none()) {
        return Ok(());
    }
    let parent = name.as_ref().parent().to_name();
    Err(Failure::new(Kind::Usage, format!("{name} ends in a version already"))
        .then(&format!("publish as {parent}: the file's time becomes the version")))
}

fn objects(publish: &Publish, content: &Served) -> Vec<Object> {
    let files = publish.objects().iter().map(|object| Object {
        name: object.object().to_string(),
        bytes: object.size(),
        segments: Some(object.segments()),
        files: None,
    });
    files.chain(content.trees.objects()).collect()
}

fn summary(publish: &Publish, content: &Served) -> Summary {
    let stats = *publish.stats();
    Summary {
        objects: objects(publish, content),
        answered: stats.answered,
        content_bytes: stats.content_bytes,
        refused: stats.rejected,
        unknown: stats.unknown,
        dropped: stats.dropped,
        malformed: stats.malformed,
        failed: stats.failed,
    }
}
