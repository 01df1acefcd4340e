//! The rates that a link offers to each flow: equations (2) to (16) of the paper.
//!
//! The text of the paper breaks its fractions; they are read so that units and fixed points are
//! right, as each line says. All rates are in bit/s of Data, queues in bits of Data, times in s.

/// The constants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Law {
    /// eta: the share of a link that rates are to fill.
    pub(crate) eta: f64,
    /// beta': the smallest weight of the queue.
    pub(crate) beta: f64,
    /// alpha: the weight of the newest value in the averages of base and excess.
    pub(crate) alpha: f64,
    /// The share of eta C that the queue's part in (3) may take. By (3) as printed, a queue that
    /// grew fast makes base negative; flows that are offered nothing are no load, so that (2) next
    /// takes each of them for thousands, and the rate climbs all the way back.
    pub(crate) drain: f64,
    /// The lowest rate, as a share of C: (2) divides by the rate, and a flow that is offered
    /// nothing could not learn of a higher one.
    pub(crate) floor: f64,
}

/// The measurements of a period, and the state at its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Period {
    /// y(t): the rate of Data that the Interests offered in the period will bring.
    pub(crate) y: f64,
    /// q(t): the Data that the Interests held will bring.
    pub(crate) q: f64,
    /// d(t): the mean round-trip time; more than 0.
    pub(crate) d: f64,
}

/// The bounds of a class in a period.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// C or C_s.
    capacity: f64,
    /// The least that N may be.
    fewest: f64,
    /// The least rate, more than 0.
    floor: f64,
    /// The largest rate.
    ceiling: f64,
}

/// The rate of one class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClassRate {
    rate: f64,
    base: Option<f64>,
    excess: Option<f64>,
    y: f64,
}

impl ClassRate {
    /// Starts with the rate `initial`, which is more than 0.
    pub(crate) fn new(initial: f64) -> ClassRate {
        ClassRate { rate: initial, base: None, excess: None, y: 0.0 }
    }

    /// R(t).
    pub(crate) fn rate(&self) -> f64 {
        self.rate
    }

    /// The end of a period.
    fn update(&mut self, law: Law, bounds: Bounds, p: Period) {
        let Bounds { capacity, fewest, floor, ceiling } = bounds;
        // (2), (6), (12): N = max(C, y(t)) / R(t - T)
        let n = (capacity.max(p.y) / self.rate).max(fewest);
        // (8), (14): beta = max(beta', (y(t) - y(t - T)) / y(t))
        let growth = if p.y > 0.0 { (p.y - self.y) / p.y } else { 0.0 };
        let beta = law.beta.max(growth);
        // (3), (7), (13): base = (eta C - beta q(t) / d(t)) / N
        let full = law.eta * capacity;
        let base = (full - (beta * p.q / p.d).min(law.drain * full)) / n;
        // (4), (9), (15): excess = R(t - T) - y(t) / N
        let excess = self.rate - p.y / n;
        let base = averaged(law.alpha, &mut self.base, base);
        let excess = averaged(law.alpha, &mut self.excess, excess);
        // (5), (10), (16): R(t) = base + excess, of their averages
        self.rate = (base + excess).min(ceiling).max(floor);
        self.y = p.y;
    }
}

/// mu(t) = (1 - alpha) mu(t - T) + alpha x(t), from the first x on.
fn averaged(alpha: f64, mu: &mut Option<f64>, x: f64) -> f64 {
    let new = mu.map_or(x, |mu| (1.0 - alpha) * mu + alpha * x);
    *mu = Some(new);
    new
}

/// Both classes of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkRates {
    law: Law,
    primary: ClassRate,
    secondary: ClassRate,
    /// The primary class was measured: before that nothing is known to be left over.
    measured: bool,
}

impl LinkRates {
    /// A link that was idle: the first flow is offered the share `initial` of `capacity` (C), and
    /// as much again while it does not use it.
    pub(crate) fn new(law: Law, initial: f64, capacity: f64) -> LinkRates {
        let rate = ClassRate::new((initial * capacity).max(law.floor * capacity));
        LinkRates { law, primary: rate, secondary: rate, measured: false }
    }

    /// R_p(t).
    pub(crate) fn primary(&self) -> f64 {
        self.primary.rate()
    }

    /// R_s(t).
    pub(crate) fn secondary(&self) -> f64 {
        if self.measured { self.secondary.rate() } else { 0.0 }
    }

    /// The end of a period: C, y_p(t), y_s(t), and q(t), d(t) that both classes share.
    pub(crate) fn update(&mut self, capacity: f64, y_s: f64, p: Period) {
        let floor = self.law.floor * capacity;
        self.measured = true;
        let bounds = Bounds { capacity, fewest: 0.0, floor, ceiling: capacity };
        self.primary.update(self.law, bounds, p);
        // (11): C_s = max(C - y_p(t), 0)
        let left = (capacity - p.y).max(0.0);
        let of_secondary = Period { y: y_s, ..p };
        let ceiling = left.max(floor);
        let bounds = Bounds { capacity: left, fewest: 1.0, floor, ceiling };
        self.secondary.update(self.law, bounds, of_secondary);
    }
}

#[cfg(test)]
mod tests;
