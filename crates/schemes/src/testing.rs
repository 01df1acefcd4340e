//! Common test code of schemes: a consumer for controllers, which keeps the order of calls and
//! counts the segments in flight, and a gate with Interests for shapers.

use control::{
    Arrival, Ask, Cause, Controller, Cx, Duration, Flow, InFlight, InterestMeta, Lane, LinkView,
    Load, Loss, Offer, Permit, Queued, Released, Rng, Sent, Shaper, Size, Ticket, Time,
};
use packet::HopOptions;

mod pending;

pub(crate) use pending::Pending;

/// The Data of a segment, in bytes.
pub(crate) const SEGMENT: Size = Size(8000);

/// A number of segments in flight, all in one lane.
pub(crate) struct Flying(pub(crate) u32);

impl InFlight for Flying {
    fn total(&self) -> Load {
        Load { segments: self.0, bytes: Size(SEGMENT.0 * u64::from(self.0)) }
    }
    fn lane(&self, _: Lane) -> Load {
        self.total()
    }
}

/// An Interest that left; for several segments each of them answers or is lost by itself.
#[derive(Clone, Debug)]
pub(crate) struct Out {
    pub(crate) segment: u64,
    pub(crate) sent_at: Time,
    pub(crate) ticket: Ticket,
    pub(crate) attempt: u16,
}

/// A controller under a test's hands.
pub(crate) struct Play {
    pub(crate) control: Box<dyn Controller>,
    pub(crate) now: Time,
    pub(crate) flying: Flying,
    rng: Rng,
    next: u64,
    pub(crate) options: HopOptions,
}

impl Play {
    pub(crate) fn new(control: Box<dyn Controller>) -> Play {
        let (rng, options) = (Rng::stream(1, &["play"]), HopOptions::default());
        Play { control, now: Time(0), flying: Flying(0), rng, next: 0, options }
    }

    pub(crate) fn ms(&self, ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    pub(crate) fn at_ms(&mut self, ms: u64) {
        self.now = Time::ZERO + Duration::from_millis(ms);
    }

    pub(crate) fn permit(&self, count: u16) -> Permit {
        let ask =
            Ask { first: self.next, count, attempt: 0, segment: SEGMENT, in_flight: &self.flying };
        self.control.permit(self.now, &ask)
    }

    /// Sends the next Interest, for `count` segments, if it may leave now.
    pub(crate) fn ask(&mut self, count: u16) -> Option<Out> {
        let Permit::Now(_) = self.permit(count) else { return None };
        let first = self.next;
        self.next += u64::from(count);
        Some(self.send(first, count, 0))
    }

    /// Asks again for what was lost, if permitted.
    pub(crate) fn again(&mut self, lost: &Out) -> Option<Out> {
        let (first, attempt) = (lost.segment, lost.attempt + 1);
        let ask = Ask { first, count: 1, attempt, segment: SEGMENT, in_flight: &self.flying };
        let Permit::Now(_) = self.control.permit(self.now, &ask) else { return None };
        Some(self.send(first, 1, attempt))
    }

    /// Asks again for `count` lost segments of a run with one Interest.
    pub(crate) fn again_for(&mut self, lost: &Out, count: u16) -> Option<Out> {
        let Permit::Now(_) = self.permit(count) else { return None };
        Some(self.send(lost.segment, count, lost.attempt + 1))
    }

    fn send(&mut self, first: u64, count: u16, attempt: u16) -> Out {
        let sent = Sent {
            first,
            count,
            lane: 0,
            attempt,
            expected: Size(SEGMENT.0 * u64::from(count)),
            stated: None,
            before: self.flying.total(),
        };
        let mut tap = |_| {};
        let mut cx = Cx { now: self.now, rng: &mut self.rng, tap: &mut tap };
        let ticket = self.control.on_sent(&mut cx, &sent);
        self.flying.0 += u32::from(count);
        Out { segment: first, sent_at: self.now, ticket, attempt }
    }

    /// Data for an Interest that is in flight, with this mark.
    pub(crate) fn data(&mut self, out: &Out, mark: u64) {
        self.flying.0 -= 1;
        self.arrive(out, mark, false, SEGMENT);
    }

    /// Data for what was declared lost and not asked for again.
    pub(crate) fn late(&mut self, out: &Out) {
        self.arrive(out, 0, true, SEGMENT);
    }

    /// Data of this size.
    pub(crate) fn data_of(&mut self, out: &Out, size: Size) {
        self.flying.0 -= 1;
        self.arrive(out, 0, false, size);
    }

    fn arrive(&mut self, out: &Out, mark: u64, late: bool, size: Size) {
        let rtt = (out.attempt == 0).then(|| self.now.since(out.sent_at));
        let arrival = Arrival {
            segment: out.segment,
            lane: 0,
            memo: out.ticket.memo,
            sent_at: out.sent_at,
            rtt,
            size,
            mark,
            late,
            options: &self.options,
            in_flight: &self.flying,
        };
        let mut tap = |_| {};
        let mut cx = Cx { now: self.now, rng: &mut self.rng, tap: &mut tap };
        self.control.on_data(&mut cx, &arrival);
    }

    pub(crate) fn lose(&mut self, out: &Out, cause: Cause) {
        self.flying.0 -= 1;
        let loss = Loss {
            segment: out.segment,
            lane: 0,
            memo: out.ticket.memo,
            sent_at: out.sent_at,
            cause,
            options: &self.options,
            in_flight: &self.flying,
        };
        let mut tap = |_| {};
        let mut cx = Cx { now: self.now, rng: &mut self.rng, tap: &mut tap };
        self.control.on_loss(&mut cx, &loss);
    }

    pub(crate) fn gauge(&self, wanted: &str) -> f64 {
        let mut found = f64::NAN;
        self.control.gauges(&mut |_, name, value| {
            if name == wanted {
                found = value;
            }
        });
        found
    }
}

/// The way of Interests to a shaper under test.
pub(crate) struct Gate {
    pub(crate) now: Time,
    pub(crate) rng: Rng,
    next: u64,
}

impl Gate {
    pub(crate) fn new(seed: u64) -> Gate {
        Gate { now: Time(0), rng: Rng::stream(seed, &[]), next: 0 }
    }

    /// The same at another time.
    pub(crate) fn at(self, now: Time) -> Gate {
        Gate { now, ..self }
    }

    /// Calls the shaper now.
    pub(crate) fn with<R>(&mut self, call: impl FnOnce(&mut Cx<'_>) -> R) -> R {
        call(&mut Cx { now: self.now, rng: &mut self.rng, tap: &mut |_| {} })
    }

    /// Offers the next Interest; `bytes` are its size and that of the Data that it asks for.
    pub(crate) fn offer(
        &mut self,
        shaper: &mut dyn Shaper,
        view: &LinkView,
        flow: Flow,
        bytes: [u64; 2],
    ) -> Offer {
        self.offer_with(shaper, view, flow, bytes, HopOptions::new())
    }

    /// The same with options.
    pub(crate) fn offer_with(
        &mut self,
        shaper: &mut dyn Shaper,
        view: &LinkView,
        flow: Flow,
        [size, expected]: [u64; 2],
        options: HopOptions,
    ) -> Offer {
        let handle = self.next;
        self.next += 1;
        let interest = InterestMeta {
            flow,
            segment: handle,
            size: Size(size),
            expected: Size(expected),
            expires: self.now + Duration::from_secs(4),
            options,
            handle,
        };
        self.with(|cx| shaper.offer(cx, view, view, interest))
    }

    /// The flows of what is released now.
    pub(crate) fn release(&mut self, shaper: &mut dyn Shaper, view: &LinkView) -> Vec<Flow> {
        let mut flows = Vec::new();
        while let Some(released) = self.with(|cx| shaper.release(cx, view)) {
            let Released::Pass(interest) = released else { panic!("it rejects nothing later") };
            flows.push(interest.flow);
        }
        flows
    }

    /// Reports that `bytes` of a flow's Data joined the queue, or left it.
    pub(crate) fn queued(
        &mut self,
        shaper: &mut dyn Shaper,
        view: &LinkView,
        flow: Flow,
        bytes: u64,
        what: Queued,
    ) {
        self.with(|cx| shaper.on_queued(cx, view, flow, Size(bytes), what));
    }
}
