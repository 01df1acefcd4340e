//! The interface of state machines at the end of a connection.

use control::Time;

/// A state machine at the end of a connection, with the verbs of all of them.
pub trait Endpoint {
    /// A link-layer frame came.
    fn receive(&mut self, now: Time, frame: &[u8]);

    /// Appends the next frame to send and returns true, or returns false.
    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool;

    /// When [`Endpoint::on_deadline`] has to be called.
    fn next_deadline(&mut self, now: Time) -> Option<Time>;

    /// The instant asked for has come.
    fn on_deadline(&mut self, now: Time);

    /// Announces if the forwarder answers ranges over this connection now. Over UDP it does not
    /// until this address has proved that it receives; before, a range brings one segment. Called
    /// over UDP only, before each requested packet.
    fn set_ranges(&mut self, _answered: bool) {}
}
