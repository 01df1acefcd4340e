use super::*;
use control::{Rng, Size, Time};

/// Gives these outputs in turn, whatever it sees, and keeps what it saw.
#[derive(Debug)]
struct Script(Mutex<(Vec<Option<f64>>, Vec<Observation>)>);

impl Policy for Script {
    fn action(&self, seen: &Observation) -> Option<f64> {
        let mut script = self.0.lock().unwrap();
        script.1.push(*seen);
        script.0.pop().unwrap_or(Some(0.0))
    }
}

/// A law with these outputs, and its script.
fn scripted(step: Duration, outputs: &[Option<f64>]) -> (Learned, Arc<Script>) {
    let outputs: Vec<_> = outputs.iter().rev().copied().collect();
    let script = Arc::new(Script(Mutex::new((outputs, Vec::new()))));
    let mut params = Params::defaults(PARAMS);
    params.set("learned", "step", &format!("{} ns", step.0)).unwrap();
    (Learned::new(&params.with_policy(script.clone())), script)
}

/// Calls the law at `ms` milliseconds, and returns the events that it noted.
fn at(ms: u64, call: impl FnOnce(&mut Cx<'_>)) -> Vec<(&'static str, f64)> {
    let (mut rng, mut noted) = (Rng::stream(0, &[]), Vec::new());
    let mut tap = |event: control::Event| noted.push((event.name, event.value));
    let now = Time::ZERO + Duration::from_millis(ms);
    call(&mut Cx { now, rng: &mut rng, tap: &mut tap });
    noted
}

fn ack(sent_ms: u64, rtt_ms: u64) -> Ack {
    let rtt = Duration::from_millis(rtt_ms);
    Ack {
        rtt: Some(rtt),
        srtt: rtt,
        rtt_min: Duration::from_millis(20),
        sent_at: Time::ZERO + Duration::from_millis(sent_ms),
        in_flight: 10,
        window_limited: true,
        round: Round::default(),
        size: Size(1000),
    }
}

#[test]
fn an_output_scales_the_window_once_a_round_trip() {
    let (mut law, script) = scripted(Duration::ZERO, &[Some(1.0), Some(-2.0), Some(9.0)]);
    assert_eq!(law.window(), 10.0);
    at(120, |cx| law.on_ack(cx, &ack(100, 20)));
    assert_eq!(law.window(), 10.0, "the round trip is under way");
    at(140, |cx| law.on_round(cx, &Round { lost: 3, ..Round::default() }));
    assert_eq!(law.window(), 20.0);
    // A packet of 1000 bytes in the 40 ms since its Interest left.
    let [window, goodput, rtt, rtt_min, in_flight, marks, losses, seconds] =
        script.0.lock().unwrap().1[0];
    assert_eq!([window, rtt, rtt_min, in_flight], [10.0, 20.0, 20.0, 10.0]);
    assert_eq!([marks, losses, seconds], [0.0, 3.0, 0.04]);
    assert!((goodput - 0.2).abs() < 1e-9, "{goodput}");
    // Outputs are clipped to -1 and 1, as before `step` of an environment.
    at(160, |cx| law.on_round(cx, &Round::default()));
    assert_eq!(law.window(), 10.0);
    at(180, |cx| law.on_round(cx, &Round::default()));
    assert_eq!(law.window(), 20.0);
}

#[test]
fn a_step_of_its_own_time_ends_with_the_first_event_after_it() {
    let (mut law, script) = scripted(Duration::from_millis(50), &[Some(1.0), Some(1.0)]);
    at(20, |cx| law.on_ack(cx, &ack(0, 20)));
    at(40, |cx| law.on_round(cx, &Round::default()));
    at(49, |cx| law.on_ack(cx, &ack(20, 29)));
    assert_eq!(law.window(), 10.0);
    at(50, |cx| law.on_ack(cx, &ack(20, 30)));
    assert_eq!(law.window(), 20.0);
    at(100, |cx| law.on_congestion(cx, Signal::Mark, &RttEstimate::new()));
    assert_eq!(law.window(), 40.0);
    let seen = script.0.lock().unwrap().1[1];
    assert_eq!([seen[0], seen[5]], [20.0, 1.0], "the window and the mark of the second step");
}

#[test]
fn outputs_that_are_no_numbers_are_counted_and_the_rule_acts() {
    let bad = [None, Some(f64::NAN), Some(f64::INFINITY), Some(f64::NEG_INFINITY)];
    let (mut law, _) = scripted(Duration::ZERO, &bad);
    at(20, |cx| law.on_ack(cx, &ack(0, 20)));
    for count in 1..=bad.len() {
        let before = law.window();
        let lost = Round { lost: 1, ..Round::default() };
        let noted = at(20 + 20 * count as u64, |cx| law.on_round(cx, &lost));
        assert_eq!(noted, [(INVALID, count as f64), ("action", -0.5)]);
        // A loss: by the square root of two.
        let shrunk = before / std::f64::consts::SQRT_2;
        assert!((law.window() - shrunk).abs() < 1e-9, "{before} -> {}", law.window());
    }
}

#[test]
fn the_window_stays_within_its_bounds() {
    let (mut law, _) = scripted(Duration::ZERO, &[Some(1.0); 40]);
    at(20, |cx| law.on_ack(cx, &ack(0, 20)));
    (0..40).for_each(|k| drop(at(40 + k, |cx| law.on_round(cx, &Round::default()))));
    assert_eq!(law.window(), 262_144.0);
    let (mut law, _) = scripted(Duration::ZERO, &[Some(-1.0); 40]);
    at(20, |cx| law.on_ack(cx, &ack(0, 20)));
    (0..40).for_each(|k| drop(at(40 + k, |cx| law.on_round(cx, &Round::default()))));
    assert_eq!(law.window(), 1.0);
}

#[test]
fn without_a_model_the_rule_acts() {
    let seen =
        |in_flight, marks, losses, rtt| [10.0, 1.0, rtt, 20.0, in_flight, marks, losses, 1.0];
    assert_eq!(rule(&seen(10.0, 0.0, 0.0, 20.0)), 0.25);
    assert_eq!(rule(&seen(10.0, 0.0, 0.0, 25.0)), 0.0, "a quarter of the round trip is queueing");
    assert_eq!(rule(&seen(10.0, 0.0, 0.0, 90.0)), -0.5);
    assert_eq!(rule(&seen(4.0, 0.0, 0.0, 20.0)), 0.0, "a window that is not used does not grow");
    assert_eq!(rule(&seen(10.0, 1.0, 0.0, 20.0)), -0.5);
    assert_eq!(rule(&seen(10.0, 0.0, 1.0, 20.0)), -0.5);
}

#[test]
fn a_file_that_was_not_read_is_an_error() {
    let mut choice: crate::Choice = "learned:model=p.onnx,step=100 ms".parse().unwrap();
    assert_eq!(choice.unread(), Some(("model", "p.onnx")));
    let error = choice.controller().err().unwrap().to_string();
    assert!(error.contains("`learned` needs the content of `p.onnx`"), "{error}");
    choice.adopt(Arc::new(Script(Mutex::default())));
    assert!(choice.controller().is_ok() && choice.unread().is_none());
    assert_eq!(choice.to_string(), "learned:model=p.onnx,step=100 ms");
    choice.set("model", "q.onnx").unwrap();
    assert_eq!(choice.unread(), Some(("model", "q.onnx")), "the policy is that of another file");
    choice.set("model", "none").unwrap();
    assert!(choice.controller().is_ok());
    for path in ["", "a,b", "a\nb", &"x".repeat(5000)] {
        assert!(choice.set("model", path).is_err(), "{path}");
    }
}
