//! Markers under random sequences of events.

use super::choices;
use control::{
    Cx, DataMeta, Duration, InterestMeta, LinkView, QueueView, Rng, Size, Time, Verdict,
};
use packet::HopOptions;
use proptest::prelude::*;

/// A packet that joins or leaves a queue.
#[derive(Clone, Debug)]
struct Passing {
    after_us: u32,
    kind: u8,
    size: u16,
    sojourn_us: u32,
    behind: u32,
    mark: u64,
}

fn passing() -> impl Strategy<Value = Passing> {
    let after = prop_oneof![Just(0), 1..20_000u32, Just(5_000_000)];
    let sojourn = prop_oneof![Just(0), 1..50_000u32, Just(u32::MAX)];
    (after, 0..3u8, 1..9000u16, sojourn, 0..200u32, 0..3u64).prop_map(
        |(after_us, kind, size, sojourn_us, behind, mark)| Passing {
            after_us,
            kind,
            size,
            sojourn_us,
            behind,
            mark,
        },
    )
}

fn view(passing: &Passing) -> LinkView {
    let queue = QueueView {
        packets: passing.behind,
        bytes: Size(u64::from(passing.behind) * u64::from(passing.size)),
        head_sojourn: Duration::from_micros(u64::from(passing.sojourn_us)),
    };
    LinkView { data_out: queue, interests_out: queue, ..LinkView::default() }
}

/// The verdicts of a marker, made again, on a sequence of packets.
fn verdicts(choice: &schemes::Choice, packets: &[Passing]) -> Vec<Verdict> {
    let mut marker = choice.marker().expect("it was picked for that");
    let mut rng = Rng::stream(1, &["conformance"]);
    let mut now = Time(1_000_000);
    let mut tap = |_| {};
    let mut verdicts = Vec::new();
    for packet in packets {
        now += Duration::from_micros(u64::from(packet.after_us));
        let mut cx = Cx { now, rng: &mut rng, tap: &mut tap };
        let (view, options) = (view(packet), HopOptions::default());
        let sojourn = view.data_out.head_sojourn;
        let (size, mark) = (Size(u64::from(packet.size)), packet.mark);
        let data = DataMeta { flow: 1, segment: 2, size, mark, options: options.clone() };
        let interest = InterestMeta {
            flow: 1,
            segment: 2,
            size: Size(60),
            expected: Size(8000),
            expires: now + Duration::from_secs(4),
            options,
            handle: 0,
        };
        verdicts.push(match packet.kind {
            0 => marker.on_enqueue(&mut cx, &view, &data),
            1 => marker.on_dequeue(&mut cx, &view, &data, sojourn),
            _ => marker.on_interest_dequeue(&mut cx, &view, &interest, sojourn),
        });
    }
    verdicts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn markers_bear_any_sequence_and_repeat_it(
        packets in prop::collection::vec(passing(), 1..300),
    ) {
        for choice in choices(|scheme| scheme.marker.is_some()) {
            let name = choice.scheme().name;
            let first = verdicts(&choice, &packets);
            prop_assert_eq!(&first, &verdicts(&choice, &packets), "{} depends on chance", name);
            prop_assert!(!first.contains(&Verdict::Mark(0)), "{}: a mark of 0 is none", name);
        }
    }
}

#[test]
fn an_empty_queue_is_never_marked() {
    for choice in choices(|scheme| scheme.marker.is_some()) {
        let packet =
            |after_us| Passing { after_us, kind: 1, size: 8000, sojourn_us: 0, behind: 0, mark: 0 };
        let packets: Vec<_> = (0..1000).map(|i| packet(i * 10)).collect();
        let verdicts = verdicts(&choice, &packets);
        assert!(verdicts.iter().all(|v| *v == Verdict::Pass), "{}", choice.scheme().name);
    }
}
