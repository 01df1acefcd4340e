//! The state machine of a member (specification, section 4).

use crate::table::{Claim, Entry, Limits, Raise, Table, Taken};
use crate::vector::{Stream, Vector};
use control::{Duration, Rng, Time, math};
use packet::{Name, NameRef};
use std::collections::BTreeMap;

/// The decay factor of suppression timeouts (section 4.1).
const DECAY: f64 = 10.0;
/// The share by which the periodic timeout varies, in each direction (section 4.1).
const JITTER: f64 = 0.1;
/// The share of the periodic timeout for which a member is silent between answers to vectors with
/// streams that it has no room for.
const PAUSE: f64 = 0.1;

/// The timers and bounds of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The time between sync Interests of a quiet group.
    pub periodic: Duration,
    /// The longest time for which an answer to an outdated vector waits for those of others.
    pub suppression: Duration,
    /// The bounds of the memory.
    pub limits: Limits,
}

impl Default for Config {
    /// The values of the specification, section 4.1.
    fn default() -> Config {
        Config {
            periodic: Duration::from_secs(30),
            suppression: Duration::from_millis(200),
            limits: Limits::default(),
        }
    }
}

/// Publications of others that were unknown, or known only by the claims of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// Their stream.
    pub stream: Stream,
    /// The first of them.
    pub low: u64,
    /// The last of them.
    pub high: u64,
    /// The member itself claims `high`. Without that, there may be fewer publications.
    pub is_confirmed: bool,
}

/// The counters of a member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Vectors to send.
    pub sent: u64,
    /// Vectors received.
    pub received: u64,
    /// Answers to outdated vectors that were not sent, because another member had answered.
    pub suppressed: u64,
    /// Claims of others about publications of this member that it does not have, or about a later
    /// start of it.
    pub foreign: u64,
    /// Claims with a bootstrap time too far in the future.
    pub future: u64,
    /// Claims with an implausible number.
    pub implausible: u64,
    /// Claims about streams for which there is no room.
    pub no_room: u64,
}

/// The states of section 4.5.
#[derive(Clone, Debug)]
enum State {
    Steady,
    /// With the merge of the vectors received in this state.
    Suppression(Vector),
}

/// A member of a group.
#[derive(Clone, Debug)]
pub struct Member {
    config: Config,
    own: Stream,
    seq: u64,
    /// The instant of the last publication.
    published: Time,
    /// The instant of the last vector that was sent.
    sent: Time,
    table: Table,
    state: State,
    timer: Time,
    is_due: bool,
    rng: Rng,
    updates: BTreeMap<Stream, (Raise, bool)>,
    stats: Stats,
}

impl Member {
    /// A member that starts at `now`, and sends its vector at once: other members answer with the
    /// state of the group. `own` names its publications; no other start may have the same bootstrap
    /// time.
    #[must_use]
    pub fn new(config: Config, own: Stream, rng: Rng, now: Time) -> Member {
        Member {
            config,
            table: Table::new(config.limits, own.name.clone()),
            own,
            seq: 0,
            published: now,
            sent: now,
            state: State::Steady,
            timer: now,
            is_due: true,
            rng,
            updates: BTreeMap::new(),
            stats: Stats::default(),
        }
    }

    /// The stream of its publications.
    #[must_use]
    pub fn own(&self) -> &Stream {
        &self.own
    }

    /// The number of its last publication.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The streams of others.
    pub fn others(&self) -> impl Iterator<Item = (&Stream, &Entry)> {
        self.table.iter()
    }

    /// True if the stream of another member is known, and was not displaced by others.
    #[must_use]
    pub fn knows(&self, stream: &Stream) -> bool {
        self.table.contains(stream)
    }

    /// The counters.
    #[must_use]
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// The vector to send at the time `clock_s`, in seconds since 1970.
    #[must_use]
    pub fn vector(&self, clock_s: u64) -> Vector {
        let mut vector = self.table.vector(clock_s);
        vector.raise(&self.own.name, self.own.boot, self.seq);
        vector
    }

    /// Numbers a new publication. The vector is sent at once (section 4.2); publications before the
    /// next [`Member::poll_transmit`] share one.
    pub fn publish(&mut self, now: Time) -> u64 {
        self.seq += 1;
        self.published = now;
        self.is_due = true;
        self.seq
    }

    /// Sends the vector at once: as a sign of life, or after an outage.
    pub fn announce(&mut self) {
        self.is_due = true;
    }

    /// Takes a verified vector at the time `clock_s`, in seconds since 1970. `signer` is the
    /// identity of the key that signed it: it speaks for the names under it.
    pub fn receive(
        &mut self,
        now: Time,
        clock_s: u64,
        vector: &Vector,
        signer: Option<NameRef<'_>>,
    ) {
        self.stats.received += 1;
        let last = clock_s.saturating_add(self.config.limits.future_s);
        let mut has_all = true;
        for (name, boot, seq) in vector.iter() {
            if *name == self.own.name && boot == self.own.boot {
                self.stats.foreign += u64::from(seq > self.seq);
                continue;
            }
            let is_own = signer.is_some_and(|signer| name.as_ref().starts_with(signer));
            // Others would take it for confirmed by this member's next vector.
            if *name == self.own.name && boot > self.own.boot && !is_own {
                self.stats.foreign += 1;
                continue;
            }
            // The specification ignores the whole vector, so one member could silence others.
            if boot > last && !is_own {
                self.stats.future += 1;
                continue;
            }
            let owner = signer.filter(|_| is_own);
            match self.table.take(now, &Claim { name, boot, seq, owner }) {
                Taken::Raised(raise) => self.update(name, boot, raise, is_own),
                Taken::Known => {}
                Taken::NoRoom => (has_all, self.stats.no_room) = (false, self.stats.no_room + 1),
                Taken::Implausible => self.stats.implausible += 1,
            }
        }
        // Two members with full tables may never agree: each would answer the other without end.
        let pause = self.config.periodic.mul_f64(PAUSE);
        if has_all || now.since(self.sent) >= pause || matches!(self.state, State::Suppression(_)) {
            self.react(now, clock_s, vector);
        }
    }

    fn update(&mut self, name: &Name, boot: u64, raise: Raise, is_confirmed: bool) {
        let known = self.updates.entry(Stream { name: name.clone(), boot });
        let (all, confirmed) = known.or_insert((raise, is_confirmed));
        match is_confirmed && !*confirmed {
            // A claim by others may be too large.
            true => (*all, *confirmed) = (Raise { low: all.low.min(raise.low), ..raise }, true),
            false => {
                *all = Raise { low: all.low.min(raise.low), high: all.high.max(raise.high) };
            }
        }
    }

    /// Changes the state and the timer (section 4.5).
    fn react(&mut self, now: Time, clock_s: u64, vector: &Vector) {
        if let State::Suppression(merged) = &mut self.state {
            // Other streams change nothing, and there may be many.
            let known = self.table.iter().map(|(stream, _)| stream).chain([&self.own]);
            for Stream { name, boot } in known {
                merged.raise(name, *boot, vector.get(name, *boot));
            }
            return;
        }
        match self.missing(clock_s, vector) {
            None => self.timer = now + self.periodic(),
            // The vector was sent before its sender had received those numbers.
            Some(updated) if now.since(updated) < self.config.suppression => {}
            Some(_) => {
                self.state = State::Suppression(vector.clone());
                self.timer = now + self.suppression();
            }
        }
    }

    /// The earliest instant at which a number was raised that `vector` lacks; `None` if it lacks
    /// none.
    fn missing(&self, clock_s: u64, vector: &Vector) -> Option<Time> {
        let current = self.table.current(clock_s);
        let lacking = current
            .filter(|(stream, entry)| vector.get(&stream.name, stream.boot) < entry.seq)
            .map(|(_, entry)| entry.updated);
        if vector.get(&self.own.name, self.own.boot) < self.seq {
            lacking.chain([self.published]).min()
        } else {
            lacking.min()
        }
    }

    /// The vector to send now, at the time `clock_s`, in seconds since 1970.
    pub fn poll_transmit(&mut self, now: Time, clock_s: u64) -> Option<Vector> {
        if now >= self.timer {
            self.expire(clock_s);
            self.timer = now + self.periodic();
        }
        if !std::mem::take(&mut self.is_due) {
            return None;
        }
        self.state = State::Steady;
        self.timer = now + self.periodic();
        (self.sent, self.stats.sent) = (now, self.stats.sent + 1);
        Some(self.vector(clock_s))
    }

    /// The timer has expired: the vector is sent, unless others have sent it.
    fn expire(&mut self, clock_s: u64) {
        match std::mem::replace(&mut self.state, State::Steady) {
            State::Suppression(merged) if self.missing(clock_s, &merged).is_none() => {
                self.stats.suppressed += 1;
            }
            _ => self.is_due = true,
        }
    }

    /// The instant at which [`Member::poll_transmit`] has a vector at the latest.
    #[must_use]
    pub fn next_deadline(&self) -> Time {
        if self.is_due { Time::ZERO } else { self.timer }
    }

    /// New publications of others.
    pub fn poll_update(&mut self) -> Option<Update> {
        let (stream, (Raise { low, high }, is_confirmed)) = self.updates.pop_first()?;
        Some(Update { stream, low, high, is_confirmed })
    }

    fn periodic(&mut self) -> Duration {
        self.config.periodic.mul_f64(1.0 - JITTER + 2.0 * JITTER * self.rng.unit())
    }

    /// c · (1 - e^((v - c) / (c / f))), with v uniform in 0..c (section 4.1): nearly always near c,
    /// and seldom early, so one member answers before the others.
    fn suppression(&mut self) -> Duration {
        let exponent = (self.rng.unit() - 1.0) * DECAY;
        self.config.suppression.mul_f64(1.0 - math::exp(exponent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOCK: u64 = 1_736_266_473;

    fn stream(name: &str, boot: u64) -> Stream {
        Stream { name: name.parse().unwrap(), boot }
    }

    fn member(name: &str) -> Member {
        let rng = Rng::stream(1, &["sync", name]);
        let mut member = Member::new(Config::default(), stream(name, 100), rng, Time::ZERO);
        assert!(member.poll_transmit(Time::ZERO, CLOCK).is_some(), "it says that it is there");
        member
    }

    fn vector(streams: &[(&str, u64, u64)]) -> Vector {
        let mut vector = Vector::new();
        for (name, boot, seq) in streams {
            vector.raise(&name.parse().unwrap(), *boot, *seq);
        }
        vector
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    fn deliver(member: &mut Member, ms: u64, streams: &[(&str, u64, u64)]) {
        member.receive(at(ms), CLOCK, &vector(streams), None);
    }

    fn updates(member: &mut Member) -> Vec<(String, u64, u64)> {
        let mut all = Vec::new();
        while let Some(Update { stream, low, high, .. }) = member.poll_update() {
            all.push((stream.name.to_string(), low, high));
        }
        all
    }

    /// Section 5.1: a publication is sent at once, and no answer follows.
    #[test]
    fn the_example_without_loss() {
        let (mut a, mut b) = (member("/A"), member("/B"));
        deliver(&mut a, 0, &[("/B", 100, 15), ("/C", 100, 25)]);
        updates(&mut a);
        (1..=11).for_each(|seq| assert_eq!(a.publish(at(1)), seq));
        let sent = a.poll_transmit(at(1), CLOCK).unwrap();
        assert_eq!(sent, vector(&[("/A", 100, 11), ("/B", 100, 15), ("/C", 100, 25)]));
        assert_eq!(a.poll_transmit(at(1), CLOCK), None, "once");
        deliver(&mut b, 2, &[("/A", 100, 10)]);
        assert_eq!(updates(&mut b), [("/A".to_owned(), 1, 10)]);
        b.receive(at(3), CLOCK, &sent, Some(stream("/A", 0).name.as_ref()));
        let confirmed = b.poll_update().unwrap();
        assert_eq!((confirmed.low, confirmed.high, confirmed.is_confirmed), (1, 11, true));
        let quiet = b.next_deadline();
        assert!(quiet >= at(27_003) && quiet <= at(33_003), "{quiet:?}");
    }

    /// Section 5.2: the member whose timer expires first answers an outdated vector, the other one
    /// does not.
    #[test]
    fn the_example_with_loss() {
        let (mut a, mut b) = (member("/A"), member("/B"));
        let now = [("/A", 100, 11), ("/B", 100, 15), ("/C", 100, 25)];
        a.publish(at(0));
        a.poll_transmit(at(0), CLOCK).unwrap();
        deliver(&mut b, 0, &now);
        (1..=15).for_each(|seq| assert_eq!(b.publish(at(0)), seq));
        b.poll_transmit(at(0), CLOCK).unwrap();
        deliver(&mut a, 0, &now);
        (2..=11).for_each(|seq| assert_eq!(a.publish(at(0)), seq));
        a.poll_transmit(at(0), CLOCK).unwrap();
        let outdated = [("/A", 100, 10), ("/B", 100, 15), ("/C", 100, 25)];
        deliver(&mut a, 1_000, &outdated);
        deliver(&mut b, 1_000, &outdated);
        for member in [&a, &b] {
            let timer = member.next_deadline();
            assert!(timer > at(1_000) && timer <= at(1_200), "{timer:?}");
        }
        let sent = a.poll_transmit(a.next_deadline(), CLOCK).unwrap();
        assert_eq!(sent, vector(&now));
        b.receive(b.next_deadline(), CLOCK, &sent, None);
        assert_eq!(b.poll_transmit(b.next_deadline(), CLOCK), None);
        assert_eq!((b.stats().suppressed, b.stats().sent), (1, 2));
    }

    /// Section 5.3: a member that lost its state comes back with another bootstrap time.
    #[test]
    fn the_example_with_a_new_start() {
        let mut b = member("/B");
        deliver(&mut b, 0, &[("/A", 1_636_266_330, 10), ("/C", 100, 25)]);
        deliver(&mut b, 1_000, &[("/A", 1_736_266_473, 1)]);
        assert_eq!(updates(&mut b).len(), 3, "an update for each stream that was raised");
        let sent = b.poll_transmit(b.next_deadline(), CLOCK).unwrap();
        assert_eq!(sent.get(&stream("/A", 0).name, 1_636_266_330), 10);
        assert_eq!(sent.get(&stream("/A", 0).name, 1_736_266_473), 1);
    }

    #[test]
    fn vectors_that_crossed_an_update_are_not_answered() {
        let mut b = member("/B");
        deliver(&mut b, 1_000, &[("/A", 100, 11)]);
        deliver(&mut b, 1_199, &[("/A", 100, 10)]);
        assert!(b.next_deadline() > at(2_000), "steady");
        deliver(&mut b, 1_200, &[("/A", 100, 10)]);
        assert!(b.next_deadline() <= at(1_400), "suppression");
    }

    #[test]
    fn a_quiet_group_sends_one_vector_per_period() {
        let mut b = member("/B");
        let first = b.next_deadline();
        deliver(&mut b, 20_000, &[]);
        assert!(b.next_deadline() > first);
        assert!(b.poll_transmit(first, CLOCK).is_none());
        assert!(b.poll_transmit(b.next_deadline(), CLOCK).is_some());
    }

    #[test]
    fn members_with_full_tables_do_not_answer_each_other_without_end() {
        let limits = Limits { bytes: 100, ..Limits::default() };
        let config = Config { limits, ..Config::default() };
        let mut members = ["/A", "/B"].map(|name| {
            let rng = Rng::stream(1, &["sync", name]);
            Member::new(config, stream(name, 100), rng, Time::ZERO)
        });
        for (member, other) in members.iter_mut().zip(["/C", "/D"]) {
            deliver(member, 0, &[(other, 1, 1), (other, 2, 1), (other, 3, 1)]);
        }
        for ms in 0..20_000 {
            for from in 0..2 {
                if let Some(vector) = members[from].poll_transmit(at(ms), CLOCK) {
                    members[1 - from].receive(at(ms), CLOCK, &vector, None);
                }
            }
        }
        let sent = members.iter().map(|member| member.stats().sent).sum::<u64>();
        // Each sends its first vector, and one answer in each pause.
        let pause = Config::default().periodic.mul_f64(PAUSE);
        let answers = (20.0 / pause.as_secs_f64()).ceil() as u64;
        assert!(members[0].stats().no_room > 0 && sent <= 2 * (1 + answers), "{sent} in 20 s");
    }

    #[test]
    fn claims_about_own_publications_change_nothing() {
        let mut b = member("/B");
        b.publish(at(0));
        deliver(&mut b, 0, &[("/B", 100, 900)]);
        assert_eq!((b.publish(at(1)), b.stats().foreign), (2, 1));
        assert_eq!(b.vector(CLOCK), vector(&[("/B", 100, 2)]));
        // Another start of the same member is known by others only.
        deliver(&mut b, 2, &[("/B", 50, 7)]);
        assert_eq!(updates(&mut b), [("/B".to_owned(), 1, 7)]);
    }

    /// The member's own vector would confirm what another one has made up.
    #[test]
    fn later_starts_are_taken_from_the_same_member_only() {
        let mut b = member("/B");
        let carol = stream("/C", 0).name;
        b.receive(at(0), CLOCK, &vector(&[("/B", 101, 50)]), Some(carol.as_ref()));
        assert_eq!((updates(&mut b), b.stats().foreign), (Vec::new(), 1));
        assert_eq!(b.vector(CLOCK), vector(&[("/B", 100, 0)]));
        let own = stream("/B", 0).name;
        b.receive(at(1), CLOCK, &vector(&[("/B", 101, 3)]), Some(own.as_ref()));
        assert_eq!(updates(&mut b), [("/B".to_owned(), 1, 3)]);
    }

    #[test]
    fn a_stream_of_the_future_is_taken_from_its_member_and_not_sent() {
        let mut b = member("/B");
        let far = CLOCK + 86_401;
        deliver(&mut b, 0, &[("/A", far, 1), ("/C", far - 1, 2)]);
        assert_eq!((updates(&mut b).len(), b.stats().future), (1, 1));
        let name = stream("/A", far).name;
        b.receive(at(1), CLOCK, &vector(&[("/A", far, 1)]), Some(name.as_ref()));
        assert_eq!(updates(&mut b), [("/A".to_owned(), 1, 1)]);
        assert_eq!(b.vector(CLOCK), vector(&[("/C", far - 1, 2)]));
        assert_eq!(b.vector(CLOCK + 1).iter().count(), 2);
    }

    #[test]
    fn suppression_timeouts_are_within_the_period_and_mostly_late() {
        let mut b = member("/B");
        let mut late = 0;
        for _ in 0..1_000 {
            let timeout = b.suppression();
            assert!(timeout <= Config::default().suppression);
            late += usize::from(timeout > Duration::from_millis(100));
        }
        // 1 - e^(-10 (1 - v)) > 1/2 for v < 0.93.
        assert!((900..960).contains(&late), "{late}");
    }
}
