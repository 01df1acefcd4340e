//! `weir poke`: answers one Interest with one packet.

use crate::cli::packets::PokeArgs;
use crate::exit::{Failure, Kind};
use crate::identity::{self, Signing};
use crate::output;
use crate::signals::Stop;
use control::{Duration, Time};
use net::client::{Address, Connection, Endpoint};
use packet::{Data, DataBuf, Interest, LpPacket};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;

/// A turn lasts this long at most, so that a signal is noticed.
const TURN: Duration = Duration::from_millis(250);

/// A packet offered to an Interest.
struct Offer {
    wire: Vec<u8>,
    is_wanted: bool,
    is_sent: bool,
}

impl Endpoint for Offer {
    fn receive(&mut self, _now: Time, frame: &[u8]) {
        let Ok(link) = LpPacket::decode(frame) else { return };
        if link.nack().is_some() {
            return;
        }
        let Some(Ok(interest)) = link.fragment().map(Interest::decode) else { return };
        let data = Data::decode(&self.wire);
        self.is_wanted |= data.is_ok_and(|data| data.satisfies(&interest));
    }

    fn poll_transmit(&mut self, _now: Time, out: &mut Vec<u8>) -> bool {
        if !self.is_wanted || self.is_sent {
            return false;
        }
        self.is_sent = true;
        out.extend_from_slice(&self.wire);
        true
    }

    fn next_deadline(&mut self, _now: Time) -> Option<Time> {
        None
    }

    fn on_deadline(&mut self, _now: Time) {}
}

/// Registers the name, and answers the first Interest for the packet.
pub fn run(args: &PokeArgs) -> Result<(), Failure> {
    let stop = Stop::listen().map_err(|error| Failure::new(Kind::Failed, error))?;
    let Signing { signer, remark, .. } = identity::signing(args.sign.as_ref(), &args.name)?;
    if let Some(remark) = remark.filter(|_| !args.quiet) {
        output::note(&remark);
    }
    let mut connection = Connection::open(Address::find(args.forwarder.socket.as_deref())?)?;
    let content = content(args, &stop)?;
    let length = content.len();
    let data = DataBuf {
        freshness_ms: args.freshness.map(Duration::as_millis),
        final_block: args.name.as_ref().last().filter(|_| args.last).map(|c| c.to_component()),
        ..DataBuf::new(args.name.clone(), content)
    };
    let mut offer = Offer { wire: Vec::new(), is_wanted: false, is_sent: false };
    data.encode_into(&signer.info(), |portion| signer.sign(portion), &mut offer.wire);
    if offer.wire.len() > packet::MAX_PACKET {
        let (most, rest) = (packet::MAX_PACKET, offer.wire.len() - length);
        let text = format!(
            "the content does not fit into a packet: of its {most} bytes, {rest} are name and \
             signature"
        );
        return Err(Failure::new(Kind::Usage, text).then("publish it in segments, with `weir put`"));
    }
    connection.register(&args.name)?;
    if !args.quiet {
        output::note(&format!("waiting for an Interest for {}; Ctrl-C ends it", args.name));
    }
    let end = args.patience.map(|patience| connection.now() + patience);
    while !offer.is_sent {
        let now = connection.now();
        if stop.requested() {
            connection.unregister(&args.name).ok();
            return Err(Failure::new(Kind::Interrupted, "interrupted before an Interest arrived"));
        }
        if end.is_some_and(|end| now >= end) {
            connection.unregister(&args.name).ok();
            let text = format!("no Interest for {} has arrived", args.name);
            return Err(Failure::new(Kind::Failed, text).then("wait longer with --patience"));
        }
        let until = end.unwrap_or(Time(u64::MAX)).min(now + TURN);
        connection.turn(&mut offer, until)?;
    }
    // The packet has left when the next command is answered.
    connection.unregister(&args.name).ok();
    Ok(())
}

/// The content: not more than any packet takes is read.
fn content(args: &PokeArgs, stop: &Stop) -> Result<Vec<u8>, Failure> {
    let most = packet::MAX_PACKET as u64 + 1;
    let mut content = Vec::new();
    let read = if args.file.as_os_str() == "-" {
        let input = io::stdin().as_fd().try_clone_to_owned().map(File::from);
        input.and_then(|mut input| stop.interrupts(&mut input).take(most).read_to_end(&mut content))
    } else {
        File::open(&args.file).and_then(|file| file.take(most).read_to_end(&mut content))
    };
    match read {
        Ok(_) => Ok(content),
        Err(_) if stop.requested() => Err(Failure::new(Kind::Interrupted, "interrupted")),
        Err(error) => {
            let text = format!("cannot read {}: {error}", args.file.display());
            Err(Failure::new(Kind::File, text)
                .then("name a file that can be read, or `-` for standard input"))
        }
    }
}
