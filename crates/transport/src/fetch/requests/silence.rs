//! Silence: when a probe leaves because no answer comes.

use crate::fetch::flight::{Flight, Item};
use control::{Duration, RttEstimate, Time};

/// A probe goes out when nothing came for this long at least.
const MIN_PROBE: Duration = Duration::from_millis(20);
/// The first probes are for the last request (RFC 8985, 7.3). If the path has only paused, the
/// answer to the probe looks like the answer to the first Interest, and earlier requests have been
/// answered by then; a probe for the oldest request would make all the rest seem lost. But the item
/// of the last request may not exist.
const PROBES_AT_THE_END: u32 = 4;
/// Before this many answers the speed of the path is not known: then silence is longer.
const FEW: u64 = 8;
const FIRST_PROBE: Duration = Duration::from_millis(200);
/// The length of the path is not known either before the first answer. Discovery is one small
/// packet, and goes out again sooner than RFC 6298's second: a little after the 100 ms that
/// RFC 8305, section 5, recommends as the least before another way is tried.
const DISCOVERY_PROBE: Duration = Duration::from_millis(125);

/// How long nothing has come, and the probes because of it.
#[derive(Debug)]
pub(super) struct Silence {
    /// When something was sent or answered last.
    last_sign: Time,
    /// When Data came last, and how far apart they come, smoothed.
    answered_at: Time,
    spacing: Duration,
    answers: u64,
    /// Probes since the last answer.
    probes: u32,
    /// The request to be sent once more.
    probe: Option<Item>,
}

impl Silence {
    pub fn new() -> Silence {
        Silence {
            last_sign: Time::ZERO,
            answered_at: Time::ZERO,
            spacing: Duration::ZERO,
            answers: 0,
            probes: 0,
            probe: None,
        }
    }

    /// How far apart answers come.
    pub fn spacing(&self) -> Duration {
        self.spacing
    }

    /// An Interest left.
    pub fn sent(&mut self, now: Time) {
        self.last_sign = now;
    }

    /// Data came.
    pub fn answered(&mut self, now: Time) {
        if self.answers > 0 {
            let (before, apart) = (self.spacing.0, now.since(self.answered_at).0);
            self.spacing = Duration(before - before / 8 + apart / 8);
        }
        self.answers += 1;
        self.answered_at = now;
        self.last_sign = now;
        self.probes = 0;
    }

    /// The connection is a new one: the time without one says nothing of how far apart answers are.
    pub fn restart(&mut self, now: Time) {
        self.answered_at = now;
        self.last_sign = now;
        self.probes = 0;
        self.probe = None;
    }

    /// A probe is due: chooses the request for it.
    pub fn choose_probe(&mut self, now: Time, flight: &Flight) {
        self.probes += 1;
        self.last_sign = now;
        self.probe = match self.probes {
            _ if flight.get(Item::Metadata).is_some() => Some(Item::Metadata),
            ..=PROBES_AT_THE_END => flight.newest(),
            _ => flight.oldest().map(|(item, _)| item),
        };
    }

    /// The request to be sent once more.
    pub fn take_probe(&mut self) -> Option<Item> {
        self.probe.take()
    }

    /// RFC 8985, 7.2, with RFC 9002's 6.2.1 for the time: the oldest request is overdue, and
    /// nothing has come for longer than answers are apart. Answers may overtake an Interest for
    /// as long as `overtaken`.
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
        Some((oldest.sent_at + srtt + margin).max(self.last_sign + silence))
    }
}
