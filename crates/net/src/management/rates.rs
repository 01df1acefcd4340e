//! Commands of Weir's own: `/localhost/weir/faces/update` changes the rates of a face.

use super::parameters::ControlParameters;
use super::response::ControlResponse;
use control::{Rate, Time};
use forwarder::{FaceId, Forwarder, Medium, RateIn};

/// `faces/update`
pub(super) fn update(
    forwarder: &mut Forwarder,
    now: Time,
    asked: &ControlParameters,
) -> ControlResponse {
    let Some(face) = asked.face_id.map(FaceId) else {
        return ControlResponse::new(400, "faces/update needs a FaceId", asked.clone());
    };
    if forwarder.counters(face).is_none() {
        return ControlResponse::new(410, format!("there is no face {face}"), asked.clone());
    }
    if asked.rate == Some(0) {
        return ControlResponse::new(400, "a rate of zero lets nothing pass", asked.clone());
    }
    if let Some(rate) = asked.rate {
        forwarder.set_rate(now, face, Some(Rate(rate)), Medium::default().slack);
    }
    if let Some(rate) = asked.rate_in {
        let rate = if rate > 0 { RateIn::Known(Rate(rate)) } else { RateIn::Measured };
        forwarder.set_rate_in(face, rate);
    }
    tracing::debug!(%face, rate = asked.rate, rate_in = asked.rate_in, "face updated");
    ControlResponse::new(200, "Success", asked.clone())
}
