//! Files published one by one.

use crate::cli::PutArgs;
use crate::exit::{Failure, Kind};
use crate::file::{FileSource, Watch};
use crate::output::Progress;
use crate::producer::{self, Look};
use crate::signals::Stop;
use control::Size;
use packet::Name;
use security::Signer;
use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use transport::publish::{Preparation, Publication, Publish, Spec};

/// The files of a producer.
pub struct Files(Vec<Published>);

struct Published {
    plan: Plan,
    watch: Watch,
    version: u64,
    /// Hashes the new version of a changed file.
    job: Option<JoinHandle<Result<Prepared, Failure>>>,
    /// The new version could not be read, and this has been reported.
    is_unreadable: bool,
}

/// How a file is published.
#[derive(Clone)]
struct Plan {
    name: Name,
    path: PathBuf,
    signer: Signer,
    segment_size: Option<Size>,
    sign_segments: bool,
}

struct Prepared {
    publication: Publication,
    watch: Watch,
    version: u64,
}

impl Files {
    /// Hashes and publishes files.
    ///
    /// # Errors
    /// A file cannot be read, or the user has interrupted.
    pub fn publish(
        args: &PutArgs,
        files: Vec<(Name, PathBuf)>,
        signer: &Signer,
        stop: &Stop,
        publish: &mut Publish,
    ) -> Result<Files, Failure> {
        let mut all = Vec::new();
        for (name, path) in files {
            let plan = Plan {
                name,
                path,
                signer: signer.clone(),
                segment_size: args.segment_size,
                sign_segments: args.sign_segments,
            };
            let doing = if args.sign_segments { "signing" } else { "hashing" };
            let what = format!("{doing} {}", plan.path.display());
            let progress = Progress::new(&what, args.output.quiet);
            let prepared = plan.prepare(0, &progress, stop);
            progress.end();
            let Prepared { publication, watch, version } = prepared?;
            publish.add(publication);
            all.push(Published { plan, watch, version, job: None, is_unreadable: false });
        }
        Ok(Files(all))
    }

    /// Publishes new versions of files that have changed.
    ///
    /// # Errors
    /// A changed file cannot be published.
    pub fn look(&mut self, publish: &mut Publish, look: &Look<'_>) -> Result<(), Failure> {
        for file in &mut self.0 {
            if let Some(job) = file.job.take_if(|job| job.is_finished()) {
                let prepared = match job.join() {
                    Err(_) => return Err(Failure::new(Kind::Failed, "hashing has failed")),
                    Ok(Ok(prepared)) => prepared,
                    // The former version is still served, and the file may become readable again.
                    Ok(Err(failure)) => {
                        if !std::mem::replace(&mut file.is_unreadable, true) {
                            let path = file.plan.path.display();
                            let what = format!("{path} has changed and is served as it was");
                            look.progress.warn(&format!("{what}: {failure}"));
                        }
                        continue;
                    }
                };
                file.is_unreadable = false;
                file.watch = prepared.watch;
                file.version = prepared.version;
                let object = prepared.publication.object();
                look.progress.warn(&format!("{} has changed: {object}", file.plan.path.display()));
                publish.replace(prepared.publication);
            }
            if file.job.is_none() && file.watch.changed().is_some() {
                let (plan, stop, least) = (file.plan.clone(), look.stop.clone(), file.version + 1);
                file.job = Some(std::thread::spawn(move || {
                    plan.prepare(least, &Progress::new("", true), &stop)
                }));
            }
        }
        Ok(())
    }
}

impl Plan {
    /// Hashes the file; its version is at least `least`.
    fn prepare(&self, least: u64, progress: &Progress, stop: &Stop) -> Result<Prepared, Failure> {
        let source = source(&self.path, stop)?;
        let watch = source.watch().map_err(|error| cannot_publish(&self.path, &error))?;
        let version = source.version().max(least);
        let name = self.name.clone();
        let mut spec = match self.sign_segments {
            true => Spec::signed_by(self.signer.clone(), name, version),
            false => Spec::new(name, version),
        };
        if let Some(size) = self.segment_size {
            spec.segment_size = usize::try_from(size.0).unwrap_or(usize::MAX);
        }
        let preparation = Preparation::new(spec, source, &self.signer)?;
        let publication = producer::prepare(preparation, &self.signer, progress, stop)?;
        Ok(Prepared { publication, watch, version })
    }
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
