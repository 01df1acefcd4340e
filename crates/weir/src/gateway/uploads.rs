//! Uploads: who may send them, and how many at a time.

use crate::exit::Failure;
use crate::gateway::page::Item;
use crate::gateway::source::Source;
use control::Size;
use hyper::StatusCode;
use hyper::header::HeaderMap;
use packet::Name;
use router::guard::Refusal;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use weir::http::put::Token;

/// Uploads at a time, and those of one source.
const MOST: usize = 16;
const MOST_OF_ONE: usize = 4;

/// The store of uploads.
pub trait Keeper: Send + Sync {
    /// The newest version under a name, if there is one.
    ///
    /// # Errors
    /// The store cannot be read, or has a tree there.
    fn version(&self, name: &Name) -> Result<Option<u64>, (StatusCode, Failure)>;

    /// The bytes that the store may take in addition.
    ///
    /// # Errors
    /// The store cannot be read.
    fn room(&self) -> Result<u64, Failure>;

    /// Publishes all bytes of `body` under a name.
    ///
    /// # Errors
    /// The body ends early, or cannot be stored; then the store is as before.
    fn keep(&self, name: &Name, body: &mut dyn Read) -> Result<Kept, (StatusCode, Failure)>;

    /// The entries at a name, or with `query` those below it that have this in their names. `None`
    /// if there are none, or the name is that of a tree.
    ///
    /// # Errors
    /// The store cannot be read.
    fn list(&self, name: &Name, query: Option<&str>) -> Result<Option<Vec<Item>>, Failure>;
}

/// A stored object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its version.
    pub version: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// The permission to upload.
pub struct Uploads {
    keeper: Arc<dyn Keeper>,
    prefixes: Vec<Name>,
    token: Option<Token>,
    limit: Size,
    now: Arc<Mutex<Now>>,
}

/// The uploads that are under way.
#[derive(Default)]
struct Now {
    names: BTreeSet<Name>,
    sources: BTreeMap<Source, usize>,
    /// Bytes that are not in the store's own account yet.
    bytes: u64,
}

/// An upload that is under way until this is dropped.
pub struct Upload {
    now: Arc<Mutex<Now>>,
    name: Name,
    source: Source,
    bytes: AtomicU64,
    bounds: Bounds,
}

/// The most bytes of one upload, and of all that are under way.
#[derive(Clone, Copy)]
struct Bounds {
    limit: Size,
    room: u64,
}

impl Bounds {
    fn check(self, own: u64, all: u64) -> Result<(), Refusal> {
        if own > self.limit.0 {
            let text = format!("an upload may have {} at most; send a smaller one", self.limit);
            return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, text));
        }
        if all > self.room {
            let text = "the store has no room for it; the operator of the gateway can remove \
                        something with `weir repo rm`, or raise --quota";
            return Err(Refusal::new(StatusCode::INSUFFICIENT_STORAGE, text));
        }
        Ok(())
    }
}

fn lock(now: &Mutex<Now>) -> MutexGuard<'_, Now> {
    now.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Uploads {
    /// Uploads of names below `prefixes` into a store, each of at most `limit` bytes. Without a
    /// token, only programs of the gateway's own user may upload.
    pub fn new(
        keeper: Arc<dyn Keeper>,
        prefixes: Vec<Name>,
        token: Option<Token>,
        limit: Size,
    ) -> Uploads {
        Uploads { keeper, prefixes, token, limit, now: Arc::default() }
    }

    /// The store.
    pub fn keeper(&self) -> &Arc<dyn Keeper> {
        &self.keeper
    }

    /// Names below these may be uploaded.
    pub fn prefixes(&self) -> &[Name] {
        &self.prefixes
    }

    /// The prefix of uploads that a name has.
    pub fn prefix_of(&self, name: &Name) -> Option<&Name> {
        let is_above = |prefix: &&Name| name.as_ref().starts_with(prefix.as_ref());
        self.prefixes.iter().filter(is_above).max_by_key(|prefix| prefix.len())
    }

    /// The maximum size of an upload.
    pub fn limit(&self) -> Size {
        self.limit
    }

    /// A token is required.
    pub fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// Checks the right of a sender. A page of a foreign origin that may read has no right by
    /// itself: it needs the token.
    ///
    /// # Errors
    /// The token is missing or wrong, or the sender is another user.
    pub fn authorize(
        &self,
        headers: &HeaderMap,
        source: Source,
        is_foreign: bool,
    ) -> Result<(), Refusal> {
        match &self.token {
            Some(token) if token.is_in(headers) => Ok(()),
            Some(_) => {
                let text = "uploads need the token of this gateway; send it as `Authorization: \
                            Bearer TOKEN`";
                Err(Refusal::new(StatusCode::UNAUTHORIZED, text))
            }
            None if is_foreign => {
                let text = "pages of other origins may upload only where a token is required; \
                            start the gateway with --put-token";
                Err(Refusal::new(StatusCode::FORBIDDEN, text))
            }
            None if source != Source::Own => {
                let text = "only programs of the gateway's own user may upload; start the gateway \
                            with --put-token for others";
                Err(Refusal::new(StatusCode::FORBIDDEN, text))
            }
            None => Ok(()),
        }
    }

    /// Begins an upload.
    ///
    /// # Errors
    /// There are too many, another one has the same name, it is too large, or the store cannot be
    /// read.
    pub fn begin(&self, name: &Name, source: Source, size: Option<u64>) -> Result<Upload, Refusal> {
        let failed = |_| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, UNREADABLE);
        let room = self.keeper.room().map_err(failed)?;
        let mut now = lock(&self.now);
        let all: usize = now.sources.values().sum();
        let own = now.sources.get(&source).copied().unwrap_or(0);
        if own >= MOST_OF_ONE {
            let text = "this client has too many uploads under way; wait until one is over";
            return Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, text));
        }
        if all >= MOST {
            let text = "too many uploads are under way; try again in a few seconds";
            return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, text));
        }
        let bounds = Bounds { limit: self.limit, room };
        let size = size.unwrap_or(0);
        bounds.check(size, now.bytes.saturating_add(size))?;
        if !now.names.insert(name.clone()) {
            let text = "this name is being uploaded; try again when that is over";
            return Err(Refusal::new(StatusCode::CONFLICT, text));
        }
        *now.sources.entry(source).or_insert(0) += 1;
        drop(now);
        let (now, bytes) = (Arc::clone(&self.now), AtomicU64::new(0));
        Ok(Upload { now, name: name.clone(), source, bytes, bounds })
    }
}

const UNREADABLE: &str = "the store cannot be read now; the operator of the gateway finds the \
                          reason by `weir repo verify`";

impl Upload {
    /// So many bytes have come.
    ///
    /// # Errors
    /// There are more of them than permitted.
    pub fn grow(&self, bytes: u64) -> Result<(), Refusal> {
        let mut now = lock(&self.now);
        let own = self.bytes.load(Ordering::Relaxed).saturating_add(bytes);
        self.bounds.check(own, now.bytes.saturating_add(bytes))?;
        now.bytes += bytes;
        self.bytes.store(own, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let mut now = lock(&self.now);
        now.names.remove(&self.name);
        now.bytes = now.bytes.saturating_sub(self.bytes.load(Ordering::Relaxed));
        if let Some(count) = now.sources.get_mut(&self.source) {
            *count -= 1;
            if *count == 0 {
                now.sources.remove(&self.source);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::{AUTHORIZATION, HeaderValue};
    use std::net::Ipv4Addr;

    /// A store with room for 100 bytes.
    struct Small;

    impl Keeper for Small {
        fn version(&self, _name: &Name) -> Result<Option<u64>, (StatusCode, Failure)> {
            Ok(None)
        }

        fn room(&self) -> Result<u64, Failure> {
            Ok(100)
        }

        fn keep(&self, _: &Name, _: &mut dyn Read) -> Result<Kept, (StatusCode, Failure)> {
            Ok(Kept { version: 1, bytes: 0 })
        }

        fn list(&self, _: &Name, _: Option<&str>) -> Result<Option<Vec<Item>>, Failure> {
            Ok(None)
        }
    }

    fn uploads(token: Option<&str>) -> Uploads {
        let token = token.map(|token| Token::read(token).unwrap());
        Uploads::new(Arc::new(Small), vec!["/a".parse().unwrap()], token, Size(60))
    }

    fn begin(uploads: &Uploads, n: usize, of: Source, size: Option<u64>) -> Result<Upload, u16> {
        let upload = uploads.begin(&format!("/a/{n}").parse().unwrap(), of, size);
        upload.map_err(|refusal| refusal.status.as_u16())
    }

    #[test]
    fn uploads_of_a_source_and_of_all_are_limited() {
        let (uploads, host) = (uploads(None), |n| Source::host(Ipv4Addr::from_bits(n).into()));
        let mut own: Vec<_> =
            (0..MOST_OF_ONE).map(|n| begin(&uploads, n, Source::Own, None).unwrap()).collect();
        assert_eq!(begin(&uploads, 9, Source::Own, None).err(), Some(429));
        let others: Vec<_> = (MOST_OF_ONE..MOST)
            .map(|n| begin(&uploads, n, host(n as u32), None).unwrap())
            .collect();
        assert_eq!(begin(&uploads, 99, host(99), None).err(), Some(503));
        own.pop();
        assert_eq!(begin(&uploads, 0, Source::Own, None).err(), Some(409), "the same name");
        assert!(begin(&uploads, 99, Source::Own, None).is_ok());
        drop((own, others));
        let now = lock(&uploads.now);
        assert!(now.names.is_empty() && now.sources.is_empty());
    }

    #[test]
    fn bytes_of_one_and_of_all_are_limited() {
        let uploads = uploads(None);
        assert_eq!(begin(&uploads, 0, Source::Own, Some(61)).err(), Some(413));
        let one = begin(&uploads, 0, Source::Own, Some(60)).unwrap();
        one.grow(60).unwrap();
        assert_eq!(one.grow(1).unwrap_err().status, 413);
        assert_eq!(begin(&uploads, 1, Source::Own, Some(41)).err(), Some(507));
        let other = begin(&uploads, 1, Source::Own, None).unwrap();
        other.grow(40).unwrap();
        assert_eq!(other.grow(1).unwrap_err().status, 507);
        drop(one);
        other.grow(20).unwrap();
        drop(other);
        assert_eq!(lock(&uploads.now).bytes, 0);
    }

    #[test]
    fn a_token_is_for_all_and_without_one_only_the_own_user_uploads() {
        let mut headers = HeaderMap::new();
        let status = |uploads: &Uploads, headers: &HeaderMap, source, is_foreign| {
            let checked = uploads.authorize(headers, source, is_foreign);
            checked.map_or_else(|refusal| refusal.status.as_u16(), |()| 200)
        };
        let (open, closed) = (uploads(None), uploads(Some("0123456789abcdef")));
        assert_eq!(status(&open, &headers, Source::Own, false), 200);
        assert_eq!(status(&open, &headers, Source::Own, true), 403);
        for source in [Source::User(7), Source::Closed, Source::host(Ipv4Addr::LOCALHOST.into())] {
            assert_eq!(status(&open, &headers, source, false), 403);
            assert_eq!(status(&closed, &headers, source, false), 401);
        }
        headers.insert(AUTHORIZATION, HeaderValue::from_static("Bearer 0123456789abcdef"));
        assert_eq!(status(&closed, &headers, Source::User(7), true), 200);
    }
}
