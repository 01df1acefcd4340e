//! The link header (NDNLPv2), owned.

use crate::link::{LpPacket, NO_CACHE};
use crate::nack::NackReason;
use crate::options::HopOptions;
use crate::tlv::{self, types};
use smallvec::SmallVec;

/// All fields of a link packet except its fragment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LpHeader {
    /// See [`LpPacket::sequence`].
    pub sequence: Option<u64>,
    /// See [`LpPacket::frag_index`]; present together with the count.
    pub frag_index: u64,
    /// See [`LpPacket::frag_count`]; 0 is a whole packet, and like 1 is not written.
    pub frag_count: u64,
    /// See [`LpPacket::pit_token`]; empty is none. Decoders reject more than 32 bytes.
    pub pit_token: SmallVec<[u8; 8]>,
    /// See [`LpPacket::nack`].
    pub nack: Option<NackReason>,
    /// See [`LpPacket::incoming_face_id`].
    pub incoming_face_id: Option<u64>,
    /// See [`LpPacket::next_hop_face_id`].
    pub next_hop_face_id: Option<u64>,
    /// See [`LpPacket::no_cache`].
    pub no_cache: bool,
    /// See [`LpPacket::congestion_mark`].
    pub congestion_mark: u64,
    /// See [`LpPacket::acks`].
    pub acks: Vec<u64>,
    /// See [`LpPacket::tx_sequence`].
    pub tx_sequence: Option<u64>,
    /// See [`LpPacket::non_discovery`].
    pub non_discovery: bool,
    /// See [`LpPacket::prefix_announcement`].
    pub prefix_announcement: Option<bytes::Bytes>,
    /// See [`LpPacket::options`].
    pub options: HopOptions,
}

impl From<&LpPacket<'_>> for LpHeader {
    fn from(packet: &LpPacket<'_>) -> LpHeader {
        LpHeader {
            sequence: packet.sequence(),
            frag_index: packet.frag_index(),
            frag_count: if packet.frag_count() > 1 { packet.frag_count() } else { 0 },
            pit_token: SmallVec::from_slice(packet.pit_token().unwrap_or_default()),
            nack: packet.nack(),
            incoming_face_id: packet.incoming_face_id(),
            next_hop_face_id: packet.next_hop_face_id(),
            no_cache: packet.no_cache(),
            congestion_mark: packet.congestion_mark(),
            acks: packet.acks().collect(),
            tx_sequence: packet.tx_sequence(),
            non_discovery: packet.non_discovery(),
            prefix_announcement: packet.prefix_announcement().map(bytes::Bytes::copy_from_slice),
            options: packet.to_options(),
        }
    }
}

/// An element whose value is one element with a number.
fn nested_len(outer: u64, inner: u64, n: u64) -> usize {
    tlv::tlv_len(outer, tlv::nni_tlv_len(inner, n))
}

/// Appends an element whose value is one element with a number.
fn put_nested(out: &mut Vec<u8>, outer: u64, inner: u64, n: u64) {
    tlv::put_header(out, outer, tlv::nni_tlv_len(inner, n));
    tlv::put_nni_tlv(out, inner, n);
}

/// Type, length and value of a number of exactly 8 bytes.
fn put_fixed(out: &mut Vec<u8>, typ: u64, n: u64) {
    tlv::put_tlv(out, typ, &n.to_be_bytes());
}

impl LpHeader {
    /// Bytes of the headers, without the packet's own type and length and without the fragment.
    #[must_use]
    pub fn headers_len(&self) -> usize {
        let mut len = self.sequence.map_or(0, |_| tlv::tlv_len(types::LP_SEQUENCE, 8));
        if self.frag_count > 1 {
            len += tlv::nni_tlv_len(types::LP_FRAG_INDEX, self.frag_index);
            len += tlv::nni_tlv_len(types::LP_FRAG_COUNT, self.frag_count);
        }
        if !self.pit_token.is_empty() {
            len += tlv::tlv_len(types::LP_PIT_TOKEN, self.pit_token.len());
        }
        if let Some(reason) = self.nack {
            len += match reason.number() {
                0 => tlv::tlv_len(types::LP_NACK, 0),
                n => nested_len(types::LP_NACK, types::LP_NACK_REASON, n),
            };
        }
        if let Some(face) = self.incoming_face_id {
            len += tlv::nni_tlv_len(types::LP_INCOMING_FACE_ID, face);
        }
        if let Some(face) = self.next_hop_face_id {
            len += tlv::nni_tlv_len(types::LP_NEXT_HOP_FACE_ID, face);
        }
        if self.no_cache {
            len += nested_len(types::LP_CACHE_POLICY, types::LP_CACHE_POLICY_TYPE, NO_CACHE);
        }
        if self.congestion_mark > 0 {
            len += tlv::nni_tlv_len(types::LP_CONGESTION_MARK, self.congestion_mark);
        }
        len += self.acks.len() * tlv::tlv_len(types::LP_ACK, 8);
        len += self.tx_sequence.map_or(0, |_| tlv::tlv_len(types::LP_TX_SEQUENCE, 8));
        len += if self.non_discovery { tlv::tlv_len(types::LP_NON_DISCOVERY, 0) } else { 0 };
        if let Some(data) = &self.prefix_announcement {
            len += tlv::tlv_len(types::LP_PREFIX_ANNOUNCEMENT, data.len());
        }
        for (typ, value) in self.options.iter() {
            len += tlv::tlv_len(u64::from(typ), value.len());
        }
        len
    }

    /// Bytes of the whole frame around a fragment of `fragment_len` bytes.
    #[must_use]
    pub fn encoded_len(&self, fragment_len: usize) -> usize {
        match (self.headers_len(), fragment_len) {
            (0, n) if n > 0 => n,
            (headers, 0) => tlv::tlv_len(types::LP_PACKET, headers),
            (headers, n) => {
                tlv::tlv_len(types::LP_PACKET, headers + tlv::tlv_len(types::LP_FRAGMENT, n))
            }
        }
    }

    /// Appends the frame. Without any header the packet stays bare; an empty fragment is none.
    pub fn encode_into(&self, fragment: &[u8], out: &mut Vec<u8>) {
        let headers_len = self.headers_len();
        if headers_len == 0 && !fragment.is_empty() {
            out.extend_from_slice(fragment);
            return;
        }
        let fragment_len = match fragment.len() {
            0 => 0,
            n => tlv::tlv_len(types::LP_FRAGMENT, n),
        };
        out.reserve(tlv::tlv_len(types::LP_PACKET, headers_len + fragment_len));
        tlv::put_header(out, types::LP_PACKET, headers_len + fragment_len);
        self.encode_headers(out);
        if !fragment.is_empty() {
            tlv::put_tlv(out, types::LP_FRAGMENT, fragment);
        }
    }

    fn encode_headers(&self, out: &mut Vec<u8>) {
        if let Some(n) = self.sequence {
            put_fixed(out, types::LP_SEQUENCE, n);
        }
        if self.frag_count > 1 {
            tlv::put_nni_tlv(out, types::LP_FRAG_INDEX, self.frag_index);
            tlv::put_nni_tlv(out, types::LP_FRAG_COUNT, self.frag_count);
        }
        if !self.pit_token.is_empty() {
            tlv::put_tlv(out, types::LP_PIT_TOKEN, &self.pit_token);
        }
        match self.nack.map(NackReason::number) {
            None => {}
            Some(0) => tlv::put_tlv(out, types::LP_NACK, &[]),
            Some(n) => put_nested(out, types::LP_NACK, types::LP_NACK_REASON, n),
        }
        if let Some(face) = self.incoming_face_id {
            tlv::put_nni_tlv(out, types::LP_INCOMING_FACE_ID, face);
        }
        if let Some(face) = self.next_hop_face_id {
            tlv::put_nni_tlv(out, types::LP_NEXT_HOP_FACE_ID, face);
        }
        if self.no_cache {
            put_nested(out, types::LP_CACHE_POLICY, types::LP_CACHE_POLICY_TYPE, NO_CACHE);
        }
        if self.congestion_mark > 0 {
            tlv::put_nni_tlv(out, types::LP_CONGESTION_MARK, self.congestion_mark);
        }
        for ack in &self.acks {
            put_fixed(out, types::LP_ACK, *ack);
        }
        if let Some(n) = self.tx_sequence {
            put_fixed(out, types::LP_TX_SEQUENCE, n);
        }
        if self.non_discovery {
            tlv::put_tlv(out, types::LP_NON_DISCOVERY, &[]);
        }
        if let Some(data) = &self.prefix_announcement {
            tlv::put_tlv(out, types::LP_PREFIX_ANNOUNCEMENT, data);
        }
        for (typ, value) in self.options.iter() {
            tlv::put_tlv(out, u64::from(typ), value);
        }
    }
}
