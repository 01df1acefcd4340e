//! The registration of a member at its forwarder.

use net::client::{CommandError, Connection};
use net::management::parameters::ControlParameters;
use packet::Name;

/// The strategy that brings a group's Interests to all members.
const STRATEGY: &str = "/localhost/nfd/strategy/multicast";

/// Registers the group and the other prefixes of a member, and chooses the group's strategy.
/// Without the other prefixes, present members answer in place of this one. Returns a line if the
/// strategy may not be chosen.
///
/// # Errors
/// The forwarder rejects the group's prefix, or does not answer.
pub fn register(
    connection: &mut Connection,
    group: &Name,
    others: &[Name],
) -> Result<Option<String>, CommandError> {
    connection.register(group)?;
    for prefix in others {
        match connection.register(prefix) {
            Err(CommandError::Rejected { .. }) => {}
            other => other?,
        }
    }
    let asked = ControlParameters {
        name: Some(group.clone()),
        strategy: STRATEGY.parse().ok(),
        ..ControlParameters::default()
    };
    let what = format!("choose the strategy of {group}");
    let answer = connection.control(["nfd", "strategy-choice", "set"], &asked, &what)?;
    Ok((answer.code != 200).then(|| {
        format!(
            "the forwarder refused to choose the strategy of {group}: {} {}; unless it is \
             multicast, members miss messages: its administrator can run \
             `weir strategy set {group} multicast`",
            answer.code, answer.text
        )
    }))
}
