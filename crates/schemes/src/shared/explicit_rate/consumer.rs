//! The consumer of MIRCC, and that of RCP, which is its single-path form.
//!
//! Limits that the paper leaves open, and their purposes:
//!
//! - until a path is known, and when all are silent, one Interest leaves in `initial_gap`;
//! - one leaves in `longest_gap`, whatever the stamps are, so that better ones can come;
//! - Data without a stamp has passed no link with rates: while all Data is such, a window applies
//!   (`unstamped.rs`, which covers stamps on a part of the path, too), and beside stamped paths an
//!   unstamped one has no rate;
//! - in an answer to a repetition a stamp counts only if it is lower, as in a Nack: a content store
//!   behind the loss may answer, and then the stamp is of a part of the path;
//! - a stamp above [`MAX_RATE`] is taken as that and counted, and the rates of all paths together
//!   do not exceed it: beyond, each is lowered in proportion;
//! - at most `in_flight` bytes are in flight, whatever rate is stamped;
//! - a path is forgotten after three timeouts in a row, or when requests by it brought nothing for
//!   five round trips (and its timeout).

use super::unstamped::{self, Unstamped};
use control::{
    Arrival, Ask, Cause, Controller, Cx, Duration, Lane, Loss, MAX_RATE, ParamSpec, Params, Permit,
    Rate, RttEstimate, Sent, Size, Ticket, Time, Value, WindowLaw,
};
use packet::HopOptions;
use packet::options::{
    LabelMode, PathId, PathLabel, RateStamp, RttHint, SteeringHint, SteeringKind, TrafficClass,
};

/// The pause of a consumer that knows no path.
pub(crate) const INITIAL_GAP: ParamSpec = ParamSpec {
    name: "initial_gap",
    default: Value::Time(Duration::from_millis(100)),
    range: (1e-3, 10.0),
    help: "between the Interests of a consumer that knows no rate yet",
    source: "not stated in the paper",
};

/// The longest pause.
pub(crate) const LONGEST_GAP: ParamSpec = ParamSpec {
    name: "longest_gap",
    default: Value::Time(Duration::from_secs(1)),
    range: (0.01, 60.0),
    help: "one Interest leaves in this time, however low the stamps are",
    source: "own: a rate of zero must not last",
};

/// The bound of what is in flight.
pub(crate) const MOST_IN_FLIGHT: ParamSpec = ParamSpec {
    name: "in_flight",
    default: Value::Size(Size(64_000_000)),
    range: (1e4, 1e12),
    help: "the limit of bytes of Data in flight, at any stamped rate",
    source: "own: stamps cannot be trusted",
};

/// How a consumer steers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Data collects the links at which its path parted from others in a Bloom filter.
    Bloom,
    /// A random value is hashed where paths part.
    Random,
    /// Data collects the labels of the faces that it arrived on (RFC 9531).
    Label,
}

impl Form {
    /// The names of the forms, for parameter tables.
    pub(crate) const NAMES: [&'static str; 3] = ["bloom", "random", "label"];

    /// The form of this name.
    pub(crate) fn named(name: &str) -> Form {
        match name {
            "random" => Form::Random,
            "label" => Form::Label,
            _ => Form::Bloom,
        }
    }
}

/// Paths that a consumer knows at most; of more, those that brought Data last.
const MOST_PATHS: usize = 16;

/// Timeouts in a row after which a path is forgotten.
const LOSSES: u32 = 3;

/// Round trips without Data, and at least the retransmission timeout, after which a path is
/// forgotten.
const SILENT_ROUND_TRIPS: f64 = 5.0;

/// Interests may leave this far ahead of their pace, so that a driver need not wake for each.
const BURST: Duration = Duration::from_micros(500);

/// The lane of a consumer that knows no path; those of paths follow, two each.
const NO_PATH: Lane = 0;

fn lane_of(slot: usize, class: usize) -> Lane {
    (1 + 2 * slot + class) as Lane
}

/// When the next Interest may leave: after what the last one asks for has passed at the rate, so
/// that a rate that changes counts at once.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    from: Time,
    asked: Size,
}

impl Clock {
    fn ready(&self, rate: f64) -> Time {
        self.from + Rate(rate as u64).time_for(self.asked)
    }

    /// An Interest leaves. One that left before its turn (there is a longest pause), or after time
    /// went back, does not make the next one late.
    fn ask(&mut self, now: Time, rate: f64, asked: Size) {
        let ready = self.ready(rate);
        self.from = if ready > now + BURST { now } else { ready.max(now - BURST) };
        self.asked = asked;
    }
}

/// How to get Interests onto a path.
#[derive(Clone, Debug, PartialEq)]
enum Hint {
    Steering(SteeringHint),
    Label(PathLabel),
}

#[derive(Clone, Debug)]
struct Path {
    id: PathId,
    hint: Option<Hint>,
    /// R_p and R_s, in bit/s of Data.
    rates: [f64; 2],
    /// A link has stamped its Data.
    is_stamped: bool,
    seen_at: Time,
    /// When the first Interest left that nothing has come after.
    waits_since: Option<Time>,
    losses: u32,
    rtt: RttEstimate,
    clocks: [Clock; 2],
}

impl Path {
    fn is_silent(&self, now: Time) -> bool {
        let srtt = self.rtt.smoothed().unwrap_or_default();
        let patience = srtt.mul_f64(SILENT_ROUND_TRIPS).max(self.rtt.rto());
        self.losses >= LOSSES || self.waits_since.is_some_and(|since| now.since(since) > patience)
    }
}

/// The differences between consumers.
struct Config {
    /// How Interests are steered; `None` is a single path.
    form: Option<Form>,
    /// The share of Interests that look for paths.
    discovery: f64,
    initial_gap: Duration,
    longest_gap: Duration,
    most_in_flight: u64,
}

/// The memo of an Interest that looks for a path.
const DISCOVERY: u64 = 1;

/// See the module.
pub(crate) struct Consumer {
    config: Config,
    paths: [Option<Path>; MOST_PATHS],
    /// Follows each Data packet of all paths: the value for links (their d(t) is a mean itself).
    rtt: RttEstimate,
    unstamped: Unstamped,
    /// The size of the last Data packet.
    size: Size,
    /// When an Interest left last, and when one left without a path.
    sent_at: Option<Time>,
    received_at: Time,
    /// When Data came last that had been asked for once.
    first_at: Time,
    backed_off_at: Option<Time>,
    /// Stamps that were no better than none.
    ignored: u64,
    /// Stamps of more than any link carries.
    lowered: u64,
}

/// The consumer of RCP: one path, one class.
pub(crate) fn single_path(params: &Params) -> Consumer {
    let config = Config { form: None, discovery: 0.0, ..Config::new(params) };
    Consumer::new(config, unstamped::law(params))
}

/// The consumer of MIRCC.
pub(crate) fn multipath(params: &Params) -> Consumer {
    let form = params.switch("dual").then(|| Form::named(params.word("hint")));
    let discovery = params.number("discovery");
    Consumer::new(Config { form, discovery, ..Config::new(params) }, unstamped::law(params))
}

impl Config {
    fn new(params: &Params) -> Config {
        Config {
            form: None,
            discovery: 0.0,
            initial_gap: params.time("initial_gap"),
            longest_gap: params.time("longest_gap"),
            most_in_flight: params.number("in_flight") as u64,
        }
    }
}

impl Consumer {
    fn new(config: Config, law: Box<dyn WindowLaw>) -> Consumer {
        Consumer {
            config,
            paths: Default::default(),
            rtt: RttEstimate::new(),
            unstamped: Unstamped::new(law),
            size: Size(0),
            sent_at: None,
            received_at: Time::ZERO,
            first_at: Time::ZERO,
            backed_off_at: None,
            ignored: 0,
            lowered: 0,
        }
    }

    /// The paths that are in use.
    fn live(&self, now: Time) -> impl Iterator<Item = (usize, &Path)> {
        let known = self.paths.iter().enumerate();
        known
            .filter_map(move |(slot, path)| Some((slot, path.as_ref()?)))
            .filter(move |(_, path)| !path.is_silent(now))
    }

    /// Rates by slot and class at which Interests leave, in bit/s of Data.
    ///
    /// Section 4.2: the primary class at the best path's rate X = max R_p, split in proportion to
    /// R_p: X R_p / sum R_p is never more than R_p. The secondary class at R_s on each path.
    fn rates(&self, now: Time) -> impl Iterator<Item = (usize, usize, f64)> {
        let classes = if self.config.form.is_some() { 2 } else { 1 };
        let (mut best, mut sums) = (0.0_f64, [0.0; 2]);
        for (_, path) in self.live(now) {
            best = best.max(path.rates[0]);
            sums = [sums[0] + path.rates[0], sums[1] + path.rates[1]];
        }
        let share = if sums[0] > 0.0 { best / sums[0] } else { 0.0 };
        let total = best + if classes == 2 { sums[1] } else { 0.0 };
        let most = MAX_RATE.0 as f64;
        let scale = if total > most { most / total } else { 1.0 };
        self.live(now).flat_map(move |(slot, path)| {
            let rates = [scale * share * path.rates[0], scale * path.rates[1]];
            (0..classes).map(move |class| (slot, class, rates[class]))
        })
    }

    /// The segments that stamps allow for in a round trip; `None` without stamps.
    fn stamped_window(&self, now: Time) -> Option<f64> {
        self.live(now).find(|(_, path)| path.is_stamped)?;
        let rate: f64 = self.rates(now).map(|(.., rate)| rate).sum();
        let srtt = self.rtt.smoothed().unwrap_or(RttEstimate::INITIAL_RTO).as_secs_f64();
        Some(rate * srtt / (self.size.0.max(1) as f64 * 8.0))
    }

    /// The lane whose turn it is, and when; of equals the primary class of the first path.
    fn next(&self, now: Time) -> (Lane, Time) {
        let mut turn = None;
        for (slot, class, rate) in self.rates(now) {
            let ready = self.paths[slot].as_ref().map_or(now, |p| p.clocks[class].ready(rate));
            if turn.is_none_or(|(_, at)| ready < at) {
                turn = Some((lane_of(slot, class), ready));
            }
        }
        match turn {
            Some((lane, at)) => (lane, at.min(self.ready(now, self.config.longest_gap))),
            None => (NO_PATH, self.ready(now, self.config.initial_gap)),
        }
    }

    /// When an Interest may leave that has to leave `gap` after the last one.
    fn ready(&self, now: Time, gap: Duration) -> Time {
        self.sent_at.map_or(now, |at| at.min(now) + gap)
    }

    fn slot_and_class(lane: Lane) -> Option<(usize, usize)> {
        let lane = usize::from(lane.checked_sub(1)?);
        Some((lane / 2, lane % 2))
    }

    fn path_of(&mut self, lane: Lane) -> Option<&mut Path> {
        let (slot, _) = Consumer::slot_and_class(lane)?;
        self.paths.get_mut(slot)?.as_mut()
    }

    /// Where Data with these options came from.
    fn id(&self, options: &HopOptions) -> PathId {
        match self.config.form {
            Some(_) => options.get::<PathId>().unwrap_or_default(),
            None => PathId::default(),
        }
    }

    fn find(&self, id: PathId) -> Option<usize> {
        self.paths.iter().position(|path| path.as_ref().is_some_and(|path| path.id == id))
    }

    /// The slot of a path; a new one takes a free slot, or that of the path that is silent longest.
    fn slot_of(&mut self, cx: &mut Cx<'_>, id: PathId) -> usize {
        if let Some(slot) = self.find(id) {
            return slot;
        }
        let slot = (0..MOST_PATHS)
            .min_by_key(|slot| self.paths[*slot].as_ref().map(|path| path.seen_at))
            .unwrap_or(0);
        cx.note("path found", slot as f64);
        self.paths[slot] = Some(Path {
            id,
            hint: None,
            rates: [0.0; 2],
            is_stamped: false,
            seen_at: cx.now,
            waits_since: None,
            losses: 0,
            rtt: RttEstimate::new(),
            clocks: [Clock::default(); 2],
        });
        slot
    }

    /// Takes the stamps of Data, without smoothing (section 3.1).
    fn take_stamp(&mut self, slot: usize, options: &HopOptions) {
        let stamp = options.get::<RateStamp>().filter(|stamp| stamp.primary < u64::MAX);
        let Some(path) = &mut self.paths[slot] else { return };
        match stamp {
            Some(stamp) => {
                // A second class that no link lowered does not exist on the path.
                let secondary = if stamp.secondary == u64::MAX { 0 } else { stamp.secondary };
                let stamped = [stamp.primary, secondary];
                path.rates = stamped.map(|rate| rate.min(MAX_RATE.0) as f64);
                path.is_stamped = true;
                self.lowered += u64::from(stamped.iter().any(|rate| *rate > MAX_RATE.0));
            }
            // Of a path that is stamped, what comes without is from a store nearby.
            None => self.ignored += u64::from(path.is_stamped),
        }
    }

    /// Takes the stamps of what may have come by a part of the path: they count if they are lower.
    fn lower(&mut self, slot: usize, options: &HopOptions) {
        let path = self.paths.get_mut(slot).and_then(Option::as_mut);
        if let (Some(stamp), Some(path)) = (options.get::<RateStamp>(), path) {
            path.rates[0] = path.rates[0].min(stamp.primary as f64);
            path.rates[1] = path.rates[1].min(stamp.secondary as f64);
        }
    }

    /// Learns the hint that steers Interests onto the path of an answer.
    fn learn(&mut self, slot: usize, memo: [u64; 2], options: &HopOptions) {
        // A steered Interest's answer brings nothing new.
        let new = memo[0] & DISCOVERY > 0;
        let Some(path) = &mut self.paths[slot] else { return };
        if !new && path.hint.is_some() {
            return;
        }
        let learned = match self.config.form {
            None => None,
            Some(Form::Bloom) => options.get().map(Hint::Steering),
            Some(Form::Random) => new.then(|| Hint::Steering(random_value(memo[1]))),
            Some(Form::Label) => options.get().map(|mut label: PathLabel| {
                label.set_mode(LabelMode::Fallback);
                Hint::Label(label)
            }),
        };
        if learned.is_some() {
            path.hint = learned;
        }
    }

    /// The options of an Interest, and its memo. Draws the same number of dice whatever it does.
    fn dress(&self, cx: &mut Cx<'_>, lane: Lane) -> (HopOptions, [u64; 2]) {
        let mut options = HopOptions::new();
        if let Some(srtt) = self.rtt.smoothed() {
            options.set(&RttHint(srtt.0));
        }
        let Some(form) = self.config.form else { return (options, [0; 2]) };
        let looks = cx.rng.chance(self.config.discovery);
        let value = cx.rng.next_u64();
        let target = Consumer::slot_and_class(lane);
        let path = target.and_then(|(slot, _)| self.paths.get(slot)?.as_ref());
        let hint = path.and_then(|path| path.hint.as_ref()).filter(|_| !looks);
        let is_secondary = target.is_some_and(|(_, class)| class == 1);
        options.set(&if is_secondary { TrafficClass::Secondary } else { TrafficClass::Primary });
        match hint {
            Some(Hint::Steering(hint)) => options.set(hint),
            Some(Hint::Label(label)) => options.set(label),
            None => match form {
                Form::Bloom => false,
                Form::Random => options.set(&random_value(value)),
                Form::Label => options.set(&PathLabel::default()),
            },
        };
        (options, [if hint.is_none() { DISCOVERY } else { 0 }, value])
    }

    /// Silence doubles the timeout, once for all that left in it (RFC 6298, 5.5).
    fn back_off(&mut self, now: Time, sent_at: Time) {
        if self.received_at <= sent_at && self.backed_off_at.is_none_or(|at| at <= sent_at) {
            self.rtt.back_off();
            self.backed_off_at = Some(now);
        }
    }
}

/// A random value as a hint.
fn random_value(value: u64) -> SteeringHint {
    SteeringHint { kind: SteeringKind::Random, bytes: value.to_be_bytes().into_iter().collect() }
}

impl Controller for Consumer {
    fn permit(&self, now: Time, ask: &Ask<'_>) -> Permit {
        let flying = ask.in_flight.total();
        let wanted = ask.segment.0.saturating_mul(u64::from(ask.count));
        if flying.segments > 0 && flying.bytes.0.saturating_add(wanted) > self.config.most_in_flight
        {
            return Permit::Wait;
        }
        let (lane, at) = self.next(now);
        match self.unstamped.permit(now, ask) {
            Some((Permit::Now(_), true)) => return Permit::Now(lane),
            Some((Permit::Now(_), false)) | None => {}
            Some((other, _)) => return other,
        }
        if at > now + BURST { Permit::At(at - BURST) } else { Permit::Now(lane) }
    }

    fn on_sent(&mut self, cx: &mut Cx<'_>, sent: &Sent) -> Ticket {
        for slot in 0..MOST_PATHS {
            if self.paths[slot].as_ref().is_some_and(|path| path.is_silent(cx.now)) {
                cx.note("path lost", slot as f64);
                self.paths[slot] = None;
            }
        }
        let (options, memo) = self.dress(cx, sent.lane);
        let target = Consumer::slot_and_class(sent.lane);
        let own = self.rates(cx.now).find(|(slot, class, _)| Some((*slot, *class)) == target);
        let rate = own.map_or(0.0, |(.., rate)| rate);
        self.sent_at = Some(cx.now);
        let mut timeout = self.rtt.rto();
        if let Some((slot, class)) = target
            && let Some(path) = self.paths.get_mut(slot).and_then(Option::as_mut)
        {
            path.clocks[class].ask(cx.now, rate, sent.expected);
            path.waits_since.get_or_insert(cx.now);
            timeout = timeout.max(path.rtt.rto());
        }
        let mut ticket = Ticket { timeout, memo, options };
        self.unstamped.on_sent(cx, sent, &mut ticket);
        ticket
    }

    fn came_in(&self, arrival: &Arrival<'_>) -> Option<Lane> {
        if self.config.form.is_none() {
            return Some(arrival.lane);
        }
        let class = Consumer::slot_and_class(arrival.lane).map_or(0, |(_, class)| class);
        self.find(self.id(arrival.options)).map(|slot| lane_of(slot, class))
    }

    fn on_data(&mut self, cx: &mut Cx<'_>, arrival: &Arrival<'_>) {
        self.received_at = cx.now;
        let id = self.id(arrival.options);
        // A repetition may be answered by a store that the first answer has passed, with stamps of
        // a part of the path: like a Nack's they count if they are lower, unless nothing else
        // comes.
        let is_alone = cx.now.since(self.first_at) > self.rtt.rto();
        let is_of_first = arrival.rtt.is_some() || is_alone;
        if arrival.rtt.is_some() {
            self.first_at = cx.now;
        }
        let known = self.find(id).or_else(|| self.live(cx.now).next().map(|(slot, _)| slot));
        let slot = match known.filter(|_| !is_of_first) {
            Some(slot) => {
                self.lower(slot, arrival.options);
                slot
            }
            None => {
                let slot = self.slot_of(cx, id);
                self.take_stamp(slot, arrival.options);
                self.learn(slot, arrival.memo, arrival.options);
                slot
            }
        };
        self.size = arrival.size;
        let stamped = self.stamped_window(cx.now);
        self.unstamped.on_data(cx, arrival, stamped);
        let in_flight = arrival.in_flight.total().segments + 1;
        if let Some(rtt) = arrival.rtt {
            self.rtt.sample(rtt);
        }
        if let Some(path) = &mut self.paths[slot] {
            (path.seen_at, path.waits_since, path.losses) = (cx.now, None, 0);
            if let Some(rtt) = arrival.rtt {
                path.rtt.sample_of(rtt, in_flight);
            }
        }
    }

    fn overdue_at(&self, lane: Lane, sent_at: Time) -> Time {
        let path =
            Consumer::slot_and_class(lane).and_then(|(slot, _)| self.paths.get(slot)?.as_ref());
        let own = path.map_or(sent_at, |path| path.rtt.overdue_at(sent_at));
        own.max(self.rtt.overdue_at(sent_at))
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, loss: &Loss<'_>) {
        self.unstamped.on_loss(cx, loss);
        match loss.cause {
            // Section 3.1: the stamp of a Nack is of a part of the path, and counts if it is lower.
            Cause::Nack(_) => {
                if let Some((slot, _)) = Consumer::slot_and_class(loss.lane) {
                    self.lower(slot, loss.options);
                }
            }
            Cause::Timeout => {
                self.back_off(cx.now, loss.sent_at);
                if let Some(path) = self.path_of(loss.lane) {
                    path.losses += 1;
                }
            }
            Cause::Gap => {}
        }
    }

    fn gauges(&self, out: &mut dyn FnMut(Lane, &'static str, f64)) {
        let now = self.received_at;
        let mut total = 0.0;
        for (slot, class, rate) in self.rates(now) {
            out(lane_of(slot, class), "rate", rate);
            total += rate;
        }
        if let Some(window) = self.unstamped.window() {
            let srtt = self.rtt.smoothed().unwrap_or(RttEstimate::INITIAL_RTO).as_secs_f64();
            out(NO_PATH, "window", window);
            let rate = window * self.size.0 as f64 * 8.0 / srtt.max(1e-6);
            let is_stamped = self.live(now).any(|(_, path)| path.is_stamped);
            total = if is_stamped { total.min(rate) } else { rate };
        }
        // In sums of scaled rates the last digit may be one too many.
        out(NO_PATH, "rate", total.min(MAX_RATE.0 as f64));
        out(NO_PATH, "paths", self.live(now).count() as f64);
        out(NO_PATH, "stamps ignored", self.ignored as f64);
        out(NO_PATH, "stamps lowered", self.lowered as f64);
    }
}

#[cfg(test)]
mod tests;
