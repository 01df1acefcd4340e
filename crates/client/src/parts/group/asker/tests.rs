//! Turns and attempts, in virtual time.

use super::*;
use crate::parts::group::kept::history;
use packet::{DataBuf, Interest};

fn asker() -> Asker {
    Asker::new(history(&"/chat".parse().unwrap()), Rng::stream(1, &["asker"]))
}

fn sent(asker: &mut Asker, now: Time) -> Option<String> {
    let mut out = Vec::new();
    let sent = asker.poll_transmit(now, &mut out);
    sent.then(|| Interest::decode(&out).unwrap().name().to_string())
}

#[test]
fn a_packet_is_asked_for_by_both_names_and_then_given_up() {
    let mut asker = asker();
    let name: Name = "/alice/1".parse().unwrap();
    assert!(asker.ask(Time::ZERO, name.clone(), false));
    let mut names = Vec::new();
    let mut now = Time::ZERO;
    while let Some(sent) = sent(&mut asker, now) {
        names.push(sent);
        now = asker.next_deadline().unwrap();
    }
    assert_eq!(names.len(), 8);
    assert_eq!(names[..2], ["/alice/1", "/chat/32=history/alice/1"]);
    assert_eq!(asker.poll_given_up(), Some(name));
    assert_eq!(asker.next_deadline(), None);
}

#[test]
fn a_nack_leads_to_the_history_at_once() {
    let mut asker = asker();
    asker.ask(Time::ZERO, "/alice/1".parse().unwrap(), false);
    let first: Name = sent(&mut asker, Time::ZERO).unwrap().parse().unwrap();
    assert_eq!(sent(&mut asker, Time::ZERO), None);
    asker.on_nack(Time::ZERO, first.as_ref());
    let second: Name = sent(&mut asker, Time::ZERO).unwrap().parse().unwrap();
    assert_eq!(second.to_string(), "/chat/32=history/alice/1");
    asker.on_nack(Time::ZERO, second.as_ref());
    assert_eq!(sent(&mut asker, Time::ZERO), None, "after a pause");
    assert_eq!(asker.next_deadline(), Some(Time::ZERO + PAUSE));
}

#[test]
fn an_old_publication_is_asked_of_the_history_first() {
    let mut asker = asker();
    asker.ask(Time::ZERO, "/alice/1".parse().unwrap(), true);
    assert_eq!(sent(&mut asker, Time::ZERO).unwrap(), "/chat/32=history/alice/1");
    assert_eq!(sent(&mut asker, Time::ZERO + ATTEMPT).unwrap(), "/alice/1");
}

#[test]
fn answers_of_both_kinds_are_taken_once_and_others_are_not() {
    let mut asker = asker();
    for name in ["/a/1", "/a/KEY/k"] {
        let name: Name = name.parse().unwrap();
        match name.len() {
            2 => asker.ask(Time::ZERO, name, false),
            _ => asker.ask_certificate(Time::ZERO, name),
        };
    }
    let direct = DataBuf::new("/a/1".parse().unwrap(), "x").encode_digest();
    let other = DataBuf::new("/a/2".parse().unwrap(), "x").encode_digest();
    let certificate = DataBuf::new("/a/KEY/k/i/v".parse().unwrap(), "x").encode_digest();
    let name = "/chat/32=history/a/KEY/k/i/v".parse().unwrap();
    let packed = DataBuf::new(name, certificate.clone()).encode_digest();
    assert!(asker.receive(&Data::decode(&other).unwrap()).is_none());
    let (name, packet) = asker.receive(&Data::decode(&direct).unwrap()).unwrap();
    assert_eq!((name.to_string(), packet), ("/a/1".to_owned(), direct.clone()));
    assert!(asker.receive(&Data::decode(&direct).unwrap()).is_none());
    let (name, packet) = asker.receive(&Data::decode(&packed).unwrap()).unwrap();
    assert_eq!((name.to_string(), packet), ("/a/KEY/k".to_owned(), certificate));
}

#[test]
fn certificates_of_unknown_signers_keep_no_publication_waiting() {
    let mut asker = asker();
    for i in 0..1000 {
        asker.ask_unknown(Time::ZERO, format!("/x{i}/KEY/k").parse().unwrap());
    }
    assert!(asker.wanted.len() <= MOST_UNKNOWN, "{}", asker.wanted.len());
    let unknown = std::iter::from_fn(|| sent(&mut asker, Time::ZERO)).count();
    assert_eq!(unknown, AT_ONCE / 4);
    asker.ask(Time::ZERO, "/alice/1".parse().unwrap(), false);
    assert_eq!(sent(&mut asker, Time::ZERO).unwrap(), "/alice/1");
    // A publication needs one of them: it is requested at once, with all attempts.
    let name = asker.wanted.keys().find(|name| !asker.asked.contains(*name)).unwrap().clone();
    asker.ask_certificate(Time::ZERO, name.clone());
    assert_eq!(sent(&mut asker, Time::ZERO), Some(name.to_string()));
}

#[test]
fn old_publications_leave_room_for_new_ones() {
    let mut asker = asker();
    for i in 0..100 {
        asker.ask(Time::ZERO, format!("/old/{i}").parse().unwrap(), true);
    }
    let old = std::iter::from_fn(|| sent(&mut asker, Time::ZERO)).count();
    assert_eq!(old, AT_ONCE / 2);
    asker.ask(Time::ZERO, "/new/1".parse().unwrap(), false);
    assert_eq!(sent(&mut asker, Time::ZERO).unwrap(), "/new/1");
}

#[test]
fn after_a_wrong_packet_both_names_are_tried() {
    let mut asker = asker();
    let name: Name = "/alice/1".parse().unwrap();
    asker.ask_again(Time::ZERO, name, false, 1);
    let mut now = asker.next_deadline().unwrap();
    assert_eq!(sent(&mut asker, now).unwrap(), "/alice/1");
    now = asker.next_deadline().unwrap();
    assert_eq!(sent(&mut asker, now).unwrap(), "/chat/32=history/alice/1");
}

/// The sender of the first publications is gone, and no member has them.
#[test]
fn publications_that_no_member_has_do_not_delay_others() {
    for is_old in [true, false] {
        let mut asker = asker();
        for i in 0..200 {
            asker.ask(Time::ZERO, format!("/dead/{i}").parse().unwrap(), is_old);
        }
        for i in 0..50 {
            asker.ask(Time::ZERO, format!("/there/{i}").parse().unwrap(), is_old);
        }
        let (mut now, mut arrived) = (Time::ZERO, 0);
        while arrived < 50 {
            while let Some(name) = sent(&mut asker, now) {
                let name: Name = name.trim_start_matches("/chat/32=history").parse().unwrap();
                if name.to_string().starts_with("/there") {
                    let data = DataBuf::new(name, "x").encode_digest();
                    arrived += usize::from(asker.receive(&Data::decode(&data).unwrap()).is_some());
                }
            }
            now = asker.next_deadline().unwrap();
        }
        // The first turn has the packets that no member has. Then the others are requested, and the
        // next deadline comes within another turn.
        let turn = ATTEMPT.mul_f64(ATTEMPTS_OF_TURN.into());
        assert!(now <= Time::ZERO + turn + turn, "{now:?}");
        // All are tried all the same.
        let mut given_up = 0;
        while let Some(at) = asker.next_deadline() {
            while sent(&mut asker, at).is_some() {}
            given_up += std::iter::from_fn(|| asker.poll_given_up()).count();
        }
        assert_eq!((given_up, asker.wanted.len()), (200, 0));
    }
}

#[test]
fn forgotten_publications_are_not_asked_for() {
    let mut asker = asker();
    for i in 0..100 {
        asker.ask(Time::ZERO, format!("/a/{i}").parse().unwrap(), false);
        asker.ask(Time::ZERO, format!("/b/{i}").parse().unwrap(), false);
    }
    while sent(&mut asker, Time::ZERO).is_some() {}
    asker.forget(&"/a".parse().unwrap());
    assert_eq!(asker.wanted.len(), 100);
    assert!(asker.asked.iter().all(|name| name.to_string().starts_with("/b/")));
    assert!(sent(&mut asker, Time::ZERO).unwrap().starts_with("/b/"));
}

/// Publications of 60 sources in turn.
fn made_up(i: usize) -> Name {
    format!("/made-up-{}/{i}", i % 60).parse().unwrap()
}

/// One vector can claim this number of publications.
#[test]
fn no_source_keeps_the_publications_of_others_out() {
    for is_old in [true, false] {
        let mut asker = asker();
        (0..MOST).for_each(|i| assert!(asker.ask(Time::ZERO, made_up(i), is_old)));
        assert!(!asker.ask(Time::ZERO, made_up(MOST), true), "it has its part");
        assert_eq!(asker.given_up.len(), 0);
        for i in 0..50 {
            let live: Name = format!("/alice/{i}").parse().unwrap();
            assert!(asker.ask(Time::ZERO, live.clone(), false), "{i}");
            assert!(asker.wanted.contains_key(&live) && asker.wanted.len() == MOST);
        }
        let given_up = std::iter::from_fn(|| asker.poll_given_up()).collect::<Vec<_>>();
        assert_eq!(given_up.len(), 50);
        assert!(given_up.iter().all(|name| name.to_string().starts_with("/made-up-")));
        let mut now = Time::ZERO;
        while !std::iter::from_fn(|| sent(&mut asker, now)).any(|name| name.contains("/alice/")) {
            now = asker.next_deadline().unwrap();
        }
        // Each of the other sources has one turn before.
        let turns = if is_old { 0 } else { 60 / AT_ONCE as u32 };
        assert!(now <= Time::ZERO + ATTEMPT.mul_f64((turns * ATTEMPTS_OF_TURN).into()));
    }
}

#[test]
fn while_it_is_paused_only_the_packets_of_the_present_turns_are_asked_for() {
    let mut asker = asker();
    (1..=100).for_each(|i| {
        asker.ask(Time::ZERO, format!("/alice/{i}").parse().unwrap(), false);
    });
    let first = sent(&mut asker, Time::ZERO).unwrap();
    asker.pause(true);
    assert_eq!(sent(&mut asker, Time::ZERO), None);
    let due = asker.next_deadline().unwrap();
    let second = sent(&mut asker, due).unwrap();
    assert!(second.ends_with(&first), "{second}");
    asker.ask_unknown(Time::ZERO, "/x/KEY/k".parse().unwrap());
    assert_eq!(sent(&mut asker, Time::ZERO).unwrap(), "/x/KEY/k", "vectors wait for it");
    let over = asker.next_deadline().unwrap() + ATTEMPT;
    while sent(&mut asker, over).is_some() {}
    asker.pause(false);
    assert!(sent(&mut asker, over).unwrap().starts_with("/alice/"));
}

#[test]
fn few_packets_are_asked_for_at_a_time_and_there_is_a_bound() {
    let mut asker = asker();
    let taken =
        (0..MOST + 5).filter(|i| asker.ask(Time::ZERO, format!("/{i}").parse().unwrap(), false));
    assert_eq!(taken.count(), MOST, "all are of one source");
    let mut count = 0;
    while sent(&mut asker, Time::ZERO).is_some() {
        count += 1;
    }
    assert_eq!(count, AT_ONCE);
}

/// A packet that reports no publication, under the name of an Interest.
fn none(asked: &str) -> Bytes {
    let name: Name = asked.parse().unwrap();
    let nack = |name, content: Bytes| {
        DataBuf { content_type: ContentType::NACK, ..DataBuf::new(name, content) }.encode_digest()
    };
    match asked.strip_prefix("/chat/32=history") {
        Some(own) => {
            let inner = nack(own.parse().unwrap(), Bytes::new());
            DataBuf::new(name, inner).encode_digest()
        }
        None => nack(name, Bytes::new()),
    }
}

#[test]
fn only_answers_to_the_last_interest_end_an_attempt_for_one_that_is_gone() {
    for is_nack in [true, false] {
        let mut asker = asker();
        let reject = |asker: &mut Asker, now: Time, name: &str| match is_nack {
            true => asker.on_nack(now, name.parse::<Name>().unwrap().as_ref()),
            false => assert!(asker.receive(&Data::decode(&none(name)).unwrap()).is_none()),
        };
        asker.ask_gone(Time::ZERO, "/alice/1".parse().unwrap());
        let own = sent(&mut asker, Time::ZERO).unwrap();
        let now = Time::ZERO + ATTEMPT;
        let history = sent(&mut asker, now).unwrap();
        reject(&mut asker, now, &own);
        assert_eq!(sent(&mut asker, now), None);
        assert_eq!(asker.poll_given_up(), None, "the history has not answered");
        assert_eq!(asker.next_deadline(), Some(now + LIFETIME));
        reject(&mut asker, now, &history);
        assert_eq!(sent(&mut asker, now), None);
        assert!(asker.poll_given_up().is_some());
        asker.ask_gone(now, "/alice/2".parse().unwrap());
        let own = sent(&mut asker, now).unwrap();
        reject(&mut asker, now, &own);
        assert_eq!(sent(&mut asker, now).unwrap(), "/chat/32=history/alice/2", "at once");
    }
}

#[test]
fn over_a_new_connection_one_that_is_gone_is_sought_again_after_a_pause() {
    let mut asker = asker();
    asker.ask_gone(Time::ZERO, "/alice/1".parse().unwrap());
    let own = sent(&mut asker, Time::ZERO).unwrap();
    sent(&mut asker, Time::ZERO + ATTEMPT).unwrap();
    let now = Time::ZERO + ATTEMPT;
    asker.restart(now);
    assert_eq!(sent(&mut asker, now), None);
    assert_eq!(asker.next_deadline(), Some(now + PAUSE));
    assert_eq!(sent(&mut asker, now + PAUSE), Some(own));
    assert!(sent(&mut asker, now + PAUSE + ATTEMPT).unwrap().starts_with("/chat/32=history"));
}

#[test]
fn publications_that_are_gone_have_turns_beside_any_number_of_others() {
    let mut asker = asker();
    for i in 0..1_000 {
        for is_old in [false, true] {
            asker.ask(Time::ZERO, format!("/{is_old}/{i}/1").parse().unwrap(), is_old);
        }
    }
    while sent(&mut asker, Time::ZERO).is_some() {}
    asker.ask_gone(Time::ZERO, "/alice/1".parse().unwrap());
    let now = Time::ZERO + ATTEMPT;
    while sent(&mut asker, now).is_some() {}
    let now = now + ATTEMPT;
    let names: Vec<String> = std::iter::from_fn(|| sent(&mut asker, now)).collect();
    assert!(names.contains(&"/alice/1".to_owned()), "{names:?}");
}
