use super::*;
use crate::best_route;
use crate::testing::Pending;

const MS: fn(u64) -> Duration = Duration::from_millis;

/// The cheap next hop, and the dear one.
const CHEAP: u64 = 5;
const DEAR: u64 = 6;
/// The downstream.
const DOWN: u64 = 1;

struct World {
    strategy: Box<dyn Strategy>,
    entry: Pending,
}

impl World {
    fn new() -> World {
        World::with(3.0)
    }

    fn with(silent_after: f64) -> World {
        let mut params = Params::defaults(best_route::SCHEME.params);
        params.set("best-route", PARAM.name, &silent_after.to_string()).unwrap();
        let strategy = best_route::SCHEME.strategy.unwrap()(&params);
        World { strategy, entry: Pending::with(&[(CHEAP, 1), (DEAR, 2)]) }
    }

    fn wait(&mut self, ms: u64) {
        self.entry.now += MS(ms);
    }

    fn ask(&mut self) -> Vec<Action> {
        self.entry.interest(&mut *self.strategy, DOWN)
    }

    /// A new Interest.
    fn new_interest(&mut self) -> Vec<Action> {
        self.entry.renew();
        self.ask()
    }

    fn data(&mut self, from: u64) -> Vec<Action> {
        self.entry.data(&mut *self.strategy, from)
    }

    fn expire(&mut self) {
        self.wait(4000);
        self.entry.expire(&mut *self.strategy);
    }

    /// The cheap next hop answers one Interest.
    fn cheap_answers(&mut self) {
        assert_eq!(self.new_interest(), [Action::Forward(CHEAP)]);
        self.wait(10);
        self.data(CHEAP);
    }

    /// It loses one: after 200 ms the downstream asks again, and the other answers.
    fn cheap_is_silent(&mut self) {
        assert_eq!(self.new_interest(), [Action::Forward(CHEAP)]);
        self.wait(200);
        assert_eq!(self.ask(), [Action::Forward(DEAR)]);
        self.wait(10);
        self.data(DEAR);
    }

    /// It is set aside.
    fn silenced() -> World {
        let mut world = World::new();
        (0..3).for_each(|_| world.cheap_is_silent());
        world
    }
}

#[test]
fn a_next_hop_that_another_answers_for_is_set_aside() {
    let mut world = World::silenced();
    assert_eq!(world.new_interest(), [Action::Forward(DEAR)]);
    // With the switch off, as NFD does.
    let mut world = World::with(0.0);
    (0..20).for_each(|_| world.cheap_is_silent());
}

#[test]
fn data_in_between_clear_it() {
    let mut world = World::new();
    for _ in 0..20 {
        world.cheap_is_silent();
        world.cheap_is_silent();
        world.cheap_answers();
    }
}

/// Many retransmissions of one burst are answered at once, before the path had time to recover.
#[test]
fn a_burst_of_losses_is_no_silence() {
    let mut world = World::new();
    let mut entries: Vec<Pending> = Vec::new();
    for number in 0..20 {
        let mut entry = Pending::with(&[(CHEAP, 1), (DEAR, 2)]);
        entry.name = format!("/a/{number}").parse().unwrap();
        entry.prefix = Some(1);
        entry.interest(&mut *world.strategy, DOWN);
        entry.now += MS(200);
        assert_eq!(entry.interest(&mut *world.strategy, DOWN), [Action::Forward(DEAR)]);
        entries.push(entry);
    }
    for mut entry in entries {
        entry.now += MS(10);
        entry.data(&mut *world.strategy, DEAR);
    }
    world.wait(220);
    world.cheap_answers();
    world.wait(1000);
    world.cheap_answers();
}

#[test]
fn unanswered_names_set_no_next_hop_aside() {
    let mut world = World::new();
    for _ in 0..20 {
        assert_eq!(world.new_interest()[0], Action::Forward(CHEAP));
        world.wait(200);
        assert!(matches!(world.ask()[..], [Action::Forward(_)]), "none is set aside");
        world.expire();
    }
}

#[test]
fn another_prefix_is_judged_by_itself() {
    let mut world = World::silenced();
    world.entry.name = "/b".parse().unwrap();
    world.cheap_answers();
    world.entry.name = "/a".parse().unwrap();
    assert_eq!(world.new_interest(), [Action::Forward(DEAR)]);
}

#[test]
fn copies_go_to_it_less_and_less_often_and_an_answer_brings_it_back() {
    let mut world = World::silenced();
    let mut copies = Vec::new();
    for tenth in 0..1000 {
        world.wait(100);
        let out = world.new_interest();
        assert_eq!(out[0], Action::Forward(DEAR));
        if out.contains(&Action::Probe(CHEAP)) {
            copies.push(tenth / 10);
            let out = world.data(DEAR);
            assert!(out.contains(&Action::Linger(LINGER)), "a late answer has to be received");
        } else {
            assert_eq!(world.data(DEAR), [], "nothing is awaited");
        }
    }
    assert_eq!(copies, [0, 2, 6, 14, 30, 60, 90]);
    while !world.new_interest().contains(&Action::Probe(CHEAP)) {
        world.wait(100);
    }
    world.data(DEAR);
    // The answer that comes second counts.
    world.wait(20);
    world.data(CHEAP);
    world.cheap_answers();
}

#[test]
fn one_that_fails_again_at_once_is_asked_less_often() {
    let mut world = World::silenced();
    let next_copy = |world: &mut World| {
        let mut waited = 0;
        while !world.new_interest().contains(&Action::Probe(CHEAP)) {
            world.data(DEAR);
            world.wait(100);
            waited += 100;
        }
        waited
    };
    let mut waits = Vec::new();
    for _ in 0..4 {
        waits.push(next_copy(&mut world));
        world.data(CHEAP);
        (0..3).for_each(|_| world.cheap_is_silent());
    }
    assert!(waits.windows(2).all(|pair| pair[1] > pair[0] * 3 / 2), "{waits:?}");
}

/// Data that only the avoided next hop has is still available.
#[test]
fn a_retransmission_reaches_the_one_that_is_set_aside() {
    let mut world = World::silenced();
    assert_eq!(world.new_interest(), [Action::Forward(DEAR)]);
    world.wait(200);
    assert_eq!(world.ask(), [Action::Forward(DEAR), Action::Probe(CHEAP)]);
    world.wait(10);
    world.data(CHEAP);
    world.cheap_answers();
}

#[test]
fn a_nack_leads_to_the_one_that_is_set_aside_last() {
    let mut world = World::silenced();
    assert_eq!(world.new_interest(), [Action::Forward(DEAR)]);
    let out = world.entry.nack(&mut *world.strategy, DEAR, NackReason::NoRoute);
    assert_eq!(out, [Action::Forward(CHEAP)]);
}

#[test]
fn one_that_is_set_aside_is_used_where_there_is_no_other() {
    let mut world = World::silenced();
    world.entry.hops.retain(|hop| hop.face == CHEAP);
    assert_eq!(world.new_interest(), [Action::Forward(CHEAP)]);
}

/// A downstream that asks again with a new Interest when the old one is over.
#[test]
fn interests_that_expire_bring_a_second_opinion() {
    let mut world = World::new();
    for _ in 0..3 {
        assert_eq!(world.new_interest(), [Action::Forward(CHEAP)]);
        world.expire();
    }
    for round in 0..3 {
        let out = world.new_interest();
        if out == [Action::Forward(CHEAP), Action::Probe(DEAR)] {
            world.wait(10);
            world.data(DEAR);
            world.wait(4000);
            assert_eq!(world.new_interest(), [Action::Forward(DEAR), Action::Probe(CHEAP)]);
            return;
        }
        assert_eq!(out, [Action::Forward(CHEAP)], "round {round}");
        world.expire();
    }
    panic!("the other next hop was never asked");
}

#[test]
fn unanswered_names_cost_few_copies() {
    let mut world = World::new();
    let mut copies = 0;
    for _ in 0..100 {
        let out = world.new_interest();
        assert_eq!(out[0], Action::Forward(CHEAP));
        copies += out.len() - 1;
        world.expire();
    }
    // 400 s: at 0, 2, 6, 14, 30 s, then one in 30 s or a little more.
    assert!((5..=18).contains(&copies), "{copies}");
    world.cheap_answers();
}

#[test]
fn an_interest_that_names_its_path_takes_it() {
    let mut world = World::silenced();
    let mut label = PathLabel::default();
    label.set_mode(LabelMode::Strict);
    world.entry.options.set(&label);
    assert_eq!(world.new_interest(), [Action::Forward(CHEAP)]);
    // One that only wants to know its path does not.
    world.entry.options.set(&PathLabel::default());
    assert_eq!(world.new_interest(), [Action::Forward(DEAR)]);
}
