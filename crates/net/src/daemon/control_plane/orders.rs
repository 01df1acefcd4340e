//! Commands that make, change and end faces, and their replies.

use super::ControlPlane;
use super::connecting::Connecting;
use crate::daemon::faces::{FaceSet, Made};
use crate::management::orders::{Order, Rejected, Task, reply_body};
use crate::management::parameters::ControlParameters;
use crate::management::response::ControlResponse;
use control::{Duration, Time};
use forwarder::{FaceId, Forwarder, Wire};

/// The time limit for a connection. It is shorter than the timeout of the requesting program.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

impl ControlPlane {
    /// Executes an order, and replies when it is done.
    pub(super) fn execute(
        &mut self,
        forwarder: &mut Forwarder,
        faces: &mut FaceSet,
        order: Order,
        now: Time,
    ) {
        let response = match &order.task {
            Task::Create(create) => match faces.create(forwarder, create, now) {
                Ok(Made::Begun(face)) => {
                    let until = now + CONNECT_TIMEOUT;
                    return self.connecting.push(Connecting { face, order, until });
                }
                Ok(Made::Connected(face)) => made(faces, face, &order.asked),
                Ok(Made::Known(face)) => {
                    let body = made(faces, face, &order.asked).body;
                    ControlResponse::new(409, "there is a face to that URI already", body)
                }
                Err(Rejected { code, why }) => order.rejection(code, why),
            },
            Task::Update(face, change) => match faces.update(forwarder, *face, change) {
                Ok(()) => {
                    let info =
                        faces.get(*face).map(|face| reply_body(&face.info(), &order.asked, false));
                    ControlResponse::new(200, "OK", info.unwrap_or_default())
                }
                Err(Rejected { code, why }) => order.rejection(code, why),
            },
            Task::Destroy(face) => {
                faces.close(forwarder, *face, "destroyed by a command");
                let body = ControlParameters { face_id: Some(face.0), ..Default::default() };
                ControlResponse::new(200, "OK", body)
            }
        };
        self.reply(forwarder, &order, &response, now);
    }

    fn reply(
        &mut self,
        forwarder: &mut Forwarder,
        order: &Order,
        response: &ControlResponse,
        now: Time,
    ) {
        self.management.executed(now, order, response);
        let frame = order.reply(response);
        forwarder.receive(now, self.management.face(), Wire::Borrowed(&frame));
    }

    /// Replies to commands whose faces are connected by now, or will not be; says whether there
    /// was any.
    pub fn reply_to_connected(&mut self, forwarder: &mut Forwarder, faces: &mut FaceSet) -> bool {
        let (now, mut has_replied) = (self.clock.now(), false);
        for connecting in std::mem::take(&mut self.connecting) {
            let (id, order) = (connecting.face, &connecting.order);
            let response = match faces.is_connected(id) {
                Ok(false) if connecting.until > now => {
                    self.connecting.push(connecting);
                    continue;
                }
                Ok(true) => made(faces, id, &order.asked),
                Ok(false) => order.rejection(504, "the connection took too long"),
                Err(why) => order.rejection(504, format!("cannot connect: {why}")),
            };
            if response.code != 200 {
                faces.close(forwarder, id, "it cannot be connected");
            }
            self.reply(forwarder, order, &response, now);
            has_replied = true;
        }
        has_replied
    }
}

/// The response for a face that a command made.
fn made(faces: &FaceSet, id: FaceId, asked: &ControlParameters) -> ControlResponse {
    let info = faces.get(id).map(|face| reply_body(&face.info(), asked, true));
    ControlResponse::new(200, "OK", info.unwrap_or_default())
}
