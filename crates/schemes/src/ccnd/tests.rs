use super::*;
use control::{Cx, Downstream, NextHop, NoLinks, Rng, Upstream};
use packet::HopOptions;

/// An entry of a forwarder with the faces 5 and 6 upstream and 1 downstream.
struct Entry {
    ccnd: Ccnd,
    rng: Rng,
    now: Time,
    upstreams: Vec<Upstream>,
    note: [u64; 2],
}

impl Entry {
    fn new() -> Entry {
        Entry {
            ccnd: Ccnd::new(&Params::defaults(PARAMS)),
            rng: Rng::stream(1, &["ccnd"]),
            now: Time(1_000_000_000),
            upstreams: Vec::new(),
            note: [0; 2],
        }
    }

    /// Calls the strategy, and sends what it wants sent: the faces, and the timer.
    fn call(
        &mut self,
        segment: u64,
        ingress: u64,
        act: impl FnOnce(&mut Ccnd, &mut StrategyCx<'_, '_>),
    ) -> (Vec<u64>, Option<Time>) {
        let hops = [5, 6].map(|face| NextHop { face, cost: face });
        let downstream = Downstream { face: 1, arrived_at: self.now, expires: Time(u64::MAX) };
        let (mut out, mut tap) = (Vec::new(), |_| {});
        let name: Name = format!("/a/seg={segment}").parse().unwrap();
        let mut s = StrategyCx {
            cx: &mut Cx { now: self.now, rng: &mut self.rng, tap: &mut tap },
            name: name.as_ref(),
            ingress,
            next_hops: &hops,
            prefix: 1,
            links: &NoLinks,
            downstreams: &[downstream],
            upstreams: &self.upstreams,
            options: &mut HopOptions::default(),
            mark: 0,
            note: &mut self.note,
            out: &mut out,
        };
        act(&mut self.ccnd, &mut s);
        let (mut faces, mut timer) = (Vec::new(), None);
        for action in out {
            match action {
                Action::Forward(face) => {
                    faces.push(face);
                    let released_at = self.now;
                    self.upstreams.push(Upstream::new(face, released_at));
                }
                Action::RetryAt(at) => timer = Some(at),
                other => panic!("{other:?}"),
            }
        }
        (faces, timer)
    }

    fn interest(&mut self, segment: u64) -> (Vec<u64>, Option<Time>) {
        (self.upstreams, self.note) = (Vec::new(), [0; 2]);
        self.call(segment, 1, |ccnd, s| ccnd.on_interest(s))
    }

    fn data(&mut self, segment: u64, face: u64) {
        self.call(segment, face, |ccnd, s| ccnd.on_data(s));
    }

    fn t(&self) -> Duration {
        self.ccnd.names.values().next().unwrap().t
    }
}

#[test]
fn of_an_unknown_name_the_faces_are_asked_in_turn() {
    let mut entry = Entry::new();
    let (faces, timer) = entry.interest(0);
    assert_eq!(faces, [5]);
    let last = timer.unwrap();
    assert!(last > entry.now && last <= entry.now + Duration::from_millis(151));
    entry.now = last;
    let (faces, timer) = entry.call(0, 0, |ccnd, s| ccnd.on_timer(s));
    assert_eq!((faces, timer), (vec![6], None));
}

#[test]
fn the_face_that_answered_is_asked_and_the_other_after_the_prediction() {
    let mut entry = Entry::new();
    entry.interest(0);
    entry.data(0, 6);
    let (faces, timer) = entry.interest(1);
    assert_eq!((faces, timer), (vec![6], Some(entry.now + Duration::from_millis(10))));
    entry.now = timer.unwrap();
    let (faces, timer) = entry.call(1, 0, |ccnd, s| ccnd.on_timer(s));
    assert_eq!((faces, timer), (vec![5], None));
    // 10 ms and an eighth, then a 128th less for the content that came after all.
    assert_eq!(entry.t(), Duration::from_micros(11_250));
    entry.data(1, 6);
    assert_eq!(entry.t(), Duration(11_250_000 - 11_250_000 / 128));
    // The other face is faster: it is asked first from now on.
    entry.interest(2);
    entry.data(2, 5);
    assert_eq!(entry.interest(3).0, [5]);
}

/// ln (9/8) to -ln (127/128) is 15 to 1.
#[test]
fn about_one_interest_in_fifteen_asks_the_others() {
    let mut entry = Entry::new();
    entry.interest(0);
    entry.data(0, 5);
    let (response, mut probes) = (Duration::from_millis(30), 0);
    for segment in 1..=3200 {
        let begun = entry.now;
        let (_, mut timer) = entry.interest(segment);
        while let Some(at) = timer.filter(|at| *at < begun + response) {
            entry.now = at;
            let (faces, next) = entry.call(segment, 0, |ccnd, s| ccnd.on_timer(s));
            probes += faces.len();
            timer = next;
        }
        entry.now = begun + response;
        entry.data(segment, 5);
    }
    // 3200 / 15.02 is 213; the way to the prediction takes some tens more at the beginning.
    assert!((200..=230).contains(&probes), "{probes}");
}
