//! What crossed links, as pcapng.

use super::{Places, Trouble};
use crate::model::Scenario;
use control::Time;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption as About,
};
use pcap_file::{DataLink, Endianness, PcapError};
use sim::{Fate, Fault, FlowTrace, Lost, PacketTrace, Tracer};
use std::borrow::Cow;
use std::io::{self, Write};
use std::time::Duration;

/// NDN's Ethernet type, as NFD sends it and as ndndump and the dissector for Wireshark know it.
const ETHERTYPE: [u8; 2] = [0x86, 0x24];
/// Nanoseconds: ten to the power of minus nine.
const NANOSECONDS: u8 = 9;

/// Writes what is put on chosen links, a direction an interface, in Ethernet frames. The addresses
/// `02:00:00:xx:xx:xx` have the number of the node, from 0 on in the order of the scenario.
pub struct Capture<W: Write> {
    out: PcapNgWriter<W>,
    /// For each direction of each link its interface.
    interfaces: Vec<Option<u32>>,
    /// For each direction of each link its ends.
    ends: Vec<[usize; 2]>,
    frame: Vec<u8>,
    trouble: Trouble,
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
        trouble: Trouble,
    ) -> io::Result<Capture<W>> {
        let mut out = PcapNgWriter::with_endianness(out, Endianness::Little).map_err(as_io)?;
        let (mut interfaces, mut ends, mut count) = (Vec::new(), Vec::new(), 0);
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
                let block = InterfaceDescriptionBlock {
                    linktype: DataLink::ETHERNET,
                    snaplen: 0,
                    options: vec![
                        About::IfName(Cow::Owned(format!("{from}>{to}"))),
                        About::IfDescription(Cow::Owned(about)),
                        About::IfSpeed(rate.0),
                        About::IfTsResol(NANOSECONDS),
                    ],
                };
                out.write_pcapng_block(block).map_err(as_io)?;
                interfaces.push(Some(count));
                count += 1;
            }
        }
        Ok(Capture { out, interfaces, ends, frame: Vec::new(), trouble })
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
        let [from, to] = self.ends[direction];
        self.frame.clear();
        for node in [to, from] {
            let [.., a, b, c] = (node as u64).to_be_bytes();
            self.frame.extend([2, 0, 0, a, b, c]);
        }
        self.frame.extend(ETHERTYPE);
        self.frame.extend(packet.packet);
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
        let comment = |text| EnhancedPacketOption::Comment(Cow::Borrowed(text));
        let Time(at) = packet.at;
        let block = EnhancedPacketBlock {
            interface_id: interface,
            timestamp: Duration::from_nanos(at),
            original_len: self.frame.len() as u32,
            data: Cow::Borrowed(&self.frame),
            options: comments.into_iter().flatten().map(comment).collect(),
        };
        self.out.write_pcapng_block(block).map(drop).map_err(as_io)
    }
}

fn as_io(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}

impl<W: Write + Send> Tracer for Capture<W> {
    fn packet(&mut self, packet: &PacketTrace<'_>) {
        if !self.trouble.is_there() {
            let done = self.write(packet);
            self.trouble.note(done);
        }
    }

    fn flow(&mut self, _flow: &FlowTrace<'_>) {}

    fn fault(&mut self, _at: Time, _fault: &Fault) {}
}

impl<W: Write> Drop for Capture<W> {
    /// Writes what is buffered.
    fn drop(&mut self) {
        let done = self.out.get_mut().flush();
        self.trouble.note(done);
    }
}
