//! Folders of trees, for the gateway.

use crate::commands::get::{Search, each_page};
use crate::exit::{Failure, Kind};
use crate::gateway::{Folders, Root};
use crate::signals::Stop;
use crate::transfer::Transfers;
use control::Duration;
use net::client::{Address, Connection};
use packet::Name;
use tree::Entry;

/// Fetches folders, each over a connection of its own.
pub struct Fetched {
    /// The forwarder.
    pub address: Address,
    /// How to fetch.
    pub transfers: Transfers,
    /// The time limit for a tree.
    pub patience: Duration,
}

impl Folders for Fetched {
    fn read(
        &self,
        name: &Name,
        recursive: bool,
        stop: &Stop,
        take: &mut dyn FnMut(&[u8], &Entry) -> bool,
    ) -> Result<Root, Failure> {
        let mut connection = Connection::open(self.address.clone())?;
        let (transfers, patience) = (&self.transfers, self.patience);
        let search = Search { transfers, stop, patience, rate: None, quiet: true, room: None };
        let found = search.find(&mut connection, name)?;
        let mut is_enough = false;
        let all = each_page(&mut connection, &found, transfers, stop, recursive, &mut |page| {
            for entry in &page.entries {
                if !take(&page.directory.join(&entry.name), entry) {
                    is_enough = true;
                    return Err(Failure::silent(Kind::Interrupted, "interrupted"));
                }
            }
            Ok(())
        });
        if !is_enough {
            all?;
        }
        let (verified, key) = (found.summary.verified, found.summary.key);
        Ok(Root { object: found.object, base: found.root.base.into(), verified, key })
    }
}
