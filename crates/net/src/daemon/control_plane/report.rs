//! The text of all metrics, for threads that ask for it.

use control::{Duration, Time};
use std::sync::Arc;

/// The last text, and the time that the loop spent on it.
///
/// The text of thousands of faces takes a fraction of a second, in which no packet moves. A text is
/// given again until [`REST`] times as long has passed, so that metrics take a fifth of the loop's
/// time at most, however many ask.
#[derive(Debug, Default)]
pub(super) struct Report {
    text: Arc<str>,
    /// No other text is made before; `None` before the first one.
    next: Option<Time>,
}

/// The times that making a text took, until another one is made.
const REST: u64 = 4;

impl Report {
    /// The text, made now by `make` if the last one is old enough. `clock` gives the time.
    pub fn text(&mut self, clock: impl Fn() -> Time, make: impl FnOnce() -> String) -> Arc<str> {
        let now = clock();
        if self.next.is_none_or(|next| now >= next) {
            self.text = make().into();
            let end = clock();
            self.next = Some(end + Duration(end.since(now).0.saturating_mul(REST)));
        }
        Arc::clone(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_text_is_given_again_for_four_times_as_long_as_it_took() {
        let (time, mut report) = (Cell::new(Time::ZERO), Report::default());
        let pass = |ms| time.set(time.get() + Duration::from_millis(ms));
        let mut ask = |word: &str| {
            let make = || {
                pass(100);
                word.to_owned()
            };
            report.text(|| time.get(), make).to_string()
        };
        assert_eq!(ask("first"), "first");
        assert_eq!(ask("second"), "first");
        pass(399);
        assert_eq!(ask("second"), "first");
        pass(1);
        assert_eq!(ask("second"), "second");
    }
}
