//! Trees from the network.

use super::fetch::Fetching;
use super::keep::{self, Ready};
use super::signed::{Collector, Wanted};
use crate::cli::GetArgs;
use crate::cli::shared::OutputArgs;
use crate::commands::get::{Found, Page, Room, Search, each_page, fetch_tree};
use crate::exit::{Failure, Kind};
use crate::folder::{Choices, Filter};
use net::client::Connection;
use packet::{Bytes, Component};
use repo::{Entry, Staging};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tree::{Entry as TreeEntry, File, Kind as EntryKind, Root};

/// Objects whose signed packets are requested together.
const TOGETHER: usize = 64;

impl Fetching<'_> {
    /// Fetches a tree: its files into a folder of the staging, then its publisher's signed packets.
    pub fn tree(
        &self,
        connection: &mut Connection,
        staging: &mut Staging,
    ) -> Result<Ready, Failure> {
        let (transfers, stop) = (self.transfers, self.stop);
        let (patience, quiet) = (self.args.transfer.patience, self.args.output.quiet);
        let (rate, room) = (self.args.limit_rate, Some(self as &dyn Room));
        let search = Search { transfers, stop, patience, rate, quiet, room };
        let folder = staging.path();
        let choices = Choices { delete: false, checksum: false, filter: Filter::default() };
        // The root that the files were verified by: its publisher may answer another request with
        // another root, whose folders are links in this one.
        let args = self.get_args();
        let found = fetch_tree(&args, &folder, choices, &search, None, connection)?;
        self.parts(connection, staging, &found, &folder)
    }

    /// The arguments of the transfer of the files. Without a version in the name, a tree that
    /// changes meanwhile is fetched in its next version.
    fn get_args(&self) -> GetArgs {
        let name = self.args.name.name.clone();
        GetArgs {
            name: crate::cli::content::Place { name, below: true },
            folder: None,
            output_file: None,
            delete: false,
            checksum: false,
            older: true,
            filter: crate::cli::content::FilterArgs::default(),
            limit_rate: self.args.limit_rate,
            transfer: self.args.transfer.clone(),
            record: None,
            record_every: control::Duration::from_millis(20),
            reach: self.args.reach.clone(),
            output: OutputArgs { json: false, quiet: true, verbose: false },
        }
    }

    /// Holds all that belongs to a tree whose files are in `folder`.
    fn parts(
        &self,
        connection: &mut Connection,
        staging: &mut Staging,
        found: &Found,
        folder: &Path,
    ) -> Result<Ready, Failure> {
        let version = found.object.as_ref().last().and_then(|last| last.as_version());
        let version =
            version.ok_or_else(|| Failure::new(Kind::Failed, "the tree has no version"))?;
        let base = found.name.as_ref().prefix(found.root.base.into()).to_name();
        let mut directories = vec![(Vec::new(), found.root)];
        let mut files: Vec<(Vec<u8>, File)> = Vec::new();
        let mut held = Ok(());
        each_page(connection, found, self.transfers, self.stop, true, &mut |page: Page<'_>| {
            let packet = tree::page_packet(&base, &page.page, page.content);
            if let Some(entry) = keep::packet(packet) {
                held = staging.hold(&entry).map_err(|error| keep::unwritable(&error));
            }
            for TreeEntry { name, mode, modified, kind } in page.entries {
                let path = page.directory.join(&name);
                match kind {
                    EntryKind::File(file) => files.push((path, file)),
                    EntryKind::Directory(page) => {
                        let root = Root { base: found.root.base, mode, modified, page };
                        directories.push((path, root));
                    }
                    EntryKind::Link(_) => {}
                }
            }
            std::mem::replace(&mut held, Ok(()))
        })?;
        let (transfers, stop) = (self.transfers, self.stop);
        let mut collector = Collector { connection, transfers, stop };
        let top = self.directories(&mut collector, staging, found, version, &directories)?;
        open_up(folder, &directories);
        for chunk in files.chunks(TOGETHER) {
            self.files(&mut collector, staging, found, folder, chunk)?;
        }
        let signed = top.object().map(|object| object.signed.manifest.clone()).unwrap_or_default();
        let prefixes = collector.hold_certificates(staging, &found.name, &signed)?;
        let (bytes, files) = (found.root.page.totals.bytes, files.len() as u64);
        let is_verified = transfers.needs_key();
        Ok(Ready { entry: top, bytes, files: Some(files), prefixes, is_verified, media_type: None })
    }

    /// Holds the objects of directories, and returns that of the tree itself.
    fn directories(
        &self,
        collector: &mut Collector<'_>,
        staging: &mut Staging,
        found: &Found,
        version: u64,
        directories: &[(Vec<u8>, Root)],
    ) -> Result<Entry, Failure> {
        let keyword = Component::keyword(tree::KEYWORD);
        let mut top = None;
        for chunk in directories.chunks(TOGETHER) {
            let wanted = chunk.iter().map(|(path, _)| Wanted {
                name: tree::name_of(&found.name, path).with(&keyword),
                version,
                segment_size: 0,
                root_digest: None,
            });
            let wanted: Vec<Wanted> = wanted.map(Wanted::with_usual_segments).collect();
            let signed = collector.signed(&wanted)?;
            let plain = chunk.iter().map(|(path, _)| {
                let name = tree::name_of(&found.name, path);
                transport::rdr::metadata_name(name.as_ref(), version)
            });
            let metadata = collector.packets(&plain.collect::<Vec<_>>())?;
            for (((path, root), wanted), (signed, metadata)) in
                chunk.iter().zip(&wanted).zip(signed.into_iter().zip(metadata))
            {
                let mut content = Vec::new();
                root.encode_into(&mut content);
                let entry = collector.entry(wanted, Bytes::from(content), signed)?;
                for entry in
                    keep::packet(metadata).iter().chain((!path.is_empty()).then_some(&entry))
                {
                    staging.hold(entry).map_err(|error| keep::unwritable(&error))?;
                }
                top = top.or(path.is_empty().then_some(entry));
            }
        }
        top.ok_or_else(|| Failure::new(Kind::Failed, "the tree has no root"))
    }

    /// Holds files.
    fn files(
        &self,
        collector: &mut Collector<'_>,
        staging: &mut Staging,
        found: &Found,
        folder: &Path,
        files: &[(Vec<u8>, File)],
    ) -> Result<(), Failure> {
        let wanted = files.iter().map(|(path, file)| Wanted {
            name: tree::name_of(&found.name, path),
            version: file.version,
            segment_size: file.segment_size,
            root_digest: None,
        });
        let wanted: Vec<Wanted> = wanted.collect();
        let signed = collector.signed(&wanted)?;
        for (((path, _), wanted), signed) in files.iter().zip(&wanted).zip(signed) {
            let staged = staging.adopt(join(folder, path));
            let staged = staged.map_err(|error| keep::unwritable(&error))?;
            let entry = collector.file_entry(wanted, &staged, signed)?;
            staging.hold(&entry).map_err(|error| keep::unwritable(&error))?;
        }
        Ok(())
    }
}

fn join(folder: &Path, path: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    folder.join(std::ffi::OsStr::from_bytes(path))
}

/// Lets this user read folders that have the permissions of the publisher.
fn open_up(folder: &Path, directories: &[(Vec<u8>, Root)]) {
    for (path, _) in directories {
        let permissions = std::fs::Permissions::from_mode(0o700);
        // Where that fails, reading the files in it does.
        let _ = std::fs::set_permissions(join(folder, path), permissions);
    }
}
