//! The pages of a tree, one after another.

use super::root::Found;
use crate::exit::{Failure, Kind, Word};
use crate::folder::{malformed, page_object, walk_of};
use crate::signals::Stop;
use crate::transfer::{Driven, Transfers};
use control::Duration;
use net::client::Connection;
use std::collections::BTreeMap;
use std::sync::Arc;
use transport::fetch::batch::{BatchSink, BatchStatus, Failure as Lost};
use tree::{Directory, Entry, PageRef, Request};

/// The number of pages in flight.
const PAGES: usize = 32;
const TICK: Duration = Duration::from_millis(100);

/// A page of a tree.
pub struct Page<'a> {
    /// Its reference.
    pub page: PageRef,
    /// Its content.
    pub content: &'a [u8],
    /// The directory to which it belongs.
    pub directory: Arc<Directory>,
    /// The entries in it.
    pub entries: Vec<Entry>,
}

/// Fetches the pages of a directory and, if they are wanted, of those in it.
///
/// # Errors
/// A page cannot be fetched or is malformed, `take` fails, or it was interrupted.
pub fn each_page(
    connection: &mut Connection,
    found: &Found,
    transfers: &Transfers,
    stop: &Stop,
    recursive: bool,
    take: &mut dyn FnMut(Page<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let base = found.name.as_ref().prefix(found.root.base.into()).to_name();
    let mut walk = walk_of(&found.name, &found.root)?;
    let (mut batch, mut pages) = (transfers.batch()?, Pages::default());
    loop {
        for (request, content) in std::mem::take(&mut pages.there) {
            let page = request.page;
            let accepted = walk.accept(request, &content, &mut |_, _| recursive);
            let accepted = accepted.map_err(|error| malformed(&found.name, &error))?;
            let (directory, entries) = (accepted.directory, accepted.entries);
            take(Page { page, content: &content, directory, entries })?;
        }
        while pages.awaited.len() < PAGES
            && let Some(request) = walk.next_page()
        {
            let number = batch.add(page_object(&base, &request.page), true, &mut pages);
            pages.awaited.entry(number).or_default().requests.push(request);
        }
        if let Some(why) = pages.lost.take() {
            let message = format!("a page of {}/ cannot be fetched: {why}", found.name);
            return Err(Failure::new(Kind::Failed, message).then("run the same command again"));
        }
        match batch.status() {
            BatchStatus::Idle if pages.there.is_empty() => break,
            BatchStatus::Idle => continue,
            BatchStatus::Stalled { waited, cause } => {
                let name = &found.name;
                let message = format!("no data of {name}/ arrived for {waited} ({cause})");
                return Err(Failure::new(Word::Stalled, message).then("run the same command again"));
            }
            BatchStatus::Running => {}
        }
        batch.set_last(walk.is_done());
        let until = connection.now() + TICK;
        connection.turn(&mut Driven { batch: &mut batch, sink: &mut pages }, until)?;
        if stop.requested() {
            return Err(
                Failure::new(Kind::Interrupted, "interrupted").then("run the same command again")
            );
        }
    }
    Ok(())
}

/// Pages that arrive.
#[derive(Default)]
struct Pages {
    awaited: BTreeMap<u64, Awaited>,
    there: Vec<(Request, Vec<u8>)>,
    lost: Option<Lost>,
}

#[derive(Default)]
struct Awaited {
    requests: Vec<Request>,
    content: Vec<u8>,
}

impl BatchSink for Pages {
    fn write(&mut self, object: u64, _offset: u64, content: &[u8]) {
        if let Some(page) = self.awaited.get_mut(&object) {
            page.content.extend_from_slice(content);
        }
    }

    fn complete(&mut self, object: u64) {
        if let Some(Awaited { requests, content }) = self.awaited.remove(&object) {
            self.there.extend(requests.into_iter().map(|request| (request, content.clone())));
        }
    }

    fn failed(&mut self, _object: u64, why: Lost) {
        self.lost = Some(why);
    }
}
