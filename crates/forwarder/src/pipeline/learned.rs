//! Routes that strategies learn from packets and announce.

use bytes::Bytes;
use control::{Action, Duration};
use packet::options::PREFIX_ANNOUNCEMENT;
use packet::{HopOptions, NameRef};

use super::Pipeline;
use crate::state::learned::LearnedRoute;
use crate::tables::FaceId;

/// Applies the strategy's actions about Data from a face. Returns for how long the entry lingers
/// for further Data, if it does.
pub(super) fn apply(
    p: &mut Pipeline<'_>,
    face: FaceId,
    name: NameRef<'_>,
    options: &mut HopOptions,
) -> Option<Duration> {
    let mut linger = None;
    for action in p.tables.strategies().actions() {
        match *action {
            Action::Linger(time) => linger = Some(time),
            Action::Learn(longest) => {
                let bytes = options.get_raw(PREFIX_ANNOUNCEMENT);
                if let Some(announcement) = bytes.map(Bytes::copy_from_slice) {
                    p.learned.push(LearnedRoute::Announced { face, announcement, longest });
                }
            }
            Action::Announce => {
                if let Some(known) = p.tables.announcement(name) {
                    options.set_raw(PREFIX_ANNOUNCEMENT, known);
                }
            }
            _ => {}
        }
    }
    linger
}
