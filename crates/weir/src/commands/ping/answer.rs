//! `weir ping --serve`

use super::name::below;
use super::printed::{Answerer, Printed};
use crate::cli::packets::PingArgs;
use crate::exit::{Failure, Kind};
use crate::identity::{self, Signing};
use crate::outage::{Outage, Outcome};
use crate::output::{self, Progress};
use crate::signals::Stop;
use control::{Duration, Size, Time};
use net::client::{Address, Connection, Endpoint};
use packet::{Bytes, DataBuf, Interest, LpPacket, Name};
use security::Signer;
use std::collections::VecDeque;

/// A turn lasts this long at most, so that a signal is noticed.
const TURN: Duration = Duration::from_millis(250);
/// Answers that wait to be sent at most. Interests beyond are not answered.
const MOST_WAITING: usize = 1024;
/// As of ndnpingserver.
const FRESHNESS_MS: u64 = 1000;

/// Answers all Interests below a prefix.
struct Responder {
    prefix: Name,
    content: Bytes,
    signer: Signer,
    waiting: VecDeque<Name>,
    answered: u64,
    dropped: u64,
}

impl Endpoint for Responder {
    fn receive(&mut self, _now: Time, frame: &[u8]) {
        let Ok(link) = LpPacket::decode(frame) else { return };
        if link.nack().is_some() {
            return;
        }
        let Some(Ok(interest)) = link.fragment().map(Interest::decode) else { return };
        let (name, prefix) = (interest.name(), self.prefix.as_ref());
        // A store would give the answer to the bare prefix to all that ask.
        if !name.starts_with(prefix) || name.get(prefix.components().count()).is_none() {
            return;
        }
        if self.waiting.len() == MOST_WAITING {
            self.dropped += 1;
        } else {
            self.waiting.push_back(name.to_name());
        }
    }

    fn poll_transmit(&mut self, _now: Time, out: &mut Vec<u8>) -> bool {
        while let Some(name) = self.waiting.pop_front() {
            let freshness_ms = Some(FRESHNESS_MS);
            let data = DataBuf { freshness_ms, ..DataBuf::new(name, self.content.clone()) };
            let begins = out.len();
            data.encode_into(&self.signer.info(), |portion| self.signer.sign(portion), out);
            if out.len() - begins <= packet::MAX_PACKET {
                self.answered += 1;
                return true;
            }
            // The name is so long that no packet takes this content as well.
            out.truncate(begins);
            self.dropped += 1;
        }
        false
    }

    fn next_deadline(&mut self, _now: Time) -> Option<Time> {
        None
    }

    fn on_deadline(&mut self, _now: Time) {}
}

/// Answers until interrupted, or a given number of times. Waits for a forwarder that goes away.
pub fn run(args: &PingArgs) -> Result<(), Failure> {
    let stop = Stop::listen().map_err(|error| Failure::new(Kind::Failed, error))?;
    let prefix = below(&args.prefix);
    let signer = match &args.sign {
        Some(_) => {
            let Signing { signer, .. } = identity::signing(args.sign.as_ref(), &prefix)?;
            signer
        }
        None => Signer::Digest,
    };
    let size = usize::try_from(args.size.0).unwrap_or(usize::MAX);
    if size >= packet::MAX_PACKET {
        let text = format!("an answer of {} does not fit into a packet", args.size);
        let next = format!("a packet has at most {}", Size(packet::MAX_PACKET as u64));
        return Err(Failure::new(Kind::Usage, text).then(&next));
    }
    let mut connection = Connection::open(Address::find(args.forwarder.socket.as_deref())?)?;
    connection.register(&prefix)?;
    let mut responder = Responder {
        prefix: prefix.clone(),
        content: vec![b'a'; size].into(),
        signer,
        waiting: VecDeque::new(),
        answered: 0,
        dropped: 0,
    };
    if !args.quiet && !args.json {
        output::note(&format!("answering {prefix}; Ctrl-C ends it"));
    }
    let progress = Progress::new("answered", args.quiet);
    let mut outage = Outage::new("weir ping", &stop, Some(&progress), connection.now());
    let most = args.count.map_or(u64::MAX, std::num::NonZeroU64::get);
    while !stop.requested() && responder.answered < most {
        let until = connection.now() + TURN;
        let before = responder.answered;
        if let Err(lost) = connection.turn(&mut responder, until) {
            responder.waiting.clear();
            let outcome = outage
                .end(&mut connection, lost, None, &mut |connection| connection.register(&prefix))?;
            if outcome != Outcome::Back {
                break;
            }
        }
        if responder.answered > before {
            outage.was_useful();
        }
    }
    connection.unregister(&prefix).ok();
    progress.end();
    let Responder { answered, dropped, .. } = responder;
    if args.json {
        return output::json(&Printed::Answerer(Answerer { answered, dropped }));
    }
    output::result(&format!("answered {answered} Interests"))
}
