//! Lookups that pass over packets which failed a consumer's verification.

use super::ContentStore;
use crate::tables::name_hash::HashedName;
use bytes::Bytes;
use control::Time;
use packet::options::{Exclude, MAX_EXCLUDED};
use packet::{Data, Interest};
use smallvec::SmallVec;

impl ContentStore {
    /// As [`ContentStore::find`], but none of the excluded packets answers. Packets that would have
    /// answered are doubted until they arrive again: Interests with MustBeFresh that exclude
    /// anything skip them, so that a consumer gets past more forgeries than it can name. Interests
    /// that exclude nothing still get them, since any consumer may exclude anything.
    ///
    /// It takes at most `MAX_EXCLUDED` + 1 plain lookups.
    pub fn find_except(
        &mut self,
        now: Time,
        interest: &Interest<'_>,
        name: &HashedName<'_>,
        excluded: &Exclude,
    ) -> Option<Bytes> {
        let mut passed = SmallVec::<[usize; MAX_EXCLUDED]>::new();
        let found = loop {
            let Some(slot) = self.look_up(now, interest, name, Some(&passed)) else { break None };
            let Some(digest) = self.digest_of(slot) else { break None };
            if !excluded.excludes(&digest) {
                break Some(slot);
            }
            let cached = self.tree.get_mut(slot);
            cached.doubted = true;
            passed.push(cached.wire.as_ptr().addr());
            if passed.len() > MAX_EXCLUDED {
                break None;
            }
        };
        self.hit(found)
    }

    /// The implicit digest of cached Data; kept beside it if there is room.
    pub(super) fn digest_of(&mut self, slot: u32) -> Option<[u8; 32]> {
        let room = self.bound().saturating_sub(self.memory());
        let cached = self.tree.get_mut(slot);
        if let Some(digest) = &cached.digest {
            return Some(**digest);
        }
        let digest = Data::decode(&cached.wire).ok()?.implicit_digest();
        let block = crate::tables::memory::block(digest.len());
        if room >= block {
            self.packets += block;
            cached.digest = Some(Box::new(digest));
        }
        Some(digest)
    }
}
