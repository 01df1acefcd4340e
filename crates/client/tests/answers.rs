//! Interests that a function of the program answers.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

mod support;

use client::{Embedded, Error, Interest, Reply, Verified};
use net::client::{Address, Connection, Endpoint};
use packet::{DataBuf, LpHeader, LpPacket, Signature};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use support::{LONG, Running, random};
use tempfile::tempdir;

fn ask(name: &str) -> Interest {
    Interest::new(name).unwrap().lifetime(LONG)
}

#[test]
fn a_function_answers_rejects_and_is_silent() {
    let folder = tempdir().unwrap();
    let daemon = Running::start(&folder.path().join("socket"));
    let client = daemon.client();
    let content = random(5_000);
    let reply = content.clone();
    let registration = client
        .register("/test/app", move |interest| match interest.name.to_string().as_str() {
            "/test/app/data" => Some(Reply::new(reply.clone())),
            "/test/app/large" => Some(Reply::new(vec![0; 9_000])),
            "/test/app/other" => Some(Reply::new("x").named("/else".parse().unwrap())),
            "/test/app/panic" => panic!("a mistake of the program"),
            "/test/app/silent" => Some(Reply::silence()),
            "/test/app/below" => Some(Reply::new("x").named("/test/app/below/it".parse().unwrap())),
            _ => interest.parameters.clone().map(Reply::new),
        })
        .unwrap();
    let data = client.express(&ask("/test/app/data")).unwrap();
    assert!(data.content == content && data.name.to_string() == "/test/app/data");
    assert_eq!(data.verified, Verified::Digest);
    for name in ["/test/app/none", "/test/app/large", "/test/app/other", "/test/app/panic"] {
        let error = client.express(&ask(name)).unwrap_err();
        assert!(matches!(error, Error::NotFound(_)), "{name}: {error:?}");
    }
    // A name below is no answer to an Interest for exactly that name.
    assert!(matches!(client.express(&ask("/test/app/below")), Err(Error::NotFound(_))));
    let below = client.express(&ask("/test/app/below").prefix()).unwrap();
    assert_eq!(below.name.to_string(), "/test/app/below/it");
    let silent = ask("/test/app/silent").lifetime(Duration::from_millis(50));
    assert!(matches!(client.express(&silent), Err(Error::TimedOut(_))));
    // It goes on after the panic.
    let with_parameters = ask("/test/app/echo").parameters("the parameters");
    assert_eq!(client.express(&with_parameters).unwrap().content, b"the parameters");
    assert_eq!((registration.answered(), registration.rejected()), (3, 1));
    assert_eq!((registration.failed(), registration.error()), (4, None));
}

#[test]
fn the_prefix_is_registered_again_after_a_restart_of_the_daemon() {
    let folder = tempdir().unwrap();
    let socket = folder.path().join("socket");
    let daemon = Running::start(&socket);
    let client = daemon.client();
    let _registration = client.register("/test/again", |_| Some(Reply::new("here"))).unwrap();
    let publication = client.publish("/test/object", "content").unwrap();
    assert_eq!(client.express(&ask("/test/again/1")).unwrap().content, b"here");
    drop(daemon);
    let error = client.express(&ask("/test/again/2")).unwrap_err();
    assert!(matches!(error, Error::NoForwarder(_)), "{error:?}");
    let _daemon = Running::start(&socket);
    // It comes back with pauses that grow up to five seconds.
    let end = net::clock::monotonic() + control::Duration::from_secs(60);
    for name in ["/test/again/3", "/test/object"] {
        // An Interest that comes in the middle of the registration is lost.
        let soon = Duration::from_millis(500);
        let answered = || client.express(&ask(name).prefix().lifetime(soon)).is_ok();
        while !answered() {
            assert!(net::clock::monotonic() < end, "{name} does not come back");
            std::thread::yield_now();
        }
    }
    assert_eq!(client.fetch("/test/object").unwrap().content, b"content");
    assert_eq!(publication.error(), None);
}

#[test]
fn an_object_without_answers_times_out_and_one_that_is_rejected_is_not_found() {
    let folder = tempdir().unwrap();
    let daemon = Running::start(&folder.path().join("socket"));
    let client = daemon.builder().patience(Duration::from_millis(300)).connect().unwrap();
    let _silent = client.register("/test/silent", |_| Some(Reply::silence())).unwrap();
    let _empty = client.register("/test/empty", |_| None).unwrap();
    let error = client.fetch("/test/silent/object").unwrap_err();
    assert!(matches!(error, Error::TimedOut(_)), "{error:?}");
    for name in ["/test/empty/object", "/nowhere/object"] {
        let error = client.fetch(name).unwrap_err();
        assert!(matches!(error, Error::NotFound(_)), "{name}: {error:?}");
    }
}

/// A producer that changes a byte of its signed packets.
struct Forger {
    answers: Vec<Vec<u8>>,
}

impl Endpoint for Forger {
    fn receive(&mut self, _now: control::Time, frame: &[u8]) {
        let link = LpPacket::decode(frame).unwrap();
        let Some(Ok(interest)) = link.fragment().map(packet::Interest::decode) else { return };
        let data = DataBuf::new(interest.name().to_name(), "forged");
        let (mut wire, mut out) = (Vec::new(), Vec::new());
        let info = security::Signer::Digest.info();
        data.encode_into(&info, |_| Signature::new(&[7; 32]), &mut wire);
        let token = link.pit_token().unwrap_or_default().into();
        LpHeader { pit_token: token, ..LpHeader::default() }.encode_into(&wire, &mut out);
        self.answers.push(out);
    }

    fn poll_transmit(&mut self, _now: control::Time, out: &mut Vec<u8>) -> bool {
        self.answers.pop().is_some_and(|answer| {
            out.extend(answer);
            true
        })
    }

    fn next_deadline(&mut self, _now: control::Time) -> Option<control::Time> {
        None
    }

    fn on_deadline(&mut self, _now: control::Time) {}
}

#[test]
fn forged_data_is_not_returned() {
    let folder = tempdir().unwrap();
    let daemon = Running::start(&folder.path().join("socket"));
    let client = daemon.client();
    let mut connection = Connection::open(Address::Unix(daemon.socket.clone())).unwrap();
    connection.register(&"/test/forged".parse().unwrap()).unwrap();
    std::thread::spawn(move || {
        let mut forger = Forger { answers: Vec::new() };
        let never = control::Time(u64::MAX);
        while connection.turn(&mut forger, never).is_ok() {}
    });
    let error = client.express(&ask("/test/forged/packet")).unwrap_err();
    assert!(matches!(error, Error::NotVerified(_)), "{error:?}");
    let patient = daemon.builder().patience(Duration::from_millis(500)).connect().unwrap();
    let error = patient.fetch("/test/forged/object").unwrap_err();
    assert!(matches!(error, Error::NotVerified(_)), "{error:?}");
}

#[test]
fn a_handler_may_drop_its_own_registration() {
    let folder = tempdir().unwrap();
    let daemon = Running::start(&folder.path().join("socket"));
    let client = daemon.client();
    let slot = Arc::new(Mutex::new(None::<client::Registration>));
    let own = Arc::clone(&slot);
    let registration = client.register("/test/once", move |_| {
        drop(own.lock().unwrap().take());
        Some(Reply::new("the last answer"))
    });
    *slot.lock().unwrap() = Some(registration.unwrap());
    // The answer is on its way, or the thread has ended before it left.
    let soon = Duration::from_millis(100);
    let _ = client.express(&ask("/test/once/1").lifetime(soon));
    let end = net::clock::monotonic() + control::Duration::from_secs(60);
    while !daemon.registered().is_empty() && net::clock::monotonic() < end {
        std::thread::yield_now();
    }
    assert_eq!(daemon.registered(), Vec::<String>::new());
}

#[test]
fn a_digest_does_not_pass_for_a_signature() {
    let folder = tempdir().unwrap();
    let daemon = Running::start(&folder.path().join("socket"));
    let secret = security::SecretKey::ed25519(&[3; 32]);
    let now = net::clock::unix_millis();
    let validity = security::Validity::days(now / 1000, 1);
    let alice: packet::Name = "/test".parse().unwrap();
    let certificate = security::Certificate::self_signed(alice.as_ref(), &secret, validity, now);
    let file = folder.path().join("alice.cert");
    std::fs::write(&file, certificate.to_base64()).unwrap();
    let trust = client::Trust::anchors([file.display().to_string()]);
    let client = daemon.client();
    let _publication = client.publish("/test/object", "not hers").unwrap();
    let _registration = client.register("/test/app", |_| Some(Reply::new("not hers"))).unwrap();
    let error = client.request("/test/object").trust(trust.clone()).bytes().unwrap_err();
    assert!(matches!(error, Error::NotVerified(_)), "{error:?}");
    let error = client.express_with(&ask("/test/app/1"), &trust).unwrap_err();
    assert!(matches!(error, Error::NotVerified(_)), "{error:?}");
}

#[test]
fn two_embedded_forwarders_are_peers_and_end_with_their_value() {
    let near = Embedded::builder().listen("127.0.0.1:0".parse().unwrap()).start().unwrap();
    let address = format!("udp4://{}", near.listening()[0]);
    let far = Embedded::builder().peer(address).start().unwrap();
    let content = random(300_000);
    let publication = near.client().unwrap().publish("/test/near", content.clone()).unwrap();
    let consumer = far.client().unwrap();
    assert!(consumer.fetch("/test/near").unwrap().content == content);
    assert!(publication.answered() > 0);
    let socket = far.address().trim_start_matches("unix://").to_owned();
    assert!(std::path::Path::new(&socket).exists());
    drop(far);
    assert!(!std::path::Path::new(&socket).exists());
    assert!(matches!(consumer.fetch("/test/near"), Err(Error::NoForwarder(_))));
    let wrong = Embedded::builder().peer("no address").start();
    assert!(matches!(wrong, Err(Error::Usage(_))), "{wrong:?}");
}

#[test]
fn replies_that_are_made_later_overtake_each_other() {
    let folder = tempdir().unwrap();
    let daemon = Running::start(&folder.path().join("socket"));
    let client = daemon.client();
    let (sender, first) = std::sync::mpsc::channel();
    let options = client::RegisterOptions::default();
    let registration = client
        .register_deferred("/test/later", &options, move |interest, responder| {
            match interest.name.to_string().as_str() {
                "/test/later/first" => sender.send(responder).unwrap(),
                "/test/later/panic" => panic!("a mistake of the program"),
                "/test/later/dropped" => {}
                _ => responder.reply(Some(Reply::new("second"))),
            }
        })
        .unwrap();
    let other = client.clone();
    let waiting = std::thread::spawn(move || other.express(&ask("/test/later/first")));
    let responder = first.recv().unwrap();
    assert_eq!(client.express(&ask("/test/later/second")).unwrap().content, b"second");
    for name in ["/test/later/panic", "/test/later/dropped"] {
        let error = client.express(&ask(name)).unwrap_err();
        assert!(matches!(error, Error::NotFound(_)), "{name}: {error:?}");
    }
    responder.reply(Some(Reply::new("first")));
    assert_eq!(waiting.join().unwrap().unwrap().content, b"first");
    assert_eq!((registration.answered(), registration.rejected()), (2, 1));
    assert_eq!(registration.failed(), 1);
    registration.close();
    assert_eq!(daemon.registered(), Vec::<String>::new());
    assert_eq!((registration.answered(), registration.error()), (2, None));
}

#[test]
fn an_interest_that_is_cancelled_ends() {
    let folder = tempdir().unwrap();
    let daemon = Running::start(&folder.path().join("socket"));
    let client = daemon.client();
    let (cancel, own) = (client::Cancel::new(), client::Cancel::new());
    let ending = cancel.clone();
    let _registration = client
        .register("/test/cancel", move |_| {
            ending.cancel();
            Some(Reply::silence())
        })
        .unwrap();
    let error = client.express_until(&ask("/test/cancel/1"), None, &cancel).unwrap_err();
    assert_eq!(error, Error::Cancelled);
    own.cancel();
    let error = client.express_until(&ask("/test/cancel/2"), None, &own).unwrap_err();
    assert_eq!(error, Error::Cancelled);
}
