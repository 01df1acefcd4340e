//! One reaction per congestion, undone if the congestion was false.
//!
//! Signals of Interests that left before the reaction to a congestion are not new (RFC 9002,
//! 7.3.2). A timeout or a gap shows only that an Interest is overdue. If its Data still arrives,
//! the first Interest has been answered; a TCP sender detects this by timestamps (Eifel, RFC 3522)
//! or duplicate acknowledgements (RFC 3708). RFC 4015 and F-RTO (RFC 5682) restore the previous
//! state, and so does Linux (`tcp_undo_cwnd_reduction`).

use crate::consumer::Cause;
use crate::time::Time;

/// The latest congestion with a reaction, and the scheme's previous state `T`.
#[derive(Clone, Debug)]
pub struct Recovery<T> {
    /// Signals of Interests that left until then are answered.
    until: Option<Time>,
    /// Those of Interests that left until then were answered before.
    since: Option<Time>,
    /// The state to restore, and the number of losses that contradict it.
    before: Option<(T, u32)>,
}

impl<T> Recovery<T> {
    /// No reaction yet.
    #[must_use]
    pub fn new() -> Recovery<T> {
        Recovery { until: None, since: None, before: None }
    }

    /// Returns `true` if there was a reaction to a signal of an Interest that left at `sent_at`.
    #[must_use]
    pub fn covers(&self, sent_at: Time) -> bool {
        self.until.is_some_and(|until| sent_at <= until)
    }

    /// A loss, or a mark without a cause, is answered at `now`; the scheme was `before`.
    pub fn begin(&mut self, now: Time, cause: Option<Cause>, before: T) {
        self.since = self.until.replace(now);
        self.before = is_guess(cause).then_some((before, 1));
    }

    /// One more signal of the congestion that was answered last, or of one before that.
    pub fn again(&mut self, sent_at: Time, cause: Option<Cause>) {
        if !self.is_of_the_last(sent_at) {
            return;
        }
        match &mut self.before {
            Some((_, losses)) if is_guess(cause) => *losses = losses.saturating_add(1),
            _ => self.confirm(),
        }
    }

    /// The answer stays.
    pub fn confirm(&mut self) {
        self.before = None;
    }

    /// The Interest that left at `sent_at` was declared lost and has been answered. Returns the
    /// state to restore: all losses of the congestion were false.
    pub fn disproved(&mut self, sent_at: Time) -> Option<T> {
        if !self.is_of_the_last(sent_at) {
            return None;
        }
        let (_, losses) = self.before.as_mut()?;
        *losses = losses.saturating_sub(1);
        if *losses > 0 {
            return None;
        }
        self.until = self.since;
        self.before.take().map(|(before, _)| before)
    }

    fn is_of_the_last(&self, sent_at: Time) -> bool {
        self.covers(sent_at) && self.since.is_none_or(|since| since < sent_at)
    }
}

impl<T> Default for Recovery<T> {
    fn default() -> Self {
        Recovery::new()
    }
}

/// Returns `true` if the loss is inferred and may be false. Nacks and marks are certain.
fn is_guess(cause: Option<Cause>) -> bool {
    matches!(cause, Some(Cause::Timeout | Cause::Gap))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Option<Cause> = Some(Cause::Timeout);

    /// Two Interests that left at 10 and 20 are declared lost, the first is answered at 100.
    fn two_losses() -> Recovery<&'static str> {
        let mut recovery = Recovery::new();
        assert!(!recovery.covers(Time(10)));
        recovery.begin(Time(100), TIMEOUT, "before");
        assert!(recovery.covers(Time(20)) && !recovery.covers(Time(101)));
        recovery.again(Time(20), Some(Cause::Gap));
        recovery
    }

    #[test]
    fn is_undone_when_all_losses_were_none() {
        let mut recovery = two_losses();
        assert_eq!(recovery.disproved(Time(10)), None);
        assert_eq!(recovery.disproved(Time(20)), Some("before"));
        assert!(!recovery.covers(Time(20)), "what is lost of that time is a congestion");
        assert_eq!(recovery.disproved(Time(10)), None);
    }

    #[test]
    fn stays_if_a_mark_or_a_nack_confirms_it() {
        for cause in [None, Some(Cause::Nack(50))] {
            let mut recovery = two_losses();
            recovery.again(Time(30), cause);
            assert_eq!(recovery.disproved(Time(10)), None);
            assert_eq!(recovery.disproved(Time(20)), None);
            recovery.begin(Time(200), cause, "cut");
            assert_eq!(recovery.disproved(Time(150)), None);
        }
    }

    #[test]
    fn data_of_an_older_congestion_does_not_undo_the_last() {
        let mut recovery = two_losses();
        recovery.begin(Time(200), TIMEOUT, "cut");
        recovery.again(Time(90), TIMEOUT);
        assert_eq!(recovery.disproved(Time(10)), None);
        assert_eq!(recovery.disproved(Time(20)), None);
        assert_eq!(recovery.disproved(Time(110)), Some("cut"));
        assert!(recovery.covers(Time(100)));
    }
}
