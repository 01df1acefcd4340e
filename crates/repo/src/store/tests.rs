#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use super::*;
use crate::insertion::Insertion;
use crate::view::View;
use std::sync::mpsc;
use std::time::Duration;

/// A deadlock lasts for ever, so a slow machine may take this long.
const LONG: Duration = Duration::from_secs(60);

#[test]
fn an_index_is_opened_again_after_the_transactions_of_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(Store::create(folder.path()).unwrap());
    let mut staging = store.stage().unwrap();
    let insertion = Insertion::new(&store, &mut staging).unwrap();
    store.opened().has_failed = true;
    // Another thread may be opening it already.
    let opening = store.opening.lock().unwrap();
    // As a gateway does: its check of the permission for the insertion, and its other threads.
    let (done, looks) = mpsc::channel();
    for _ in 0..2 {
        let (store, done) = (store.clone(), done.clone());
        std::thread::spawn(move || done.send(View::new(&store).map(drop)));
    }
    for _ in 0..2 {
        looks.recv_timeout(LONG).expect("the index waits for the transaction").unwrap_err();
    }
    assert_eq!(store.opened_again(), 0);
    drop((opening, insertion));
    View::new(&store).unwrap();
    assert_eq!(store.opened_again(), 1);
    Insertion::new(&store, &mut staging).unwrap().commit().unwrap();
}

#[test]
fn a_failed_transaction_ends_while_the_index_waits_for_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(Store::create(folder.path()).unwrap());
    let other = Store::open(folder.path()).unwrap();
    let mut staging = other.stage().unwrap();
    let insertion = Insertion::new(&other, &mut staging).unwrap();
    store.opened().has_failed = true;
    let (done, looks) = mpsc::channel();
    let opening = store.clone();
    std::thread::spawn(move || done.send(View::new(&opening).map(drop)));
    // Until it waits for the other process.
    while store.opening.try_lock().is_ok() {
        std::thread::yield_now();
    }
    let (sent, asked) = mpsc::channel();
    let asking = store.clone();
    std::thread::spawn(move || {
        let failed = asking.guarded(|| Err::<(), _>(redb::Error::PreviousIo));
        sent.send((failed.is_err(), asking.opened_again()))
    });
    let asked = asked.recv_timeout(LONG).expect("an error waits for the index");
    assert_eq!(asked, (true, 0));
    drop(insertion);
    looks.recv_timeout(LONG).unwrap().unwrap();
    assert_eq!(store.opened_again(), 1);
}
