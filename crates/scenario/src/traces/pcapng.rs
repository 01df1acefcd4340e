//! Packets in Ethernet frames, as pcapng.

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption as About,
};
use pcap_file::{DataLink, Endianness, PcapError};
use std::borrow::Cow;
use std::io::{self, Write};
use std::time::Duration;

/// NDN's Ethernet type, as NFD sends it and as ndndump and the dissector for Wireshark know it.
const ETHERTYPE: [u8; 2] = [0x86, 0x24];
/// Nanoseconds: ten to the power of minus nine.
const NANOSECONDS: u8 = 9;

/// A packet on an interface.
#[derive(Clone, Copy, Debug)]
pub struct Captured<'a> {
    /// The interface, as [`Pcapng::interface`] numbered it.
    pub interface: u32,
    /// Nanoseconds.
    pub time_ns: u64,
    /// Numbers of the ends; the addresses `02:00:00:xx:xx:xx` have them.
    pub from: u64,
    /// See above.
    pub to: u64,
    /// The packet.
    pub packet: &'a [u8],
    /// Remarks on it.
    pub comments: &'a [&'a str],
}

/// Writes a capture.
pub struct Pcapng<W: Write> {
    out: PcapNgWriter<W>,
    interfaces: u32,
    frame: Vec<u8>,
}

impl<W: Write> Pcapng<W> {
    /// Begins a capture.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(out: W) -> io::Result<Pcapng<W>> {
        let out = PcapNgWriter::with_endianness(out, Endianness::Little).map_err(as_io)?;
        Ok(Pcapng { out, interfaces: 0, frame: Vec::new() })
    }

    /// Describes an interface and numbers it; `speed` is in bits a second.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn interface(&mut self, name: &str, about: &str, speed: Option<u64>) -> io::Result<u32> {
        let mut options =
            vec![About::IfName(Cow::Borrowed(name)), About::IfDescription(Cow::Borrowed(about))];
        options.extend(speed.map(About::IfSpeed));
        options.push(About::IfTsResol(NANOSECONDS));
        let linktype = DataLink::ETHERNET;
        let block = InterfaceDescriptionBlock { linktype, snaplen: 0, options };
        self.out.write_pcapng_block(block).map_err(as_io)?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Writes a packet.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn packet(&mut self, captured: &Captured<'_>) -> io::Result<()> {
        self.frame.clear();
        for end in [captured.to, captured.from] {
            let [.., a, b, c] = end.to_be_bytes();
            self.frame.extend([2, 0, 0, a, b, c]);
        }
        self.frame.extend(ETHERTYPE);
        self.frame.extend(captured.packet);
        let comments = captured.comments.iter();
        let block = EnhancedPacketBlock {
            interface_id: captured.interface,
            timestamp: Duration::from_nanos(captured.time_ns),
            original_len: self.frame.len() as u32,
            data: Cow::Borrowed(&self.frame),
            options: comments
                .map(|text| EnhancedPacketOption::Comment(Cow::Borrowed(text)))
                .collect(),
        };
        self.out.write_pcapng_block(block).map(drop).map_err(as_io)
    }

    /// Writes the bytes that are buffered.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.get_mut().flush()
    }
}

fn as_io(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}
