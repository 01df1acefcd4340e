//! A PIT entry under a test's hands, as a forwarder keeps it for strategies.

use control::{
    Action, Cx, Downstream, Duration, LinkView, Links, NextHop, Rng, Strategy, StrategyCx, Time,
    Upstream,
};
use packet::{HopOptions, NackReason, Name};

/// An entry and the FIB entry of its name, which is its own prefix.
pub(crate) struct Pending {
    pub(crate) hops: Vec<NextHop>,
    pub(crate) now: Time,
    pub(crate) name: Name,
    pub(crate) options: HopOptions,
    pub(crate) downstreams: Vec<Downstream>,
    pub(crate) upstreams: Vec<Upstream>,
    /// Faces that lead to other nodes.
    pub(crate) others: Vec<u64>,
    /// The components of the FIB entry, if it is not the whole name.
    pub(crate) prefix: Option<usize>,
    note: [u64; 2],
    rng: Rng,
}

/// Faces of whose links nothing is known.
struct Others<'a>(&'a [u64]);

impl Links for Others<'_> {
    fn view(&self, _: u64) -> Option<LinkView> {
        None
    }

    fn others(&self, each: &mut dyn FnMut(u64)) {
        self.0.iter().for_each(|face| each(*face));
    }
}

impl Pending {
    /// Next hops with their costs.
    pub(crate) fn with(hops: &[(u64, u64)]) -> Pending {
        Pending {
            hops: hops.iter().map(|&(face, cost)| NextHop { face, cost }).collect(),
            now: Time(1_000_000_000),
            name: "/a".parse().expect("a name"),
            options: HopOptions::new(),
            downstreams: Vec::new(),
            upstreams: Vec::new(),
            others: Vec::new(),
            prefix: None,
            note: [0; 2],
            rng: Rng::stream(1, &["pending"]),
        }
    }

    /// Nothing is pending.
    pub(crate) fn renew(&mut self) {
        self.downstreams.clear();
        self.upstreams.clear();
        self.note = [0; 2];
    }

    fn call(
        &mut self,
        ingress: u64,
        act: impl FnOnce(&mut StrategyCx<'_, '_>),
        has_hops: bool,
    ) -> Vec<Action> {
        let (mut out, mut tap) = (Vec::new(), |_| {});
        let mut hops = self.hops.clone();
        hops.retain(|hop| has_hops && hop.face != ingress);
        let prefix = self.prefix.unwrap_or_else(|| self.name.as_ref().len());
        act(&mut StrategyCx {
            cx: &mut Cx { now: self.now, rng: &mut self.rng, tap: &mut tap },
            name: self.name.as_ref(),
            ingress,
            next_hops: &hops,
            prefix: if has_hops { prefix } else { 0 },
            links: &Others(&self.others),
            downstreams: &self.downstreams,
            upstreams: &self.upstreams,
            options: &mut self.options,
            mark: 0,
            note: &mut self.note,
            out: &mut out,
        });
        for action in &out {
            if let Action::Forward(face) | Action::Probe(face) = *action {
                self.upstreams.retain(|u| u.face != face);
                self.upstreams.push(Upstream::new(face, self.now));
            }
        }
        out
    }

    /// An Interest from a face.
    pub(crate) fn interest(&mut self, strategy: &mut dyn Strategy, face: u64) -> Vec<Action> {
        let (arrived_at, expires) = (self.now, self.now + Duration::from_secs(4));
        self.downstreams.retain(|d| d.face != face);
        self.downstreams.push(Downstream { face, arrived_at, expires });
        self.call(face, |s| strategy.on_interest(s), true)
    }

    /// Its Nack from a face.
    pub(crate) fn nack(
        &mut self,
        strategy: &mut dyn Strategy,
        face: u64,
        reason: NackReason,
    ) -> Vec<Action> {
        let of_face = self.upstreams.iter_mut().filter(|u| u.face == face);
        of_face.for_each(|u| u.nacked = Some(reason));
        self.call(face, |s| strategy.on_nack(s, reason), true)
    }

    /// The link to a face gives it up.
    pub(crate) fn dropped(&mut self, strategy: &mut dyn Strategy, face: u64) -> Vec<Action> {
        self.call(face, |s| strategy.on_dropped_interest(s), true)
    }

    /// Its end without an answer.
    pub(crate) fn expire(&mut self, strategy: &mut dyn Strategy) {
        let face = self.downstreams.first().map_or(0, |downstream| downstream.face);
        self.call(face, |s| strategy.on_expiry(s), false);
    }

    /// Data from a face.
    pub(crate) fn data(&mut self, strategy: &mut dyn Strategy, face: u64) -> Vec<Action> {
        let out = self.call(face, |s| strategy.on_data(s), false);
        self.upstreams.retain(|u| u.face != face);
        self.downstreams.clear();
        out
    }
}
