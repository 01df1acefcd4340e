//! The objects of a store, for a producer.

use packet::{Bytes, Component, Interest, Name, NameRef};
use repo::{Body, Entry, Follower, Place, Store, StoreError, View};
use std::sync::{Arc, Mutex, PoisonError};
use transport::publish::{Publication, Shelf, Source};

/// The store as it is served now. The command replaces the view when the store has changed.
pub struct Shown {
    store: Arc<Store>,
    view: Mutex<Arc<View>>,
    failure: Mutex<Option<String>>,
    /// The failure to read changes of other hosts.
    lag: Mutex<Option<String>>,
}

impl Shown {
    /// Shows the store as it is now.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn new(store: Arc<Store>) -> Result<Shown, StoreError> {
        let view = Mutex::new(Arc::new(View::new(&store)?));
        Ok(Shown { store, view, failure: Mutex::default(), lag: Mutex::default() })
    }

    /// The store as it is now, or as it was when it could be read last.
    pub fn latest(&self) -> Arc<View> {
        if let Err(error) = self.renew() {
            self.fail(error.to_string());
        }
        self.view()
    }

    /// The view.
    pub fn view(&self) -> Arc<View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Shows the store as it is now. Returns true if it has changed.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn renew(&self) -> Result<bool, StoreError> {
        if self.view().is_current(&self.store)? {
            return Ok(false);
        }
        let view = Arc::new(View::new(&self.store)?);
        *self.view.lock().unwrap_or_else(PoisonError::into_inner) = view;
        Ok(true)
    }

    /// The failure of an answer, once.
    pub fn take_failure(&self) -> Option<String> {
        self.failure.lock().ok()?.take()
    }

    /// True if another process has removed an entry: its file is gone, and so is its name.
    fn is_gone(&self, number: u64, entry: &Entry) -> bool {
        let Some(object) = entry.object() else { return false };
        let Place::Blob(digest) = object.place else { return false };
        let size = object.size;
        let Ok(blob) = self.view().blob(&digest, size) else { return false };
        !self.store.volume().has(&blob) && matches!(self.latest().entry(number), Ok(None))
    }

    fn note<T>(&self, result: Result<Option<T>, impl ToString>) -> Option<T> {
        match result {
            Ok(found) => found,
            Err(error) => {
                self.fail(error.to_string());
                None
            }
        }
    }

    /// Applies the changes of other hosts until the follower is dropped.
    pub fn follow(self: &Arc<Shown>) -> Follower {
        let shown = Arc::downgrade(self);
        Follower::start(self.store.clone(), move |error| {
            if let Some(shown) = shown.upgrade()
                && let Ok(mut lag) = shown.lag.lock()
            {
                *lag = Some(error.to_string());
            }
        })
    }

    /// The failure to read changes of other hosts, once.
    pub fn take_lag(&self) -> Option<String> {
        self.lag.lock().ok()?.take()
    }

    /// Keeps a failure for [`Shown::take_failure`], unless it has one already.
    pub fn fail(&self, why: String) {
        if let Ok(mut failure) = self.failure.lock() {
            failure.get_or_insert(why);
        }
    }
}

/// The shelf of a producer.
pub struct StoreShelf {
    shown: Arc<Shown>,
    /// The last object found: consumers request many of its segments one after another.
    last: Option<(Name, u64, u64)>,
}

impl StoreShelf {
    /// Serves the shown store.
    pub fn new(shown: Arc<Shown>) -> StoreShelf {
        StoreShelf { shown, last: None }
    }

    /// The number of the last object found, if the name is that of one of its segments.
    fn last_of(&self, name: NameRef<'_>) -> Option<u64> {
        let (object, number, changes) = self.last.as_ref()?;
        let is_segment = name.len() == object.len() + 1 && name.starts_with(object.as_ref());
        let is_current = *changes == self.shown.view().changes();
        (is_segment && is_current && name.last()?.as_segment().is_some()).then_some(*number)
    }
}

impl Shelf for StoreShelf {
    fn find(&mut self, name: NameRef<'_>) -> Option<u64> {
        if let Some(number) = self.last_of(name) {
            return Some(number);
        }
        let view = self.shown.view();
        let (number, len) = self.shown.note(view.find(name))?;
        if let Some(version) = name.get(len).and_then(|component| component.as_version()) {
            let object = name.prefix(len).to_name().with(&Component::version(version));
            self.last = Some((object, number, view.changes()));
        }
        Some(number)
    }

    fn packet(&mut self, interest: &Interest<'_>) -> Option<Bytes> {
        if self.last_of(interest.name()).is_some() {
            return None;
        }
        let found = self.shown.view().packet(interest);
        self.shown.note(found)
    }

    fn open(&mut self, number: u64) -> Option<Publication> {
        let entry = self.shown.note(self.shown.view().entry(number))?;
        if self.shown.is_gone(number, &entry) {
            return None;
        }
        let Body::Object(object) = &entry.body else { return None };
        let source: Box<dyn Source> = match &object.place {
            Place::Inline(bytes) => Box::new(bytes.to_vec()),
            Place::Blob(digest) => {
                let blob = self.shown.view().blob(digest, object.size);
                let blob = self.shown.note(blob.map(Some))?;
                self.shown.store.volume().served(&blob)
            }
        };
        let made = object.publication(&entry.name, entry.version, source);
        let named = made.map(Some).map_err(|error| format!("{}: {error}", entry.versioned()));
        self.shown.note(named)
    }
}
