//! The events of packets, written during the run: as a capture for Wireshark, or as lines of JSON.
//! Neither is kept in memory.

mod capture;
mod lines;
mod pcapng;

pub use capture::Capture;
pub use lines::{EVENTS, EventLog, check as check_events};
pub use pcapng::{Captured, Pcapng};
pub use sim::Tracer;

use crate::model::Scenario;
use control::{Kind, Time};
use packet::{Data, Interest, LpPacket, NameRef};
use sim::{Fault, FlowTrace, PacketTrace};
use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex};

/// Returns `true` for `a-b`.
fn is_link(word: &str, a: &str, b: &str) -> bool {
    word.strip_prefix(a).and_then(|rest| rest.strip_prefix('-')) == Some(b)
}

/// The scope of a trace: some links and nodes, or all.
#[derive(Clone, Debug, Default)]
pub struct Places(Option<(BTreeSet<usize>, BTreeSet<usize>)>);

impl Places {
    /// Links (`a-b`, in either order) and nodes by their names; everything, if there is none. A
    /// node's links belong to it.
    ///
    /// # Errors
    /// There is no such link or node. The message lists the existing ones.
    pub fn of(scenario: &Scenario, words: &[String]) -> Result<Places, String> {
        if words.is_empty() {
            return Ok(Places(None));
        }
        let (mut links, mut nodes) = (BTreeSet::new(), BTreeSet::new());
        for word in words {
            let node = scenario.nodes.iter().position(|node| node.name == *word);
            let before = links.len();
            for (number, link) in scenario.links.iter().enumerate() {
                let [a, b] = link.ends.map(|node| scenario.nodes[node].name.as_str());
                if is_link(word, a, b)
                    || is_link(word, b, a)
                    || node.is_some_and(|node| link.ends.contains(&node))
                {
                    links.insert(number);
                }
            }
            nodes.extend(node);
            if node.is_none() && links.len() == before {
                let joined = scenario
                    .links
                    .iter()
                    .map(|link| link.ends.map(|node| scenario.nodes[node].name.as_str()).join("-"));
                let known: Vec<String> =
                    scenario.nodes.iter().map(|n| n.name.clone()).chain(joined).take(40).collect();
                let valid = document::valid_words(word, known.iter().map(String::as_str));
                return Err(format!("there is no link and no node `{word}`; {valid}"));
            }
        }
        Ok(Places(Some((links, nodes))))
    }

    /// True if it includes this link.
    #[must_use]
    pub fn has_link(&self, link: usize) -> bool {
        self.0.as_ref().is_none_or(|(links, _)| links.contains(&link))
    }

    /// True if it includes this node.
    #[must_use]
    pub fn has_node(&self, node: usize) -> bool {
        self.0.as_ref().is_none_or(|(_, nodes)| nodes.contains(&node))
    }
}

/// The first error of writing: nothing was written after it.
#[derive(Clone, Debug, Default)]
pub struct FirstError(Arc<Mutex<Option<io::Error>>>);

impl FirstError {
    /// True if there was an error.
    #[must_use]
    pub fn has_occurred(&self) -> bool {
        self.0.lock().is_ok_and(|error| error.is_some())
    }

    /// The error.
    #[must_use]
    pub fn take(&self) -> Option<io::Error> {
        self.0.lock().ok()?.take()
    }

    /// Remembers an error, if it is the first.
    pub fn note(&self, done: io::Result<()>) {
        if let (Err(error), Ok(mut first)) = (done, self.0.lock()) {
            first.get_or_insert(error);
        }
    }
}

/// Several tracers as one.
pub struct Several(pub Vec<Box<dyn Tracer>>);

impl Tracer for Several {
    fn packet(&mut self, packet: &PacketTrace<'_>) {
        self.0.iter_mut().for_each(|tracer| tracer.packet(packet));
    }

    fn flow(&mut self, flow: &FlowTrace<'_>) {
        self.0.iter_mut().for_each(|tracer| tracer.flow(flow));
    }

    fn fault(&mut self, at: Time, fault: &Fault) {
        self.0.iter_mut().for_each(|tracer| tracer.fault(at, fault));
    }
}

/// The fields read from a packet.
#[derive(Default)]
struct Read<'a> {
    name: Option<NameRef<'a>>,
    nonce: Option<u32>,
    mark: u64,
}

/// Reads a frame or a network packet.
fn read(bytes: &[u8], kind: Kind) -> Read<'_> {
    let (packet, mark) = match LpPacket::decode(bytes) {
        Ok(link) => (link.fragment().unwrap_or_default(), link.congestion_mark()),
        Err(_) => (bytes, 0),
    };
    match kind {
        Kind::Data => {
            let name = Data::decode(packet).ok().map(|data| data.name());
            Read { name, mark, nonce: None }
        }
        Kind::Interest | Kind::Nack => {
            let interest = Interest::decode(packet).ok();
            let nonce = interest.as_ref().and_then(Interest::nonce);
            Read { name: interest.map(|interest| interest.name()), nonce, mark }
        }
    }
}
