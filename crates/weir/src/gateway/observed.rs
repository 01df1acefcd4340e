//! The first packets of a fetch: their round trip, and the node that sent them.

use control::{
    Arrival, Ask, Controller, Cx, Duration, Lane, Loss, PathEstimate, Permit, Sent, Ticket, Time,
};
use packet::options::ServedBy;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The observations so far. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Observed(Arc<Mutex<Packets>>);

#[derive(Debug, Default)]
struct Packets {
    /// The observation has ended.
    is_over: bool,
    /// The sum of round trips, and their number.
    sum: Duration,
    samples: u64,
    origin: Option<ServedBy>,
}

impl Observed {
    fn lock(&self) -> MutexGuard<'_, Packets> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the observation. Returns the mean round trip, and the node that sent the latest packet.
    pub fn end(&self) -> (Option<Duration>, Option<ServedBy>) {
        let mut packets = self.lock();
        packets.is_over = true;
        let mean = packets.sum.0.checked_div(packets.samples);
        (mean.map(Duration), packets.origin)
    }

    /// The controller of an observed fetch.
    pub fn by(&self, inner: Box<dyn Controller>) -> Box<dyn Controller> {
        Box::new(Observer { inner, observed: self.clone() })
    }
}

/// A controller as before, except that Interests ask for the answering node.
struct Observer {
    inner: Box<dyn Controller>,
    observed: Observed,
}

impl Controller for Observer {
    fn permit(&self, now: Time, ask: &Ask<'_>) -> Permit {
        self.inner.permit(now, ask)
    }

    fn on_sent(&mut self, cx: &mut Cx<'_>, sent: &Sent) -> Ticket {
        let mut ticket = self.inner.on_sent(cx, sent);
        if !self.observed.lock().is_over {
            ticket.options.set(&ServedBy::ASK);
        }
        ticket
    }

    fn came_in(&self, arrival: &Arrival<'_>) -> Option<Lane> {
        self.inner.came_in(arrival)
    }

    fn on_data(&mut self, cx: &mut Cx<'_>, arrival: &Arrival<'_>) {
        let mut packets = self.observed.lock();
        if !packets.is_over {
            packets.origin = arrival.options.get::<ServedBy>();
            if let Some(rtt) = arrival.rtt {
                packets.sum = Duration(packets.sum.0.saturating_add(rtt.0));
                packets.samples += 1;
            }
        }
        drop(packets);
        self.inner.on_data(cx, arrival);
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, loss: &Loss<'_>) {
        self.inner.on_loss(cx, loss);
    }

    fn overdue_at(&self, lane: Lane, sent_at: Time) -> Time {
        self.inner.overdue_at(lane, sent_at)
    }

    fn range(&self) -> u16 {
        self.inner.range()
    }

    fn may_be_probed(&self) -> bool {
        self.inner.may_be_probed()
    }

    fn next_deadline(&self) -> Option<Time> {
        self.inner.next_deadline()
    }

    fn on_deadline(&mut self, cx: &mut Cx<'_>) {
        self.inner.on_deadline(cx);
    }

    fn seed(&mut self, cx: &mut Cx<'_>, lane: Lane, estimate: PathEstimate) -> bool {
        self.inner.seed(cx, lane, estimate)
    }

    fn gauges(&self, out: &mut dyn FnMut(Lane, &'static str, f64)) {
        self.inner.gauges(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::{InFlight, Load, Rng, Size};
    use packet::HopOptions;
    use schemes::Choice;

    struct Empty;

    impl InFlight for Empty {
        fn total(&self) -> Load {
            Load::default()
        }

        fn lane(&self, _lane: Lane) -> Load {
            Load::default()
        }
    }

    fn sent() -> Sent {
        let (expected, before) = (Size(8200), Load::default());
        Sent { first: 0, count: 1, lane: 0, attempt: 0, expected, stated: None, before }
    }

    /// A packet with this round trip in ms, from a node.
    fn arrive(controller: &mut dyn Controller, cx: &mut Cx<'_>, rtt: u64, origin: ServedBy) {
        let mut options = HopOptions::new();
        options.set(&origin);
        controller.on_data(
            cx,
            &Arrival {
                segment: 0,
                lane: 0,
                memo: [0; 2],
                sent_at: cx.now,
                rtt: Some(Duration::from_millis(rtt)),
                size: Size(8200),
                mark: 0,
                late: false,
                options: &options,
                in_flight: &Empty,
            },
        );
    }

    #[test]
    fn the_answering_node_is_asked_for_until_the_answer_begins() {
        let choice: Choice = "cubic".parse().unwrap();
        let observed = Observed::default();
        let mut controller = observed.by(choice.controller().unwrap());
        let (mut rng, mut tap) = (Rng::stream(1, &[]), |_| ());
        let mut cx = Cx { now: Time(0), rng: &mut rng, tap: &mut tap };
        let asks = |ticket: &Ticket| ticket.options.get::<ServedBy>() == Some(ServedBy::ASK);
        assert!(asks(&controller.on_sent(&mut cx, &sent())));
        let (far, near) = (ServedBy { node: 7, hops: 3 }, ServedBy { node: 9, hops: 1 });
        arrive(&mut *controller, &mut cx, 30, far);
        arrive(&mut *controller, &mut cx, 10, near);
        assert_eq!(observed.end(), (Some(Duration::from_millis(20)), Some(near)));
        assert!(!asks(&controller.on_sent(&mut cx, &sent())));
        arrive(&mut *controller, &mut cx, 500, far);
        assert_eq!(observed.end(), (Some(Duration::from_millis(20)), Some(near)));
    }

    #[test]
    fn nothing_is_known_without_packets() {
        assert_eq!(Observed::default().end(), (None, None));
    }
}
