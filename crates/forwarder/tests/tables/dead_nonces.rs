use control::{Duration, Time};
use proptest::prelude::*;
use weir_forwarder::tables::DeadNonces;

const LIFETIME: Duration = Duration::from_millis(6400);
/// Nonces are forgotten up to one of 32 periods late.
const LATE: Duration = Duration::from_millis(200);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn remembers_for_a_lifetime(
        ops in prop::collection::vec((any::<bool>(), 0u64..20, 0u64..900), 1..200),
    ) {
        let mut nonces = DeadNonces::new(LIFETIME, 1000);
        let mut model: Vec<(u64, Time)> = Vec::new();
        let mut now = Time::ZERO;
        for (insert, key, later) in ops {
            now += Duration::from_millis(later);
            if insert {
                nonces.insert(now, key);
                model.retain(|(k, _)| *k != key);
                model.push((key, now));
            }
            let age = model.iter().find(|(k, _)| *k == key).map(|(_, at)| now.since(*at));
            let found = nonces.contains(now, key);
            match age {
                Some(age) if age <= LIFETIME => prop_assert!(found),
                Some(age) if age <= LIFETIME + LATE => {}
                _ => prop_assert!(!found),
            }
            let alive = |limit| model.iter().filter(|(_, at)| now.since(*at) <= limit).count();
            prop_assert!((alive(LIFETIME)..=alive(LIFETIME + LATE)).contains(&nonces.len()));
        }
        prop_assert_eq!(nonces.dropped_early(), 0);
    }

    #[test]
    fn of_too_many_it_keeps_the_latest(keys in prop::collection::vec(1u64..30, 1..200)) {
        let mut nonces = DeadNonces::new(LIFETIME, 10);
        for (n, key) in keys.iter().enumerate() {
            nonces.insert(Time(n as u64), *key);
            let latest = &keys[(n + 1).saturating_sub(10)..=n];
            for key in 1..30 {
                prop_assert_eq!(nonces.contains(Time(n as u64), key), latest.contains(&key));
            }
        }
    }
}

#[test]
fn memory_is_bounded_by_the_capacity() {
    let mut nonces = DeadNonces::new(LIFETIME, 1000);
    for n in 0..10_000u64 {
        nonces.insert(Time(n), n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
    assert_eq!((nonces.len(), nonces.dropped_early()), (1000, 9000));
    // 8 octets in the ring, of which the next power of two is reserved; an index with room for
    // twice as many, of which 7 of 8 buckets of 9 octets are filled, in a power of two.
    let buckets = (2 * 1001 * 8 / 7usize).next_power_of_two();
    assert!(nonces.memory() < 1024 * 8 + buckets * 9 + 200, "{}", nonces.memory());
    assert!(!nonces.contains(Time(0) + LIFETIME + LIFETIME, 9_999));
    assert!(nonces.is_empty());
}

#[test]
fn memory_does_not_grow_with_time() {
    // As many as 10,000 Interests a second leave behind.
    let mut dead = DeadNonces::new(Duration::from_secs(6), 1 << 20);
    let mut rng = control::Rng::stream(1, &[]);
    let mut until = |seconds: u64| {
        for n in (seconds - 20) * 10_000..seconds * 10_000 {
            dead.insert(Time(n * 100_000), rng.next_u64());
        }
        dead.memory()
    };
    let at_first = until(20);
    for seconds in (40..=200).step_by(20) {
        assert_eq!(until(seconds), at_first, "after {seconds} s");
    }
}
