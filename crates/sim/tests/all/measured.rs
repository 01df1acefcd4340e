//! Links that measure their rates, where delays vary, Data are lost or come in another order, and
//! where the rate changes.
//!
//! `WEIR_MEASURED=all cargo test -p sim --test all measured -- --nocapture` prints more random
//! links than the test has, and harder ones.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use crate::support::{
    Line, assert_conserved, at_ms, controller, line, ms, name, two_at_a_time, wire_of,
};
use control::{Duration, LossModel, Rate, Rng, Size};
use sim::{Fault, FetchSpec, Impairment, ObjectSpec, Reorder, Signing, WireSpec, jain_index};

/// Each flow begins half a second after the one before. From 20 s on all know their shares.
const APART_MS: u64 = 500;
const SETTLED_MS: u64 = 20_000;
const END_MS: u64 = 60_000;

/// The sizes of a segment and of its frame, in bytes.
const SEGMENT: usize = 1000;
const FRAME: f64 = 1050.0;

/// Flows that share a link.
#[derive(Clone, Copy, Debug)]
struct Shared {
    flows: u64,
    mbps: u64,
    delay_ms: u64,
    /// In bandwidth-delay products.
    buffer: f64,
    impairment: Impairment,
}

const TEN: Shared = Shared {
    flows: 10,
    mbps: 20,
    delay_ms: 20,
    buffer: 1.0,
    impairment: Impairment {
        loss: LossModel::None,
        jitter: Duration::ZERO,
        reorder: Reorder { probability: 0.0, by: Duration::ZERO },
        duplicate: 0.0,
        corrupt: 0.0,
    },
};

impl Shared {
    /// Any link. Its buffer has 5 ms at least, which show that Data wait. Its delays vary by less
    /// than the round trip, and its losses do not keep the flows from filling it; `hard` ones do
    /// not keep to this.
    fn random(rng: &mut Rng, hard: bool) -> Shared {
        let one_of = |rng: &mut Rng, of: &[u64]| of[(rng.next_u64() % of.len() as u64) as usize];
        let mbps = 3 + rng.next_u64() % 80;
        let delay_ms = one_of(rng, &[3, 5, 10, 20, 40, 80, 150]);
        let buffer = 0.1 * one_of(rng, &[10, 20, 40]) as f64;
        let flows = one_of(rng, &[1, 2, 3, 5, 10, 20]);
        let most = if hard { 100 } else { 2 * delay_ms };
        let mut impairment = Impairment::default();
        match rng.next_u64() % 4 {
            0 => impairment.jitter = ms(1 + rng.next_u64() % most / 2),
            1 => {
                let percent = 1 + rng.next_u64() % if hard { 10 } else { 4 };
                impairment.loss = LossModel::Random(0.01 * percent as f64);
            }
            2 => impairment.reorder = Reorder { probability: 0.05, by: ms(1 + most / 8) },
            _ => {}
        }
        Shared { flows, mbps, delay_ms, buffer, impairment }
    }

    fn build(&self, scheme: &str, measured: bool) -> Line {
        let product = self.mbps * 2 * self.delay_ms * 1000 / 8;
        let wire = WireSpec {
            queue: Size((product as f64 * self.buffer) as u64),
            measured,
            impairment: self.impairment,
            ..wire_of(scheme, self.mbps, self.delay_ms)
        };
        let mut line = line(1, 2, &wire);
        for flow in 0..self.flows {
            let (signing, segment_size) = (Signing::Unsigned, SEGMENT);
            let uri = name(&format!("/p/{flow}"));
            let object =
                ObjectSpec { segment_size, signing, ..ObjectSpec::new(uri, Size(1 << 32)) };
            let mut fetch = FetchSpec::new(object.versioned(), controller(scheme), scheme);
            (fetch.signing, fetch.start) = (signing, at_ms(APART_MS * flow));
            line.net.publish(line.nodes[1], object).unwrap();
            line.net.fetch(line.nodes[0], fetch);
        }
        line
    }

    /// The transfer after all have begun.
    fn run(&self, scheme: &str, measured: bool) -> Came {
        came(&mut self.build(scheme, measured), SETTLED_MS, END_MS, self.mbps, self.lost())
    }

    fn lost(&self) -> f64 {
        if let LossModel::Random(part) = self.impairment.loss { part } else { 0.0 }
    }
}

/// The part of the content that a link can bring which came, and Jain's index of the flows.
#[derive(Clone, Copy, Debug)]
struct Came {
    part: f64,
    equal: f64,
}

impl Came {
    /// As `crowds.rs` asserts of `bbr`.
    fn is_shared(&self) -> bool {
        self.part > 0.9 && self.equal > 0.9
    }
}

/// The transfer between two instants by a link with this rate that loses such a part of its Data.
fn came(line: &mut Line, from_ms: u64, until_ms: u64, mbps: u64, lost: f64) -> Came {
    let before = line.net.run(at_ms(from_ms));
    let after = line.net.run(at_ms(until_ms));
    assert_conserved(&after);
    let flows = after.flows.iter().zip(&before.flows);
    let of = |(after, before): (&sim::FlowResult, &sim::FlowResult)| {
        (after.transfer.bytes - before.transfer.bytes) as f64
    };
    let got: Vec<f64> = flows.map(of).collect();
    let span = ms(until_ms - from_ms).as_secs_f64();
    let frames = mbps as f64 * 1e6 / 8.0 * span * (1.0 - lost) / FRAME;
    let part = got.iter().sum::<f64>() / (frames * SEGMENT as f64);
    Came { part, equal: jain_index(&got).unwrap_or(0.0) }
}

#[test]
fn chance_is_no_full_link() {
    let none = Impairment::default();
    let reorder = Reorder { probability: 0.05, by: ms(5) };
    let cases = [
        Impairment { jitter: ms(10), ..none },
        Impairment { jitter: ms(20), ..none },
        Impairment { loss: LossModel::Random(0.05), ..none },
        Impairment { loss: LossModel::Random(0.08), ..none },
        Impairment { reorder, ..none },
    ];
    let cases = cases.map(|impairment| Shared { impairment, ..TEN });
    for (case, came) in cases.iter().zip(two_at_a_time(&cases, |case| case.run("sluice", true))) {
        assert!(came.is_shared(), "{case:?}: {came:?}");
    }
}

/// A fifth of the rate from 20 s to 40 s. The flows have five seconds to learn of it.
#[test]
fn a_rate_that_falls_and_returns_is_followed() {
    let mut line = TEN.build("sluice", true);
    let link = line.links[0];
    for (at, mbps) in [(20_000, TEN.mbps / 5), (40_000, TEN.mbps)] {
        let rate = Some(Rate::from_mbps(mbps));
        line.net.at(at_ms(at), Fault::Rate { link, backward: true, rate }).unwrap();
    }
    for (from, until, mbps) in [(25_000, 40_000, TEN.mbps / 5), (45_000, 60_000, TEN.mbps)] {
        let came = came(&mut line, from, until, mbps, 0.0);
        assert!(came.is_shared(), "{mbps} Mbit/s: {came:?}");
    }
}

/// Against `bbr`, which needs no rate of links: nine tenths of what it gets, and as equal but for a
/// tenth. Hard links are printed only.
#[test]
fn random_links_are_shared() {
    let all = std::env::var_os("WEIR_MEASURED").is_some();
    let mut rng = Rng::stream(1, &["measured"]);
    let cases: Vec<_> =
        (0..if all { 80 } else { 10 }).map(|n| Shared::random(&mut rng, n >= 40)).collect();
    let runs = two_at_a_time(&cases, |case| (case.run("sluice", true), case.run("bbr", false)));
    for (n, (case, (measured, bbr))) in cases.iter().zip(runs).enumerate() {
        println!(
            "{:2} flows, {:2} Mbit/s, {:3} ms, {} products, {:2} ms jitter, {:.0} % lost, \
             {:2} ms held back: used {:.1} % (bbr {:.1} %), Jain {:.3} ({:.3})",
            case.flows,
            case.mbps,
            case.delay_ms,
            case.buffer,
            case.impairment.jitter.as_millis(),
            case.lost() * 100.0,
            case.impairment.reorder.by.as_millis(),
            measured.part * 100.0,
            bbr.part * 100.0,
            measured.equal,
            bbr.equal
        );
        let holds = measured.part > 0.9 * bbr.part && measured.equal > bbr.equal - 0.1;
        assert!(holds || n >= 40, "{case:?}: {measured:?}, {bbr:?}");
    }
}
