//! The packets on links, as pcapng.

use super::first_error::FirstError;
use super::pcapng::{Captured, Pcapng};
use super::places::Places;
use crate::model::Scenario;
use control::Time;
use sim::{Fate, Fault, FlowTrace, Lost, PacketTrace, Tracer};
use std::io::{self, Write};

/// Writes what is put on chosen links, a direction an interface, in Ethernet frames. The addresses
/// `02:00:00:xx:xx:xx` have the number of the node, from 0 on in the order of the scenario.
pub struct Capture<W: Write> {
    out: Pcapng<W>,
    /// For each direction of each link its interface.
    interfaces: Vec<Option<u32>>,
    /// For each direction of each link its ends.
    ends: Vec<[usize; 2]>,
    first_error: FirstError,
}

impl<W: Write> Capture<W> {
    /// Begins a capture with the description of its interfaces.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(
        out: W,
        scenario: &Scenario,
        places: &Places,
        first_error: FirstError,
    ) -> io::Result<Capture<W>> {
        let mut out = Pcapng::new(out)?;
        let (mut interfaces, mut ends) = (Vec::new(), Vec::new());
        for (number, link) in scenario.links.iter().enumerate() {
            for (way, direction) in link.directions.iter().enumerate() {
                let [from, to] = [link.ends[way], link.ends[1 - way]];
                ends.push([from, to]);
                if !places.has_link(number) {
                    interfaces.push(None);
                    continue;
                }
                let [from, to] = [from, to].map(|node| scenario.nodes[node].name.as_str());
                let (rate, delay) = (direction.rate, direction.delay);
                let about = format!("from {from} to {to}, {rate}, {delay}, link {number}");
                let interface = out.interface(&format!("{from}>{to}"), &about, Some(rate.0))?;
                interfaces.push(Some(interface));
            }
        }
        Ok(Capture { out, interfaces, ends, first_error })
    }

    fn write(&mut self, packet: &PacketTrace<'_>) -> io::Result<()> {
        let (Fate::Sent { lost, corrupted, duplicated }, Some((link, back))) =
            (packet.fate, packet.link)
        else {
            return Ok(());
        };
        let direction = link.index() + usize::from(back);
        let Some(interface) = self.interfaces.get(direction).copied().flatten() else {
            return Ok(());
        };
        let lost = lost.map(|why| match why {
            Lost::Loss => "does not arrive: lost on the link",
            Lost::LinkDown => "does not arrive: the link is down",
            Lost::NodeDown => "does not arrive: the node is down",
        });
        let comments = [
            lost,
            corrupted.then_some("a byte is changed on the way"),
            duplicated.then_some("arrives twice"),
        ];
        let comments: Vec<&str> = comments.into_iter().flatten().collect();
        let [from, to] = self.ends[direction].map(|node| node as u64);
        let (Time(time_ns), packet) = (packet.at, packet.packet);
        let comments = &comments[..];
        self.out.packet(&Captured { interface, time_ns, from, to, packet, comments })
    }
}

impl<W: Write + Send> Tracer for Capture<W> {
    fn packet(&mut self, packet: &PacketTrace<'_>) {
        if !self.first_error.has_occurred() {
            let done = self.write(packet);
            self.first_error.note(done);
        }
    }

    fn flow(&mut self, _flow: &FlowTrace<'_>) {}

    fn fault(&mut self, _at: Time, _fault: &Fault) {}
}

impl<W: Write> Drop for Capture<W> {
    /// Writes what is buffered.
    fn drop(&mut self) {
        let done = self.out.flush();
        self.first_error.note(done);
    }
}
