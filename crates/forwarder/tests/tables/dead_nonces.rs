use control::{Duration, Rng, Time};
use forwarder::tables::DeadNonces;
use forwarder::tables::memory::block;
use proptest::prelude::*;

const LIFETIME: Duration = Duration::from_millis(6400);
/// Nonces are forgotten up to one of 32 periods late.
const LATE: Duration = Duration::from_millis(200);

/// Keys are hashes.
fn key(n: u64) -> u64 {
    Rng::stream(n, &[]).next_u64()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn remembers_for_a_lifetime(
        ops in prop::collection::vec((any::<bool>(), 0u64..20, 0u64..900), 1..200),
    ) {
        let mut nonces = DeadNonces::new(LIFETIME, 1000);
        let mut model: Vec<(u64, Time)> = Vec::new();
        let mut now = Time::ZERO;
        for (insert, n, later) in ops {
            let key = key(n);
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
    fn of_too_many_it_forgets_the_oldest(keys in prop::collection::vec(1u64..30, 1..200)) {
        // One by one at its own time; so few that all lie in neighbouring lines.
        let (step, mut nonces) = (LIFETIME.0 / 32, DeadNonces::new(Duration(LIFETIME.0 * 7), 3));
        for (n, k) in keys.iter().enumerate() {
            let now = Time(n as u64 * step);
            nonces.insert(now, key(*k));
            prop_assert!(nonces.len() <= 3);
            prop_assert!(nonces.contains(now, key(*k)));
            let there = (1..30).filter(|k| nonces.contains(now, key(*k))).count();
            prop_assert_eq!(there, nonces.len());
        }
    }

    #[test]
    fn of_too_many_in_one_place_the_oldest_goes(
        keys in prop::collection::vec(0u64..30, 1..200),
        capacity in 1usize..20,
    ) {
        // Small numbers lie in the first two lines, which hold fourteen.
        let mut nonces = DeadNonces::new(LIFETIME, capacity);
        let mut latest: Vec<(u64, Time)> = Vec::new();
        let mut dropped = 0;
        for (n, key) in (0..).zip(keys) {
            let now = Time(n * LIFETIME.0 / 32);
            nonces.insert(now, key);
            latest.retain(|(old, at)| *old != key && now.since(*at) <= LIFETIME);
            latest.push((key, now));
            if latest.len() > capacity.min(14) {
                latest.remove(0);
                dropped += 1;
            }
            for key in 0..30 {
                let there = latest.iter().any(|(other, _)| *other == key);
                prop_assert_eq!(nonces.contains(now, key), there, "{}", key);
            }
            prop_assert_eq!((nonces.len(), nonces.dropped_early()), (latest.len(), dropped));
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
    // Lines of 64 bytes and 4 beside, two for seven pairs on average, in a power of two.
    let lines = (2 * 1000usize).div_ceil(7).next_power_of_two();
    assert!(nonces.memory() < lines * 68 + 100, "{}", nonces.memory());
    assert!(!nonces.contains(Time(0) + LIFETIME + LIFETIME, 9_999));
    assert!(nonces.is_empty());
}

#[test]
fn memory_does_not_grow_with_time() {
    // As many as 13,000 Interests a second leave behind: nearly seven for two of 2^14 lines.
    let mut dead = DeadNonces::new(Duration::from_secs(6), 1 << 20);
    let mut rng = Rng::stream(1, &[]);
    let mut until = |seconds: u64| {
        for n in (seconds - 20) * 9_100..seconds * 9_100 {
            dead.insert(Time(n * 1_000_000_000 / 9_100), rng.next_u64());
        }
        (dead.memory(), dead.dropped_early())
    };
    let (at_first, _) = until(20);
    for seconds in (40..=200).step_by(20) {
        let (memory, dropped) = until(seconds);
        assert_eq!(memory, at_first, "after {seconds} s");
        let of = seconds * 9_100;
        assert!(dropped < of / 500, "{dropped} of {of}");
    }
}

#[test]
fn the_maximum_memory_is_known_in_advance() {
    for bytes in [1_000, 10_000, 100_000, 1_300_000] {
        let capacity = DeadNonces::capacity_within(bytes);
        let mut nonces = DeadNonces::new(Duration::from_secs(6), capacity);
        let most = nonces.most_memory();
        assert!(most <= bytes.max(600), "{most} of {bytes}");
        let mut rng = Rng::stream(1, &["nonces"]);
        let mut peak = 0;
        for _ in 0..3 * capacity {
            nonces.insert(Time(1), rng.next_u64());
            peak = peak.max(nonces.memory());
        }
        assert_eq!(peak, most);
        // There is no room for more.
        let more = DeadNonces::new(Duration::from_secs(6), capacity + 1).most_memory();
        assert!(more > bytes, "{more} of {bytes}");
    }
}

#[test]
fn nonces_in_the_older_table_are_found_during_the_move() {
    let mut nonces = DeadNonces::new(LIFETIME, 10_000);
    for n in 0..5000 {
        nonces.insert(Time::ZERO, key(n));
        if n % 7 == 0 {
            let lost = (0..=n).step_by(13).find(|n| !nonces.contains(Time::ZERO, key(*n)));
            assert_eq!(lost, None, "after {n}");
        }
        // One that is there already is not there twice, whichever table it is in.
        nonces.insert(Time::ZERO, key(n / 2));
        assert_eq!(nonces.len() as u64, n + 1);
    }
    assert_eq!(nonces.dropped_early(), 0);
}

/// Bytes of a table: lines of a cache, and four bytes for each.
fn table(lines: usize) -> usize {
    block(64 * lines) + block(4 * lines)
}

#[test]
fn the_table_doubles_where_it_is_full_and_halves_where_it_is_nearly_empty() {
    let mut nonces = DeadNonces::new(LIFETIME, 100_000);
    assert_eq!(nonces.memory(), 0);
    // At most seven pairs in two lines, of which there is a power of two.
    let lines = |pairs: usize| (2 * pairs).div_ceil(7).next_power_of_two().max(4);
    for n in 1..=2000 {
        nonces.insert(Time::ZERO, key(n as u64));
        let (now, before) = (table(lines(n)), if n > 14 { table(lines(n) / 2) } else { 0 });
        assert!([now, now + before].contains(&nonces.memory()), "{n}: {}", nonces.memory());
        // Of the table before, two lines are moved with each pair.
        let moved = (n - 1).saturating_sub(7 * lines(n) / 4);
        assert_eq!(nonces.memory() == now, n <= 14 || moved * 2 + 2 >= lines(n) / 2, "{n}");
    }
    // An eighth of it is used from now on.
    let keep: Vec<u64> = (0..300).map(|n| key(1_000_000 + n)).collect();
    let mut least = usize::MAX;
    for period in 0..100 {
        let now = Time(period * LIFETIME.0 / 32);
        keep.iter().for_each(|key| nonces.insert(now, *key));
        assert!(keep.iter().all(|key| nonces.contains(now, *key)), "{period}");
        least = least.min(nonces.memory());
    }
    assert_eq!((nonces.len(), nonces.dropped_early()), (300, 0));
    // Below a quarter of what is full it is halved: 300 pairs stay in 256 lines.
    assert_eq!((nonces.memory(), least), (table(256), table(256)));
}

#[test]
fn forgotten_nonces_stay_forgotten() {
    // Periods are known by eight bits: what is left in its place would come back with its number.
    let (old, keep): (Vec<u64>, Vec<u64>) =
        ((0..1000).map(key).collect(), (1000..1600).map(key).collect());
    let mut nonces = DeadNonces::new(LIFETIME, 10_000);
    old.iter().for_each(|key| nonces.insert(Time::ZERO, *key));
    keep.iter().for_each(|key| nonces.insert(Time::ZERO, *key));
    let memory = nonces.memory();
    for period in 1..600 {
        let now = Time(period * LIFETIME.0 / 32);
        if period % 16 == 0 {
            keep.iter().for_each(|key| nonces.insert(now, *key));
        }
        assert!(keep.iter().all(|key| nonces.contains(now, *key)), "{period}");
        let there = old.iter().filter(|key| nonces.contains(now, **key)).count();
        assert_eq!(there, if period <= 32 { 1000 } else { 0 }, "{period}");
        assert_eq!(nonces.len(), 600 + there);
    }
    assert_eq!((nonces.dropped_early(), nonces.memory()), (0, memory));
}

#[test]
fn memory_is_released_when_nothing_is_remembered() {
    let mut nonces = DeadNonces::new(LIFETIME, 10_000);
    (0..1000).for_each(|n| nonces.insert(Time::ZERO, key(n)));
    let last = Time::ZERO + LIFETIME;
    nonces.trim(last);
    assert!((0..1000).all(|n| nonces.contains(last, key(n))));
    assert!(nonces.len() == 1000 && nonces.memory() >= table(512));
    nonces.trim(Time::ZERO + LIFETIME + LATE);
    assert_eq!((nonces.len(), nonces.memory()), (0, 0));
    nonces.insert(Time::ZERO + LIFETIME + LIFETIME, key(1));
    assert_eq!((nonces.len(), nonces.memory()), (1, table(4)));
    // The smallest table is not halved, and one of twice its lines not while seven are left.
    assert!(nonces.contains(Time::ZERO + LIFETIME + LIFETIME + LATE, key(1)));
    assert_eq!(nonces.memory(), table(4));
    let mut nonces = DeadNonces::new(LIFETIME, 10_000);
    (0..12).for_each(|n| nonces.insert(Time::ZERO, key(n)));
    (12..19).for_each(|n| nonces.insert(Time::ZERO + LATE, key(n)));
    for (late, len) in [(LATE, 7), (LATE + LATE, 0)] {
        assert!(!nonces.contains(Time::ZERO + LIFETIME + late, key(0)));
        assert_eq!((nonces.len(), nonces.memory()), (len, if len > 0 { table(8) } else { 0 }));
    }
    // It can be asked for one at least.
    let mut one = DeadNonces::new(LIFETIME, 0);
    (0..3).for_each(|n| one.insert(Time::ZERO, key(n)));
    assert!(one.len() == 1 && one.contains(Time::ZERO, key(2)) && !one.is_empty());
}

#[test]
fn nothing_is_lost_while_the_table_shrinks_step_by_step() {
    // Each period half as many are inserted as before, so that each halves the table later.
    let mut nonces = DeadNonces::new(LIFETIME, 10_000);
    let period = LIFETIME.0 / 32;
    let keys = |n: u64| (n * 10_000..n * 10_000 + (3000 >> n)).map(key);
    for n in 0..10 {
        keys(n).for_each(|key| nonces.insert(Time(n * period), key));
    }
    for n in 10..50 {
        let now = Time(n * period);
        for inserted in 0..10 {
            let there = keys(inserted).filter(|key| nonces.contains(now, *key)).count();
            let expected = if n <= inserted + 32 { keys(inserted).count() } else { 0 };
            assert_eq!(there, expected, "of period {inserted} in period {n}");
        }
    }
}

#[test]
fn pairs_of_a_table_that_shrinks_while_little_comes_do_not_return() {
    // A period is a second, and its number comes again after 256.
    let mut nonces = DeadNonces::new(Duration::from_secs(32), 1 << 20);
    let at = |s: u64| Time::ZERO + Duration::from_secs(s);
    let key = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let burst = 0..4000;
    burst.clone().for_each(|i| nonces.insert(at(0), key(i)));
    // Then one each twenty seconds: the table is moved to a smaller one by and by.
    for s in (20..600).step_by(20) {
        nonces.insert(at(s), key(1_000_000 + s));
        assert!(nonces.len() <= 2 || s < 33, "{} at {s} s", nonces.len());
        let returned = burst.clone().filter(|i| s > 33 && nonces.contains(at(s), key(*i))).count();
        assert_eq!(returned, 0, "after {s} s");
    }
}
