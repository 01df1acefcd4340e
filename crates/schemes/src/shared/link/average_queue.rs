//! The average queue of random early detection, and the probability of a mark that follows from it.
//!
//! S. Floyd, V. Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM
//! Transactions on Networking 1(4), 1993, equations 1 and 2, and S. Floyd, "Recommendations on
//! using the gentle variant of RED", 2000.

use control::{Duration, LinkView, Size, Time, math};

/// The average of the bytes of Data in a queue.
pub(crate) struct Average {
    weight: f64,
    bytes: f64,
    /// Since when the queue is empty.
    q_time: Option<Time>,
}

impl Average {
    /// Of nothing yet; a sample has this weight.
    pub(crate) fn new(weight: f64) -> Average {
        Average { weight, bytes: 0.0, q_time: Some(Time::ZERO) }
    }

    /// The average in bytes.
    pub(crate) fn bytes(&self) -> f64 {
        self.bytes
    }

    /// Sets the average, as samples would.
    #[cfg(test)]
    pub(crate) fn set_bytes(&mut self, bytes: f64) {
        self.bytes = bytes;
    }

    /// Equation 1, for Data that joins the queue in the view.
    pub(crate) fn sample(&mut self, view: &LinkView) {
        self.bytes += self.weight * (view.data_out.bytes.0 as f64 - self.bytes);
    }

    /// Equation 1, or what it is while the queue is empty: as if packets of this size had come.
    pub(crate) fn sample_or_age(&mut self, now: Time, view: &LinkView, packet: Size) {
        match self.q_time.filter(|_| view.data_out.packets == 0) {
            Some(since) if view.rate_out.0 > 0 => {
                let packet = view.rate_out.time_for(packet).max(Duration(1));
                let m = now.since(since).0 as f64 / packet.0 as f64;
                self.bytes *= math::pow(1.0 - self.weight, m);
                self.q_time = Some(now);
            }
            _ => self.sample(view),
        }
    }

    /// Data left the queue, and this is what stays.
    pub(crate) fn left(&mut self, now: Time, view: &LinkView) {
        self.q_time = (view.data_out.packets == 0).then_some(now);
    }
}

/// Equation 2 up to the second threshold, and the gentle rise to 1 at twice that; 0 below the
/// first, and 1 above.
pub(crate) fn gentle(avg: f64, min_th: f64, max_th: f64, max_p: f64) -> f64 {
    if avg < min_th {
        0.0
    } else if avg < max_th {
        max_p * (avg - min_th) / (max_th - min_th)
    } else {
        (max_p + (1.0 - max_p) * (avg - max_th) / max_th).min(1.0)
    }
}
