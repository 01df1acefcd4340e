//! Uploads: the right to send them, and their limits.

use crate::exit::{Failure, Kind};
use crate::gateway::page::Item;
use crate::gateway::source::Source;
use control::Size;
use hyper::StatusCode;
use hyper::header::HeaderMap;
use packet::Name;
use router::guard::Rejection;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use weir::http::ask::nearest;
use weir::http::put::Token;

/// The maximum numbers of concurrent uploads: of all sources and of one.
const MOST: usize = 16;
const MOST_OF_ONE: usize = 4;

/// The store of uploads.
pub trait Keeper: Send + Sync {
    /// The newest version under a name, if there is one.
    ///
    /// # Errors
    /// The store cannot be read, or takes no object of this name.
    fn version(&self, name: &Name) -> Result<Option<u64>, StoreFailure>;

    /// The bytes that the store may take in addition.
    ///
    /// # Errors
    /// The store cannot be read.
    fn room(&self) -> Result<u64, Failure>;

    /// This version of the object of exactly this name, or the newest one. `None` if the store
    /// has no such object.
    ///
    /// # Errors
    /// The store cannot be read.
    fn find(&self, name: &Name, version: Option<u64>) -> Result<Option<Kept>, Failure>;

    /// Publishes all bytes of `body` under a name, with the type that its sender gave. Calls
    /// `permit` with the newest version when the body has come and no other program can change the
    /// store before the upload is in it.
    ///
    /// # Errors
    /// The body ends early, is not permitted, or cannot be stored; then the store is as before.
    fn keep(
        &self,
        name: &Name,
        media_type: Option<String>,
        body: &mut dyn Read,
        permit: &Permit<'_>,
    ) -> Result<StoredObject, StoreFailure>;

    /// The entries of a folder, or with `query` those below it that have this in their names.
    /// `None` if the store has nothing below the name, or the name is that of a tree or lies in
    /// one.
    ///
    /// # Errors
    /// The store cannot be read.
    fn list(&self, name: &Name, query: Option<&str>) -> Result<Option<Listing>, Failure>;
}

/// The check of an upload against the newest version of its name.
pub type Permit<'a> = dyn Fn(Option<u64>) -> Result<(), Rejection> + 'a;

/// The failure of an upload in the store.
#[derive(Debug)]
pub struct StoreFailure {
    rejection: Rejection,
    failure: Failure,
}

/// The reason of such a failure, for the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The body has ended early.
    BrokenOff,
    /// The store has another object of the same version.
    Overtaken,
    /// A tree has the name, or one above it.
    InTree,
    /// The name is too long for consumers or packets.
    LongName,
    /// The quota or the disk does not permit it.
    Full,
    /// The store cannot be read or written.
    Failed,
}

impl StoreFailure {
    /// A failure of the store; `failure` is for the operator.
    pub fn new(reason: Reason, failure: Failure) -> StoreFailure {
        StoreFailure { rejection: reason.rejection(), failure }
    }

    /// The failure, for the log.
    pub fn failure(&self) -> &Failure {
        &self.failure
    }

    /// The rejection that the client gets. It has no paths of this host.
    pub fn into_rejection(self) -> Rejection {
        self.rejection
    }
}

impl Reason {
    fn rejection(self) -> Rejection {
        let (status, text) = match self {
            Reason::Overtaken => {
                (StatusCode::CONFLICT, "another version was stored at the same time; send it again")
            }
            Reason::BrokenOff => (StatusCode::BAD_REQUEST, "the upload broke off; send it again"),
            Reason::InTree => (
                StatusCode::CONFLICT,
                "a tree of this name is in the store; choose another name, or publish the tree \
                 again",
            ),
            Reason::LongName => (
                StatusCode::URI_TOO_LONG,
                "consumers cannot find names of this length; choose a shorter name",
            ),
            Reason::Full => (
                StatusCode::INSUFFICIENT_STORAGE,
                "the store has no room for it; the operator of the gateway can make some",
            ),
            Reason::Failed => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "the upload could not be stored; the gateway's log has the reason",
            ),
        };
        Rejection::new(status, text)
    }
}

impl From<Rejection> for StoreFailure {
    fn from(rejection: Rejection) -> StoreFailure {
        let failure = Failure::new(Kind::Failed, &rejection.text);
        StoreFailure { rejection, failure }
    }
}

impl From<Failure> for StoreFailure {
    fn from(failure: Failure) -> StoreFailure {
        StoreFailure::new(Reason::Failed, failure)
    }
}

/// The entries of a folder of the store.
#[derive(Debug, Default)]
pub struct Listing {
    /// The entries, in any order.
    pub entries: Vec<Item>,
    /// There are more.
    pub is_cut: bool,
}

/// A stored object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredObject {
    /// Its version.
    pub version: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// An object as the store has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its name with its version.
    pub name: Name,
    /// Its bytes.
    pub size: u64,
    /// Bytes of every segment but the last.
    pub segment_size: u64,
    /// The media type that its uploader gave.
    pub media_type: Option<String>,
}

/// The permission to upload.
pub struct Uploads {
    keeper: Arc<dyn Keeper>,
    prefixes: Vec<Name>,
    token: Option<Token>,
    limit: Size,
    now: Arc<Mutex<Now>>,
    threads: Arc<Threads>,
}

/// The uploads under way.
#[derive(Default)]
struct Now {
    names: BTreeMap<Name, Account>,
    sources: BTreeMap<Source, usize>,
}

/// The account of an upload.
#[derive(Clone, Copy, Default)]
struct Account {
    /// The bytes that are not in the store's own account yet: those that the client has announced
    /// or sent.
    bytes: u64,
    /// The bytes that the store could take when the upload began, for all uploads under way.
    room: u64,
}

/// An upload under way, until this is dropped.
pub struct Upload {
    now: Arc<Mutex<Now>>,
    name: Name,
    source: Source,
    limit: Size,
}

/// The threads that store uploads.
#[derive(Default)]
pub struct Threads(Mutex<Vec<JoinHandle<()>>>);

impl Threads {
    /// Starts one.
    ///
    /// # Errors
    /// The system has no more threads.
    pub fn start(&self, store: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let thread = std::thread::Builder::new().name("upload".to_owned()).spawn(store)?;
        let mut all = lock(&self.0);
        all.retain(|thread| !thread.is_finished());
        all.push(thread);
        Ok(())
    }

    /// Waits for all threads, so that none leaves files behind. Each ends soon after its client has
    /// gone.
    pub fn join(&self) {
        // The panic of a thread has been logged.
        lock(&self.0).drain(..).for_each(|thread| drop(thread.join()));
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
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
        let (now, threads) = (Arc::default(), Arc::default());
        Uploads { keeper, prefixes, token, limit, now, threads }
    }

    /// The threads that store uploads.
    pub fn threads(&self) -> &Arc<Threads> {
        &self.threads
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
        nearest(name, &self.prefixes, |prefix| prefix)
    }

    /// The maximum size of an upload.
    pub fn limit(&self) -> Size {
        self.limit
    }

    /// A token is required.
    pub fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// Checks the permission of a sender. With a token, each sender needs it. Without one, only own
    /// programs may upload, and no page of a foreign origin.
    ///
    /// # Errors
    /// The token is missing or wrong, or the sender is another user.
    pub fn authorize(
        &self,
        headers: &HeaderMap,
        source: Source,
        is_foreign: bool,
    ) -> Result<(), Rejection> {
        match &self.token {
            Some(token) if token.is_in(headers) => Ok(()),
            Some(_) => {
                let text = "uploads need the token of this gateway; send it as `Authorization: \
                            Bearer TOKEN`";
                Err(Rejection::new(StatusCode::UNAUTHORIZED, text))
            }
            None if is_foreign => {
                let text = "pages of other origins may upload only where a token is required; \
                            start the gateway with --put-token";
                Err(Rejection::new(StatusCode::FORBIDDEN, text))
            }
            None if source != Source::Own => {
                let text = "only programs of the gateway's own user may upload; start the gateway \
                            with --put-token for others";
                Err(Rejection::new(StatusCode::FORBIDDEN, text))
            }
            None => Ok(()),
        }
    }

    /// Begins an upload, of which no byte may be stored before [`Upload::reserve`].
    ///
    /// # Errors
    /// Too many uploads are under way, or another one has the same name.
    pub fn begin(&self, name: &Name, source: Source) -> Result<Upload, Rejection> {
        let mut now = lock(&self.now);
        let all: usize = now.sources.values().sum();
        let own = now.sources.get(&source).copied().unwrap_or(0);
        if own >= MOST_OF_ONE {
            let text = "this client has too many uploads under way; wait until one is over";
            return Err(Rejection::new(StatusCode::TOO_MANY_REQUESTS, text));
        }
        if all >= MOST {
            let text = "too many uploads are under way; try again in a few seconds";
            return Err(Rejection::new(StatusCode::SERVICE_UNAVAILABLE, text));
        }
        if now.names.contains_key(name) {
            let text = "this name is being uploaded; try again when that is over";
            return Err(Rejection::new(StatusCode::CONFLICT, text));
        }
        now.names.insert(name.clone(), Account::default());
        *now.sources.entry(source).or_insert(0) += 1;
        drop(now);
        let (now, name, limit) = (Arc::clone(&self.now), name.clone(), self.limit);
        Ok(Upload { now, name, source, limit })
    }
}

impl Upload {
    /// Reserves the bytes that the client has announced, of those that the store may take in
    /// addition.
    ///
    /// # Errors
    /// They are more than permitted.
    pub fn reserve(&self, room: u64, announced: u64) -> Result<(), Rejection> {
        self.change(announced, Some(room))
    }

    /// Notes that the upload has `bytes` in all.
    ///
    /// # Errors
    /// There are more of them than permitted.
    pub fn grow(&self, bytes: u64) -> Result<(), Rejection> {
        self.change(bytes, None)
    }

    /// Removes the bytes of the upload from its account: the store counts them now.
    pub fn clear_account(&self) {
        if let Some(account) = lock(&self.now).names.get_mut(&self.name) {
            account.bytes = 0;
        }
    }

    fn change(&self, bytes: u64, room: Option<u64>) -> Result<(), Rejection> {
        if bytes > self.limit.0 {
            let text = format!("an upload may have {} at most; send a smaller one", self.limit);
            return Err(Rejection::new(StatusCode::PAYLOAD_TOO_LARGE, text));
        }
        let mut now = lock(&self.now);
        let others = now.names.iter().filter(|(name, _)| **name != self.name);
        let others = others.fold(0_u64, |sum, (_, other)| sum.saturating_add(other.bytes));
        let known = now.names.get(&self.name).copied().unwrap_or_default();
        let account = Account { bytes: known.bytes.max(bytes), room: room.unwrap_or(known.room) };
        if others.saturating_add(account.bytes) > account.room {
            let text = "the store has no room for it; the operator of the gateway can remove \
                        something with `weir repo rm`, or raise --quota";
            return Err(Rejection::new(StatusCode::INSUFFICIENT_STORAGE, text));
        }
        now.names.insert(self.name.clone(), account);
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let mut now = lock(&self.now);
        now.names.remove(&self.name);
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
        fn version(&self, _name: &Name) -> Result<Option<u64>, StoreFailure> {
            Ok(None)
        }

        fn room(&self) -> Result<u64, Failure> {
            Ok(100)
        }

        fn find(&self, _: &Name, _: Option<u64>) -> Result<Option<Kept>, Failure> {
            Ok(None)
        }

        fn keep(
            &self,
            _: &Name,
            _: Option<String>,
            _: &mut dyn Read,
            _: &Permit<'_>,
        ) -> Result<StoredObject, StoreFailure> {
            Ok(StoredObject { version: 1, bytes: 0 })
        }

        fn list(&self, _: &Name, _: Option<&str>) -> Result<Option<Listing>, Failure> {
            Ok(None)
        }
    }

    fn uploads(token: Option<&str>) -> Uploads {
        let token = token.map(|token| Token::read(token).unwrap());
        Uploads::new(Arc::new(Small), vec!["/a".parse().unwrap()], token, Size(60))
    }

    fn begin(uploads: &Uploads, n: usize, of: Source, size: Option<u64>) -> Result<Upload, u16> {
        let status = |rejection: Rejection| rejection.status.as_u16();
        let upload = uploads.begin(&format!("/a/{n}").parse().unwrap(), of);
        let upload = upload.map_err(status)?;
        let room = uploads.keeper().room().unwrap();
        upload.reserve(room, size.unwrap_or(0)).map_err(status)?;
        Ok(upload)
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
        // Announced bytes have their room before they come.
        assert_eq!(begin(&uploads, 1, Source::Own, Some(41)).err(), Some(507));
        one.grow(60).unwrap();
        assert_eq!(one.grow(61).unwrap_err().status, 413);
        assert_eq!(begin(&uploads, 1, Source::Own, Some(41)).err(), Some(507));
        let other = begin(&uploads, 1, Source::Own, None).unwrap();
        other.grow(40).unwrap();
        assert_eq!(other.grow(41).unwrap_err().status, 507);
        // The store counts it now.
        one.clear_account();
        other.grow(60).unwrap();
        drop(one);
        drop(other);
        assert!(lock(&uploads.now).names.is_empty());
    }

    #[test]
    fn threads_are_waited_for() {
        let (threads, (go, wait)) = (Threads::default(), std::sync::mpsc::channel::<()>());
        let is_over = Arc::new(Mutex::new(false));
        let over = Arc::clone(&is_over);
        let store = move || {
            wait.recv().unwrap_err();
            *over.lock().unwrap() = true;
        };
        threads.start(store).unwrap();
        drop(go);
        threads.join();
        assert!(*is_over.lock().unwrap());
    }

    #[test]
    fn a_token_is_for_all_and_without_one_only_the_own_user_uploads() {
        let mut headers = HeaderMap::new();
        let status = |uploads: &Uploads, headers: &HeaderMap, source, is_foreign| {
            let checked = uploads.authorize(headers, source, is_foreign);
            checked.map_or_else(|rejection| rejection.status.as_u16(), |()| 200)
        };
        let (open, closed) = (uploads(None), uploads(Some("0123456789abcdef")));
        assert_eq!(status(&open, &headers, Source::Own, false), 200);
        assert_eq!(status(&open, &headers, Source::Own, true), 403);
        let host = Source::host(Ipv4Addr::LOCALHOST.into());
        for source in [Source::User(7), Source::Closed, Source::Unknown, host] {
            assert_eq!(status(&open, &headers, source, false), 403);
            assert_eq!(status(&closed, &headers, source, false), 401);
        }
        headers.insert(AUTHORIZATION, HeaderValue::from_static("Bearer 0123456789abcdef"));
        assert_eq!(status(&closed, &headers, Source::User(7), true), 200);
    }
}
