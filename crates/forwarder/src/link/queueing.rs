//! Putting packets into the queues.

use control::{Cx, DataMeta, Flow, Kind, LinkView, Marker, Queued, Size, Time, Verdict};

use super::queue::{QueuedControl, QueuedData};
use super::{Env, Link, Patch};
use crate::counters::DropReason;

impl Link {
    /// Queues an Interest or Nack; `patch` changes its bytes in the queue, not their number.
    pub(crate) fn queue_control(
        &mut self,
        env: &mut Env<'_>,
        item: QueuedControl,
        packet: &[u8],
        patch: Patch,
    ) {
        self.counters.queue.offer(packet.len());
        let kind = item.kind();
        let refused = match () {
            () if !self.control.fits(packet.len()) => Some(DropReason::InterestQueueFull),
            () if !self.has_room(env, || self.control_growth(&item)) => Some(DropReason::Memory),
            () => None,
        };
        if let Some(reason) = refused {
            self.counters.queue.drop(packet.len());
            self.count_drop(env.stats, reason);
            env.tell(kind, packet, Some(reason));
            return;
        }
        env.tell(kind, packet, None);
        self.before_queueing(env.now);
        patch.apply(self.ring.write(packet));
        self.control.push(item);
    }

    /// Queues Data, if the marker lets it and there is room.
    pub(crate) fn queue_data(&mut self, env: &mut Env<'_>, mut item: QueuedData) {
        let len = item.packet.len();
        self.counters.queue.offer(len);
        let verdict = self
            .ask_marker(env, &mut item, |marker, cx, view, data| marker.on_enqueue(cx, view, data));
        let refused = match verdict {
            Verdict::Drop => Some(DropReason::Marker),
            _ if !self.data.fits(len) => Some(DropReason::DataQueueFull),
            _ if !self.has_room(env, || self.data.growth(&item)) => Some(DropReason::Memory),
            _ => None,
        };
        if let Some(reason) = refused {
            self.counters.queue.drop(len);
            self.count_drop(env.stats, reason);
            env.tell(Kind::Data, &item.packet, Some(reason));
            return;
        }
        env.tell(Kind::Data, &item.packet, None);
        self.before_queueing(env.now);
        let flow = item.subject.flow;
        self.data.push(item);
        self.tell_queued(env, flow, len, Queued::Joined);
    }

    /// Tells the shaper, if there is one, what Data did at the queue.
    pub(super) fn tell_queued(&mut self, env: &mut Env<'_>, flow: Flow, len: usize, what: Queued) {
        if self.shaping.is_none() {
            return;
        }
        let view = self.view(env.now);
        if let Some(shaping) = &mut self.shaping {
            let (shaper, rng) = shaping.shaper();
            let mut cx = Cx { now: env.now, rng, tap: env.tap };
            shaper.on_queued(&mut cx, &view, flow, Size(len as u64), what);
        }
    }

    fn before_queueing(&mut self, now: Time) {
        if self.is_idle() {
            match &mut self.pacer {
                Some(pacer) => pacer.on_backlog(now),
                None => self.meter.on_backlog(now),
            }
        }
    }

    /// Asks the marker, if there is one, about Data; a mark that it gives is put on the Data.
    pub(super) fn ask_marker(
        &mut self,
        env: &mut Env<'_>,
        item: &mut QueuedData,
        ask: impl FnOnce(&mut dyn Marker, &mut Cx<'_>, &LinkView, &DataMeta) -> Verdict,
    ) -> Verdict {
        if self.marker.is_none() {
            return Verdict::Pass;
        }
        let view = self.view(env.now);
        let Some((marker, rng)) = &mut self.marker else { return Verdict::Pass };
        let data = DataMeta {
            flow: item.subject.flow,
            segment: item.subject.segment,
            size: Size(item.packet.len() as u64),
            mark: item.mark,
            options: std::mem::take(&mut item.options),
        };
        let mut cx = Cx { now: env.now, rng, tap: env.tap };
        let verdict = ask(&mut **marker, &mut cx, &view, &data);
        item.options = data.options;
        if let Verdict::Mark(mark) = verdict {
            item.mark = item.mark.max(mark);
        }
        verdict
    }
}
