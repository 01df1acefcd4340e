//! The curves of bare controllers in fixed situations, committed as tables: a change of behaviour
//! shows in review.
//!
//! Each column is a situation, each row a round trip of 50 ms, each cell the window in whole
//! segments at its end; of a controller that has no window, its rate in Mbit/s. `WEIR_REGENERATE=1
//! cargo test -p schemes --test response` writes them again.

#[path = "response/chart.rs"]
mod chart;

use control::{
    Arrival, Ask, Cause, Controller, Cx, Duration, InFlight, Lane, Load, Loss, Permit, Rng, Sent,
    Size, Ticket, Time,
};
use packet::HopOptions;
use schemes::{Choice, SCHEMES};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

const RTT: Duration = Duration::from_millis(50);
const ROUNDS: u64 = 40;
/// A window as large as this is large enough.
const ENOUGH: f64 = 2000.0;

/// The events on the path.
#[derive(Clone, Copy)]
struct Situation {
    name: &'static str,
    /// Their description.
    what: &'static str,
    /// Segments a second through the path; 0 is no bound.
    rate: u64,
    /// Interests that are lost, by their number.
    lost: &'static [u64],
    /// Interests whose Data are marked.
    marked: &'static [u64],
    /// In these round trips the consumer has five segments to ask for in each, no more.
    idle: (u64, u64),
    /// Interests that leave in these round trips are lost.
    silent: (u64, u64),
}

const CALM: Situation =
    Situation { name: "", what: "", rate: 0, lost: &[], marked: &[], idle: (0, 0), silent: (0, 0) };

const SITUATIONS: &[Situation] = &[
    Situation { name: "start", what: "nothing: a path without a bound", ..CALM },
    Situation { name: "loss", what: "Interest 200 is lost", lost: &[200], ..CALM },
    Situation { name: "losses", what: "200 and 1000 are lost", lost: &[200, 1000], ..CALM },
    Situation { name: "mark", what: "the Data of Interest 200 are marked", marked: &[200], ..CALM },
    Situation {
        name: "idle",
        what: "200 is lost; from round 4 to 24 there are five segments to ask for in each",
        lost: &[200],
        idle: (4, 25),
        ..CALM
    },
    Situation {
        name: "silence",
        what: "1000 segments a second; what leaves in rounds 10 to 19 is lost",
        rate: 1000,
        silent: (10, 20),
        ..CALM
    },
    Situation { name: "link", what: "1000 segments a second", rate: 1000, ..CALM },
];

#[derive(Default)]
struct Flying(BTreeMap<Lane, u32>);

fn load(segments: u32) -> Load {
    Load { segments, bytes: Size(8000 * u64::from(segments)) }
}

impl InFlight for Flying {
    fn total(&self) -> Load {
        load(self.0.values().sum())
    }
    fn lane(&self, lane: Lane) -> Load {
        load(self.0.get(&lane).copied().unwrap_or(0))
    }
}

/// The fate of an Interest, and its time.
#[derive(Clone)]
struct Fate {
    number: u64,
    sent_at: Time,
    lane: Lane,
    ticket: Ticket,
    lost: bool,
}

struct Bench {
    situation: Situation,
    control: Box<dyn Controller>,
    rng: Rng,
    flying: Flying,
    /// By instant and number.
    fates: BTreeMap<(Time, u64), Fate>,
    sent: u64,
    sent_in_round: u64,
    path_free: Time,
}

impl Bench {
    fn ask(&mut self, now: Time, round: u64) -> Option<Time> {
        let within = |(from, to): (u64, u64)| (from..to).contains(&round);
        loop {
            if within(self.situation.idle) && self.sent_in_round >= 5 {
                return None;
            }
            let ask = Ask {
                first: self.sent,
                count: 1,
                attempt: 0,
                segment: Size(8000),
                in_flight: &self.flying,
            };
            match self.control.permit(now, &ask) {
                Permit::Now(lane) => self.send(now, lane, within(self.situation.silent)),
                Permit::At(at) => return Some(at),
                Permit::Wait | Permit::NotThis => return None,
            }
        }
    }

    fn send(&mut self, now: Time, lane: Lane, silent: bool) {
        let number = self.sent;
        let sent = Sent {
            first: number,
            count: 1,
            lane,
            attempt: 0,
            expected: Size(8000),
            stated: None,
            before: self.flying.total(),
        };
        let mut tap = |_| {};
        let mut cx = Cx { now, rng: &mut self.rng, tap: &mut tap };
        let ticket = self.control.on_sent(&mut cx, &sent);
        let single = self.situation.lost.contains(&number);
        let at = if silent {
            now + ticket.timeout
        } else if single {
            now + RTT + Duration(RTT.0 / 4)
        } else {
            let spacing = 1_000_000_000u64.checked_div(self.situation.rate).unwrap_or(0);
            self.path_free = self.path_free.max(now) + Duration(spacing);
            self.path_free + RTT
        };
        self.fates.insert(
            (at, number),
            Fate { number, sent_at: now, lane, ticket, lost: silent || single },
        );
        *self.flying.0.entry(lane).or_default() += 1;
        self.sent += 1;
        self.sent_in_round += 1;
    }

    fn meet(&mut self, now: Time, fate: &Fate) {
        let lane = fate.lane;
        *self.flying.0.entry(lane).or_default() -= 1;
        let options = HopOptions::default();
        let mut tap = |_| {};
        let mut cx = Cx { now, rng: &mut self.rng, tap: &mut tap };
        let (segment, sent_at, memo) = (fate.number, fate.sent_at, fate.ticket.memo);
        if fate.lost {
            let single = self.situation.lost.contains(&segment);
            let loss = Loss {
                segment,
                lane,
                memo,
                sent_at,
                cause: if single { Cause::Gap } else { Cause::Timeout },
                options: &options,
                in_flight: &self.flying,
            };
            self.control.on_loss(&mut cx, &loss);
        } else {
            let arrival = Arrival {
                segment,
                lane,
                memo,
                sent_at,
                rtt: Some(now.since(sent_at)),
                size: Size(8000),
                mark: u64::from(self.situation.marked.contains(&segment)),
                late: false,
                options: &options,
                in_flight: &self.flying,
            };
            self.control.on_data(&mut cx, &arrival);
        }
    }

    /// The first window, or else the first rate in Mbit/s, that the controller shows.
    fn shown(&self) -> f64 {
        let (mut window, mut rate) = (None, None);
        self.control.gauges(&mut |_, name, value| match name {
            "window" => window = window.or(Some(value)),
            "rate" => rate = rate.or(Some(value / 1e6)),
            _ => {}
        });
        window.or(rate).expect("a controller shows a window or a rate")
    }

    /// One round trip of the clock, from `round` times 50 ms on.
    fn round(&mut self, round: u64) {
        let (mut now, end) = (Time(RTT.0 * round), Time(RTT.0 * (round + 1)));
        self.sent_in_round = 0;
        loop {
            let paced = self.ask(now, round);
            let fate = self.fates.first_key_value().map(|((at, _), _)| *at);
            let deadline = self.control.next_deadline();
            let Some(next) = [paced, fate, deadline].into_iter().flatten().min() else { return };
            if next >= end {
                return;
            }
            now = now.max(next);
            while let Some(first) = self.fates.first_entry().filter(|e| e.key().0 <= now) {
                let fate = first.remove();
                self.meet(now, &fate);
            }
            if deadline.is_some_and(|at| at <= now) {
                let mut tap = |_| {};
                self.control.on_deadline(&mut Cx { now, rng: &mut self.rng, tap: &mut tap });
            }
        }
    }
}

/// The window after each round trip; a window that is large enough ends the curve.
fn curve(choice: &Choice, situation: Situation) -> Vec<String> {
    let mut bench = Bench {
        situation,
        control: choice.controller().expect("it was picked for that"),
        rng: Rng::stream(1, &["response"]),
        flying: Flying::default(),
        fates: BTreeMap::new(),
        sent: 0,
        sent_in_round: 0,
        path_free: Time::ZERO,
    };
    let mut cells = Vec::new();
    for round in 0..ROUNDS {
        bench.round(round);
        if bench.shown() > ENOUGH {
            break;
        }
        cells.push(format!("{}", bench.shown().floor()));
    }
    cells.resize(ROUNDS as usize, "-".to_owned());
    cells
}

fn curves(choice: &Choice) -> Vec<(&'static str, Vec<String>)> {
    SITUATIONS.iter().map(|s| (s.name, curve(choice, *s))).collect()
}

fn table(curves: &[(&str, Vec<String>)]) -> String {
    let mut out = format!("{:>5}", "round");
    for (name, _) in curves {
        // Writing to a string cannot fail.
        let _ = write!(out, "{name:>9}");
    }
    out.push('\n');
    for round in 0..ROUNDS as usize {
        let _ = write!(out, "{round:>5}");
        for (_, cells) in curves {
            let _ = write!(out, "{:>9}", cells[round]);
        }
        out.push('\n');
    }
    out
}

/// The first of window and rate that a controller shows, with its unit.
fn unit(choice: &Choice) -> &'static str {
    let mut unit = "rate in Mbit/s";
    choice.controller().expect("it was picked for that").gauges(&mut |_, name, _| {
        if name == "window" {
            unit = "window in segments";
        }
    });
    unit
}

/// The chapter that shows the pictures.
fn chapter(names: &[&str]) -> String {
    let mut out = String::from(
        "# Response curves\n\n\
         How each controller answers to one thing alone, over a path with a round-trip time of\n\
         50 ms. The numbers are in `crates/schemes/tests/response/`; a test compares them, and\n\
         `WEIR_REGENERATE=1 cargo test -p schemes --test response` writes them and these\n\
         pictures again. Each panel has its own scale; a line that ends has left it at the top.\n\n\
         | situation | what happens |\n|---|---|\n",
    );
    for situation in SITUATIONS {
        let _ = writeln!(out, "| {} | {} |", situation.name, situation.what);
    }
    for name in names {
        let link = format!("[`{name}`](../reference/schemes.md#{name})");
        let _ = write!(out, "\n## {name}\n\n{link}\n\n");
        let _ = writeln!(out, "![Response of {name}](responses/{name}.svg)");
    }
    out
}

/// Compares a file with what it should be, or writes it.
fn differs(path: &Path, current: &str) -> bool {
    if std::env::var_os("WEIR_REGENERATE").is_some() {
        let folder = path.parent().expect("a file is in a folder");
        std::fs::create_dir_all(folder).expect("the folder can be made");
        std::fs::write(path, current).expect("the file can be written");
    }
    std::fs::read_to_string(path).unwrap_or_default() != current
}

#[test]
fn controllers_respond_as_committed() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tables = crate_folder.join("tests/response");
    let docs = crate_folder.join("../../docs/explanation");
    let mut changed = Vec::new();
    let mut names = Vec::new();
    for scheme in SCHEMES.iter().filter(|scheme| scheme.controller.is_some()) {
        let choice = Choice::named(scheme.name).expect("its own name");
        let curves = curves(&choice);
        let current = table(&curves);
        let picture = chart::svg(scheme.name, unit(&choice), &curves);
        let file = docs.join(format!("responses/{}.svg", scheme.name));
        let differ = differs(&tables.join(format!("{}.txt", scheme.name)), &current);
        if differs(&file, &picture) || differ {
            changed.push(format!("{}:\n{current}", scheme.name));
        }
        names.push(scheme.name);
    }
    if differs(&docs.join("response-curves.md"), &chapter(&names)) {
        changed.push("docs/explanation/response-curves.md".to_owned());
    }
    assert!(
        changed.is_empty(),
        "responses have changed; if they should, run WEIR_REGENERATE=1 cargo test -p schemes \
         --test response\n{}",
        changed.join("\n")
    );
}
