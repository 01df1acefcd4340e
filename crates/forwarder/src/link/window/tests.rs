use super::*;

const MS: u64 = 1_000_000;

/// Sends a packet of one frame that costs 10,000 bytes; gives its TxSequence if it is a marker.
fn send(window: &mut Window, now: Time, tx: &mut u64) -> Option<u64> {
    let marker = window.wants_marker(now).then_some(*tx);
    window.on_sent(now, 10_000 - FRAME_COST as usize, 1, marker);
    *tx = tx.wrapping_add(u64::from(marker.is_some()));
    marker
}

/// A window of 60,000 bytes whose peer has acknowledged the first packet after 0.1 ms.
fn known() -> (Window, u64) {
    let (mut window, mut tx) = (Window::new(60_000), u64::MAX);
    assert_eq!(send(&mut window, Time(0), &mut tx), Some(u64::MAX));
    window.on_ack(Time(MS / 10), u64::MAX);
    (window, tx)
}

#[test]
fn the_bound_and_what_the_path_holds_may_be_on_the_way() {
    let (mut window, mut tx) = known();
    // 10,000 bytes came back in one smallest round trip: that is what the path holds.
    let now = Time(MS);
    let mut sent = 0;
    while window.opens_at() <= now {
        send(&mut window, now, &mut tx);
        sent += 1;
    }
    assert_eq!(sent, 7, "60,000 and 10,000 bytes");
    assert_eq!(window.opens_at(), Time(MS) + PATIENCE);
}

#[test]
fn an_acknowledgement_stands_for_everything_before() {
    let (mut window, mut tx) = known();
    let markers: Vec<_> = (0..7).filter_map(|_| send(&mut window, Time(MS), &mut tx)).collect();
    assert_eq!(markers.len(), 3, "a sixth of 70,000 is more than one packet: each second one");
    window.on_ack(Time(2 * MS), markers[1]);
    assert_eq!(window.opens_at(), Time::ZERO);
    assert_eq!(window.sent - window.acknowledged, 30_000);
    window.on_ack(Time(2 * MS), markers[0]);
    window.on_ack(Time(2 * MS), 12_345);
    assert_eq!(window.sent - window.acknowledged, 30_000, "an old one and a wild one say nothing");
}

#[test]
fn a_queue_elsewhere_does_not_widen_it() {
    let (mut window, mut tx) = known();
    assert_eq!(send(&mut window, Time(MS), &mut tx), None);
    let tx = send(&mut window, Time(MS), &mut tx).unwrap();
    // 20,000 bytes in 2 ms, where the smallest round trip was 0.1 ms: the path holds 1,000, and
    // what was believed before is forgotten by an eighth.
    window.on_ack(Time(3 * MS), tx);
    assert_eq!(window.path, 8_750);
}

#[test]
fn on_a_long_path_it_doubles_each_round_trip() {
    let (mut window, mut tx) = (Window::new(60_000), 0);
    let first = send(&mut window, Time(0), &mut tx).unwrap();
    let mut now = Time(5 * MS);
    window.on_ack(now, first);
    let mut sent = Vec::new();
    for _ in 0..3 {
        let before = window.sent;
        let mut latest = None;
        while window.opens_at() <= now {
            latest = send(&mut window, now, &mut tx).or(latest);
        }
        sent.push((window.sent - before) / 10_000);
        now += Duration(5 * MS);
        window.on_ack(now, latest.unwrap());
    }
    // 60,000 and twice the 10,000 that came back; then 60,000 and twice the 80,000. Of these 22
    // packets each fourth is a marker, and the last of them the twentieth: 60,000 and twice 200,000
    // less the two packets behind it.
    assert_eq!(sent, [8, 22, 44]);
}

#[test]
fn there_is_none_while_every_acknowledgement_is_late() {
    let (mut window, mut tx) = known();
    let mut now = Time(MS);
    let mut oldest = VecDeque::new();
    // A queue of 300 ms on the way: all that is sent is acknowledged, and late. The first such
    // acknowledgement comes at 302 ms, and what was before it is forgotten 200 ms later.
    for step in 0..700 {
        now += Duration(MS);
        window.expire(now);
        if window.opens_at() <= now {
            let sent = send(&mut window, now, &mut tx);
            oldest.extend(sent.map(|tx| (now + Duration(300 * MS), tx)));
        } else {
            assert!(step < 510, "held back at {step} ms");
        }
        while let Some((_, tx)) = oldest.pop_front_if(|(at, _)| *at <= now) {
            window.on_ack(now, tx);
        }
    }
    oldest.drain(..).for_each(|(_, tx)| window.on_ack(now, tx));
    // One that comes in time says that the queue is gone.
    let marker = (0..100).find_map(|_| send(&mut window, now, &mut tx)).unwrap();
    window.on_ack(now + Duration(MS), marker);
    for _ in 0..100 {
        send(&mut window, now, &mut tx);
    }
    assert!(window.opens_at() > now);
}

#[test]
fn silence_ends_the_bound_for_ten_seconds() {
    let (mut window, mut tx) = known();
    let mut now = Time(MS);
    for _ in 0..8 {
        assert!((0..2).any(|_| send(&mut window, now, &mut tx).is_some()));
        now += LOST;
        window.expire(now);
    }
    for _ in 0..100 {
        send(&mut window, now, &mut tx);
    }
    assert_eq!(window.opens_at(), Time::ZERO);
    assert!(!window.wants_marker(now + PROBE - Duration(1)));
    now += PROBE;
    let tx = send(&mut window, now, &mut tx).unwrap();
    assert!(!window.wants_marker(now + LOST), "one is enough");
    window.on_ack(now + Duration(MS), tx);
    assert_eq!(window.peer, Peer::Acknowledges);
}
