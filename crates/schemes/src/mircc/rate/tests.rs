use super::*;

const LAW: Law = Law { eta: 0.95, beta: 0.1, alpha: 0.5, drain: 0.5, floor: 1e-4 };
fn wide(capacity: f64, fewest: f64) -> Bounds {
    Bounds { capacity, fewest, floor: 1e-9, ceiling: 1e9 }
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{found}, not {expected}");
}

/// The published equations by hand, C = 10, R(0) = 8.
#[test]
fn an_underloaded_link_offers_what_is_left() {
    let mut rate = ClassRate::new(8.0);
    // N = max(10, 4) / 8 = 1.25; base = 9.5 / 1.25 = 7.6; excess = 8 - 4 / 1.25 = 4.8.
    rate.update(LAW, wide(10.0, 0.0), Period { y: 4.0, q: 0.0, d: 0.1 });
    close(rate.rate(), 12.4);
    // N = 10 / 12.4; base = 9.5 * 1.24 = 11.78; excess = 12.4 - 5 * 1.24 = 6.2. The averages:
    // (7.6 + 11.78) / 2 = 9.69 and (4.8 + 6.2) / 2 = 5.5.
    rate.update(LAW, wide(10.0, 0.0), Period { y: 5.0, q: 0.0, d: 0.1 });
    close(rate.rate(), 15.19);
}

#[test]
fn an_overloaded_link_divides_by_the_true_number_of_flows() {
    let mut rate = ClassRate::new(9.5);
    // Four flows at 9.5: N = 38 / 9.5 = 4, excess = 9.5 - 38 / 4 = 0, growth = 1 as y was 0.
    // base = (9.5 - 1 * 0.2 / 0.1) / 4 = 1.875.
    rate.update(LAW, wide(10.0, 0.0), Period { y: 38.0, q: 0.2, d: 0.1 });
    close(rate.rate(), 1.875);
}

#[test]
fn the_weight_of_the_queue_follows_the_growth_of_load() {
    // y from 8 to 10: growth 0.2 is more than beta' = 0.1; from 8 to 8.5 it is 1/17, less.
    for (y, beta) in [(10.0, 0.2), (8.5, 0.1), (4.0, 0.1), (0.0, 0.1)] {
        let mut rate = ClassRate { rate: 5.0, base: None, excess: None, y: 8.0 };
        rate.update(LAW, wide(10.0, 0.0), Period { y, q: 1.0, d: 0.5 });
        // N = max(10, y) / 5 = 2.
        close(rate.rate(), (9.5 - beta * 1.0 / 0.5) / 2.0 + 5.0 - y / 2.0);
    }
}

/// By (3) as printed base would be (9.5 - 1 * 20 / 0.1) / 4 < 0.
#[test]
fn a_queue_takes_no_more_than_half_of_a_link() {
    let mut rate = ClassRate::new(9.5);
    rate.update(LAW, wide(10.0, 0.0), Period { y: 38.0, q: 20.0, d: 0.1 });
    close(rate.rate(), 9.5 / 2.0 / 4.0);
}

/// The same queue with `drain` = 1/4, 1 and without a bound: (3) as printed is negative there, and
/// the rate is the floor.
#[test]
fn drain_bounds_the_queues_part_and_floor_the_rate() {
    for (drain, floor, expected) in
        [(0.25, 1e-4, 9.5 * 0.75 / 4.0), (1.0, 1e-4, 1e-3), (1e6, 1e-4, 1e-3), (1e6, 0.01, 0.1)]
    {
        let mut link = LinkRates::new(Law { drain, floor, ..LAW }, 0.95, 10.0);
        link.update(10.0, 0.0, Period { y: 38.0, q: 20.0, d: 0.1 });
        close(link.primary(), expected);
    }
}

#[test]
fn nothing_is_offered_of_what_is_left_before_it_is_known() {
    let mut link = LinkRates::new(LAW, 0.95, 10.0);
    assert_eq!((link.primary(), link.secondary()), (9.5, 0.0));
    // C_s = 10 - 4, N_s = 1: 0.95 * 6 + 9.5, and no more than C_s.
    link.update(10.0, 0.0, Period { y: 4.0, q: 0.0, d: 0.1 });
    close(link.secondary(), 6.0);
}

#[test]
fn a_full_link_and_equal_flows_are_a_fixed_point() {
    // y = eta C: N = C / R, base = eta R, excess = R - eta R.
    for flows in 1..9 {
        let mut rate = ClassRate::new(9.5 / f64::from(flows));
        rate.update(LAW, wide(10.0, 0.0), Period { y: 9.5, q: 0.0, d: 0.1 });
        close(rate.rate(), 9.5 / f64::from(flows));
    }
}

#[test]
fn rates_stay_within_their_bounds_whatever_is_measured() {
    let mut link = LinkRates::new(LAW, 0.95, 1e6);
    let absurd = [0.0, 1.0, 1e6, 1e18];
    for y in absurd {
        for y_s in absurd {
            for q in absurd {
                for d in [1e-9, 0.1, 1e9] {
                    link.update(1e6, y_s, Period { y, q, d });
                    let (p, s) = (link.primary(), link.secondary());
                    assert!((1e2..=1e6).contains(&p) && (1e2..=1e6).contains(&s), "{p} {s}");
                }
            }
        }
    }
}

#[test]
fn the_secondary_class_has_what_the_primary_leaves() {
    let mut link = LinkRates::new(LAW, 0.5, 10.0);
    // C_s = 10 - 6 = 4, N_s = max(max(4, 3) / 5, 1) = 1, growth 1 as y_s was 0: base_s = 0.95 * 4
    // - 1 * 0.02 / 0.1 = 3.6, excess_s = 5 - 3 = 2; together 5.6, but no more than C_s.
    link.update(10.0, 3.0, Period { y: 6.0, q: 0.02, d: 0.1 });
    close(link.secondary(), 4.0);
    // C_s = 1: N_s = max(max(1, 3) / 4, 1) = 1, growth 0: base_s = 0.95 - 0.1 * 0.02 / 0.1 = 0.93,
    // excess_s = 4 - 3 = 1; averages (3.6 + 0.93) / 2 and (2 + 1) / 2, together 3.765; C_s is 1.
    link.update(10.0, 3.0, Period { y: 9.0, q: 0.02, d: 0.1 });
    close(link.secondary(), 1.0);
    // Nothing is left: the floor, from which it can grow again.
    link.update(10.0, 3.0, Period { y: 12.0, q: 0.0, d: 0.1 });
    close(link.secondary(), 10.0 * LAW.floor);
    for _ in 0..40 {
        link.update(10.0, 0.0, Period { y: 2.0, q: 0.0, d: 0.1 });
    }
    close(link.secondary(), 8.0);
}
