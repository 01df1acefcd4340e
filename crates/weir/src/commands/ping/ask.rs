//! `weir ping` without `--serve`

use super::name::below;
use super::printed::{Asked, Printed};
use crate::cli::packets::PingArgs;
use crate::exit::{Failure, Kind};
use crate::output;
use crate::signals::Stop;
use control::{Duration, Rng, Time};
use net::client::{Address, Connection, Endpoint};
use packet::{Component, Data, Interest, InterestBuf, LpPacket, NackReason, Name};
use std::collections::BTreeMap;

/// A turn lasts this long at most, so that a signal is noticed.
const TURN: Duration = Duration::from_millis(250);
/// Interests that may wait for an answer.
const MOST_OPEN: usize = 100_000;

/// The end of an Interest.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Answered(Duration),
    Rejected(NackReason),
    GivenUp,
}

/// An unanswered Interest.
struct Open {
    nonce: u32,
    sent_at: Time,
}

/// Sends an Interest in each interval.
struct Asker {
    prefix: Name,
    interval: Duration,
    timeout: Duration,
    is_fresh: bool,
    /// The number of the next Interest, and the number of Interests still to be sent.
    next: u64,
    left: u64,
    next_at: Time,
    open: BTreeMap<u64, Open>,
    rng: Rng,
    /// The ends of Interests, for the user.
    fates: Vec<(u64, Fate)>,
}

impl Asker {
    /// The number in the name, if it is of this program.
    fn number(&self, name: packet::NameRef<'_>) -> Option<u64> {
        let prefix = self.prefix.as_ref();
        let number = name.get(prefix.components().count()).filter(|_| name.starts_with(prefix))?;
        std::str::from_utf8(number.value()).ok()?.parse().ok()
    }

    fn ends(&mut self, number: u64, fate: Fate) {
        if self.open.remove(&number).is_some() {
            self.fates.push((number, fate));
        }
    }

    fn is_over(&self) -> bool {
        self.left == 0 && self.open.is_empty()
    }

    fn timeout_at(&self) -> Option<Time> {
        // Numbers grow with time.
        self.open.values().next().map(|open| open.sent_at + self.timeout)
    }
}

impl Endpoint for Asker {
    fn receive(&mut self, now: Time, frame: &[u8]) {
        let Ok(link) = LpPacket::decode(frame) else { return };
        let Some(fragment) = link.fragment() else { return };
        if let Some(reason) = link.nack() {
            let Ok(returned) = Interest::decode(fragment) else { return };
            let Some(number) = self.number(returned.name()) else { return };
            if self.open.get(&number).is_some_and(|open| returned.nonce() == Some(open.nonce)) {
                self.ends(number, Fate::Rejected(reason));
            }
            return;
        }
        let Ok(data) = Data::decode(fragment) else { return };
        let Some(number) = self.number(data.name()) else { return };
        if let Some(open) = self.open.get(&number) {
            let took = now.since(open.sent_at);
            self.ends(number, Fate::Answered(took));
        }
    }

    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        if self.left == 0 || now < self.next_at || self.open.len() >= MOST_OPEN {
            return false;
        }
        let number = self.next;
        (self.next, self.left) = (number.wrapping_add(1), self.left - 1);
        // A host that was suspended does not catch up.
        let next_at = self.next_at + self.interval;
        self.next_at = if next_at > now { next_at } else { now + self.interval };
        let nonce = self.rng.next_u32();
        let component = Component::generic(number.to_string().as_bytes());
        let interest = InterestBuf {
            must_be_fresh: self.is_fresh,
            nonce: Some(nonce),
            lifetime_ms: Some(self.timeout.as_millis()),
            ..InterestBuf::new(self.prefix.clone().with(&component))
        };
        interest.encode_into(out);
        self.open.insert(number, Open { nonce, sent_at: now });
        true
    }

    fn next_deadline(&mut self, _now: Time) -> Option<Time> {
        let next_at = (self.left > 0).then_some(self.next_at);
        self.timeout_at().into_iter().chain(next_at).min()
    }

    fn on_deadline(&mut self, now: Time) {
        while self.timeout_at().is_some_and(|at| at <= now) {
            let Some(number) = self.open.keys().next().copied() else { return };
            self.ends(number, Fate::GivenUp);
        }
    }
}

/// The counts and round trips so far.
#[derive(Default)]
struct Tally {
    sent: u64,
    answered: u64,
    rejected: u64,
    given_up: u64,
    least: f64,
    most: f64,
    sum: f64,
    squares: f64,
}

impl Tally {
    fn add(&mut self, fate: Fate) {
        match fate {
            Fate::Answered(took) => {
                let ms = took.as_secs_f64() * 1e3;
                self.least = if self.answered == 0 { ms } else { self.least.min(ms) };
                self.most = self.most.max(ms);
                (self.sum, self.squares) = (self.sum + ms, self.squares + ms * ms);
                self.answered += 1;
            }
            Fate::Rejected(_) => self.rejected += 1,
            Fate::GivenUp => self.given_up += 1,
        }
    }

    /// Mean and standard deviation in milliseconds.
    fn mean(&self) -> (f64, f64) {
        let n = self.answered.max(1) as f64;
        let mean = self.sum / n;
        (mean, (self.squares / n - mean * mean).max(0.0).sqrt())
    }

    /// The share of unanswered Interests among the finished ones.
    fn lost(&self) -> f64 {
        let over = self.answered + self.rejected + self.given_up;
        (self.rejected + self.given_up) as f64 / over.max(1) as f64
    }
}

/// Asks until all Interests have been answered or given up, or until interrupted.
pub fn run(args: &PingArgs) -> Result<(), Failure> {
    let stop = Stop::listen().map_err(|error| Failure::new(Kind::Failed, error))?;
    let mut connection = Connection::open(Address::find(args.forwarder.socket.as_deref())?)?;
    let chance = getrandom::u64().map_err(|error| Failure::new(Kind::Failed, error))?;
    let mut asker = Asker {
        prefix: below(&args.prefix),
        interval: args.interval,
        timeout: args.timeout,
        is_fresh: !args.stored,
        next: args.start.unwrap_or(chance >> 1),
        left: args.count.map_or(u64::MAX, std::num::NonZeroU64::get),
        next_at: connection.now(),
        open: BTreeMap::new(),
        rng: Rng::stream(chance, &["ping"]),
        fates: Vec::new(),
    };
    let (first, asked) = (asker.next, asker.left);
    let mut summary = Tally::default();
    let mut lost = None;
    while lost.is_none() && !asker.is_over() && !stop.requested() {
        let until = connection.now() + TURN;
        lost = connection.turn(&mut asker, until).err();
        for (number, fate) in asker.fates.drain(..) {
            summary.add(fate);
            if !args.quiet && !args.json {
                output::result(&line(&args.prefix, number.wrapping_sub(first) + 1, fate))?;
            }
        }
    }
    summary.sent = asked - asker.left;
    show(args, &summary)?;
    if let Some(error) = lost {
        return Err(error.into());
    }
    match summary.answered {
        0 if stop.requested() => {
            Err(Failure::silent(Kind::Interrupted, "interrupted before an answer"))
        }
        0 => Err(Failure::silent(Kind::NotFound, "no Interest was answered")),
        _ => Ok(()),
    }
}

fn line(prefix: &Name, count: u64, fate: Fate) -> String {
    match fate {
        Fate::Answered(took) => {
            format!("{prefix} {count}: {:.3} ms", took.as_secs_f64() * 1e3)
        }
        Fate::Rejected(reason) => format!("{prefix} {count}: rejected, {reason}"),
        Fate::GivenUp => format!("{prefix} {count}: no answer"),
    }
}

fn show(args: &PingArgs, summary: &Tally) -> Result<(), Failure> {
    let (mean, deviation) = summary.mean();
    let Tally { sent, answered, rejected, given_up, least, most, .. } = *summary;
    if args.json {
        let [least, mean, most, deviation] = match answered {
            0 => [None; 4],
            _ => [least, mean, most, deviation].map(Some),
        };
        return output::json(&Printed::Asked(Asked {
            name: args.prefix.to_string(),
            sent,
            answered,
            rejected,
            timeouts: given_up,
            rtt_min_ms: least,
            rtt_mean_ms: mean,
            rtt_max_ms: most,
            rtt_stdev_ms: deviation,
        }));
    }
    let interests = output::counted(sent, "Interest");
    let rest = sent - answered - rejected - given_up;
    let waiting = if rest > 0 { format!(", {rest} still waiting") } else { String::new() };
    output::wrapped(&format!(
        "{interests}, {answered} answered, {rejected} rejected, {given_up} without an \
         answer ({:.1} %){waiting}",
        100.0 * summary.lost()
    ))?;
    if answered == 0 {
        return Ok(());
    }
    output::wrapped(&format!(
        "round trip: least {least:.3} ms, mean {mean:.3} ms, most {most:.3} ms, standard deviation \
         {deviation:.3} ms"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::DataBuf;

    fn asker(count: u64) -> Asker {
        Asker {
            prefix: below(&"/a".parse().unwrap()),
            interval: Duration::from_millis(10),
            timeout: Duration::from_millis(25),
            is_fresh: true,
            next: 7,
            left: count,
            next_at: Time::ZERO,
            open: BTreeMap::new(),
            rng: Rng::stream(1, &["test"]),
            fates: Vec::new(),
        }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    fn data(uri: &str) -> Vec<u8> {
        DataBuf::new(uri.parse().unwrap(), "").encode_digest().to_vec()
    }

    /// The names of the Interests sent at `now`.
    fn sent(asker: &mut Asker, now: Time) -> Vec<String> {
        let mut names = Vec::new();
        let mut wire = Vec::new();
        while asker.poll_transmit(now, &mut wire) {
            let interest = Interest::decode(&wire).unwrap();
            assert!(interest.must_be_fresh());
            names.push(interest.name().to_string());
            wire.clear();
        }
        names
    }

    #[test]
    fn an_interest_leaves_in_each_interval_and_all_end() {
        let mut asker = asker(3);
        assert_eq!(sent(&mut asker, at(0)), ["/a/ping/7"]);
        assert_eq!(sent(&mut asker, at(9)), [""; 0]);
        assert_eq!(asker.next_deadline(at(9)), Some(at(10)));
        assert_eq!(sent(&mut asker, at(10)), ["/a/ping/8"]);
        asker.receive(at(12), &data("/a/ping/8"));
        // Once, and only answers to its own Interests.
        asker.receive(at(13), &data("/a/ping/8"));
        asker.receive(at(13), &data("/a/ping/9"));
        asker.receive(at(13), &data("/b/ping/7"));
        assert_eq!(sent(&mut asker, at(20)), ["/a/ping/9"]);
        asker.on_deadline(at(25));
        assert!(!asker.is_over());
        asker.on_deadline(at(45));
        assert!(asker.is_over());
        let answered = Fate::Answered(Duration::from_millis(2));
        assert_eq!(asker.fates, [(8, answered), (7, Fate::GivenUp), (9, Fate::GivenUp)]);
        assert_eq!(asker.next_deadline(at(50)), None);
    }

    #[test]
    fn a_pause_of_the_host_brings_no_burst() {
        let mut asker = asker(5);
        assert_eq!(sent(&mut asker, at(0)).len(), 1);
        assert_eq!(sent(&mut asker, at(1000)).len(), 1);
        assert_eq!(sent(&mut asker, at(1009)).len(), 0);
        assert_eq!(sent(&mut asker, at(1010)).len(), 1);
    }

    #[test]
    fn a_summary_has_mean_and_deviation() {
        let mut summary = Tally::default();
        for ms in [2, 4, 6] {
            summary.add(Fate::Answered(Duration::from_millis(ms)));
        }
        summary.add(Fate::GivenUp);
        let (mean, deviation) = summary.mean();
        // The root of ((2 - 4)^2 + 0 + (6 - 4)^2) / 3.
        assert!((mean - 4.0).abs() < 1e-9 && (deviation - (8.0f64 / 3.0).sqrt()).abs() < 1e-9);
        assert!((summary.lost() - 0.25).abs() < 1e-9);
        assert!((summary.least - 2.0).abs() < 1e-9 && (summary.most - 6.0).abs() < 1e-9);
    }
}
