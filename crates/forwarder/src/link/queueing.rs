//! Putting packets into the queues.

use control::{Kind, Queued, Verdict};

use super::Link;
use super::env::Env;
use super::queue::{Patch, QueuedControl, QueuedData};
use crate::counters::DropReason;
use crate::state::grant::Grant;

impl Link {
    /// Queues an Interest or Nack, if there is room; `patch` changes its bytes in the queue, not
    /// their number.
    pub(crate) fn queue_control(
        &mut self,
        env: &mut Env<'_>,
        item: QueuedControl,
        packet: &[u8],
        patch: Patch,
        grant: Option<Grant>,
    ) {
        self.counters.queue.offer(packet.len());
        let kind = item.kind();
        let accepted = match grant {
            _ if !self.line.control_fits(packet.len()) => Err(DropReason::InterestQueueFull),
            None => Err(DropReason::Memory),
            Some(grant) => Ok(grant),
        };
        match accepted {
            Ok(grant) => {
                env.packets.report(kind, packet, None);
                self.line.push_control(grant, env.now, item, packet, patch);
            }
            Err(reason) => {
                self.counters.queue.drop(packet.len());
                self.count_drop(env.stats, reason);
                env.packets.report(kind, packet, Some(reason));
            }
        }
    }

    /// Queues Data, if the marker lets it and there is room.
    pub(crate) fn queue_data(
        &mut self,
        env: &mut Env<'_>,
        mut item: QueuedData,
        grant: Option<Grant>,
    ) {
        let len = item.packet.len();
        self.counters.queue.offer(len);
        let verdict = self
            .parts()
            .ask_marker(env, &mut item, |marker, cx, view, data| marker.on_enqueue(cx, view, data));
        let accepted = match (verdict, grant) {
            (Verdict::Drop, _) => Err(DropReason::Marker),
            _ if !self.line.data_fits(len) => Err(DropReason::DataQueueFull),
            (_, None) => Err(DropReason::Memory),
            (_, Some(grant)) => Ok(grant),
        };
        match accepted {
            Ok(grant) => {
                env.packets.report(Kind::Data, &item.packet, None);
                let flow = item.subject.flow;
                self.line.push_data(grant, env.now, item);
                self.parts().report_queued(env, flow, len, Queued::Joined);
            }
            Err(reason) => {
                self.counters.queue.drop(len);
                self.count_drop(env.stats, reason);
                env.packets.report(Kind::Data, &item.packet, Some(reason));
            }
        }
    }
}
