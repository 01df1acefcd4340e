//! A member that signs anything about others: none of them is silenced by it.

use control::{Duration, Rng, Time};
use packet::Name;
use proptest::collection::vec;
use proptest::prelude::*;
use sync::{Config, Member, Stream, Vector};

const CLOCK: u64 = 1_700_000_000;

fn name(of: &str) -> Name {
    of.parse().expect("a name")
}

fn member(of: &str) -> Member {
    let stream = Stream { name: name(of), boot: CLOCK };
    Member::new(Config::default(), stream, Rng::stream(1, &[of]), Time::ZERO)
}

/// A claim: about which member, a bootstrap time, and a number.
fn claim() -> impl Strategy<Value = (u8, u64, u64)> {
    let boot =
        prop_oneof![Just(CLOCK), CLOCK - 20..CLOCK + 20, CLOCK..CLOCK + 90_000, any::<u64>()];
    let seq = prop_oneof![0..5_u64, 0..2_000_000_u64, any::<u64>()];
    (any::<u8>(), boot, seq)
}

fn vector(claims: &[(u8, u64, u64)]) -> Vector {
    let mut vector = Vector::new();
    for (about, boot, seq) in claims {
        let about = match about % 8 {
            0..=2 => "/alice".to_owned(),
            3 => "/bob".to_owned(),
            4 => "/mallory".to_owned(),
            _ => format!("/made/up/{about}"),
        };
        vector.raise(&name(&about), *boot, *seq);
    }
    vector
}

proptest! {
    /// Mallory's vectors reach alice and bob in any order, between those of alice. Each number that
    /// alice publishes reaches bob with her next vector, as confirmed by her.
    #[test]
    fn publications_arrive_despite_false_vectors(
        lies in vec((vec(claim(), 1..40), 0..4_u8), 1..60),
    ) {
        let (mut alice, mut bob) = (member("/alice"), member("/bob"));
        let (own, liar) = (alice.own().clone(), name("/mallory"));
        let mut now = Time::ZERO;
        let mut seen = 0;
        for (claims, to) in &lies {
            now += Duration::from_millis(300);
            let lie = vector(claims);
            if to % 2 == 0 {
                alice.receive(now, CLOCK, &lie, Some(liar.as_ref()));
            }
            if to / 2 == 0 {
                bob.receive(now, CLOCK, &lie, Some(liar.as_ref()));
            }
            let seq = alice.publish(now);
            let sent = alice.poll_transmit(now, CLOCK).expect("it has published");
            bob.receive(now, CLOCK, &sent, Some(own.name.as_ref()));
            prop_assert!(bob.knows(&own));
            let entry = bob.others().find(|(stream, _)| **stream == own).expect("known").1;
            prop_assert_eq!(entry.confirmed, seq);
            // No publication is left out; one may come again when made-up starts displace hers.
            while let Some(update) = bob.poll_update() {
                if update.stream == own && update.is_confirmed {
                    prop_assert!(update.low <= seen + 1, "{update:?} after {seen}");
                    seen = update.high;
                }
            }
            prop_assert_eq!(seen, seq);
            while alice.poll_update().is_some() {}
        }
    }
}
