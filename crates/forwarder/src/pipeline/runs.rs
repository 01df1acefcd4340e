//! PIT entries for runs of segments: how a run is divided, and the Data expected for its segments.
//!
//! A decision on some segments of a run splits them off into an entry of their own.

use control::{Action, Direction, Size};
use packet::options::{Range, SegmentBits};
use packet::tlv::{put_header, tlv_len, types};
use packet::{Component, Interest};

use super::Pipeline;
use super::context::InterestCx;
use super::downstream::Brought;
use crate::link::shaping::Share;
use crate::state::room::Change;
use crate::tables::pit::{Segments, segment_of};
use crate::tables::{FaceId, HashedName, InRecord, OutRecord, PitEntry, PitKey};

/// Writes the Interest with another last component to its name.
pub(super) fn with_last(interest: &Interest<'_>, last: &Component, out: &mut Vec<u8>) {
    let last = last.as_ref();
    out.clear();
    let Ok(value) = packet::tlv::only(interest.wire(), types::INTEREST) else { return };
    let name = interest.name();
    let parent = name.parent().as_bytes();
    let name_len = parent.len() + last.encoded_len();
    let rest = &value[tlv_len(types::NAME, name.as_bytes().len())..];
    put_header(out, types::INTEREST, tlv_len(types::NAME, name_len) + rest.len());
    put_header(out, types::NAME, name_len);
    out.extend_from_slice(parent);
    last.encode_into(out);
    out.extend_from_slice(rest);
}

/// A face over which something is expected for an entry, and in which direction.
#[derive(Clone, Copy, Debug)]
struct Side {
    face: FaceId,
    direction: Direction,
}

fn sides(entry: &PitEntry) -> Vec<Side> {
    let ins = entry.in_records().iter().map(|record| record.face);
    let outs = entry.out_records().iter().map(OutRecord::face);
    ins.map(|face| Side { face, direction: Direction::Out })
        .chain(outs.map(|face| Side { face, direction: Direction::In }))
        .collect()
}

/// Moves a share of what is expected for one entry to another one.
fn move_expected(p: &mut Pipeline<'_>, from: PitKey, to: PitKey, sides: &[Side], share: Share) {
    if !p.has_parts() {
        return;
    }
    for Side { face, direction } in sides.iter().copied() {
        p.with_link(face, |link, _, _| link.move_expected(direction, from, to, share));
    }
}

/// Makes an entry of its own of some segments of a run. Not while a shaper holds the Interest,
/// which is one. `None` if there is no room.
pub(super) fn split(p: &mut Pipeline<'_>, key: PitKey, bits: SegmentBits) -> Option<PitKey> {
    let entry = p.pit().get(key)?;
    if entry.out_records().iter().any(|record| record.released_at().is_none()) {
        return Some(key);
    }
    let (of, sides) = (entry.segments(), sides(entry));
    let room = p.reserve(Change::Split { key })?;
    let split = p.tables.split_run(room, key, bits).ok()?;
    if split != key {
        move_expected(p, key, split, &sides, Share { part: bits.count(), of });
    }
    Some(split)
}

/// True if a face that the strategy chooses for a run understands no ranges. Probes split a run as
/// well: the second answer helps the strategy only if the entry lingers, and a run does not.
pub(super) fn must_expand(p: &Pipeline<'_>, a: &InterestCx<'_>, actions: &[Action]) -> bool {
    !a.bits.is_empty()
        && actions.iter().any(|action| match action {
            Action::Probe(_) => true,
            Action::Forward(face) => {
                let face = p.faces.get(FaceId(*face));
                face.is_some_and(|face| !face.link().takes_ranges())
            }
            _ => false,
        })
}

/// A downstream's record, and the segments that it waits for.
struct Waiting {
    record: InRecord,
    bits: SegmentBits,
}

/// An upstream's record, and the segments that it was asked for.
struct Asked {
    record: OutRecord,
    bits: SegmentBits,
}

/// The segments of a run, of each of which an entry of its own is made.
pub(super) struct Singles {
    run: PitKey,
    pending: Segments,
    /// Those that are left.
    left: SegmentBits,
    /// How many are pending in the run still.
    number: u16,
    ins: Vec<Waiting>,
    outs: Vec<Asked>,
    sides: Vec<Side>,
    /// The strategy's note at the time of its decision on the run.
    note: [u64; 2],
}

impl Singles {
    /// Those of `bits` that are pending in a run.
    pub(super) fn of(p: &Pipeline<'_>, key: PitKey, bits: SegmentBits) -> Option<Singles> {
        let entry = p.pit().get(key)?;
        let run = entry.run()?;
        let pending = run.pending();
        let ins = entry.in_records().iter();
        let outs = entry.out_records().iter();
        Some(Singles {
            run: key,
            pending,
            left: pending.bits.and(bits),
            number: pending.bits.count(),
            ins: ins.map(|r| Waiting { record: r.clone(), bits: run.wanted_by(r.face) }).collect(),
            outs: outs.map(|r| Asked { record: r.clone(), bits: run.asked_of(r.face()) }).collect(),
            sides: sides(entry),
            note: entry.note,
        })
    }

    /// Writes the Interest for the next segment, whose place in the run is returned.
    pub(super) fn write_next(&mut self, a: &InterestCx<'_>, out: &mut Vec<u8>) -> Option<u16> {
        let at = self.left.iter().next()?;
        self.left.remove(at);
        let segment = self.pending.first.saturating_add(u64::from(at));
        with_last(a.interest, &self.pending.convention.component(segment), out);
        Some(at)
    }

    /// Makes the entry of the segment at this place, and takes the segment out of the run. `None`
    /// if there is no room.
    pub(super) fn insert(
        &mut self,
        p: &mut Pipeline<'_>,
        at: u16,
        interest: &Interest<'_>,
        name: &HashedName<'_>,
    ) -> Option<PitKey> {
        let made = self.make(p, at, interest, name);
        if let Some(key) = made {
            let share = Share { part: 1, of: self.number };
            move_expected(p, self.run, key, &self.sides, share);
        }
        p.pit_mut().clear_segments(self.run, [at].into_iter().collect());
        self.number -= 1;
        made
    }

    /// The entry of one segment, with the downstreams that wait for it and the upstreams that were
    /// asked for it.
    fn make(
        &self,
        p: &mut Pipeline<'_>,
        at: u16,
        interest: &Interest<'_>,
        name: &HashedName<'_>,
    ) -> Option<PitKey> {
        let mut key = p.pit().find(interest, name);
        let is_new = key.is_none();
        for Waiting { record, .. } in self.ins.iter().filter(|waiting| waiting.bits.has(at)) {
            let change = match key {
                Some(key) => Change::Join { key, record },
                None => Change::Insert { hash: name.whole(), len: interest.wire().len(), record },
            };
            match (p.reserve(change), key) {
                (None, _) => {}
                (Some(room), Some(key)) => {
                    _ = p.tables.put_in_record(room, key, record.clone());
                }
                (Some(room), None) => {
                    key = p.tables.insert(room, interest, name, record.clone()).ok();
                }
            }
        }
        let key = key?;
        if is_new && let Some(entry) = p.pit_mut().get_mut(key) {
            entry.note = self.note;
        }
        for Asked { record, .. } in self.outs.iter().filter(|asked| asked.bits.has(at)) {
            if record.released_at().is_some()
                && let Some(room) = p.reserve(Change::Upstream { key })
            {
                _ = p.tables.put_out_record(room, key, record.clone());
            }
        }
        Some(key)
    }
}

/// The Interest sent to `face` under this nonce for segments of runs will bring no Data. Splits
/// each entry's share off and returns the entries that were requested as a whole then.
pub(super) fn split_sent(
    p: &mut Pipeline<'_>,
    face: FaceId,
    interest: &Interest<'_>,
    name: &HashedName<'_>,
    range: Option<Range>,
) -> Vec<PitKey> {
    let (mut runs, mut sent) = (Vec::new(), Vec::new());
    let Some((first, convention)) = interest.name().last().and_then(segment_of) else {
        return sent;
    };
    p.pit().find_runs(name, &mut runs);
    let bits = range.map_or(SegmentBits::first(1), |range| range.wanted());
    let asked_for = Segments { first, convention, bits };
    for key in runs {
        let Some(entry) = p.pit().get(key) else { continue };
        let (Some(run), Some(record)) = (entry.run(), entry.out_record(face)) else { continue };
        let asked = run.pending().bits.and(run.asked_of(face));
        let bits = asked_for.within(&Segments { bits: asked, ..run.pending() });
        if bits.is_empty() || interest.nonce() != Some(record.nonce) {
            continue;
        }
        // Where there is no room for another entry, it expires.
        sent.extend(split(p, key, bits));
    }
    sent
}

/// Appends the entries for runs in which the segment of this name is pending that were asked of
/// `face`.
pub(super) fn find_segment(
    p: &Pipeline<'_>,
    face: FaceId,
    name: &HashedName<'_>,
    satisfied: &mut Vec<PitKey>,
) {
    let start = satisfied.len();
    p.pit().find_runs(name, satisfied);
    let mut at = start;
    while let Some(key) = satisfied.get(at).copied() {
        let run = p.pit().get(key).and_then(|entry| entry.run());
        let place = run.and_then(|run| Some((run, run.place_of(name.name())?)));
        match place {
            Some((run, place)) if run.asked_of(face).has(place) => at += 1,
            _ => _ = satisfied.remove(at),
        }
    }
}

/// Reports to the shapers on both sides of an entry for a run that one of its segments came.
pub(super) fn credit_segment(p: &mut Pipeline<'_>, key: PitKey, at: u16, brought: Brought) {
    let Some(entry) = p.pit().get(key) else { return };
    let Some(run) = entry.run() else { return };
    let size = Size(brought.len as u64);
    let mut credits: Vec<(Side, u16, Option<Size>)> = Vec::new();
    let pending = run.pending().bits;
    for record in entry.out_records() {
        let asked = run.asked_of(record.face()).and(pending);
        if asked.has(at) {
            let side = Side { face: record.face(), direction: Direction::In };
            credits.push((
                side,
                asked.count(),
                Some(size).filter(|_| record.face() == brought.from),
            ));
        }
    }
    for record in entry.in_records() {
        let wanted = run.wanted_by(record.face);
        if wanted.has(at) {
            let side = Side { face: record.face, direction: Direction::Out };
            credits.push((side, wanted.count(), Some(size)));
        }
    }
    for (Side { face, direction }, of, size) in credits {
        p.with_link(face, |link, env, _| {
            link.credit(env, direction, key, Some(Share { part: 1, of }), size)
        });
        p.wake(face);
    }
}
