//! Probes, sent when no answer arrives.

use crate::fetch::flight::Flight;
use crate::fetch::item::Item;
use control::{Duration, RttEstimate, Time};

/// The minimum time without an answer before a probe.
const MIN_PROBE: Duration = Duration::from_millis(20);
/// The number of probes that repeat the last request (RFC 8985, section 7.3).
///
/// If the path has only paused, the answer to the first Interest looks like the answer to the
/// probe. Earlier requests have been answered by then, so none seems lost. A probe for the oldest
/// request would make all later ones seem lost. Later probes are for the oldest request, because
/// the item of the last request may not exist.
const PROBES_AT_THE_END: u32 = 4;
/// Before this many answers the rate of the path is unknown, and a probe waits at least
/// [`FIRST_PROBE`].
const FEW: u64 = 8;
const FIRST_PROBE: Duration = Duration::from_millis(200);
/// The time before the first probe of discovery, while the round-trip time is unknown. Discovery is
/// one small packet, so this is shorter than the 1 s of RFC 6298: a little more than the minimum of
/// 100 ms that RFC 8305, section 5, recommends before trying another address.
const DISCOVERY_PROBE: Duration = Duration::from_millis(125);

/// The time without answers, and the probes sent because of it.
#[derive(Debug)]
pub(super) struct Silence {
    /// The last time an Interest was sent or answered, or a probe was chosen.
    last_activity: Time,
    /// The last time Data arrived, and the smoothed time between two Data packets.
    answered_at: Time,
    spacing: Duration,
    answers: u64,
    /// Probes since the last answer.
    probes: u32,
    /// The request to probe.
    probe: Option<Item>,
}

impl Silence {
    pub fn new() -> Silence {
        Silence {
            last_activity: Time::ZERO,
            answered_at: Time::ZERO,
            spacing: Duration::ZERO,
            answers: 0,
            probes: 0,
            probe: None,
        }
    }

    /// The smoothed time between two answers.
    pub fn spacing(&self) -> Duration {
        self.spacing
    }

    /// Records the sending of an Interest.
    pub fn sent(&mut self, now: Time) {
        self.last_activity = now;
    }

    /// Records the arrival of Data.
    pub fn answered(&mut self, now: Time) {
        if self.answers > 0 {
            let (before, apart) = (self.spacing.0, now.since(self.answered_at).0);
            self.spacing = Duration(before - before / 8 + apart / 8);
        }
        self.answers += 1;
        self.answered_at = now;
        self.last_activity = now;
        self.probes = 0;
    }

    /// Starts again for a new connection. The time without a connection does not count as time
    /// between answers.
    pub fn restart(&mut self, now: Time) {
        self.answered_at = now;
        self.last_activity = now;
        self.probes = 0;
        self.probe = None;
    }

    /// Chooses the request for a probe that is due.
    pub fn choose_probe(&mut self, now: Time, flight: &Flight) {
        self.probes += 1;
        self.last_activity = now;
        self.probe = match self.probes {
            _ if flight.get(Item::Metadata).is_some() => Some(Item::Metadata),
            ..=PROBES_AT_THE_END => flight.newest(),
            _ => flight.oldest().map(|(item, _)| item),
        };
    }

    /// Takes the request to probe.
    pub fn take_probe(&mut self) -> Option<Item> {
        self.probe.take()
    }

    /// The instant of the next probe (RFC 8985, section 7.2; the times are those of RFC 9002,
    /// section 6.2.1). The oldest request must be overdue, and nothing sent or answered for four
    /// times the usual time between answers; this time doubles with each probe. `overtaken` is the
    /// tolerance for reordering.
    pub fn probe_at(
        &self,
        flight: &Flight,
        rtt: &RttEstimate,
        overtaken: Duration,
    ) -> Option<Time> {
        let (_, oldest) = flight.oldest()?;
        let Some(srtt) = rtt.smoothed() else {
            let silence = Duration(DISCOVERY_PROBE.0 << self.probes.min(6));
            return flight.get(Item::Metadata).map(|flying| flying.sent_at + silence);
        };
        let margin = Duration(rtt.variation().0.saturating_mul(4)).max(overtaken);
        let silence = Duration(self.spacing.0.saturating_mul(4))
            .max(MIN_PROBE)
            .max(if self.answers < FEW { FIRST_PROBE } else { Duration::ZERO });
        let longest = RttEstimate::MAX_BACKED_OFF.max(silence);
        let silence = Duration(silence.0.saturating_mul(1 << self.probes.min(6))).min(longest);
        Some((oldest.sent_at + srtt + margin).max(self.last_activity + silence))
    }
}
