//! An Interest leaves at the instant that the controller has set, to the nanosecond, also when
//! pacing starts again after a pause.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::support::{Memory, Pipe, bytes, publish, run};
use control::{Arrival, Ask, Controller, Cx, Duration, Loss, Permit, Sent, Ticket, Time};
use packet::{HopOptions, Name};
use security::{Signer, TrustPolicy};
use std::sync::{Arc, Mutex};
use transport::fetch::{Fetch, FetchConfig, Status};
use transport::publish::Publish;

const PACE: Duration = Duration(3_700_001);
const WINDOW: u32 = 4;

/// The instants at which Interests left, and from which they were permitted.
type Log = Vec<(Time, Time)>;

/// A controller with constant intervals. Its window causes pauses of most of a round trip.
struct Metronome {
    next: Time,
    log: Arc<Mutex<Log>>,
}

impl Controller for Metronome {
    fn permit(&self, now: Time, ask: &Ask<'_>) -> Permit {
        if ask.in_flight.total().segments >= WINDOW {
            return Permit::Wait;
        }
        if now < self.next {
            return Permit::At(self.next);
        }
        Permit::Now(0)
    }

    fn on_sent(&mut self, cx: &mut Cx<'_>, _: &Sent) -> Ticket {
        self.log.lock().unwrap().push((cx.now, self.next));
        self.next = self.next.max(cx.now) + PACE;
        Ticket { timeout: Duration::from_secs(1), memo: [0; 2], options: HopOptions::default() }
    }

    fn on_data(&mut self, _: &mut Cx<'_>, _: &Arrival<'_>) {}

    fn on_loss(&mut self, _: &mut Cx<'_>, loss: &Loss<'_>) {
        panic!("nothing is lost here: {:?}", loss.cause);
    }
}

#[test]
fn interests_leave_at_the_nanosecond_that_the_controller_names() {
    let log = Arc::new(Mutex::new(Log::default()));
    let controller = Box::new(Metronome { next: Time::ZERO, log: Arc::clone(&log) });
    let name: Name = "/a/film".parse().unwrap();
    let mut fetch = Fetch::new(FetchConfig::new(name, TrustPolicy::DigestOnly), controller);
    let mut producer = Publish::new();
    producer.add(publish("/a/film", bytes(400_000), &Signer::Digest));
    let pipe = Pipe { delay: Duration::from_millis(20), ..Pipe::default() };
    let (mut sink, limit) = (Memory::default(), Duration::from_secs(60));
    run(&mut fetch, &mut sink, &mut producer, &pipe, limit, &mut |_, frame| Some(frame));
    assert_eq!(fetch.status(), Status::Done);
    let log = log.lock().unwrap();
    let mut late = 0;
    for pair in log.windows(2) {
        let [(before, _), (at, due)] = pair[..] else { panic!("a pair") };
        // No Interest is early. It is punctual, or leaves with the next answer if the window was
        // full. Answers arrive a round trip after Interests, to the nanosecond.
        assert_eq!(due, before + PACE);
        let on_answer = log.iter().any(|(sent, _)| *sent + Duration::from_millis(40) == at);
        assert!(at == due || (at > due && on_answer), "{at:?} {due:?}");
        late += usize::from(at > due);
    }
    // A window takes 11.1 ms to send, and the round trip 40 ms.
    assert!(log.len() > 50 && late > 10 && late < log.len() / 2, "{late}");
}
