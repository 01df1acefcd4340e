//! Links that measure their rates, where delays vary, Data are lost or come in another order, and
//! where the rate changes.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

mod support;

use control::{Duration, LossModel, Rate, Size};
use sim::{Fault, FetchSpec, Impairment, ObjectSpec, Reorder, Signing, WireSpec, jain_index};
use support::{Line, assert_conserved, at_ms, controller, line, ms, name, two_at_a_time, wire_of};

/// The flows, of which each begins half a second after the one before, and the rate that they
/// share, in Mbit/s. The buffer has one bandwidth-delay product.
const FLOWS: u64 = 10;
const MBPS: u64 = 20;
const DELAY_MS: u64 = 20;
const BUFFER: u64 = MBPS * 2 * DELAY_MS * 1000 / 8;

/// The sizes of a segment and of its frame, in bytes.
const SEGMENT: usize = 1000;
const FRAME: f64 = 1050.0;

/// From 20 s on all flows have begun and know their shares.
const SETTLED_MS: u64 = 20_000;
const END_MS: u64 = 60_000;

fn shared(impairment: Impairment) -> Line {
    let wire = WireSpec {
        queue: Size(BUFFER),
        measured: true,
        impairment,
        ..wire_of("sluice", MBPS, DELAY_MS)
    };
    let mut line = line(1, 2, &wire);
    for flow in 0..FLOWS {
        let signing = Signing::Unsigned;
        let uri = name(&format!("/p/{flow}"));
        let object =
            ObjectSpec { segment_size: SEGMENT, signing, ..ObjectSpec::new(uri, Size(1 << 32)) };
        let mut fetch = FetchSpec::new(object.versioned(), controller("sluice"), "sluice");
        (fetch.signing, fetch.start) = (signing, at_ms(500 * flow));
        line.net.publish(line.nodes[1], object).unwrap();
        line.net.fetch(line.nodes[0], fetch);
    }
    line
}

/// The bytes of each flow between two instants.
fn got(line: &mut Line, from_ms: u64, until_ms: u64) -> Vec<f64> {
    let before = line.net.run(at_ms(from_ms));
    let after = line.net.run(at_ms(until_ms));
    assert_conserved(&after);
    let flows = after.flows.iter().zip(&before.flows);
    flows.map(|(after, before)| (after.transfer.bytes - before.transfer.bytes) as f64).collect()
}

/// Asserts what `crowds.rs` asserts of `bbr`: the flows got nine tenths of the content that a link
/// can bring in this time if it loses such a part, and Jain's index is 0.9.
fn assert_shared(got: &[f64], mbps: u64, span: Duration, lost: f64) {
    let frames = mbps as f64 * 1e6 / 8.0 * span.as_secs_f64() * (1.0 - lost) / FRAME;
    let part = got.iter().sum::<f64>() / (frames * SEGMENT as f64);
    let equal = jain_index(got).unwrap_or(0.0);
    assert!(part > 0.9 && equal > 0.9, "{part} of {mbps} Mbit/s, {equal}");
}

#[test]
fn chance_is_no_full_link() {
    let jitter = |jitter| Impairment { jitter, ..Impairment::default() };
    let random = |part| Impairment { loss: LossModel::Random(part), ..Impairment::default() };
    let reorder = Reorder { probability: 0.05, by: ms(5) };
    let cases = [
        (Impairment::default(), 0.0),
        (jitter(ms(20)), 0.0),
        (jitter(ms(10)), 0.0),
        (random(0.08), 0.08),
        (random(0.05), 0.05),
        (Impairment { reorder, ..Impairment::default() }, 0.0),
    ];
    let run = |(case, _): &(Impairment, f64)| got(&mut shared(*case), SETTLED_MS, END_MS);
    for ((case, lost), came) in cases.iter().zip(two_at_a_time(&cases, run)) {
        println!("{case:?}");
        assert_shared(&came, MBPS, ms(END_MS - SETTLED_MS), *lost);
    }
}

/// A fifth of the rate from 20 s to 40 s. The flows have five seconds to learn of it.
#[test]
fn a_rate_that_falls_and_returns_is_followed() {
    let mut line = shared(Impairment::default());
    let link = line.links[0];
    for (at, mbps) in [(20_000, MBPS / 5), (40_000, MBPS)] {
        let rate = Some(Rate::from_mbps(mbps));
        line.net.at(at_ms(at), Fault::Rate { link, backward: true, rate }).unwrap();
    }
    for (from, until, mbps) in [(25_000, 40_000, MBPS / 5), (45_000, 60_000, MBPS)] {
        assert_shared(&got(&mut line, from, until), mbps, ms(until - from), 0.0);
    }
}
