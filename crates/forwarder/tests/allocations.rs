//! Allocations on the fast path: only for memory that outlives the packet's buffer.
//!
//! In a program of its own, because all other tests of the same program would be counted too.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod allocator;

use control::{Action, Size, Strategy, StrategyCx, Time};
use forwarder::{FaceConfig, FaceId, Forwarder, ForwarderConfig, Medium, Wire};
use packet::{Bytes, DataBuf, InterestBuf};

struct First;

impl Strategy for First {
    fn on_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        if let Some(hop) = s.next_hops.first() {
            s.act(Action::Forward(hop.face));
        }
    }
}

const WARM: usize = 5_000;
const COUNTED: usize = 1_000;

fn interest(i: usize, nonce: u32) -> Bytes {
    InterestBuf { nonce: Some(nonce), ..InterestBuf::new(format!("/a/{i}").parse().unwrap()) }
        .encode()
}

fn data(i: usize) -> Bytes {
    DataBuf::new(format!("/a/{i}").parse().unwrap(), vec![0; 2000]).encode_digest()
}

/// Receives frames, one at a time, and takes what becomes of each off all faces; returns how many
/// blocks were allocated meanwhile.
fn blocks(fw: &mut Forwarder, face: FaceId, frames: &[Bytes], out: &mut Vec<u8>) -> usize {
    let before = allocator::blocks();
    for frame in frames {
        fw.receive(Time(1), face, Wire::Borrowed(frame));
        while let Some(ready) = fw.poll_ready() {
            out.clear();
            while fw.poll_transmit(Time(1), ready, out).is_some() {}
        }
    }
    allocator::blocks() - before
}

#[test]
fn a_packet_costs_one_copy_of_what_is_kept_of_it() {
    for (mtu, window) in [(None, 0), (Some(1400), 0), (Some(1400), 131_072)] {
        let mut config = ForwarderConfig::new(Box::new(First));
        config.content_store.capacity = 4 << 20;
        let mut fw = Forwarder::new(config);
        let window = Size(window);
        let mut face = || {
            fw.add_face(
                Time(0),
                FaceConfig {
                    window,
                    medium: Medium { mtu, ..Medium::default() },
                    ..FaceConfig::default()
                },
            )
        };
        let (down, up) = (face(), face());
        fw.add_route(up, "/a".parse::<packet::Name>().unwrap().as_ref(), 0).unwrap();
        let mut out = Vec::with_capacity(1 << 16);
        for (first, count) in [(0, WARM), (WARM, COUNTED)] {
            let asked: Vec<_> = (first..first + count).map(|i| interest(i, 1)).collect();
            let answers: Vec<_> = (first..first + count).map(data).collect();
            let last = count.min(COUNTED) / 2;
            let again: Vec<_> =
                (first + count - last..first + count).map(|i| interest(i, 2)).collect();
            let of_interests = blocks(&mut fw, down, &asked, &mut out);
            let of_data = blocks(&mut fw, up, &answers, &mut out);
            let of_hits = blocks(&mut fw, down, &again, &mut out);
            if first == 0 {
                continue;
            }
            // The tables still grow by a chunk now and then: a tenth is let pass.
            let few = COUNTED / 10;
            assert!(of_interests <= COUNTED + few, "the Interest in the PIT: {of_interests}");
            assert!(of_data <= 2 * COUNTED + few, "the packet and its owners' count: {of_data}");
            assert_eq!(of_hits, 0);
        }
        assert_eq!(fw.content_store().counters().hits, (COUNTED / 2 + COUNTED / 2) as u64);
    }
}
