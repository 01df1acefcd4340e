//! A queue without management: what does not fit is dropped at its end.
//!
//! The bound belongs to the link and counts bytes; this marker only lets everything else pass. It
//! is the router that loss-based controllers were made for (Jacobson, "Congestion Avoidance and
//! Control", SIGCOMM 1988), and the baseline of every queue manager (RFC 7567, section 1).

use control::{Equation, Marker, Scheme};

/// The scheme.
pub const SCHEME: Scheme = Scheme {
    name: "drop-tail",
    summary: "no queue management; a full queue drops packets",
    paper: "V. Jacobson, Congestion Avoidance and Control, SIGCOMM 1988; RFC 7567, 2015",
    equations: EQUATIONS,
    marker: Some(|_| Box::new(DropTail)),
    ..Scheme::EMPTY
};

const EQUATIONS: &[Equation] = &[("rule", "drop what does not fit into the queue; mark nothing")];

struct DropTail;

impl Marker for DropTail {}

#[cfg(test)]
mod tests {
    use super::*;
    use control::{Cx, DataMeta, Duration, LinkView, Rng, Size, Time, Verdict};

    #[test]
    fn passes_whatever_the_sojourn() {
        let mut rng = Rng::stream(0, &[]);
        let mut tap = |_| {};
        let mut cx = Cx { now: Time(5), rng: &mut rng, tap: &mut tap };
        let data = DataMeta {
            flow: 1,
            segment: 0,
            size: Size(8000),
            mark: 0,
            options: packet::HopOptions::default(),
        };
        let verdict =
            DropTail.on_dequeue(&mut cx, &LinkView::default(), &data, Duration::from_secs(100));
        assert_eq!(verdict, Verdict::Pass);
        assert_eq!(DropTail.on_enqueue(&mut cx, &LinkView::default(), &data), Verdict::Pass);
    }
}
