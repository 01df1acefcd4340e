//! A store as its users see it: insertion, serving, removal, damage.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use packet::{Component, DataBuf, Interest, InterestBuf, Name, NameRef};
use repo::{Body, Entry, Freed, Insertion, Store, StoreError, Top, View};
use security::{KeyType, SecretKey, Signer};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use support::{Made, blobs, insert, insert_limited, insert_unverified, object, packet};
use transport::publish::{Publish, Shelf};

fn find(store: &Store, name: &str) -> Option<String> {
    let name: Name = name.parse().unwrap();
    let view = View::new(store).unwrap();
    let (number, _) = view.find(name.as_ref()).unwrap()?;
    Some(view.entry(number).unwrap().unwrap().versioned().to_string())
}

#[test]
fn an_object_is_there_after_its_insertion_and_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path()).unwrap();
    let first = insert(&store, &object("/a/x", 1, b"content"), &[]).unwrap();
    assert_eq!((first.was_there, first.new_bytes), (false, 7));
    let again = insert(&store, &object("/a/x", 1, b"content"), &[]).unwrap();
    assert_eq!((again.was_there, again.new_bytes), (true, 0));
    let other = insert(&store, &object("/b/y", 1, b"content"), &[]).unwrap();
    assert_eq!((other.was_there, other.new_bytes), (false, 0));
    assert_eq!(blobs(folder.path()).len(), 1);
    drop(store);
    let store = Store::open(folder.path()).unwrap();
    let usage = store.usage().unwrap();
    assert_eq!((usage.tops, usage.blobs, usage.bytes), (2, 1, 7));
    assert_eq!(find(&store, "/a/x/v=1/seg=0").unwrap(), "/a/x/v=1");
}

#[test]
fn the_newest_version_is_found_unless_a_name_has_another() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path()).unwrap();
    for version in [3, 300, 70_000] {
        insert(&store, &object("/a/x", version, &version.to_be_bytes()), &[]).unwrap();
    }
    insert(&store, &object("/a/x/y", 9, b"below"), &[]).unwrap();
    for (name, found) in [
        ("/a/x", Some("/a/x/v=70000")),
        ("/a/x/32=metadata", Some("/a/x/v=70000")),
        ("/a/x/32=metadata/v=3/seg=0", Some("/a/x/v=3")),
        ("/a/x/32=head-segment/seg=0/v=300", Some("/a/x/v=300")),
        ("/a/x/v=300/seg=7", Some("/a/x/v=300")),
        ("/a/x/v=301/seg=7", None),
        ("/a/x/y/v=9", Some("/a/x/y/v=9")),
        ("/a/x/z", Some("/a/x/v=70000")),
        ("/a", None),
        ("/a/xx", None),
    ] {
        assert_eq!(find(&store, name).as_deref(), found, "{name}");
    }
}

#[test]
fn names_below_one_are_walked_in_order_and_the_walk_leaves_out_others() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path()).unwrap();
    let member = [packet("/a/x/y/part", b"part")];
    insert(&store, &object("/a/x/y", 9, b"below"), &member).unwrap();
    for (name, version) in
        [("/a/x", 3), ("/a/x", 300), ("/a", 1), ("/a/z/deep/er", 1), ("/ab", 1), ("/a/zz", 1)]
    {
        insert(&store, &object(name, version, b"same"), &[]).unwrap();
    }
    let view = View::new(&store).unwrap();
    let name = |text: &str| -> Name { text.parse().unwrap() };
    let of = |listed: Option<repo::Listed>| {
        listed.map(|listed| (listed.name.to_string(), listed.version, listed.top.is_some()))
    };
    let row = |name: &str, version, is_top| Some((name.to_owned(), version, is_top));
    let under = name("/a");
    let mut walk = view.walk(under.as_ref());
    let mut next = || of(walk.step().unwrap());
    let rows = [
        row("/a", 1, true),
        row("/a/x", 3, true),
        row("/a/x", 300, true),
        row("/a/x/y", 9, true),
        row("/a/x/y/part", 0, false),
        row("/a/z/deep/er", 1, true),
        row("/a/zz", 1, true),
        None,
    ];
    for expected in rows {
        assert_eq!(next(), expected);
    }
    let mut walk = view.walk(under.as_ref());
    assert_eq!(of(walk.step().unwrap()), row("/a", 1, true));
    assert_eq!(of(walk.step().unwrap()), row("/a/x", 3, true));
    walk.pass(name("/a/x").as_ref());
    assert_eq!(of(walk.step().unwrap()), row("/a/x/y", 9, true));
    walk.skip(name("/a/x").as_ref());
    assert_eq!(of(walk.step().unwrap()), row("/a/z/deep/er", 1, true));
    walk.skip(name("/").as_ref());
    assert_eq!(of(walk.step().unwrap()), None);
    assert_eq!(view.newest(name("/a/x").as_ref()).unwrap(), Some(300));
    assert_eq!(view.newest(name("/a/z").as_ref()).unwrap(), None);
    assert_eq!(view.newest_top(name("/a/x/y").as_ref()).unwrap().unwrap().added, 1);
    assert_eq!(view.newest_top(name("/a/x/y/part").as_ref()).unwrap(), None);
}

#[test]
fn packets_are_found_by_name_and_by_prefix() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path()).unwrap();
    let members = [packet("/a/KEY/1/self/v=1", b"old"), packet("/a/KEY/1/self/v=300", b"new")];
    insert(&store, &object("/a/x", 1, b"content"), &members).unwrap();
    let view = View::new(&store).unwrap();
    let ask = |name: &str, can_be_prefix| {
        let name: Name = name.parse().unwrap();
        let wire = InterestBuf { can_be_prefix, ..InterestBuf::new(name) }.encode();
        let found = view.packet(&Interest::decode(&wire).unwrap()).unwrap()?;
        Some(packet::Data::decode(&found).unwrap().content().to_vec())
    };
    assert_eq!(ask("/a/KEY/1", true).unwrap(), b"new");
    assert_eq!(ask("/a/KEY/1", false), None);
    assert_eq!(ask("/a/KEY/1/self/v=1", false).unwrap(), b"old");
    assert_eq!(ask("/a/KEY/2", true), None);
}

#[test]
fn other_content_under_the_same_name_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path()).unwrap();
    insert(&store, &object("/a/x", 1, b"content"), &[]).unwrap();
    let rejected = insert(&store, &object("/a/x", 1, b"another"), &[]).unwrap_err();
    assert!(matches!(&rejected, StoreError::Conflict { .. }), "{rejected}");
    assert_eq!(rejected.to_string(), "the store has other content of /a/x/v=1");
    assert_eq!(blobs(folder.path()).len(), 1, "nothing is left of it");
}

#[test]
fn the_quota_counts_what_is_new() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path()).unwrap();
    insert_limited(&store, &object("/a/x", 1, &[1; 90_000]), Some(150_000)).unwrap();
    let used = all_bytes(&store);
    assert!((91_000..120_000).contains(&used), "{used}");
    let rejected = insert_limited(&store, &object("/a/y", 1, &[2; 90_000]), Some(150_000));
    let StoreError::Quota { quota: 150_000, used: found, needed } = rejected.unwrap_err() else {
        panic!("another error")
    };
    assert_eq!((found, needed), (used, used));
    assert_eq!(blobs(folder.path()).len(), 1, "nothing is left of it");
    // Identical content takes no room.
    insert_limited(&store, &object("/a/z", 1, &[1; 90_000]), Some(150_000)).unwrap();
    assert_eq!(store.usage().unwrap().bytes, 90_000);
}

/// The bytes that a quota counts.
fn all_bytes(store: &Store) -> u64 {
    let usage = store.usage().unwrap();
    usage.bytes + usage.records
}

#[test]
fn the_quota_counts_names_and_what_is_counted_is_credited_back() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path()).unwrap();
    assert_eq!(all_bytes(&store), 0);
    let name = |n: usize| format!("/{}/{n}", "x".repeat(2000));
    let one = insert_limited(&store, &object(&name(1), 1, b""), Some(100_000));
    one.unwrap();
    let one = all_bytes(&store);
    assert!(one > 5000, "{one}");
    let mut count = 1;
    let rejected = loop {
        match insert_limited(&store, &object(&name(count + 1), 1, b""), Some(100_000)) {
            Ok(_) => count += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(rejected, StoreError::Quota { .. }), "{rejected}");
    assert_eq!(count as u64, 100_000 / one);
    // The same thing again needs no room.
    insert_limited(&store, &object(&name(1), 1, b""), Some(1)).unwrap();
    assert_eq!(all_bytes(&store), one * count as u64);
    for (number, _) in View::new(&store).unwrap().tops(None, 100).unwrap() {
        store.remove(number).unwrap().unwrap();
    }
    assert_eq!(all_bytes(&store), 0);
}

#[test]
fn a_store_of_an_older_program_is_counted_when_it_is_changed() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path()).unwrap();
    insert(&store, &object("/a/x", 1, b"content"), &[]).unwrap();
    let counted = store.usage().unwrap().records;
    drop(store);
    let db = redb::Database::open(folder.path().join("index")).unwrap();
    let write = db.begin_write().unwrap();
    let numbers: redb::TableDefinition<'_, &str, u64> = redb::TableDefinition::new("numbers");
    write.open_table(numbers).unwrap().remove("records").unwrap().unwrap();
    write.commit().unwrap();
    drop(db);
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(store.usage().unwrap().records, counted);
    insert(&store, &object("/a/y", 1, b"content"), &[]).unwrap();
    assert_eq!(store.usage().unwrap().records, 2 * counted);
}

#[test]
fn an_insertion_has_one_named_thing() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path()).unwrap();
    let mut staging = store.stage().unwrap();
    let mut insertion = Insertion::new(&store, &mut staging).unwrap();
    let (first, second) = (packet("/a/x", b"x"), packet("/a/y", b"y"));
    assert!(insertion.top(&first.entry, &Top::default()).unwrap());
    let rejected = insertion.top(&second.entry, &Top::default()).unwrap_err();
    assert_eq!(rejected.to_string(), "an insertion has one named thing, and /a/y is a second one");
}

#[test]
fn things_that_are_removed_while_they_are_verified_are_not_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path()).unwrap();
    insert(&store, &object("/a/x", 1, b"content"), &[]).unwrap();
    let view = View::new(&store).unwrap();
    let top = view.tops(None, 1).unwrap()[0].0;
    store.remove(top).unwrap().unwrap();
    assert_eq!(store.verify(&view, top).unwrap().damage, []);
}

#[test]
fn a_store_reserves_room_for_removals() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path()).unwrap();
    let reserve = folder.path().join("reserve");
    assert_eq!(fs::metadata(&reserve).unwrap().len(), 1 << 20);
    fs::remove_file(&reserve).unwrap();
    insert(&store, &object("/a/x", 1, b"content"), &[]).unwrap();
    let top = View::new(&store).unwrap().tops(None, 1).unwrap()[0].0;
    store.remove(top).unwrap().unwrap();
    assert_eq!(fs::metadata(&reserve).unwrap().len(), 1 << 20, "it is reserved again");
}

#[test]
fn removal_frees_what_nothing_else_has() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path()).unwrap();
    let shared = object("/t/shared", 1, b"shared");
    let old = [shared.clone(), object("/t/old", 1, b"old one")];
    insert(&store, &object("/t/32=tree", 1, b"root 1"), &old).unwrap();
    insert(&store, &object("/t/32=tree", 2, b"root 2"), &[shared]).unwrap();
    let tops = View::new(&store).unwrap().tops(None, 10).unwrap();
    let freed = store.remove(tops[0].0).unwrap().unwrap();
    assert_eq!((freed.files, freed.bytes), (2, 6 + 7));
    assert_eq!(find(&store, "/t/old"), None);
    assert_eq!(find(&store, "/t/32=tree/v=1"), None);
    assert_eq!(find(&store, "/t/shared").unwrap(), "/t/shared/v=1");
    assert_eq!(store.remove(tops[0].0).unwrap(), None);
    store.remove(tops[1].0).unwrap().unwrap();
    let usage = store.usage().unwrap();
    assert_eq!((usage.tops, usage.entries, usage.blobs, usage.bytes), (0, 0, 0, 0));
    assert!(blobs(folder.path()).is_empty());
}

#[test]
fn bytes_without_a_name_are_removed_and_others_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path()).unwrap();
    insert(&store, &object("/a/x", 1, b"content"), &[]).unwrap();
    let kept = blobs(folder.path());
    let orphan = folder.path().join("blobs/00").join("00".repeat(32));
    fs::create_dir_all(orphan.parent().unwrap()).unwrap();
    fs::write(&orphan, "orphan").unwrap();
    fs::write(folder.path().join("blobs/stray"), "stray").unwrap();
    let freed = store.gc().unwrap();
    assert_eq!((freed.files, freed.bytes), (2, 11));
    assert_eq!(blobs(folder.path()), kept);
    // A process that was killed while it copied.
    fs::create_dir(folder.path().join("incoming/0123456789abcdef")).unwrap();
    fs::write(folder.path().join("incoming/0123456789abcdef/1.part"), "half").unwrap();
    fs::write(&orphan, "orphan").unwrap();
    let staging = store.stage().unwrap();
    let again = Store::open(folder.path()).unwrap();
    assert!(!orphan.exists());
    assert_eq!(fs::read_dir(folder.path().join("incoming")).unwrap().count(), 1);
    drop((staging, again));
}

#[test]
fn links_among_blobs_are_not_followed() {
    let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = Store::create(folder.path()).unwrap();
    insert(&store, &object("/a/x", 1, b"content"), &[]).unwrap();
    let file = outside.path().join("file");
    fs::write(&file, "of the user").unwrap();
    symlink(outside.path(), folder.path().join("blobs/zz")).unwrap();
    symlink(&file, folder.path().join("blobs/link")).unwrap();
    fs::create_dir(folder.path().join("blobs/00")).unwrap();
    fs::create_dir(folder.path().join("blobs/00/folder")).unwrap();
    assert_eq!(store.gc().unwrap(), Freed::default());
    assert_eq!(fs::read(&file).unwrap(), b"of the user");
}

#[test]
fn no_file_behind_a_link_becomes_a_blob() {
    let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = Store::create(folder.path()).unwrap();
    let file = outside.path().join("file");
    fs::write(&file, "of the user").unwrap();
    let mut staging = store.stage().unwrap();
    let tree = staging.path();
    fs::create_dir(&tree).unwrap();
    symlink(outside.path(), tree.join("folder")).unwrap();
    symlink(&file, tree.join("link")).unwrap();
    fs::write(tree.join("file"), "of the tree").unwrap();
    for path in [tree.join("folder/file"), tree.join("link"), file.clone(), tree.join("folder")] {
        assert!(staging.adopt(path.clone()).is_err(), "{}", path.display());
    }
    assert_eq!(staging.adopt(tree.join("file")).unwrap().size, 11);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o644);
}

#[test]
fn leftovers_are_removed_later_if_they_cannot_be_now() {
    let folder = tempfile::tempdir().unwrap();
    drop(Store::create(folder.path()).unwrap());
    fs::create_dir_all(folder.path().join("incoming/0123456789abcdef")).unwrap();
    fs::write(folder.path().join("blobs"), "no folder").unwrap();
    assert!(matches!(Store::open(folder.path()), Err(StoreError::File { .. })));
    fs::remove_file(folder.path().join("blobs")).unwrap();
    let orphan = folder.path().join("blobs/00").join("00".repeat(32));
    fs::create_dir_all(orphan.parent().unwrap()).unwrap();
    fs::write(&orphan, "orphan").unwrap();
    drop(Store::open(folder.path()).unwrap());
    assert!(!orphan.exists());
}

#[test]
fn other_users_cannot_read_the_names_in_a_store() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    drop(Store::create(folder.path()).unwrap());
    let mode = fs::metadata(folder.path().join("index")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_process_that_was_killed_while_it_made_the_store_leaves_none() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("index.new"), [0; 70_000]).unwrap();
    assert!(matches!(Store::open(folder.path()), Err(StoreError::None(_))));
    let store = Store::create(folder.path()).unwrap();
    assert_eq!(store.usage().unwrap().tops, 0);
    assert!(!folder.path().join("index.new").exists());
}

#[test]
fn one_process_serves_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path()).unwrap();
    let serving = store.serve().unwrap();
    let second = Store::open(folder.path()).unwrap();
    let rejected = second.serve().unwrap_err();
    assert!(matches!(rejected, StoreError::Served(_)), "{rejected}");
    drop(serving);
    second.serve().unwrap();
}

#[test]
fn changes_of_another_process_are_seen() {
    let folder = tempfile::tempdir().unwrap();
    let served = Store::create(folder.path()).unwrap();
    let view = View::new(&served).unwrap();
    let other = Store::open(folder.path()).unwrap();
    insert(&other, &object("/a/x", 1, b"content"), &[]).unwrap();
    assert_ne!(served.changes().unwrap(), view.changes());
    assert!(find(&served, "/a/x").is_some());
    assert_eq!(view.find("/a/x".parse::<Name>().unwrap().as_ref()).unwrap(), None);
}

#[test]
fn insertions_are_distinguished_from_other_changes() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path()).unwrap();
    let insert = |name: &str, members: &[Made]| {
        insert(&store, &object(name, 1, name.as_bytes()), members).unwrap();
        let view = View::new(&store).unwrap();
        (view.changes(), view.last_top().unwrap())
    };
    // The numbers of new named things since then; `None` if there are other changes.
    let since = |(changes, last)| -> Option<Vec<u64>> {
        let view = View::new(&store).unwrap();
        let rows = view.inserted_since(changes, last, 2).unwrap()?;
        Some(rows.into_iter().map(|(number, _)| number).collect())
    };
    let number = |(_, last): (u64, Option<u64>)| last.unwrap();
    let member = object("/m", 1, b"/m");
    let (none, first) = ((0, None), insert("/a", &[member]));
    assert_eq!(since(none), Some(vec![number(first)]));
    assert_eq!(since(first), Some(Vec::new()));
    let second = insert("/b", &[]);
    assert_eq!(since(first), Some(vec![number(second)]));
    // A part of the first becomes a named thing, with its old number.
    let third = insert("/m", &[]);
    assert_eq!(since(first), Some(vec![number(first) + 1, number(second)]));
    assert_eq!(since(second), None);
    // Nothing is new.
    insert("/b", &[]);
    assert_eq!(since(third), None);
    let fourth = insert("/c", &[]);
    let fifth = insert("/d", &[]);
    store.remove(number(fourth)).unwrap();
    assert_eq!((since(third), since(fourth), since(fifth)), (None, None, None));
    let now = View::new(&store).unwrap();
    let now = (now.changes(), now.last_top().unwrap());
    for name in ["/e", "/f"] {
        insert(name, &[]);
    }
    assert_eq!(since(now).map(|numbers| numbers.len()), Some(2));
    insert("/g", &[]);
    assert_eq!(since(now), None, "more than permitted");
}

#[test]
fn missing_and_damaged_stores_are_distinguished() {
    let folder = tempfile::tempdir().unwrap();
    let none = Store::open(folder.path()).err().unwrap();
    assert!(matches!(none, StoreError::None(_)), "{none}");
    fs::write(folder.path().join("index"), "this is no database").unwrap();
    let damaged = Store::open(folder.path()).err().unwrap();
    assert!(matches!(damaged, StoreError::Damaged { .. }), "{damaged}");
}

/// The objects of a store, as `weir repo run` serves them.
struct Served(Store);

impl Shelf for Served {
    fn find(&mut self, name: NameRef<'_>) -> Option<u64> {
        View::new(&self.0).unwrap().find(name).unwrap().map(|(number, _)| number)
    }

    fn open(&mut self, number: u64) -> Option<transport::publish::Publication> {
        let view = View::new(&self.0).unwrap();
        let entry = view.entry(number).unwrap()?;
        let Body::Object(object) = &entry.body else { return None };
        let repo::Place::Blob(digest) = object.place else { return None };
        let source = self.0.volume().served(&view.blob(&digest, object.size).unwrap());
        Some(object.publication(&entry.name, entry.version, source).unwrap())
    }
}

#[test]
fn a_copy_sends_the_packets_of_the_publisher() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path()).unwrap();
    // Several leaves, so that the manifest has inner packets too.
    let content: Vec<u8> = (0..3_000_000u32).map(|n| (n * 7 % 251) as u8).collect();
    let Made { entry, publication, .. } = object("/a/x", 5, &content);
    let made = Made { entry, publication: None, content: Some(content) };
    insert(&store, &made, &[]).unwrap();
    let mut publisher = Publish::new();
    publisher.add(publication.unwrap());
    let mut copy = Publish::new();
    copy.set_shelf(Box::new(Served(store)));
    let segment = |n: u64| Component::segment(n);
    let object: Name = "/a/x/v=5".parse().unwrap();
    let manifest = object.clone().with(&Component::keyword(b"manifest"));
    let mut names = vec![
        ("/a/x/32=metadata".parse().unwrap(), true),
        ("/a/x/32=head-segment/seg=0".parse().unwrap(), true),
        (manifest.clone().with(&Component::keyword(b"root")), false),
    ];
    names.extend([0, 1, 374].map(|n| (object.clone().with(&segment(n)), false)));
    names.extend([0, 1, 2].map(|n| (manifest.clone().with(&segment(n)), false)));
    for (name, can_be_prefix) in names {
        let wire = InterestBuf { can_be_prefix, ..InterestBuf::new(name.clone()) }.encode();
        let answer = |producer: &mut Publish| {
            producer.receive(&wire);
            let mut out = Vec::new();
            assert!(producer.poll_transmit(&mut out), "{name}");
            out
        };
        let (own, copied) = (answer(&mut publisher), answer(&mut copy));
        assert!(own == copied && own.len() > 100, "{name}");
    }
    assert_eq!(copy.stats().answered, 9);
}

/// A certificate's packet: the same name and key, or another key, by these signers.
fn certificate(by: &Signer, content: &[u8]) -> Made {
    let name: Name = "/a/KEY/1/up/v=2".parse().unwrap();
    let mut wire = Vec::new();
    by.encode(&DataBuf::new(name.clone(), content.to_vec()), &mut wire);
    let entry = Entry { name, version: 0, body: Body::Packet(wire.into()) };
    Made { entry, publication: None, content: None }
}

/// The signer with this key.
fn signer(seed: u8) -> Signer {
    let secret = SecretKey::generate(KeyType::Ed25519, &[seed; 32]).unwrap();
    Signer::Key { secret, key_locator: "/b/KEY/2".parse().unwrap() }
}

/// The packet that the store has under the name of an entry.
fn kept(store: &Store, entry: &Entry) -> Option<packet::Bytes> {
    let interest = InterestBuf::new(entry.name.clone()).encode();
    View::new(store).unwrap().packet(&Interest::decode(&interest).unwrap()).unwrap()
}

#[test]
fn an_unverified_certificate_never_replaces_another() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path()).unwrap();
    let good = certificate(&signer(1), b"key");
    let wire = |made: &Made| match &made.entry.body {
        Body::Packet(wire) => wire.clone(),
        Body::Object(_) => panic!("no packet"),
    };
    insert(&store, &object("/a/x", 1, b"x"), std::slice::from_ref(&good)).unwrap();
    // The same key with another signature: a chain to an anchor would end here.
    let resigned = certificate(&signer(2), b"key");
    insert_unverified(&store, &object("/a/y", 1, b"y"), &[resigned]).unwrap();
    assert_eq!(kept(&store, &good.entry), Some(wire(&good)));
    let other = certificate(&signer(2), b"another key");
    let rejected =
        insert_unverified(&store, &object("/a/z", 1, b"z"), std::slice::from_ref(&other));
    assert!(matches!(rejected, Err(StoreError::Conflict { .. })), "{rejected:?}");
    assert_eq!(kept(&store, &good.entry), Some(wire(&good)));
    assert_eq!(find(&store, "/a/z"), None);
    // A forgery in the store does not keep out a verified object.
    insert(&store, &object("/a/z", 1, b"z"), std::slice::from_ref(&other)).unwrap();
    assert_eq!(kept(&store, &good.entry), Some(wire(&other)));
}

#[test]
fn a_verified_insertion_adds_certificates_to_an_object_that_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path()).unwrap();
    let good = certificate(&signer(1), b"key");
    let first = insert_unverified(&store, &object("/a/x", 1, b"x"), &[]).unwrap();
    assert!(!first.was_there);
    let again = insert(&store, &object("/a/x", 1, b"x"), std::slice::from_ref(&good)).unwrap();
    assert!(again.was_there);
    assert!(kept(&store, &good.entry).is_some());
}

/// An entry in the store gets the prefixes of later verified insertions as well.
#[test]
fn a_verified_insertion_of_an_object_that_is_there_adds_its_prefixes() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path()).unwrap();
    let made = object("/a/x", 1, b"x");
    let put = |prefixes: &[&str], is_verified: bool| {
        let mut staging = store.stage().unwrap();
        staging.copy(&mut &b"x"[..]).unwrap();
        let mut insertion = Insertion::new(&store, &mut staging).unwrap();
        if !is_verified {
            insertion.unverified().unwrap();
        }
        let prefixes = prefixes.iter().map(|prefix| prefix.parse().unwrap()).collect();
        insertion.top(&made.entry, &Top { bytes: 1, prefixes, ..Top::default() }).unwrap();
        insertion.commit().unwrap();
    };
    put(&["/a/x", "/a/KEY/1"], true);
    put(&["/a/x", "/b/KEY/2"], true);
    put(&["/a/x", "/c/KEY/3"], false);
    let view = View::new(&store).unwrap();
    let name: Name = "/a/x".parse().unwrap();
    let number = view.number(name.as_ref(), 1).unwrap().unwrap();
    let kept: Vec<String> =
        view.top(number).unwrap().unwrap().prefixes.iter().map(ToString::to_string).collect();
    assert_eq!(kept, ["/a/x", "/a/KEY/1", "/b/KEY/2"]);
}
