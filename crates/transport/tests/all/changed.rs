//! Content that changes at its producer after it was hashed.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use crate::support::{Answers, Memory, Pipe, bytes, failure, fetch, name, publish, run};
use control::Duration;
use packet::{Interest, LpHeader, LpPacket, NackReason};
use security::Signer;
use std::collections::VecDeque;
use transport::fetch::{FetchError, Status};
use transport::publish::{Preparation, Publication, Publish, Spec};

const LIMIT: Duration = Duration::from_secs(60);
const NEW: usize = 7000;

/// A producer that has metadata and manifest of version 7, and no content of it any more.
struct Changed {
    producer: Publish,
    nacks: VecDeque<Vec<u8>>,
    /// The next version, which is published after so many Interests.
    next: Option<(usize, Publication)>,
    interests: usize,
}

impl Changed {
    fn until(interests: Option<usize>) -> Changed {
        let mut producer = Publish::new();
        producer.claim(name("/a"));
        producer.add(publish("/a/file", bytes(5000), &Signer::Digest));
        let next = interests.map(|interests| {
            let spec = Spec { segment_size: 1000, ..Spec::new(name("/a/file"), 8) };
            let made = Preparation::new(spec, bytes(NEW), &Signer::Digest).unwrap();
            (interests, made.run(&Signer::Digest).unwrap())
        });
        Changed { producer, nacks: VecDeque::new(), next, interests: 0 }
    }
}

impl Answers for Changed {
    fn receive(&mut self, frame: &[u8]) {
        self.interests += 1;
        if self.next.as_ref().is_some_and(|(after, _)| self.interests > *after) {
            self.producer.replace(self.next.take().unwrap().1);
        }
        let link = LpPacket::decode(frame).unwrap();
        let fragment = link.fragment().unwrap();
        let asked = Interest::decode(fragment).unwrap().name().to_string();
        if !asked.starts_with("/a/file/v=7/seg=") && !asked.starts_with("/a/file/32=head") {
            return self.producer.receive(frame);
        }
        let header = LpHeader { nack: Some(NackReason::None), ..LpHeader::default() };
        let mut nack = Vec::new();
        header.encode_into(fragment, &mut nack);
        self.nacks.push_back(nack);
    }

    fn poll_transmit(&mut self, out: &mut Vec<u8>) -> bool {
        match self.nacks.pop_front() {
            Some(nack) => {
                out.extend_from_slice(&nack);
                true
            }
            None => self.producer.poll_transmit(out),
        }
    }
}

#[test]
fn a_fetch_goes_on_with_the_version_that_replaces_what_it_found() {
    for interests in [4, 8, 10] {
        let mut producer = Changed::until(Some(interests));
        let (mut fetch, mut sink) = (fetch("/a/file"), Memory::default());
        let pipe = Pipe::default();
        let took = run(&mut fetch, &mut sink, &mut producer, &pipe, LIMIT, &mut |_, f| Some(f));
        assert_eq!(fetch.status(), Status::Done, "{interests}: {:?}", fetch.stats());
        assert_eq!(fetch.object().unwrap().name, name("/a/file/v=8"));
        assert!(sink.bytes == bytes(NEW), "{interests}");
        assert!(took.0 < 5_000_000_000, "{interests}: {took:?}");
    }
}

#[test]
fn content_that_is_gone_ends_a_fetch_with_the_reason() {
    // A name without a version waits for the next one first.
    for (uri, seconds) in [("/a/file", 9), ("/a/file/v=7", 2)] {
        let mut producer = Changed::until(None);
        let (mut fetch, mut sink) = (fetch(uri), Memory::default());
        let pipe = Pipe::default();
        let took = run(&mut fetch, &mut sink, &mut producer, &pipe, LIMIT, &mut |_, f| Some(f));
        let FetchError::Gone { name: object, missing } = failure(&fetch) else {
            panic!("{uri}: {}", failure(&fetch))
        };
        assert_eq!((object, missing.to_string().as_str()), (&name("/a/file/v=7"), "segment 0"));
        assert!(took.0 < seconds * 1_000_000_000, "{uri}: {took:?}");
        assert!(producer.interests < 40, "{uri}: {} Interests", producer.interests);
        assert!(sink.order.is_empty());
    }
}
