//! Answers by a longer way than others.

use control::Duration;

/// After so many in a row it is no chance.
const IN_A_ROW: u32 = 3;
/// So many real losses in a row end it.
const FORGOTTEN_AFTER: u32 = 64;
/// No way is believed to be longer by more than this.
const LONGEST: Duration = Duration::from_secs(1);

/// How much longer the longer way takes, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct Detour {
    /// Nothing, if no such way is known of.
    pub longer_by: Duration,
    late: u32,
    in_time: u32,
}

impl Detour {
    /// A repetition was answered: too late for it, and then this much later than usual after the
    /// first Interest; or in time, so that the first was lost.
    pub fn note(&mut self, late_by: Option<Duration>) {
        let Some(late_by) = late_by else {
            self.late = 0;
            self.in_time += 1;
            if self.in_time >= FORGOTTEN_AFTER {
                *self = Detour::default();
            }
            return;
        };
        self.late += 1;
        self.in_time = 0;
        if self.late >= IN_A_ROW {
            // An eighth more, for what varies.
            let with_room = Duration(late_by.0 / 8 * 9).min(LONGEST);
            self.longer_by = self.longer_by.max(with_room);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn three_in_a_row_are_a_detour_and_real_losses_end_it() {
        let mut detour = Detour::default();
        detour.note(Some(ms(80)));
        detour.note(Some(ms(80)));
        detour.note(None);
        detour.note(Some(ms(80)));
        detour.note(Some(ms(80)));
        assert_eq!(detour.longer_by, Duration::ZERO, "a real loss was among them");
        detour.note(Some(ms(80)));
        assert_eq!(detour.longer_by, ms(90));
        (0..63).for_each(|_| detour.note(None));
        assert_eq!(detour.longer_by, ms(90));
        detour.note(None);
        assert_eq!(detour.longer_by, Duration::ZERO);
        (0..3).for_each(|_| detour.note(Some(Duration::from_secs(90))));
        assert_eq!(detour.longer_by, LONGEST);
    }
}
