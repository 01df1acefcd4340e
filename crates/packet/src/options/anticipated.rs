//! The holders of the segments that a consumer will request next, and the answering node (CCTCP).

use super::option::HopOption;
use crate::tlv;
use smallvec::SmallVec;

/// The maximum number of segments in an announcement.
pub const MAX_WANTED: usize = 64;
/// The maximum number of nodes in an answer.
pub const MAX_HOLDERS: usize = 16;

/// Segments that a consumer will request, and the nodes on the path that hold some of them (Saino,
/// Cocora, Pavlou 2013, section II-B).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Anticipated {
    wanted: Vec<u64>,
    holders: Vec<Holder>,
}

/// A node on the path that holds anticipated segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The node's identity.
    pub node: u64,
    /// Bit `i` (of value 2^i) is set if it holds the `i`th of [`Anticipated::wanted`].
    pub held: u64,
    /// Upstream, the arrival of the Interest on the node's own clock; downstream, the time until
    /// the Data arrived. In nanoseconds.
    pub elapsed: u64,
    /// `None` upstream; downstream the number of nodes passed by the Data since, 0 at the node
    /// itself. At most 254.
    pub hops: Option<u8>,
}

impl Anticipated {
    /// An announcement of these segments: sorted, without repetitions, the lowest [`MAX_WANTED`] of
    /// them.
    #[must_use]
    pub fn wanting(segments: impl IntoIterator<Item = u64>) -> Anticipated {
        let mut wanted: Vec<u64> = segments.into_iter().take(4 * MAX_WANTED).collect();
        wanted.sort_unstable();
        wanted.dedup();
        wanted.truncate(MAX_WANTED);
        Anticipated { wanted, holders: Vec::new() }
    }

    /// The segments, in ascending order.
    #[must_use]
    pub fn wanted(&self) -> &[u64] {
        &self.wanted
    }

    /// The nodes that hold some, in the order of the Interest's path.
    #[must_use]
    pub fn holders(&self) -> &[Holder] {
        &self.holders
    }

    /// The nodes, to change times and hops.
    pub fn holders_mut(&mut self) -> &mut [Holder] {
        &mut self.holders
    }

    /// The segments that a holder has.
    pub fn held(&self, holder: &Holder) -> impl Iterator<Item = u64> + use<'_> {
        let held = holder.held;
        let wanted = self.wanted.iter().enumerate();
        wanted
            .filter(move |(at, _)| held.checked_shr(*at as u32).is_some_and(|bits| bits & 1 == 1))
            .map(|(_, n)| *n)
    }

    /// Adds a node. Returns `false`, and changes nothing, if it holds no wanted segment, is already
    /// present, or if there are [`MAX_HOLDERS`].
    pub fn add(&mut self, holder: Holder) -> bool {
        let held = holder.held & self.all();
        let known = self.holders.iter().any(|other| other.node == holder.node);
        if held == 0 || known || self.holders.len() >= MAX_HOLDERS {
            return false;
        }
        self.holders.push(Holder { held, ..holder });
        true
    }

    /// The bits of all wanted segments.
    fn all(&self) -> u64 {
        1u64.checked_shl(self.wanted.len() as u32).map_or(u64::MAX, |bit| bit - 1)
    }
}

/// Represents [`Holder::hops`] that are not counted yet.
const ON_THE_WAY_UP: u8 = 255;

impl HopOption for Anticipated {
    const TYPE: u32 = 888;
    const ECHO: bool = true;

    fn encode(&self, out: &mut Vec<u8>) {
        tlv::put_var(out, self.wanted.len() as u64);
        let mut last = 0;
        for segment in &self.wanted {
            tlv::put_var(out, segment - last);
            last = *segment;
        }
        let bytes = self.wanted.len().div_ceil(8);
        for holder in &self.holders {
            out.extend_from_slice(&holder.node.to_be_bytes());
            out.extend_from_slice(&holder.held.reverse_bits().to_be_bytes()[..bytes]);
            out.push(holder.hops.map_or(ON_THE_WAY_UP, |hops| hops.min(ON_THE_WAY_UP - 1)));
            tlv::put_var(out, holder.elapsed);
        }
    }

    fn decode(value: &[u8]) -> Option<Anticipated> {
        let mut read = Anticipated::default();
        walk(value, |segment| read.wanted.push(segment), |holder| read.holders.push(holder))?;
        Some(read)
    }

    fn is_well_formed(value: &[u8]) -> bool {
        walk(value, |_| (), |_| ()).is_some()
    }
}

/// Decodes an announcement: its segments, then its holders. `None` if malformed.
fn walk(value: &[u8], mut wants: impl FnMut(u64), mut has: impl FnMut(Holder)) -> Option<()> {
    let mut rest = value;
    let count = take_var(&mut rest)?;
    if !(1..=MAX_WANTED as u64).contains(&count) {
        return None;
    }
    let mut last = take_var(&mut rest)?;
    wants(last);
    for _ in 1..count {
        let step = take_var(&mut rest)?;
        last = last.checked_add(step).filter(|_| step > 0)?;
        wants(last);
    }
    let (bytes, all) = ((count as usize).div_ceil(8), u64::MAX >> (MAX_WANTED as u64 - count));
    let mut nodes = SmallVec::<[u64; MAX_HOLDERS]>::new();
    while !rest.is_empty() {
        let node = u64::from_be_bytes(take(&mut rest, 8)?.try_into().ok()?);
        let mut held = [0; 8];
        held[..bytes].copy_from_slice(take(&mut rest, bytes)?);
        let held = u64::from_be_bytes(held).reverse_bits();
        let hops = *take(&mut rest, 1)?.first()?;
        let hops = (hops != ON_THE_WAY_UP).then_some(hops);
        let elapsed = take_var(&mut rest)?;
        let known = nodes.len() == MAX_HOLDERS || nodes.contains(&node);
        if held == 0 || held & !all != 0 || known {
            return None;
        }
        nodes.push(node);
        has(Holder { node, held, elapsed, hops });
    }
    Some(())
}

fn take<'a>(rest: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(len)?;
    *rest = left;
    Some(taken)
}

fn take_var(rest: &mut &[u8]) -> Option<u64> {
    let (n, len) = tlv::read_var(rest).ok()?;
    *rest = rest.get(len..)?;
    Some(n)
}

/// The content store or producer that answered, and its distance. On an Interest it is
/// [`ServedBy::ASK`], a request for this option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServedBy {
    /// The node's identity; 0 is none.
    pub node: u64,
    /// The forwarders that the Data has passed since; 255 for that many or more.
    pub hops: u8,
}

impl ServedBy {
    /// The value on an Interest.
    pub const ASK: ServedBy = ServedBy { node: 0, hops: 0 };

    /// One forwarder further down.
    #[must_use]
    pub const fn passed(self) -> ServedBy {
        ServedBy { node: self.node, hops: self.hops.saturating_add(1) }
    }
}

impl HopOption for ServedBy {
    const TYPE: u32 = 892;

    fn encode(&self, out: &mut Vec<u8>) {
        if *self != ServedBy::ASK {
            out.extend_from_slice(&self.node.to_be_bytes());
            out.push(self.hops);
        }
    }

    fn decode(value: &[u8]) -> Option<ServedBy> {
        if value.is_empty() {
            return Some(ServedBy::ASK);
        }
        let (node, [hops]) = value.split_first_chunk::<8>()? else { return None };
        Some(ServedBy { node: u64::from_be_bytes(*node), hops: *hops })
    }
}
