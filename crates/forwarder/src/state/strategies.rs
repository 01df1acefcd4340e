//! The strategies of a forwarder, and how one is asked.

use control::{Action, Cx, Downstream, Links, NextHop, Rng, Strategy, StrategyCx, Time, Upstream};
use packet::{HopOptions, NackReason, NameRef};

use crate::events::{Reporter, Taps};
use crate::tables::{FaceId, HashedName, Lengths, PitEntry, PrefixTooDeep, Reach, StrategyChoice};

/// Why a strategy is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trigger {
    Interest,
    Data,
    Nack(NackReason),
    Dropped,
    Timer,
    Expiry,
}

/// A question to the strategy of a name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question<'a> {
    pub(crate) now: Time,
    pub(crate) name: &'a HashedName<'a>,
    pub(crate) trigger: Trigger,
    /// The face that the packet came from that it is about.
    pub(crate) ingress: FaceId,
    pub(crate) mark: u64,
    /// How far the Interest goes that it is about, if it is about one.
    pub(crate) reach: Option<Reach>,
}

/// A strategy with its random stream.
struct Chosen {
    strategy: Box<dyn Strategy>,
    rng: Rng,
}

/// The strategies by prefix, and lists for their questions and answers, which are used again.
pub(crate) struct Strategies {
    chosen: StrategyChoice<Chosen>,
    next_hops: Vec<NextHop>,
    /// Components of the prefix that the next hops are routes for.
    prefix: usize,
    downstreams: Vec<Downstream>,
    upstreams: Vec<Upstream>,
    actions: Vec<Action>,
}

impl Strategies {
    /// `strategy` is that of every name.
    pub(super) fn new(strategy: Box<dyn Strategy>, rng: Rng) -> Strategies {
        Strategies {
            chosen: StrategyChoice::new(Chosen { strategy, rng }),
            next_hops: Vec::new(),
            prefix: 0,
            downstreams: Vec::new(),
            upstreams: Vec::new(),
            actions: Vec::new(),
        }
    }

    /// Chooses the strategy of a prefix.
    pub(crate) fn set(
        &mut self,
        prefix: &HashedName<'_>,
        strategy: Box<dyn Strategy>,
        rng: Rng,
    ) -> Result<(), PrefixTooDeep> {
        self.chosen.set(prefix, Chosen { strategy, rng }).map(drop)
    }

    /// Takes back the choice for a prefix; says whether there was one.
    pub(crate) fn unset(&mut self, prefix: &HashedName<'_>) -> bool {
        self.chosen.unset(prefix).is_some()
    }

    /// The prefixes that have a strategy of their own, in canonical order; the root first.
    pub(crate) fn prefixes(&self) -> impl Iterator<Item = NameRef<'_>> {
        self.chosen.iter().map(|(prefix, _)| prefix)
    }

    pub(super) fn lengths(&self) -> Lengths {
        self.chosen.lengths()
    }

    /// The list of next hops, empty, to be filled and given to [`Strategies::set_next_hops`].
    pub(crate) fn take_next_hops(&mut self) -> Vec<NextHop> {
        let mut hops = std::mem::take(&mut self.next_hops);
        hops.clear();
        hops
    }

    /// Sets the next hops for the next question, and the length of the prefix that leads to them.
    pub(crate) fn set_next_hops(&mut self, next_hops: Vec<NextHop>, prefix: usize) {
        (self.next_hops, self.prefix) = (next_hops, prefix);
    }

    /// There are no next hops for the next question.
    pub(super) fn clear_next_hops(&mut self) {
        self.next_hops.clear();
        self.prefix = 0;
    }

    /// The actions of the strategy that was asked last.
    pub(crate) fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// The same as a list that [`Strategies::recycle_actions`] takes back.
    pub(crate) fn take_actions(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.actions)
    }

    pub(crate) fn recycle_actions(&mut self, actions: Vec<Action>) {
        self.actions = actions;
    }

    /// Asks the strategy of the name; [`Strategies::actions`] has the answer then.
    pub(super) fn ask(
        &mut self,
        question: Question<'_>,
        entry: &mut PitEntry,
        options: &mut HopOptions,
        links: &dyn Links,
        taps: &mut Taps,
    ) {
        self.downstreams.clear();
        self.downstreams.extend(entry.in_records().iter().map(|r| Downstream {
            face: r.face.0,
            arrived_at: r.arrived_at,
            expires: r.expires,
        }));
        self.upstreams.clear();
        self.upstreams.extend(entry.out_records().iter().map(|r| Upstream {
            face: r.face().0,
            released_at: r.released_at().unwrap_or(r.sent_at),
            nacked: r.nacked,
            expires: r.expires,
            falls_short: question.reach.is_some_and(|reach| reach.exceeds(r.reach())),
        }));
        self.actions.clear();
        let chosen = self.chosen.find_mut(question.name);
        let mut tap = taps.of(Reporter::Strategy);
        let mut cx = Cx { now: question.now, rng: &mut chosen.rng, tap: &mut tap };
        let mut s = StrategyCx {
            cx: &mut cx,
            name: question.name.name(),
            ingress: question.ingress.0,
            next_hops: &self.next_hops,
            prefix: self.prefix,
            links,
            downstreams: &self.downstreams,
            upstreams: &self.upstreams,
            options,
            mark: question.mark,
            note: &mut entry.note,
            out: &mut self.actions,
        };
        match question.trigger {
            Trigger::Interest => chosen.strategy.on_interest(&mut s),
            Trigger::Data => chosen.strategy.on_data(&mut s),
            Trigger::Nack(reason) => chosen.strategy.on_nack(&mut s, reason),
            Trigger::Dropped => chosen.strategy.on_dropped_interest(&mut s),
            Trigger::Timer => chosen.strategy.on_timer(&mut s),
            Trigger::Expiry => chosen.strategy.on_expiry(&mut s),
        }
    }
}
