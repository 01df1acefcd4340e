//! Taking packets out of the queues and putting them on the wire.

use bytes::Bytes;
use control::{Crossing, DataMeta, Direction, Kind, Queued, Size, Time, Verdict};
use packet::options::{ExpectedBytes, MAX_OPTION_BYTES};
use packet::{Data, HopOptions, LpHeader};
use smallvec::SmallVec;

use super::Link;
use super::allowance::Allowance;
use super::env::Env;
use super::fragment::{self, Frames, Numbers};
use super::queue::{QueuedControl, QueuedData};
use super::ranges::Run;
use super::service::Packet;
use crate::counters::DropReason;
use crate::node::{Node, NodeAt};
use crate::tables::{PitKey, PitToken};

/// A mark that a marker gave an Interest on its way out.
pub(crate) type InterestMark = (PitKey, u64);

/// Where frames go.
pub(crate) struct Out<'a> {
    /// Frames are appended here.
    pub(crate) frames: &'a mut Vec<u8>,
    /// A driver that can hold packets by reference has Data put here, where the frame is the bare
    /// packet.
    pub(crate) shared: Option<&'a mut Option<Bytes>>,
}

/// The most bytes that joining adds to the options: a Range with a bitmap, a longer ExpectedBytes.
const RANGE_BYTES: usize = 3 + 32 + 8;

/// Packets that leave in the frame of an earlier one.
#[derive(Default)]
struct Joined {
    /// Bytes behind the earlier one in the ring, including dropped packets.
    bytes: usize,
    /// The length of each packet that leaves.
    packets: Vec<usize>,
}

/// A frame of the link itself, not of a queued packet.
enum Own {
    Nothing,
    /// Nothing, and a queued packet may not leave yet.
    Later,
    Frame(Frames),
}

impl Link {
    /// Nothing waits to be sent, and no part has to be asked.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        let own = self.capabilities.is_due()
            || self.service.as_ref().is_some_and(|service| service.due().is_some());
        self.is_idle() && !self.has_parts() && !own
    }

    /// Appends the frames of the next packet that may leave now. Marks that the marker gives to
    /// Interests go to `marks`, to be remembered in the PIT.
    pub(crate) fn transmit(
        &mut self,
        env: &mut Env<'_>,
        node: &Node<'_>,
        marks: &mut Vec<InterestMark>,
        out: &mut Out<'_>,
    ) -> Option<Frames> {
        if self.capabilities.is_due() || self.allowance != Allowance::Unlimited {
            let first = self.announce(env, out.frames);
            if first.is_some() {
                return first;
            }
            if let Some(reason) = self.allowance.withholds() {
                self.withhold(env, reason, out.frames);
                return None;
            }
        }
        loop {
            if self.next_transmit()? > env.now {
                return None;
            }
            if self.service.is_some() {
                match self.send_own(env, out.frames) {
                    Own::Nothing => {}
                    Own::Later => continue,
                    Own::Frame(frames) => return Some(frames),
                }
            }
            let left = if let Some(item) = self.line.pop_control(env.now) {
                self.counters.waits.record(env.now.since(item.at));
                self.send_control(env, node, marks, item, out.frames)
            } else {
                let item = self.line.pop_data(env.now)?;
                self.counters.waits.record(env.now.since(item.at));
                let (flow, len) = (item.subject.flow, item.packet.len());
                self.parts().report_queued(env, flow, len, Queued::Left);
                self.send_data(env, node, item, out)
            };
            if left.is_some() {
                return left;
            }
        }
    }

    /// Appends the frame that announces what this end understands, if it is due and may leave.
    #[cold]
    fn announce(&mut self, env: &mut Env<'_>, out: &mut Vec<u8>) -> Option<Frames> {
        if self.allowance == Allowance::Unreachable {
            return None;
        }
        let frames = Frames::bare(self.capabilities.put_announcement(env.now, out)?);
        self.allowance.spend(self.line.size_of(frames.len, 1));
        for traffic in [&mut self.counters.sent, &mut env.stats.sent] {
            traffic.bytes += frames.len as u64;
            traffic.frames += frames.count;
        }
        Some(frames)
    }

    /// Appends a frame that was lost, or, where no packet can take them along, acknowledgements.
    fn send_own(&mut self, env: &mut Env<'_>, out: &mut Vec<u8>) -> Own {
        let (mtu, idle) = (self.mtu, self.is_idle());
        let sent = self.with_service(env, |service, now| {
            service.expire(now);
            if let Some(frames) = service.resend(now, out) {
                return Own::Frame(frames);
            }
            if !idle && service.opens_at() <= now {
                return Own::Nothing;
            }
            match service.due().filter(|due| *due <= now).and_then(|_| service.put_idle(mtu, out)) {
                Some(frames) => Own::Frame(frames),
                None => Own::Later,
            }
        });
        let sent = sent.unwrap_or(Own::Nothing);
        if let Own::Frame(frames) = &sent {
            self.record_frames(env, frames);
        }
        sent
    }

    /// Puts a packet of ours into frames.
    fn put(
        &mut self,
        now: Time,
        header: &mut LpHeader,
        packet: &Packet<'_>,
        out: &mut Vec<u8>,
    ) -> Option<Frames> {
        let Link { service, sequence, mtu, counters, .. } = self;
        let Some(service) = service else {
            let mut numbers = Numbers { sequence, tx: None };
            let put = fragment::put_frames(header, packet.bytes, *mtu, &mut numbers, out);
            return put.map(|(frames, _)| frames);
        };
        let put = service.put(now, header, packet, *mtu, sequence, out);
        counters.reliability = service.counters().unwrap_or_default();
        put
    }

    fn send_control(
        &mut self,
        env: &mut Env<'_>,
        node: &Node<'_>,
        marks: &mut Vec<InterestMark>,
        mut item: QueuedControl,
        out: &mut Vec<u8>,
    ) -> Option<Frames> {
        let kind = item.kind();
        if self.has_parts() && !self.ask_parts(env, node, marks, &mut item) {
            env.packets.report(kind, self.line.front(item.len), Some(DropReason::Marker));
            self.line.consume(item.len);
            self.drop_queued(env, item.len, DropReason::Marker);
            return None;
        }
        let more = match self.line.next_control().is_some_and(|next| next.may_join(&item)) {
            true => self.join(env, node, marks, &mut item),
            false => Joined::default(),
        };
        let (flow, expected) = (item.subject.flow, item.expected);
        if kind == Kind::Interest && self.is_bare(item.mark, &item.token, &item.options, item.from)
        {
            out.extend_from_slice(self.line.front(item.len));
            self.line.consume(item.len + more.bytes);
            let frames = self.record_outcome(env, kind, item.len, Some(Frames::bare(item.len)))?;
            self.report_crossing(env, kind, &frames, flow, expected, &HopOptions::new());
            return Some(frames);
        }
        let mut header = self.header(item.mark, &item.token, item.options, item.from);
        header.nack = item.nack;
        // The ring is taken out for the call: its bytes are read while the link changes.
        let ring = self.line.take_ring();
        let packet = Packet { bytes: ring.front(item.len), shared: None };
        let frames = self.put(env.now, &mut header, &packet, out);
        self.line.restore(ring);
        self.line.consume(item.len + more.bytes);
        for len in more.packets {
            match frames {
                Some(_) => self.counters.queue.send(len),
                None => self.drop_queued(env, len, DropReason::TooBig),
            }
        }
        let frames = self.record_outcome(env, kind, item.len, frames)?;
        self.report_crossing(env, kind, &frames, flow, expected, &header.options);
        Some(frames)
    }

    /// Takes the Interests out of the queue that can leave with `item` as one range, or the Nacks
    /// for the segments of one. Parts are asked about each.
    fn join(
        &mut self,
        env: &mut Env<'_>,
        node: &Node<'_>,
        marks: &mut Vec<InterestMark>,
        item: &mut QueuedControl,
    ) -> Joined {
        let mut joined = Joined::default();
        // A stamper writes on each Nack: they differ then.
        let is_stamped = item.nack.is_some() && self.parts.has_stamper();
        let has_room = item.options.bytes() + RANGE_BYTES <= MAX_OPTION_BYTES;
        if !self.takes_ranges() || is_stamped || !has_room {
            return joined;
        }
        // The ring is taken out for the call: its bytes are read while the link changes.
        let ring = self.line.take_ring();
        if let Some(mut run) = Run::new(ring.front(item.len)) {
            while let Some(next) = self.line.next_control().filter(|next| next.may_join(item)) {
                let start = item.len + joined.bytes;
                let packet = &ring.front(start + next.len)[start..];
                let Some(at) = run.place_of(packet) else { break };
                let Some(mut next) = self.line.pop_control(env.now) else { break };
                self.counters.waits.record(env.now.since(next.at));
                joined.bytes += next.len;
                if self.has_parts() && !self.ask_parts(env, node, marks, &mut next) {
                    env.packets.report(next.kind(), packet, Some(DropReason::Marker));
                    self.drop_queued(env, next.len, DropReason::Marker);
                    continue;
                }
                run.add(at);
                item.expected += next.expected;
                joined.packets.push(next.len);
            }
            if let Some(range) = run.range() {
                if let Some(ExpectedBytes(each)) = item.options.get() {
                    let all = each.saturating_mul(u64::from(run.count()));
                    item.options.set(&ExpectedBytes(all));
                }
                item.options.set(&range);
            }
        }
        self.line.restore(ring);
        joined
    }

    /// Asks the marker about an Interest, the stamper about a Nack; says whether it may go on.
    fn ask_parts(
        &mut self,
        env: &mut Env<'_>,
        node: &Node<'_>,
        marks: &mut Vec<InterestMark>,
        item: &mut QueuedControl,
    ) -> bool {
        if item.nack.is_some() {
            let node = NodeAt::unnamed(node);
            self.parts().ask_stamper(env, |stamper, cx, view| {
                stamper.on_nack(cx, view, &node, item.subject.flow, &mut item.options);
            });
            return true;
        }
        let Some(key) = item.key else { return true };
        let verdict = self.parts().ask_marker_of_interest(env, item);
        if let Verdict::Mark(mark) = verdict {
            marks.push((key, mark));
        }
        verdict != Verdict::Drop
    }

    fn send_data(
        &mut self,
        env: &mut Env<'_>,
        node: &Node<'_>,
        mut item: QueuedData,
        out: &mut Out<'_>,
    ) -> Option<Frames> {
        let len = item.packet.len();
        let sojourn = env.now.since(item.at);
        let verdict = self.parts().ask_marker(env, &mut item, |marker, cx, view, data| {
            marker.on_dequeue(cx, view, data, sojourn)
        });
        if verdict == Verdict::Drop {
            env.packets.report(Kind::Data, &item.packet, Some(DropReason::Marker));
            self.drop_queued(env, len, DropReason::Marker);
            return None;
        }
        self.stamp_data(env, node, &mut item);
        let flow = item.subject.flow;
        if self.is_bare(item.mark, &item.token, &item.options, item.from) {
            match &mut out.shared {
                Some(shared) => **shared = Some(item.packet),
                None => out.frames.extend_from_slice(&item.packet),
            }
            let frames = self.record_outcome(env, Kind::Data, len, Some(Frames::bare(len)))?;
            self.report_crossing(env, Kind::Data, &frames, flow, Size::ZERO, &HopOptions::new());
            return Some(frames);
        }
        let mut header = self.header(item.mark, &item.token, item.options, item.from);
        let packet = Packet { bytes: &item.packet, shared: Some(&item.packet) };
        let frames = self.put(env.now, &mut header, &packet, out.frames);
        let frames = self.record_outcome(env, Kind::Data, len, frames)?;
        self.counters.marked += u64::from(item.mark > 0);
        self.report_crossing(env, Kind::Data, &frames, flow, Size::ZERO, &header.options);
        Some(frames)
    }

    fn stamp_data(&mut self, env: &mut Env<'_>, node: &Node<'_>, item: &mut QueuedData) {
        if !self.parts.has_stamper() {
            return;
        }
        let Ok(packet) = Data::decode(&item.packet) else { return };
        let mut data = DataMeta {
            flow: item.subject.flow,
            segment: item.subject.segment,
            size: Size(item.packet.len() as u64),
            mark: item.mark,
            options: std::mem::take(&mut item.options),
        };
        let node = NodeAt { node, name: packet.name(), subject: item.subject };
        self.parts()
            .ask_stamper(env, |stamper, cx, view| stamper.on_data(cx, view, &node, &mut data));
        item.options = data.options;
        // A stamper may raise the mark; what the path said already is not taken back.
        item.mark = item.mark.max(data.mark);
    }

    fn header(&self, mark: u64, token: &PitToken, options: HopOptions, from: u64) -> LpHeader {
        LpHeader {
            congestion_mark: mark,
            pit_token: SmallVec::from_slice(token.as_bytes()),
            options: self.out_options(options),
            incoming_face_id: (self.local_fields && from != 0).then_some(from),
            ..LpHeader::default()
        }
    }

    /// Counts a packet that was taken out of a queue as sent or, without frames, as dropped.
    fn record_outcome(
        &mut self,
        env: &mut Env<'_>,
        kind: Kind,
        len: usize,
        frames: Option<Frames>,
    ) -> Option<Frames> {
        let Some(frames) = frames else {
            self.drop_queued(env, len, DropReason::TooBig);
            return None;
        };
        self.counters.queue.send(len);
        for traffic in [&mut self.counters.sent, &mut env.stats.sent] {
            traffic.count(kind);
        }
        self.record_frames(env, &frames);
        Some(frames)
    }

    /// Counts frames that leave, and the time that they take.
    fn record_frames(&mut self, env: &mut Env<'_>, frames: &Frames) {
        for traffic in [&mut self.counters.sent, &mut env.stats.sent] {
            traffic.bytes += frames.len as u64;
            traffic.frames += frames.count;
        }
        let size = self.line.size_of(frames.len, frames.count as usize);
        self.allowance.spend(size);
        self.line.on_sent(env.now, size);
    }

    fn drop_queued(&mut self, env: &mut Env<'_>, len: usize, reason: DropReason) {
        self.counters.queue.drop(len);
        self.count_drop(env.stats, reason);
    }

    fn report_crossing(
        &mut self,
        env: &mut Env<'_>,
        kind: Kind,
        frames: &Frames,
        flow: control::Flow,
        expected: Size,
        options: &HopOptions,
    ) {
        if self.has_parts() {
            let size = Size(frames.len as u64);
            let direction = Direction::Out;
            self.parts()
                .on_crossing(env, &Crossing { direction, kind, flow, size, expected, options });
        }
    }

    /// Drops everything that would leave now: queued packets, repeated frames, acknowledgements.
    /// Nothing is left that waits for the driver, which has no further reason to ask the link.
    /// `scratch` is as before afterwards.
    #[cold]
    fn withhold(&mut self, env: &mut Env<'_>, reason: DropReason, scratch: &mut Vec<u8>) {
        let (start, mtu) = (scratch.len(), self.mtu);
        self.capabilities.put_announcement(env.now, scratch);
        self.with_service(env, |service, now| {
            service.expire(now);
            while service.resend(now, scratch).is_some() || service.put_idle(mtu, scratch).is_some()
            {
                scratch.truncate(start);
            }
        });
        scratch.truncate(start);
        while let Some(item) = self.line.pop_control(env.now) {
            env.packets.report(item.kind(), self.line.front(item.len), Some(reason));
            self.line.consume(item.len);
            self.counters.queue.drop(item.len);
            self.count_drop(env.stats, reason);
        }
        while let Some(item) = self.line.pop_data(env.now) {
            env.packets.report(Kind::Data, &item.packet, Some(reason));
            self.counters.queue.drop(item.packet.len());
            self.count_drop(env.stats, reason);
        }
    }
}
