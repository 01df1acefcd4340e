//! The names of a link's Interests, and the flows among them.
//!
//! A name is a flow from its fourth Interest on: objects of a segment or two come and go before an
//! offer reaches them, and would keep the others from the link. A few hashes distinguish names (as
//! in K. Whang, B. Vander-Zanden, H. Taylor, linear counting, ACM TODS 1990), so the state does not
//! grow with the number of names.

use control::{Flow, math};

/// Hashes that distinguish names.
const HASHES: usize = 4096;

/// The number of Interests in a window and the one before that make a name a flow. It has ended
/// when a window has none.
const FEWEST_INTERESTS: u8 = 4;

/// It is no flow while it has less than an equal share, divided by this, of the Interests since its
/// first one: the nodes of an object's manifest are a name of their own, for one of 250 segments.
const LEAST_PART: u32 = 8;

/// A window ends with the first period after this number of Interests for each flow, after the time
/// in which the link could bring their Data, or after this time, in s. Then a flow at its share has
/// Interests in each window, however many flows there are.
const INTERESTS_EACH: f64 = 4.0;
const LONGEST_WINDOW: f64 = 10.0;

/// The weight of a new flow in the part of flows that last.
const MEMORY: f64 = 1.0 / 16.0;

/// The requested names in a window and in the one before, and the flows among them.
pub(super) struct Names {
    /// Interests by hash, in both windows.
    asked: [[u8; HASHES]; 2],
    age: [Age; HASHES],
    /// All Interests; their number when this window began, and at each name's first Interest in
    /// both windows.
    total: u32,
    began: u32,
    first: [u32; HASHES],
    /// Names of either window.
    names: u32,
    /// Flows, those that began in this period, and Interests of all flows in this window.
    flows: u32,
    new: u32,
    interests: u32,
    /// The part of the flows that begin which outlast the window after that.
    lasting: f64,
    young: Young,
    /// The length of the window, in s, and the Interests that the link had room for.
    span: f64,
    room: f64,
}

/// Names with a first Interest in this period or the one before that are no flows yet.
struct Young {
    of: [u32; 2],
    /// The part of such names that become flows.
    part: f64,
}

impl Default for Young {
    fn default() -> Young {
        Young { of: [0; 2], part: 1.0 }
    }
}

impl Young {
    /// One of them has become a flow, of the older ones first.
    fn grow(&mut self) {
        let at = usize::from(self.of[1] > 0);
        self.of[at] = self.of[at].saturating_sub(1);
        self.part += MEMORY * (1.0 - self.part);
    }

    /// A period ends.
    fn turn(&mut self) {
        self.part *= math::pow(1.0 - MEMORY, f64::from(self.of[1]));
        self.of = [0, self.of[0]];
    }

    /// The expected number of flows among them.
    fn growing(&self) -> f64 {
        f64::from(self.of[0] + self.of[1]) * self.part
    }
}

/// A name's age as a flow, in windows.
#[derive(Clone, Copy, PartialEq)]
enum Age {
    NoFlow,
    Begun,
    OneWindow,
    Lasting,
}

impl Names {
    pub(super) fn new() -> Names {
        Names {
            asked: [[0; HASHES]; 2],
            age: [Age::NoFlow; HASHES],
            total: 0,
            began: 0,
            first: [0; HASHES],
            names: 0,
            flows: 0,
            new: 0,
            interests: 0,
            lasting: 1.0,
            young: Young::default(),
            span: 0.0,
            room: 0.0,
        }
    }

    /// Counts an Interest for the name. If the name becomes a flow beside others, returns the
    /// number of flows that it adds.
    pub(super) fn see(&mut self, name: Flow) -> Option<f64> {
        let at = name as usize % HASHES;
        let before = self.asked[0][at].saturating_add(self.asked[1][at]);
        self.asked[0][at] = self.asked[0][at].saturating_add(1);
        self.names += u32::from(before == 0);
        self.young.of[0] += u32::from(before == 0);
        if before == 0 {
            self.first[at] = self.total;
        }
        self.total = self.total.wrapping_add(1);
        let begins = self.age[at] == Age::NoFlow && self.is_as_fast(at, before.saturating_add(1));
        if begins {
            self.age[at] = Age::Begun;
            self.flows += 1;
            self.new += 1;
            self.young.grow();
        }
        let more =
            if begins { before.saturating_add(1) } else { u8::from(self.age[at] != Age::NoFlow) };
        self.interests = self.interests.saturating_add(more.into());
        (begins && self.flows > 1).then_some(self.lasting)
    }

    /// True if a name with `asked` Interests in both windows asks as a flow does.
    fn is_as_fast(&self, at: usize, asked: u8) -> bool {
        let all = self.total.wrapping_sub(self.first[at]);
        asked >= FEWEST_INTERESTS && u32::from(asked) >= all / (LEAST_PART * self.names.max(1))
    }

    /// Names of this window and the one before.
    pub(super) fn count(&self) -> u32 {
        self.names
    }

    /// The number of flows that began in this period, each counted as the part of flows that last.
    pub(super) fn begun(&self) -> f64 {
        f64::from(self.new) * self.lasting
    }

    /// True if the name is a flow.
    pub(super) fn is_flow(&self, name: Flow) -> bool {
        self.age[name as usize % HASHES] != Age::NoFlow
    }

    /// The number of flows that young names will add if they become flows as others did. One for
    /// each flow is left out: new flows replace flows that end.
    pub(super) fn coming(&self) -> f64 {
        self.lasting * (self.young.growing() - f64::from(self.flows) - 1.0).max(0.0)
    }

    /// A period of `span` seconds ends, in which the link had room for the Data of `room`
    /// Interests. Returns the change of the number of flows since `see` counted new flows, each as
    /// the part of flows that last.
    pub(super) fn turn(&mut self, span: f64, room: f64) -> f64 {
        self.young.turn();
        self.new = 0;
        self.span += span;
        self.room += room;
        let interests = f64::from(self.interests).max(self.room);
        let is_long = interests >= f64::from(self.flows) * INTERESTS_EACH;
        if !is_long && self.span < LONGEST_WINDOW {
            return 0.0;
        }
        (self.names, self.flows, self.interests) = (0, 0, 0);
        (self.span, self.room) = (0.0, 0.0);
        let (mut more, counted) = (0.0, self.lasting);
        let window = self.total.wrapping_sub(self.began);
        self.began = self.total;
        let each = self.age.iter_mut().zip(&self.asked[0]).zip(&mut self.first);
        for ((age, asked), first) in each {
            let is_asked = *asked > 0;
            if self.total.wrapping_sub(*first) > window {
                *first = self.total.wrapping_sub(window);
            }
            (*age, more) = match (*age, is_asked) {
                (Age::NoFlow, _) => (Age::NoFlow, more),
                (Age::Begun, _) => (Age::OneWindow, more),
                (Age::OneWindow, true) => {
                    self.lasting += MEMORY * (1.0 - self.lasting);
                    (Age::Lasting, more + 1.0 - counted)
                }
                (Age::OneWindow, false) => {
                    self.lasting -= MEMORY * self.lasting;
                    (Age::NoFlow, more - counted)
                }
                (Age::Lasting, true) => (Age::Lasting, more),
                (Age::Lasting, false) => (Age::NoFlow, more - 1.0),
            };
            self.names += u32::from(is_asked);
            self.flows += u32::from(*age != Age::NoFlow);
        }
        self.asked = [[0; HASHES], self.asked[0]];
        more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_of_names_takes_memory() {
        let mut names = Names::new();
        for i in 0..4_000_000 {
            names.see(i % 1_000_000);
        }
        assert_eq!((names.count() as usize, names.flows as usize), (HASHES, HASHES));
    }

    #[test]
    fn a_name_that_asks_rarely_beside_a_flow_is_no_flow_until_it_asks_more() {
        let mut names = Names::new();
        // The nodes of a manifest: three in a window with 450 segments.
        for _ in 0..20 {
            for i in 0..450 {
                names.see(0);
                if i % 150 == 0 {
                    assert_eq!(names.see(1), None);
                }
            }
            names.turn(1.0, 450.0);
        }
        assert_eq!(names.flows, 1);
        // An equal share, from one Interest to the next.
        let begins: u32 = (0..40).map(|_| names.see(0).or(names.see(1)).map_or(0, |_| 1)).sum();
        assert_eq!((begins, names.flows), (1, 2));
    }

    #[test]
    fn flows_that_have_ended_are_forgotten_though_the_link_is_idle() {
        let mut names = Names::new();
        for _ in 0..10 {
            (0..100).for_each(|name| _ = names.see(name));
        }
        assert_eq!(names.flows, 100);
        // One of them goes on, slowly. The link has room for an Interest of each in a period.
        let mut flows = 0.0;
        for _ in 0..12 {
            names.see(0);
            flows += names.turn(0.04, 100.0);
        }
        assert_eq!(names.flows, 1);
        assert!((flows + 99.0).abs() < 1e-9, "{flows}");
    }

    #[test]
    fn names_of_one_segment_do_not_count_as_flows_to_come() {
        let mut names = Names::new();
        for name in 0..100 {
            names.see(name);
        }
        assert!((names.coming() - 99.0).abs() < 1e-9, "nothing is known of them");
        for round in 1..10 {
            names.turn(0.1, 0.0);
            for i in 0..100 {
                names.see(round * 100 + i);
            }
        }
        assert!(names.coming() < 1.0, "{}", names.coming());
    }

    #[test]
    fn a_name_that_is_a_flow_is_no_longer_one_to_come() {
        let mut names = Names::new();
        for name in 0..10 {
            names.see(name);
        }
        names.turn(0.1, 0.0);
        for name in 0..8 {
            for _ in 0..3 {
                names.see(name);
            }
            assert!(names.is_flow(name));
        }
        assert!(names.coming() < 1e-9, "two are left beside eight flows");
    }
}
