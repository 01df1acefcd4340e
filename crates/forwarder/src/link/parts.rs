//! The parts of a scheme that a link hosts, and what they look at.

use control::{
    Crossing, Cx, DataMeta, Direction, Flow, InterestMeta, Kind, LinkView, Marker, Queued,
    Released, Returned, Rng, Size, Stage, Stamper, Time, Verdict,
};
use packet::HopOptions;

use super::env::Env;
use super::flows::Flows;
use super::line::Line;
use super::queue::{QueuedControl, QueuedData};
use super::shaping::{Expectations, Expected, Offered, Shaping, Waiting};
use crate::tables::{PitKey, memory};

/// A marker or stamper with its random stream.
pub(super) struct Hosted<T: ?Sized> {
    part: Box<T>,
    rng: Rng,
}

impl<T: ?Sized> Hosted<T> {
    pub(super) fn new(part: Box<T>, rng: Rng) -> Hosted<T> {
        Hosted { part, rng }
    }

    /// Bytes of memory that the part takes, without what it allocates itself.
    fn memory(&self) -> usize {
        memory::block(size_of_val(&*self.part))
    }
}

/// Marker, shaper and stamper of a link. Without any of them nothing here is kept or computed.
pub(super) struct Parts {
    marker: Option<Hosted<dyn Marker>>,
    stamper: Option<Hosted<dyn Stamper>>,
    shaping: Option<Shaping>,
    flows: Flows,
    /// Data expected in, and out, for pending Interests.
    expected_in: Expectations,
    expected_out: Expectations,
}

impl Parts {
    pub(super) fn new(
        marker: Option<Hosted<dyn Marker>>,
        stamper: Option<Hosted<dyn Stamper>>,
        shaping: Option<Shaping>,
    ) -> Parts {
        Parts {
            marker,
            stamper,
            shaping,
            flows: Flows::default(),
            expected_in: Expectations::default(),
            expected_out: Expectations::default(),
        }
    }

    /// True if there is a part.
    #[inline]
    pub(super) fn any(&self) -> bool {
        self.marker.is_some() || self.stamper.is_some() || self.shaping.is_some()
    }

    pub(super) fn set_marker(&mut self, marker: Option<Hosted<dyn Marker>>) {
        self.marker = marker;
        if !self.any() {
            // No part would learn that what was expected came.
            (self.expected_in, self.expected_out) = Default::default();
        }
    }

    /// The view of the link that parts get.
    pub(super) fn view(&self, now: Time, line: &Line) -> LinkView {
        let shaping = self.shaping.as_ref();
        LinkView {
            rate_out: line.rate_out(),
            rate_in: line.rate_in(),
            data_out: line.data_view(now),
            data_limit: line.data_bound(),
            interests_out: line.control_view(now),
            held: shaping.map(|s| s.view(now)).unwrap_or_default(),
            offered: shaping.map_or(0, Shaping::offered),
            offered_bytes: shaping.map(Shaping::offered_bytes).unwrap_or_default(),
            expected_in: self.expected_in.total(),
            expected_out: self.expected_out.total(),
            flows: self.flows.count(),
        }
    }

    /// Bytes of memory held.
    pub(super) fn memory(&self) -> usize {
        self.marker.as_ref().map_or(0, Hosted::memory)
            + self.stamper.as_ref().map_or(0, Hosted::memory)
            + self.flows.memory()
            + self.expected_in.memory()
            + self.expected_out.memory()
            + self.shaping.as_ref().map_or(0, Shaping::memory)
    }

    /// Drops the Interests that the shaper holds; returns how many.
    pub(super) fn clear(&mut self) -> usize {
        self.shaping.as_mut().map_or(0, Shaping::clear)
    }

    pub(super) fn has_stamper(&self) -> bool {
        self.stamper.is_some()
    }

    /// The stage at which the shaper works, if there is one.
    fn shaper_stage(&self) -> Option<Stage> {
        self.shaping.as_ref().map(Shaping::stage)
    }

    fn expectations(&mut self, direction: Direction) -> &mut Expectations {
        match direction {
            Direction::In => &mut self.expected_in,
            Direction::Out => &mut self.expected_out,
        }
    }

    /// When the shaper wants to be asked for Interests.
    #[inline]
    pub(super) fn next_release(&self) -> Option<Time> {
        self.shaping.as_ref().and_then(Shaping::next_release)
    }

    /// When the stamper wants to be called.
    #[inline]
    pub(super) fn next_stamper_deadline(&self) -> Option<Time> {
        self.stamper.as_ref().and_then(|stamper| stamper.part.next_deadline())
    }
}

/// The parts of a link, and its line, for a call.
pub(crate) struct LinkParts<'a> {
    parts: &'a mut Parts,
    line: &'a Line,
}

impl<'a> LinkParts<'a> {
    pub(super) fn new(parts: &'a mut Parts, line: &'a Line) -> LinkParts<'a> {
        LinkParts { parts, line }
    }

    /// The view of the link that parts get.
    fn view(&self, now: Time) -> LinkView {
        self.parts.view(now, self.line)
    }

    /// The bytes of Data that an Interest of this flow with these options is expected to bring.
    pub(crate) fn expected(&self, flow: Flow, options: &HopOptions) -> Size {
        self.parts.flows.expected(flow, options.get())
    }

    /// The stage at which the shaper works, if there is one.
    pub(crate) fn shaper_stage(&self) -> Option<Stage> {
        self.parts.shaper_stage()
    }

    /// Something crossed the face: the parts that want to know are called.
    pub(crate) fn on_crossing(&mut self, env: &mut Env<'_>, crossing: &Crossing<'_>) {
        let data = (crossing.kind == Kind::Data).then_some(crossing.size);
        self.parts.flows.touch(env.now, crossing.flow, data, env.room);
        if self.parts.shaping.is_none() && self.parts.stamper.is_none() {
            return;
        }
        let view = self.view(env.now);
        if let Some(shaping) = &mut self.parts.shaping {
            let (shaper, rng) = shaping.shaper();
            shaper.on_crossing(&mut Cx { now: env.now, rng, tap: env.tap }, &view, crossing);
        }
        if let Some(Hosted { part, rng }) = &mut self.parts.stamper {
            part.on_crossing(&mut Cx { now: env.now, rng, tap: env.tap }, &view, crossing);
        }
    }

    /// Calls the stamper, if there is one, with what its calls have in common.
    pub(crate) fn ask_stamper(
        &mut self,
        env: &mut Env<'_>,
        ask: impl FnOnce(&mut dyn Stamper, &mut Cx<'_>, &LinkView),
    ) {
        if self.parts.stamper.is_none() {
            return;
        }
        let view = self.view(env.now);
        if let Some(Hosted { part, rng }) = &mut self.parts.stamper {
            ask(&mut **part, &mut Cx { now: env.now, rng, tap: env.tap }, &view);
        }
    }

    /// Asks the marker, if there is one, about Data; a mark that it gives is put on the Data.
    pub(super) fn ask_marker(
        &mut self,
        env: &mut Env<'_>,
        item: &mut QueuedData,
        ask: impl FnOnce(&mut dyn Marker, &mut Cx<'_>, &LinkView, &DataMeta) -> Verdict,
    ) -> Verdict {
        if self.parts.marker.is_none() {
            return Verdict::Pass;
        }
        let view = self.view(env.now);
        let Some(Hosted { part, rng }) = &mut self.parts.marker else { return Verdict::Pass };
        let data = DataMeta {
            flow: item.subject.flow,
            segment: item.subject.segment,
            size: Size(item.packet.len() as u64),
            mark: item.mark,
            options: std::mem::take(&mut item.options),
        };
        let mut cx = Cx { now: env.now, rng, tap: env.tap };
        let verdict = ask(&mut **part, &mut cx, &view, &data);
        item.options = data.options;
        if let Verdict::Mark(mark) = verdict {
            item.mark = item.mark.max(mark);
        }
        verdict
    }

    /// Asks the marker, if there is one, about an Interest that leaves the queue.
    pub(super) fn ask_marker_of_interest(
        &mut self,
        env: &mut Env<'_>,
        item: &mut QueuedControl,
    ) -> Verdict {
        let view = self.view(env.now);
        let Some(Hosted { part, rng }) = &mut self.parts.marker else { return Verdict::Pass };
        let meta = InterestMeta {
            flow: item.subject.flow,
            segment: item.subject.segment,
            size: Size(item.len as u64),
            expected: item.expected,
            expires: item.expires,
            options: std::mem::take(&mut item.options),
            handle: 0,
        };
        let sojourn = env.now.since(item.at);
        let mut cx = Cx { now: env.now, rng, tap: env.tap };
        let verdict = part.on_interest_dequeue(&mut cx, &view, &meta, sojourn);
        item.options = meta.options;
        verdict
    }

    /// Reports to the shaper, if there is one, what Data did at the queue.
    pub(super) fn report_queued(
        &mut self,
        env: &mut Env<'_>,
        flow: Flow,
        len: usize,
        what: Queued,
    ) {
        if self.parts.shaping.is_none() {
            return;
        }
        let view = self.view(env.now);
        if let Some(shaping) = &mut self.parts.shaping {
            let (shaper, rng) = shaping.shaper();
            let mut cx = Cx { now: env.now, rng, tap: env.tap };
            shaper.on_queued(&mut cx, &view, flow, Size(len as u64), what);
        }
    }

    /// Offers an Interest to the shaper, if it works at this stage; see [`Shaping::offer`]. `other`
    /// is the link of the other side, if the Interest goes there.
    pub(crate) fn offer(
        &mut self,
        env: &mut Env<'_>,
        stage: Stage,
        other: Option<&LinkView>,
        meta: InterestMeta,
        collapse: Option<u64>,
        waiting: impl FnOnce() -> Waiting,
    ) -> Option<Offered> {
        if self.parts.shaper_stage() != Some(stage) {
            return Some(Offered::Pass(meta));
        }
        let view = self.view(env.now);
        let shaping = self.parts.shaping.as_mut()?;
        shaping.offer(env, &view, other.unwrap_or(&view), meta, collapse, waiting)
    }

    /// The next Interest that the shaper gives back now.
    pub(crate) fn release(&mut self, env: &mut Env<'_>) -> Option<(Released, Waiting)> {
        self.parts.shaping.as_ref()?;
        let view = self.view(env.now);
        let shaping = self.parts.shaping.as_mut()?;
        shaping.release(env.now, env.tap, &view)
    }

    /// Notes that an answer is expected. If the shaper has let an earlier Interest of the entry
    /// through, one answer serves both, and the earlier one's credit is returned.
    pub(crate) fn expect(
        &mut self,
        env: &mut Env<'_>,
        direction: Direction,
        key: PitKey,
        expected: Expected,
    ) {
        if let Some(earlier) = self.parts.expectations(direction).insert(key, expected) {
            self.report(env, &earlier, None, true);
        }
    }

    /// A PIT entry has been answered over this face (`size`), or never will be. The shaper that
    /// passed its Interest is informed.
    pub(crate) fn credit(
        &mut self,
        env: &mut Env<'_>,
        direction: Direction,
        key: PitKey,
        size: Option<Size>,
    ) {
        if let Some(expected) = self.parts.expectations(direction).remove(key) {
            self.returned(env, &expected, size);
        }
    }

    /// Reports to the shaper what an Interest that it let through brought.
    pub(crate) fn returned(&mut self, env: &mut Env<'_>, of: &Expected, size: Option<Size>) {
        self.report(env, of, size, false);
    }

    fn report(&mut self, env: &mut Env<'_>, of: &Expected, size: Option<Size>, is_repeated: bool) {
        let Some(released_at) = of.released_at else { return };
        let view = self.view(env.now);
        let Some(shaping) = &mut self.parts.shaping else { return };
        let since_release = env.now.since(released_at);
        let (flow, expected) = (of.flow, of.size);
        let returned = Returned { flow, expected, size, is_repeated, since_release };
        shaping.on_returned(env.now, env.tap, &view, &returned);
    }

    /// Calls the stamper, whose time has come.
    pub(super) fn on_stamper_deadline(&mut self, env: &mut Env<'_>) {
        self.ask_stamper(env, |stamper, cx, view| stamper.on_deadline(cx, view));
    }
}
