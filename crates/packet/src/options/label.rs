//! Path labels (RFC 9531, "Path Steering in Information-Centric Networking").

use super::option::HopOption;
use smallvec::SmallVec;

/// The longest bitmap of a path label, in bytes (RFC 9531, section 3.2): 42 hops.
pub const MAX_LABEL: usize = 64;

/// A forwarder's treatment of a path label on an Interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelMode {
    /// It counts the hop and forwards as usual; the answer has a label.
    Discovery,
    /// It follows the label if possible, and otherwise forwards as usual.
    Fallback,
    /// It follows the label or rejects the Interest.
    Strict,
}

/// A path as a list of next-hop labels of 12 bits each. The one nearest to the answering node is
/// first. A consumer sends the default to discover a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathLabel {
    /// See [`PathLabel::mode`].
    pub flags: u8,
    /// Interests: hops so far in discovery, hops that are left otherwise. Data and Nacks: labels
    /// in the bitmap.
    pub hop_count: u8,
    /// The next hop's label, for nodes that prefer it to the bitmap's; 12 bits, unused on Data and
    /// Nacks.
    pub next_hop: u16,
    /// Labels of 12 bits, most significant bit first; up to [`MAX_LABEL`] bytes.
    bitmap: SmallVec<[u8; 16]>,
}

impl PathLabel {
    /// The flag of [`LabelMode::Fallback`].
    pub const FALLBACK: u8 = 1;
    /// The flag of [`LabelMode::Strict`].
    pub const STRICT: u8 = 2;

    /// The mode; `None` if both flags are set, which is malformed (RFC 9531, section 3.1).
    #[must_use]
    pub const fn mode(&self) -> Option<LabelMode> {
        match self.flags & (PathLabel::FALLBACK | PathLabel::STRICT) {
            0 => Some(LabelMode::Discovery),
            PathLabel::FALLBACK => Some(LabelMode::Fallback),
            PathLabel::STRICT => Some(LabelMode::Strict),
            _ => None,
        }
    }

    /// Sets the mode.
    pub fn set_mode(&mut self, mode: LabelMode) {
        self.flags = match mode {
            LabelMode::Discovery => 0,
            LabelMode::Fallback => PathLabel::FALLBACK,
            LabelMode::Strict => PathLabel::STRICT,
        };
    }

    /// The bitmap's bytes.
    #[must_use]
    pub fn bitmap(&self) -> &[u8] {
        &self.bitmap
    }

    /// How many labels fit into the bitmap.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.bitmap.len() * 2 / 3
    }

    /// The label in slot `at`.
    #[must_use]
    pub fn slot(&self, at: usize) -> Option<u16> {
        if at >= self.slots() {
            return None;
        }
        let bytes = &self.bitmap[at * 12 / 8..];
        let pair = u16::from_be_bytes([bytes[0], bytes[1]]);
        Some(if at.is_multiple_of(2) { pair >> 4 } else { pair & 0x0fff })
    }

    /// Data or a Nack came over a face with this label: writes it into the next free slot. Returns
    /// `false`, and changes nothing, if there is none.
    pub fn push(&mut self, label: u16) -> bool {
        let at = usize::from(self.hop_count);
        if at >= self.slots() {
            return false;
        }
        let bytes = &mut self.bitmap[at * 12 / 8..];
        let [high, low] = (label & 0x0fff).to_be_bytes();
        if at.is_multiple_of(2) {
            bytes[0] = high << 4 | low >> 4;
            bytes[1] = bytes[1] & 0x0f | low << 4;
        } else {
            bytes[0] = bytes[0] & 0xf0 | high;
            bytes[1] = low;
        }
        self.hop_count += 1;
        true
    }

    /// An Interest that follows the label: takes the label of the next hop; `None` at its end, or
    /// if it counts more hops than it has labels.
    pub fn pop(&mut self) -> Option<u16> {
        let at = self.hop_count.checked_sub(1)?;
        let label = self.slot(usize::from(at))?;
        self.hop_count = at;
        Some(label)
    }
}

impl HopOption for PathLabel {
    const TYPE: u32 = 880;
    const ECHO: bool = true;
    const ECHO_IN_NACKS: bool = true;

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.flags, self.hop_count]);
        out.extend_from_slice(&self.next_hop.to_be_bytes());
        out.extend_from_slice(&self.bitmap);
    }

    fn decode(value: &[u8]) -> Option<PathLabel> {
        let ([flags, hop_count, high, low], bitmap) = value.split_first_chunk::<4>()?;
        (bitmap.len() <= MAX_LABEL).then(|| PathLabel {
            flags: *flags,
            hop_count: *hop_count,
            next_hop: u16::from_be_bytes([*high, *low]),
            bitmap: SmallVec::from_slice(bitmap),
        })
    }

    /// The answering node makes room for the counted hops, or for as many as the followed label
    /// had, and the path downstream begins.
    fn answered(self) -> Option<PathLabel> {
        let mode = self.mode()?;
        let counted = if mode == LabelMode::Discovery { usize::from(self.hop_count) } else { 0 };
        let room = (counted * 12).div_ceil(8).max(self.bitmap.len()).min(MAX_LABEL);
        let bitmap = SmallVec::from_elem(0, room);
        Some(PathLabel { flags: self.flags, hop_count: 0, next_hop: 0, bitmap })
    }
}
