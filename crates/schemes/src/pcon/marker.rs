//! PCON's detection of congestion: CoDel's, with the authors' interval law, for marking.
//!
//! Section 3.1; the authors' ns-3, codel-queue: an event is noted when a packet leaves the queue,
//! and the next Data that joins it while the queue is still over is the one that is marked.
//! Interests wait in a queue of their own here, with a state of its own; the Interest that leaves
//! at an event is the one whose Data will be marked. In the authors' code one queue holds both.

use control::{
    Cx, DataMeta, Duration, InterestMeta, LinkView, Marker, Params, QueueView, Time, Verdict,
};

pub(super) struct PconMarker {
    law: Law,
    data: State,
    interests: State,
}

#[derive(Clone, Copy)]
struct Law {
    target: Duration,
    interval: Duration,
}

/// The variables of the authors' code.
#[derive(Clone, Copy, Default)]
struct State {
    first_above: Option<Time>,
    over: bool,
    count: u32,
    next_mark: Time,
    mark_next: bool,
}

/// How much longer than CoDel's the pauses between events are.
const STRETCH: f64 = 1.1;

impl PconMarker {
    pub(super) fn new(params: &Params) -> PconMarker {
        let law = Law { target: params.time("target"), interval: params.time("interval") };
        PconMarker { law, data: State::default(), interests: State::default() }
    }
}

impl State {
    /// A packet left after `sojourn`, and `queue` is left.
    fn leave(&mut self, law: Law, now: Time, queue: &QueueView, sojourn: Duration) {
        if sojourn <= law.target || queue.packets == 0 {
            (self.first_above, self.over) = (None, false);
            self.count = 0;
            return;
        }
        let first_above = *self.first_above.get_or_insert(now);
        self.over |= now > first_above + law.interval;
        if self.over && now >= self.next_mark {
            self.count = self.count.saturating_add(1);
            self.mark_next = true;
            let pause = law.interval.mul_f64(STRETCH / f64::from(self.count).sqrt());
            self.next_mark = now + pause;
        }
    }

    /// `isOkToMark`: the one packet of the event.
    fn take(&mut self) -> Verdict {
        if self.over && std::mem::take(&mut self.mark_next) {
            Verdict::Mark(1)
        } else {
            Verdict::Pass
        }
    }
}

impl Marker for PconMarker {
    fn on_enqueue(&mut self, _cx: &mut Cx<'_>, _view: &LinkView, _data: &DataMeta) -> Verdict {
        self.data.take()
    }

    fn on_dequeue(
        &mut self,
        cx: &mut Cx<'_>,
        view: &LinkView,
        _data: &DataMeta,
        sojourn: Duration,
    ) -> Verdict {
        self.data.leave(self.law, cx.now, &view.data_out, sojourn);
        Verdict::Pass
    }

    fn on_interest_dequeue(
        &mut self,
        cx: &mut Cx<'_>,
        view: &LinkView,
        _interest: &InterestMeta,
        sojourn: Duration,
    ) -> Verdict {
        self.interests.leave(self.law, cx.now, &view.interests_out, sojourn);
        self.interests.take()
    }
}
