//! Log lines about rejected commands: one a second for each face, so that a flood of bad commands
//! does not flood the log.

use super::response::ControlResponse;
use control::{Duration, Time};
use forwarder::FaceId;
use std::collections::BTreeMap;

/// The time after a line about a face in which no other line about it is written.
const PAUSE: Duration = Duration::from_secs(1);

/// A face about which a line was written.
#[derive(Debug)]
struct Quiet {
    until: Time,
    /// Rejections since then.
    more: u64,
}

/// The faces about which lines were written of late.
#[derive(Debug, Default)]
pub(super) struct Rejections {
    faces: BTreeMap<FaceId, Quiet>,
}

impl Rejections {
    /// Writes that a command of a face was rejected, if it was, now or with others later.
    pub fn note(&mut self, now: Time, face: FaceId, what: &str, response: &ControlResponse) {
        if response.code == 200 {
            return;
        }
        self.on_deadline(now);
        if let Some(quiet) = self.faces.get_mut(&face) {
            quiet.more += 1;
            return;
        }
        self.faces.insert(face, Quiet { until: now + PAUSE, more: 0 });
        tracing::warn!(%face, what, code = response.code, why = response.text, "rejected");
    }

    /// When [`Rejections::on_deadline`] has to be called.
    pub fn next_deadline(&self) -> Option<Time> {
        self.faces.values().map(|quiet| quiet.until).min()
    }

    /// Writes the number of further rejections.
    pub fn on_deadline(&mut self, now: Time) {
        self.faces.retain(|face, quiet| {
            if quiet.until > now {
                return true;
            }
            let more = std::mem::take(&mut quiet.more);
            if more > 0 {
                tracing::warn!(%face, more, "more were rejected within a second");
            }
            // A face that continues stays under watch.
            quiet.until = now + PAUSE;
            more > 0
        });
    }

    /// The face is gone.
    pub fn face_gone(&mut self, face: FaceId) {
        if let Some(Quiet { more: more @ 1.., .. }) = self.faces.remove(&face) {
            tracing::warn!(%face, more, "more were rejected before the face was closed");
        }
    }
}
