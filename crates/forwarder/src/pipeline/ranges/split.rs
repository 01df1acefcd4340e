//! PIT entries for runs of segments, and how a run is divided.
//!
//! A decision on some segments of a run splits them off into an entry of their own.

use control::Action;
use packet::options::SegmentBits;
use packet::tlv::{put_header, tlv_len, types};
use packet::{Component, Interest};
use smallvec::SmallVec;

use super::super::Pipeline;
use super::super::context::InterestCx;
use crate::counters::DropReason;
use crate::node::subject_of;
use crate::state::grant::Change;
use crate::tables::pit::{Segments, Share, Side, segment_of};
use crate::tables::{FaceId, HashedName, InRecord, OutRecord, PitKey, Portion};

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

/// Moves a share of what is expected for one entry to another one.
fn move_expected(p: &mut Pipeline<'_>, from: PitKey, to: PitKey, sides: &[Side], share: Share) {
    if !p.has_parts() {
        return;
    }
    for Side { face, direction, .. } in sides.iter().copied() {
        p.with_link(face, |link, _, _| link.move_expected(direction, from, to, share));
    }
}

/// Makes an entry of its own of some segments of a run. Not while a shaper holds the Interest,
/// which is one. `None` if there is no room.
pub(super) fn split(p: &mut Pipeline<'_>, key: PitKey, portion: Portion) -> Option<PitKey> {
    let entry = p.pit().get(key)?;
    if entry.out_records().iter().any(|record| record.released_at().is_none()) {
        return Some(key);
    }
    let (of, sides) = (entry.segments(), entry.sides(Portion::WHOLE));
    let grant = p.reserve(Change::Split { key })?;
    let split = p.tables.split(grant, key, portion).ok()?;
    if split != key {
        move_expected(p, key, split, &sides, Share { part: portion.segments(), of });
    }
    Some(split)
}

/// Makes an entry of its own of each segment of a run, and does with each what the strategy wants,
/// where the run cannot go on as one Interest. Returns false if it can, or if it is no run.
pub(in crate::pipeline) fn expand(
    p: &mut Pipeline<'_>,
    key: PitKey,
    out: &InterestCx<'_>,
    actions: &[Action],
) -> bool {
    if out.portion.is_whole() || !must_expand(p, actions) {
        return false;
    }
    let Some(mut singles) = Singles::of(p, key, out.portion.bits()) else { return true };
    let mut buffer = Vec::new();
    while let Some(at) = singles.write_next(out, &mut buffer) {
        let Ok(interest) = Interest::decode(&buffer) else { continue };
        let name = p.hashed(interest.name());
        let Some(single) = singles.insert(p, at, &interest, &name) else {
            p.count_drop(out.face, DropReason::PitFull);
            continue;
        };
        let mut one = InterestCx {
            mark: out.mark,
            options: out.options.clone(),
            subject: subject_of(&name),
            ..InterestCx::new(out.face, &interest, &name, out.nonce, out.expires)
        };
        for action in actions {
            if let Some((face, trigger)) = p.act(single, &mut one, *action) {
                p.decide(single, &mut one, face, trigger);
            }
        }
    }
    if p.pit().get(key).is_some_and(|entry| entry.in_records().is_empty()) {
        p.tables.discard(key);
    }
    true
}

/// True if a face that the strategy chooses for a run understands no ranges. Probes split a run as
/// well: the second answer helps the strategy only if the entry lingers, and a run does not.
fn must_expand(p: &Pipeline<'_>, actions: &[Action]) -> bool {
    actions.iter().any(|action| match action {
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
struct Singles {
    run: PitKey,
    pending: Segments,
    /// Those that are left.
    left: SegmentBits,
    /// How many are pending in the run still.
    number: u16,
    ins: Vec<Waiting>,
    outs: Vec<Asked>,
    sides: SmallVec<[Side; 4]>,
    /// The strategy's note at the time of its decision on the run.
    note: [u64; 2],
}

impl Singles {
    /// Those of `bits` that are pending in a run.
    fn of(p: &Pipeline<'_>, key: PitKey, bits: SegmentBits) -> Option<Singles> {
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
            sides: entry.sides(Portion::WHOLE),
            note: entry.note,
        })
    }

    /// Writes the Interest for the next segment, whose place in the run is returned.
    fn write_next(&mut self, a: &InterestCx<'_>, out: &mut Vec<u8>) -> Option<u16> {
        let at = self.left.iter().next()?;
        self.left.remove(at);
        let segment = self.pending.first.saturating_add(u64::from(at));
        with_last(a.interest, &self.pending.convention.component(segment), out);
        Some(at)
    }

    /// Makes the entry of the segment at this place, and takes the segment out of the run. `None`
    /// if there is no room.
    fn insert(
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
        p.tables.clear_portion(self.run, Portion::from(SegmentBits::from_iter([at])));
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
                (Some(grant), Some(key)) => {
                    _ = p.tables.put_in_record(grant, key, record.clone());
                }
                (Some(grant), None) => {
                    key =
                        p.tables.insert(grant, interest, name, record.clone(), Portion::WHOLE).ok();
                }
            }
        }
        let key = key?;
        if is_new {
            p.tables.set_note(key, self.note);
        }
        for Asked { record, .. } in self.outs.iter().filter(|asked| asked.bits.has(at)) {
            if record.released_at().is_some()
                && let Some(grant) = p.reserve(Change::Upstream { key })
            {
                _ = p.tables.put_out_record(grant, key, record.clone(), Portion::WHOLE);
            }
        }
        Some(key)
    }
}

/// The Interest sent to `face` under this nonce for segments of runs will bring no Data. Splits
/// each entry's share off and appends the entries that were requested as a whole then.
pub(in crate::pipeline) fn split_sent(
    p: &mut Pipeline<'_>,
    face: FaceId,
    interest: &Interest<'_>,
    name: &HashedName<'_>,
    portion: Portion,
    sent: &mut SmallVec<[PitKey; 1]>,
) {
    if !p.pit().has_runs() {
        return;
    }
    let Some((first, convention)) = interest.name().last().and_then(segment_of) else { return };
    let bits = if portion.is_whole() { SegmentBits::first(1) } else { portion.bits() };
    let asked_for = Segments { first, convention, bits };
    let mut runs = Vec::new();
    p.pit().find_runs(name, &mut runs);
    for key in runs {
        let Some(entry) = p.pit().get(key) else { continue };
        let (Some(run), Some(record)) = (entry.run(), entry.out_record(face)) else { continue };
        let asked = run.pending().bits.and(run.asked_of(face));
        let bits = asked_for.within(&Segments { bits: asked, ..run.pending() });
        if bits.is_empty() || interest.nonce() != Some(record.nonce) {
            continue;
        }
        // Where there is no room for another entry, it expires.
        sent.extend(split(p, key, Portion::from(bits)));
    }
}
