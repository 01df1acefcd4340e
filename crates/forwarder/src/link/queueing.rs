//! Putting packets into the queues.

use control::{Kind, Queued, Verdict};

use super::Link;
use super::env::Env;
use super::queue::{Patch, QueuedControl, QueuedData};
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
        let rejected = match () {
            () if !self.line.control_fits(packet.len()) => Some(DropReason::InterestQueueFull),
            () if !env.room.holds(|| self.line.control_growth(&item)) => Some(DropReason::Memory),
            () => None,
        };
        if let Some(reason) = rejected {
            self.counters.queue.drop(packet.len());
            self.count_drop(env.stats, reason);
            env.packets.report(kind, packet, Some(reason));
            return;
        }
        env.packets.report(kind, packet, None);
        self.line.push_control(env.now, item, packet, patch);
    }

    /// Queues Data, if the marker lets it and there is room.
    pub(crate) fn queue_data(&mut self, env: &mut Env<'_>, mut item: QueuedData) {
        let len = item.packet.len();
        self.counters.queue.offer(len);
        let verdict =
            self.parts.ask_marker(env, &self.line, &mut item, |marker, cx, view, data| {
                marker.on_enqueue(cx, view, data)
            });
        let rejected = match verdict {
            Verdict::Drop => Some(DropReason::Marker),
            _ if !self.line.data_fits(len) => Some(DropReason::DataQueueFull),
            _ if !env.room.holds(|| self.line.data_growth(&item)) => Some(DropReason::Memory),
            _ => None,
        };
        if let Some(reason) = rejected {
            self.counters.queue.drop(len);
            self.count_drop(env.stats, reason);
            env.packets.report(Kind::Data, &item.packet, Some(reason));
            return;
        }
        env.packets.report(Kind::Data, &item.packet, None);
        let flow = item.subject.flow;
        self.line.push_data(env.now, item);
        self.parts.report_queued(env, &self.line, flow, len, Queued::Joined);
    }
}
