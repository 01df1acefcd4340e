//! The events of packets, written during the run: as a capture for Wireshark, or as lines of JSON.
//! Neither is kept in memory.

mod capture;
mod first_error;
mod lines;
mod pcapng;
mod places;

pub use capture::Capture;
pub use first_error::FirstError;
pub use lines::{EVENTS, EventLog, check as check_events};
pub use pcapng::{Captured, Pcapng};
pub use places::Places;
pub use sim::Tracer;

use control::Time;
use sim::{Fault, FlowTrace, PacketTrace};

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
