//! A tracer receives every packet, and does not change the run.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::support::{Line, line, name, wire};
use control::{Kind, Time};
use packet::{Data, Interest};
use sim::{
    Fate, Fault, FlowTrace, Impairment, LinkId, Loss, Outcome, PacketTrace, Signing, Tracer,
    WireSpec,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A link with a direction, and the name of a fate.
type Key = (Option<(LinkId, bool)>, &'static str);

/// The traces received: packets by link, direction and fate; flows; faults.
#[derive(Default)]
struct Seen {
    fates: BTreeMap<Key, u64>,
    flows: Vec<(u64, String, Option<bool>)>,
    faults: Vec<String>,
    last: Time,
    undecodable: u64,
}

struct Notes(Arc<Mutex<Seen>>);

impl Tracer for Notes {
    fn packet(&mut self, p: &PacketTrace<'_>) {
        let mut seen = self.0.lock().unwrap();
        assert!(p.at >= seen.last, "time goes on");
        seen.last = p.at;
        let fate = match p.fate {
            Fate::Enqueued => "enqueued",
            Fate::Dropped(reason) => reason.name(),
            Fate::Sent { lost: None, .. } => "sent",
            Fate::Sent { lost: Some(_), .. } => "sent and lost",
            Fate::Lost(_) => "lost",
            Fate::Received => "received",
        };
        *seen.fates.entry((p.link, fate)).or_default() += 1;
        let is_readable = match p.kind {
            Kind::Interest => Interest::decode(p.packet).is_ok(),
            Kind::Data => Data::decode(p.packet).is_ok(),
            Kind::Nack => !p.packet.is_empty(),
        };
        seen.undecodable += u64::from(!is_readable);
    }

    fn flow(&mut self, f: &FlowTrace<'_>) {
        let mut seen = self.0.lock().unwrap();
        seen.flows.push((
            f.at.0,
            f.name.0.to_owned(),
            f.ended.map(|result| result.transfer.complete),
        ));
    }

    fn fault(&mut self, at: Time, fault: &Fault) {
        self.0.lock().unwrap().faults.push(format!("{} {fault:?}", at.0));
    }
}

/// Two links, the second with a short queue and losses, and a fetch over them; the second link is
/// down for a while.
fn build() -> Line {
    let mut spec: WireSpec = wire(10, 1);
    spec.queue_packets = 6;
    spec.impairment = Impairment { loss: Loss::Random(0.02), ..Impairment::default() };
    let mut line = line(5, 3, &spec);
    line.publish("/p/x", 300_000, 1000, Signing::Manifest);
    line.fetch("/p/x", "aimd", 0);
    let link = line.links[1];
    line.net.at(Time(100_000_000), Fault::LinkDown(link)).unwrap();
    line.net.at(Time(150_000_000), Fault::LinkUp(link)).unwrap();
    line
}

fn traced() -> (Outcome, Seen) {
    let mut line = build();
    let seen = Arc::new(Mutex::new(Seen::default()));
    line.net.trace(Box::new(Notes(Arc::clone(&seen))));
    let outcome = line.net.run(Time(60_000_000_000));
    drop(line.net.take_tracer());
    (outcome, Arc::into_inner(seen).unwrap().into_inner().unwrap())
}

#[test]
fn every_packet_of_every_link_is_traced_once() {
    let (outcome, seen) = traced();
    assert!(outcome.flows[0].transfer.complete, "{:?}", outcome.flows[0]);
    let (mut drops, mut losses) = (0, 0);
    for (number, link) in outcome.links.iter().enumerate() {
        let of = |fate| {
            let fates = seen.fates.iter().filter(|((link, name), _)| {
                let here = link.map(|(link, back)| link.index() + usize::from(back));
                here == Some(number) && *name == fate
            });
            fates.map(|(_, many)| *many).sum::<u64>()
        };
        let queue_full = of("data-queue-full") + of("interest-queue-full");
        assert_eq!(
            of("enqueued") + queue_full,
            link.tally.offered.packets,
            "{}-{}",
            link.from,
            link.to
        );
        assert_eq!(queue_full, link.tally.dropped.packets);
        assert_eq!(of("sent") + of("sent and lost"), link.wire.sent);
        assert_eq!(of("received"), link.wire.delivered);
        assert!(of("sent and lost") >= link.wire.lost);
        drops += queue_full;
        losses += link.wire.lost + link.wire.down;
    }
    assert!(drops > 0 && losses > 0, "{drops} drops, {losses} losses");
    assert_eq!(seen.undecodable, 0, "the tracer receives the whole packet");
    assert_eq!(seen.flows.len(), 2, "{:?}", seen.flows);
    assert_eq!(seen.flows[0], (0, name("/p/x").to_string(), None));
    assert_eq!(seen.flows[1].2, Some(true));
    let end = outcome.flows[0].end.unwrap();
    assert_eq!(seen.flows[1].0, end.0);
    assert_eq!(seen.faults.len(), 2, "{:?}", seen.faults);
    assert!(seen.faults[0].starts_with("100000000 LinkDown"));
}

#[test]
fn a_tracer_changes_nothing() {
    let (traced, _) = traced();
    let plain = build().net.run(Time(60_000_000_000));
    assert_eq!(traced, plain);
}
