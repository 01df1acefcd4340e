//! `weir perf client`

use super::name::{Run, base};
use super::report::{Gauge, Lines, Sample, fairness};
use crate::cli::perf::PerfClientArgs;
use crate::exit::{Failure, Kind, Word};
use crate::output;
use crate::signals::Stop;
use crate::transfer::Transfers;
use control::{Duration, Rate, Size, Time};
use net::client::{Address, Connection, Endpoint};
use packet::{Data, Interest, LpPacket, MAX_PACKET, Name};
use rustix::time::{ClockId, clock_gettime};
use schemars::JsonSchema;
use serde::Serialize;
use transport::Histogram;
use transport::fetch::{Fetch, FetchError, ObjectInfo, Resume, Sink, Stats, Status};
use transport::publish::SEGMENT_SIZE;

/// A turn lasts this long at most, so that a signal is noticed.
const TURN: Duration = Duration::from_millis(100);
/// The duration of a measurement without `--time` and `--bytes`.
const DEFAULT_TIME: Duration = Duration::from_secs(10);
/// The size of an object that is fetched for a time: too large for any link to end before.
const ENDLESS: u64 = 1 << 50;
/// The assumed bytes of a segment's packet besides its name and content.
const BESIDES: usize = 200;

/// Keeps no content; compares the sizes of segments with those in the name of the run.
struct Sizes {
    run: Run,
    /// The first segment with another size, and that size.
    wrong: Option<(u64, usize)>,
}

impl Sink for Sizes {
    fn begin(&mut self, _info: &ObjectInfo) -> Resume {
        Resume::default()
    }

    fn write(&mut self, segment: u64, _offset: u64, content: &[u8]) {
        if content.len() != self.run.length(segment) {
            self.wrong.get_or_insert((segment, content.len()));
        }
    }
}

/// A fetch of one run, and its measurements.
struct Flow {
    run: Run,
    /// The name of its object.
    name: Name,
    fetch: Fetch,
    sizes: Sizes,
    gauge: Gauge,
    /// The time at which all its bytes had arrived, or it failed.
    ended_at: Option<Time>,
}

impl Flow {
    /// The reason if it failed, or if the server's segments do not have the sizes of the name.
    fn failure(&self) -> Option<Failure> {
        let (name, arrived) = (&self.name, self.fetch.bytes().1);
        let message = match (self.sizes.wrong, self.fetch.status()) {
            (Some((segment, len)), _) => {
                let (len, stated) = (Size(len as u64), Size(self.run.length(segment) as u64));
                format!("segment {segment} of {name} has {len}, not {stated}")
            }
            (None, Status::Failed(error)) => return Some(explained(error)),
            (None, Status::Done) if arrived < self.run.bytes => {
                format!("{name} ended after {} of {}", Size(arrived), Size(self.run.bytes))
            }
            (None, Status::Done | Status::Running) => return None,
        };
        let next = "does another program than `weir perf server` answer there?";
        Some(Failure::new(Kind::Failed, message).then(next))
    }
}

/// All flows over one connection.
struct Flows {
    flows: Vec<Flow>,
    /// The number of components before the run in names.
    before: usize,
    /// The flow that may send next.
    turn: usize,
    sent_bytes: u64,
    received_bytes: u64,
    started_at: Time,
    /// Processor time of this process before the flows began.
    cpu_before: f64,
}

impl Flows {
    /// The time from the start to `now`.
    fn elapsed(&self, now: Time) -> Time {
        Time::ZERO + now.since(self.started_at)
    }

    /// The flow to which a frame belongs.
    fn flow_of(&self, frame: &[u8]) -> Option<usize> {
        if self.flows.len() == 1 {
            return Some(0);
        }
        let link = LpPacket::decode(frame).ok()?;
        let fragment = link.fragment()?;
        let run = match link.nack() {
            Some(_) => Run::read(Interest::decode(fragment).ok()?.name(), self.before)?,
            None => Run::read(Data::decode(fragment).ok()?.name(), self.before)?,
        };
        // Numbers of flows follow each other.
        let at = run.id.wrapping_sub(self.flows.first()?.run.id);
        usize::try_from(at).ok().filter(|at| *at < self.flows.len())
    }

    /// False once all have ended, or one has another size than it should.
    fn is_running(&self) -> bool {
        self.flows.iter().all(|flow| flow.sizes.wrong.is_none())
            && self.flows.iter().any(|flow| flow.fetch.status() == Status::Running)
    }

    fn failure(&self) -> Option<Failure> {
        self.flows.iter().find_map(Flow::failure)
    }

    /// The measurements of the interval that ends now.
    fn interval(&mut self, begin: Time, end: Time) -> Sample {
        let (mut sum, mut rtt) = (Sample::default(), Histogram::default());
        for flow in &mut self.flows {
            flow.gauge.end_interval(&flow.fetch, &mut sum, &mut rtt);
        }
        sum.over(begin, end, &rtt)
    }

    /// The measurements of some flows over the whole run.
    fn whole(flows: &[Flow], end: Time) -> Sample {
        let (mut sum, mut rtt) = (Sample::default(), Histogram::default());
        for flow in flows {
            flow.gauge.whole(&flow.fetch, &mut sum, &mut rtt);
        }
        sum.over(Time::ZERO, end, &rtt)
    }
}

impl Endpoint for Flows {
    fn receive(&mut self, now: Time, frame: &[u8]) {
        self.received_bytes += frame.len() as u64;
        if let Some(flow) = self.flow_of(frame).and_then(|at| self.flows.get_mut(at)) {
            flow.fetch.receive(now, frame, &mut flow.sizes);
            flow.gauge.received(&flow.fetch);
            if flow.fetch.status() != Status::Running {
                flow.ended_at.get_or_insert(now);
            }
        }
    }

    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        let before = out.len();
        for _ in 0..self.flows.len() {
            let at = self.turn % self.flows.len();
            self.turn = at + 1;
            if self.flows[at].fetch.poll_transmit(now, out) {
                self.sent_bytes += (out.len() - before) as u64;
                return true;
            }
        }
        false
    }

    fn next_deadline(&mut self, now: Time) -> Option<Time> {
        self.flows.iter_mut().filter_map(|flow| flow.fetch.next_deadline(now)).min()
    }

    fn on_deadline(&mut self, now: Time) {
        for flow in &mut self.flows {
            flow.fetch.on_deadline(now, &mut flow.sizes);
        }
    }

    fn set_ranges(&mut self, answered: bool) {
        for flow in &mut self.flows {
            flow.fetch.set_ranges(answered);
        }
    }
}

/// The result, for programs.
#[derive(JsonSchema, Serialize)]
pub struct Report {
    /// The server's name.
    name: String,
    /// The number of the first flow's run, 16 hexadecimal digits; those of the other flows follow.
    run: String,
    /// The congestion-control scheme.
    control: String,
    /// Bytes of content per segment.
    segment_size: u64,
    /// The whole run of all flows.
    #[serde(flatten)]
    whole: Sample,
    #[serde(flatten)]
    process: Process,
    /// Jain's index of the flows' goodput, or null for a single flow.
    fairness: Option<f64>,
    /// Each flow, over its own time.
    flows: Vec<Sample>,
    /// Each interval, of all flows together.
    intervals: Vec<Sample>,
    /// A signal ended the measurement early.
    interrupted: bool,
    /// The reason if a flow or the connection failed, or null.
    error: Option<String>,
}

/// Measurements of the process.
#[derive(JsonSchema, Serialize)]
pub struct Process {
    /// Bytes of all packets to the forwarder, with link headers.
    sent_bytes: u64,
    /// Bytes of all packets from the forwarder.
    received_bytes: u64,
    /// Data received after the segment had already arrived.
    duplicates: u64,
    /// Data received that failed the check of its signature.
    forged: u64,
    /// Frames that could not be decoded.
    malformed: u64,
    /// Processor time of this process in seconds.
    cpu_s: f64,
}

/// Measures until the time is over, the bytes have arrived, or a signal comes.
pub fn run(args: &PerfClientArgs) -> Result<(), Failure> {
    let stop = Stop::listen().map_err(|error| Failure::new(Kind::Failed, error))?;
    let transfers = Transfers::new(&args.transfer)?;
    let mut flows = flows(args, &transfers)?;
    let mut connection = Connection::open(Address::find(args.forwarder.socket.as_deref())?)?;
    let (intervals, took, lost) = measure(args, &mut connection, &mut flows, &stop)?;
    let failure = lost.or_else(|| flows.failure());
    let report = report(args, &transfers, &flows, intervals, took, &stop, failure.as_ref());
    if report.whole.bytes == 0 && failure.is_none() && report.interrupted {
        let message = format!("interrupted before Data of {} arrived", args.name);
        return Err(Failure::new(Kind::Interrupted, message).then("run the same command again"));
    }
    if report.whole.bytes == 0 && failure.is_none() {
        let message = format!("nothing of {} arrived in {}", args.name, took.since(Time::ZERO));
        return Err(Failure::new(Kind::NotFound, message)
            .then("is `weir perf server` running, and do the routes on the way lead to it?"));
    }
    match failure {
        Some(failure) if report.whole.bytes == 0 => return Err(failure),
        _ if args.json => output::json(&report)?,
        _ => show(&report)?,
    }
    match failure {
        Some(failure) => Err(failure),
        None if report.interrupted => Err(Failure::silent(Kind::Interrupted, "interrupted")),
        None => Ok(()),
    }
}

/// The failure of a flow. The next step differs from that of `weir get`: runs do not resume.
fn explained(error: &FetchError) -> Failure {
    match error {
        FetchError::Stalled { .. } => Failure::new(Word::Stalled, error)
            .then("is the server still running? --patience waits longer"),
        FetchError::NoRoute(_) | FetchError::NotThere(_) | FetchError::NotFound { .. } => {
            let is_route = matches!(error, FetchError::NoRoute(_));
            Failure::new(if is_route { Word::NoRoute } else { Word::NotFound }, error)
                .then("start `weir perf server` with the same name, and check the routes to it")
        }
        _ => Failure::from(error),
    }
}

/// A flow for each run, which has not begun.
fn flows(args: &PerfClientArgs, transfers: &Transfers) -> Result<Flows, Failure> {
    let base = base(&args.name);
    let first = match args.run {
        Some(run) => run,
        None => getrandom::u64().map_err(|error| Failure::new(Kind::Failed, error))?,
    };
    let bytes = args.bytes.map_or(ENDLESS, |bytes| bytes.0);
    if bytes == 0 {
        return Err(Failure::new(Kind::Usage, "a run of 0 bytes measures nothing")
            .then("try --bytes \"100 MB\""));
    }
    let template = Run { id: first, segment_size: SEGMENT_SIZE as u64, bytes };
    let besides = template.object(&base).as_ref().as_bytes().len() + BESIDES;
    let most = MAX_PACKET.saturating_sub(besides) as u64;
    if most == 0 {
        let len = args.name.encoded_len();
        let message = format!("a name of {len} bytes leaves no room for content in a packet");
        return Err(Failure::new(Kind::Usage, message).then("use a shorter name"));
    }
    let segment_size = args.segment_size.map_or(template.segment_size.min(most), |size| size.0);
    if !(1..=most).contains(&segment_size) {
        let message = format!("no packet has room for segments of {}", Size(segment_size));
        let next = format!("choose a --segment-size from 1 B to {}", Size(most));
        return Err(Failure::new(Kind::Usage, message).then(&next));
    }
    let mut flows = Vec::new();
    for n in 0..u64::from(args.parallel) {
        let run = Run { id: first.wrapping_add(n), segment_size, bytes };
        let name = run.object(&base);
        let mut config = transfers.config(name.clone())?;
        config.heads = 0;
        let fetch = transfers.fetch(config)?;
        let sizes = Sizes { run, wrong: None };
        let gauge = Gauge::default();
        flows.push(Flow { run, name, fetch, sizes, gauge, ended_at: None });
    }
    let (before, cpu_before) = (base.len(), processor_seconds());
    let (turn, sent_bytes, received_bytes, started_at) = (0, 0, 0, Time::ZERO);
    Ok(Flows { flows, before, turn, sent_bytes, received_bytes, started_at, cpu_before })
}

/// Processor time of this process.
fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Runs the flows, and prints a line per interval. Returns the intervals, the duration, and the
/// reason if the connection broke. The intervals cover the whole duration.
fn measure(
    args: &PerfClientArgs,
    connection: &mut Connection,
    flows: &mut Flows,
    stop: &Stop,
) -> Result<(Vec<Sample>, Time, Option<Failure>), Failure> {
    let lines = Lines::new(&Flows::whole(&flows.flows, Time::ZERO));
    let is_shown = !args.json && !args.quiet;
    let started = connection.now();
    flows.started_at = started;
    let time = args.time.unwrap_or(DEFAULT_TIME);
    let end = args.bytes.map_or(started + time, |_| Time(u64::MAX));
    let (mut begin, mut due) = (started, started + args.interval);
    let (mut intervals, mut lost, mut has_head) = (Vec::new(), None, false);
    loop {
        let now = connection.now();
        let is_over = lost.is_some() || now >= end || stop.requested() || !flows.is_running();
        if now >= due || is_over {
            let sample = flows.interval(flows.elapsed(begin), flows.elapsed(now));
            if is_shown && (sample.bytes > 0 || has_head) {
                if !std::mem::replace(&mut has_head, true) {
                    output::result(&lines.head())?;
                }
                output::result(&lines.of(&sample))?;
            }
            if args.json {
                intervals.push(sample);
            }
            // A host that was suspended does not catch up.
            (begin, due) = (now, if due + args.interval > now { due } else { now } + args.interval);
        }
        if is_over {
            return Ok((intervals, flows.elapsed(now), lost));
        }
        let until = end.min(due).min(now + TURN);
        lost = connection.turn(flows, until).err().map(Failure::from);
    }
}

fn report(
    args: &PerfClientArgs,
    transfers: &Transfers,
    flows: &Flows,
    intervals: Vec<Sample>,
    took: Time,
    stop: &Stop,
    failure: Option<&Failure>,
) -> Report {
    let each = flows.flows.iter().map(|flow| {
        let end = flow.ended_at.map_or(took, |at| flows.elapsed(at));
        Flows::whole(std::slice::from_ref(flow), end)
    });
    let samples: Vec<Sample> = each.collect();
    let rates: Vec<f64> = samples.iter().map(|sample| sample.goodput_mbps).collect();
    let run = flows.flows.first().map(|flow| flow.run);
    let stats: Vec<&Stats> = flows.flows.iter().map(|flow| flow.fetch.stats()).collect();
    Report {
        name: args.name.to_string(),
        run: run.map_or_else(String::new, |run| format!("{:016x}", run.id)),
        control: transfers.control(),
        segment_size: run.map_or(0, |run| run.segment_size),
        whole: Flows::whole(&flows.flows, took),
        process: Process {
            sent_bytes: flows.sent_bytes,
            received_bytes: flows.received_bytes,
            duplicates: stats.iter().map(|stats| stats.duplicates).sum(),
            forged: stats.iter().map(|stats| stats.forged).sum(),
            malformed: stats.iter().map(|stats| stats.malformed).sum(),
            cpu_s: processor_seconds() - flows.cpu_before,
        },
        fairness: fairness(&rates).filter(|_| rates.len() > 1),
        flows: samples,
        intervals,
        interrupted: stop.requested(),
        error: failure.map(ToString::to_string),
    }
}

fn rate(mbps: f64) -> Rate {
    Rate((mbps * 1e6) as u64)
}

/// The summary, for people.
fn show(report: &Report) -> Result<(), Failure> {
    let Report { whole, process, control, .. } = report;
    let took = whole.end_s;
    output::wrapped(&format!(
        "{control}: {} of content in {}, {}",
        Size(whole.bytes),
        Duration::from_secs_f64(took),
        rate(whole.goodput_mbps),
    ))?;
    if report.flows.len() > 1 {
        let each: Vec<String> =
            report.flows.iter().map(|flow| rate(flow.goodput_mbps).to_string()).collect();
        let index = report.fairness.unwrap_or_default();
        output::wrapped(&format!("flows: {}; fairness {index:.3}", each.join(", ")))?;
    }
    let counters = &whole.counters;
    output::wrapped(&format!(
        "{} Interests in {}, {} Data packets in {}",
        counters.interests,
        Size(process.sent_bytes),
        counters.data,
        Size(process.received_bytes),
    ))?;
    output::wrapped(&format!(
        "{} marks, {} lost ({} by timeout), {} Nacks, {} sent again",
        counters.marks,
        whole.lost(),
        counters.timeouts,
        counters.nacks,
        counters.retransmissions,
    ))?;
    if let (Some(least), Some(mean), Some(p99)) =
        (whole.rtt_min_ms, whole.rtt_mean_ms, whole.rtt_p99_ms)
    {
        output::wrapped(&format!(
            "round trip: least {least:.3} ms, mean {mean:.3} ms, 99 % within {p99:.3} ms"
        ))?;
    }
    let share = 100.0 * process.cpu_s / took.max(1e-9);
    output::wrapped(&format!("processor: {:.2} s, {share:.0} % of a core", process.cpu_s))
}
