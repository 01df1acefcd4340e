//! Reading the trace of a running forwarder.

use crate::client::endpoint::Endpoint;
use crate::trace::Item;
use control::{Duration, Time};
use packet::tlv::Fault;
use packet::{Component, ContentType, Data, InterestBuf, LpPacket, Name};
use std::collections::BTreeMap;

/// The number of packets of the stream that are requested at a time.
const WINDOW: u64 = 16;

/// The time for which an Interest stays pending; another one is sent before it expires.
const LIFETIME: Duration = Duration::from_secs(4);
const AGAIN: Duration = Duration::from_secs(3);

/// A stream that a command has started, to be driven by a [`Connection`](super::Connection).
#[derive(Debug)]
pub struct TraceReader {
    name: Name,
    /// The number of the packet whose bytes come next.
    next: u64,
    /// The numbers of requested packets, and the times of their next requests.
    asked: BTreeMap<u64, Time>,
    /// Packets that arrived before their turn.
    early: BTreeMap<u64, Vec<u8>>,
    /// Bytes not read yet, from `read` on.
    stream: Vec<u8>,
    read: usize,
    has_ended: bool,
}

impl TraceReader {
    /// A reader of the stream of this name.
    #[must_use]
    pub fn new(name: Name) -> TraceReader {
        TraceReader {
            name,
            next: 0,
            asked: BTreeMap::new(),
            early: BTreeMap::new(),
            stream: Vec::new(),
            read: 0,
            has_ended: false,
        }
    }

    /// The next item of the trace; `None` if none has come.
    ///
    /// # Errors
    /// The received bytes are no trace.
    pub fn poll(&mut self) -> Result<Option<Item>, Fault> {
        let Some((item, length)) = Item::decode(&self.stream[self.read..])? else {
            if std::mem::take(&mut self.has_ended) {
                return Ok(Some(Item::Ended("the forwarder ended it".to_owned())));
            }
            self.stream.drain(..self.read);
            self.read = 0;
            return Ok(None);
        };
        self.read += length;
        Ok(Some(item))
    }

    fn wanted(&self, now: Time) -> Option<u64> {
        let numbers = self.next..self.next + WINDOW;
        numbers.into_iter().find(|number| {
            let is_asked = self.asked.get(number).is_some_and(|again| *again > now);
            !is_asked && !self.early.contains_key(number)
        })
    }
}

impl Endpoint for TraceReader {
    fn receive(&mut self, _now: Time, frame: &[u8]) {
        let Ok(header) = LpPacket::decode(frame) else { return };
        if header.nack().is_some() {
            return;
        }
        let Some(Ok(data)) = header.fragment().map(Data::decode) else { return };
        if !data.name().starts_with(self.name.as_ref()) {
            return;
        }
        if data.content_type() == ContentType::NACK {
            self.has_ended = true;
            return;
        }
        let Some(number) = data.name().last().and_then(|last| last.as_sequence()) else { return };
        if self.asked.remove(&number).is_some() {
            self.early.insert(number, data.content().to_vec());
        }
        while let Some(content) = self.early.remove(&self.next) {
            self.stream.extend(content);
            self.next += 1;
        }
    }

    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        let Some(number) = self.wanted(now) else { return false };
        self.asked.insert(number, now + AGAIN);
        let mut interest = InterestBuf::new(self.name.clone().with(&Component::sequence(number)));
        interest.lifetime_ms = Some(LIFETIME.as_millis());
        interest.nonce = Some(getrandom::u32().unwrap_or(now.0 as u32));
        interest.encode_into(out);
        true
    }

    fn next_deadline(&mut self, _now: Time) -> Option<Time> {
        self.asked.values().min().copied()
    }

    fn on_deadline(&mut self, _now: Time) {}
}
