use super::*;
use control::{QueueView, Rate, Rng, Time};
use packet::HopOptions;

fn red(set: &[(&str, &str)]) -> Red {
    let mut params = Params::defaults(PARAMS);
    for (name, text) in set {
        params.set("red", name, text).unwrap();
    }
    Red::new(&params)
}

struct Link {
    rng: Rng,
    now: Time,
}

impl Link {
    fn new() -> Link {
        Link { rng: Rng::stream(3, &["red"]), now: Time(0) }
    }

    /// Data of `size` bytes joins a queue of `packets` packets and `bytes` bytes.
    fn join(&mut self, red: &mut Red, packets: u32, bytes: u64, size: u64) -> Verdict {
        let mut tap = |_| {};
        let mut cx = Cx { now: self.now, rng: &mut self.rng, tap: &mut tap };
        red.on_enqueue(&mut cx, &view(packets, bytes), &data(size))
    }
}

fn view(packets: u32, bytes: u64) -> LinkView {
    let data_out = QueueView { packets, bytes: Size(bytes), ..QueueView::default() };
    LinkView { rate_out: Rate(8_000_000), data_out, ..LinkView::default() }
}

fn data(size: u64) -> DataMeta {
    DataMeta { flow: 0, segment: 0, size: Size(size), mark: 0, options: HopOptions::default() }
}

#[test]
fn the_average_follows_equation_1_and_ages_while_the_queue_is_empty() {
    let (mut red, mut link) = (red(&[("w_q", "0.5")]), Link::new());
    link.join(&mut red, 1, 64_000, 8000);
    assert_eq!(red.avg.bytes(), 32_000.0);
    link.join(&mut red, 1, 0, 8000);
    assert_eq!(red.avg.bytes(), 16_000.0);
    // The queue runs empty; a packet of 8000 bytes takes 8 ms at 8 Mbit/s, so 80 ms are 10 of
    // them: 16000 / 2^10.
    let mut tap = |_| {};
    let mut cx = Cx { now: link.now, rng: &mut link.rng, tap: &mut tap };
    red.on_dequeue(&mut cx, &view(0, 0), &data(8000), Duration::ZERO);
    link.now += Duration::from_millis(80);
    link.join(&mut red, 0, 0, 8000);
    assert!((red.avg.bytes() - 15.625).abs() < 1e-6, "{}", red.avg.bytes());
}

#[test]
fn the_probability_is_that_of_equation_2() {
    let mut red = red(&[]);
    // Between 40 and 120 kB: 0 at the lower end, 0.02 at the upper, half of it between.
    for (avg, p_b) in [(40_000.0, 0.0), (80_000.0, 0.01), (119_999.999_9, 0.02)] {
        red.avg.set_bytes(avg);
        assert!((red.probability(8000.0).unwrap() - p_b).abs() < 1e-9, "{avg}");
    }
    // Gentle: 0.02 + 0.98 / 2 half way to twice the upper end, where all are marked.
    red.avg.set_bytes(180_000.0);
    assert!((red.probability(8000.0).unwrap() - 0.51).abs() < 1e-12);
    red.avg.set_bytes(240_000.0);
    assert_eq!(red.probability(8000.0), None);
    red.avg.set_bytes(120_000.0);
    red.gentle = false;
    assert_eq!(red.probability(8000.0), None);
    // By size: a packet of half the mean has half the probability.
    red.avg.set_bytes(80_000.0);
    (red.by_size, red.mean) = (true, 8000.0);
    assert!((red.probability(4000.0).unwrap() - 0.005).abs() < 1e-12);
}

#[test]
fn marks_are_spread_evenly_by_equation_3() {
    let (mut red, mut link) = (red(&[("w_q", "1")]), Link::new());
    // The average is 119,999.99.. of 120,000: p_b = 0.02. Then the distance from a mark to the next
    // is uniform from 1 to 1/p_b - 1 = 49 (the paper, section V); its mean is 25.
    let mut gaps = Vec::new();
    let mut since = 0;
    for _ in 0..50_000 {
        since += 1;
        if link.join(&mut red, 15, 119_999, 8000) == Verdict::Mark(1) {
            gaps.push(since);
            since = 0;
        }
    }
    gaps.remove(0);
    let most = *gaps.iter().max().unwrap();
    let mean = gaps.iter().sum::<u32>() as f64 / gaps.len() as f64;
    assert!((48..=50).contains(&most), "{most}");
    assert!((24.0..26.0).contains(&mean), "{mean}");
}

#[test]
fn below_the_threshold_nothing_and_far_above_everything_is_marked() {
    let (mut red, mut link) = (red(&[("w_q", "1"), ("drop", "on")]), Link::new());
    for _ in 0..1000 {
        assert_eq!(link.join(&mut red, 4, 39_999, 8000), Verdict::Pass);
    }
    for _ in 0..100 {
        assert_eq!(link.join(&mut red, 30, 240_000, 8000), Verdict::Drop);
    }
}
