//! A router's part in CCTCP (section II-A): it keeps no state per flow.

use control::{Cx, DataMeta, Duration, InterestMeta, LinkView, NodeView, Stamper};
use packet::HopOption;
use packet::options::{Anticipated, Holder};

/// Says which anticipated segments the content store holds, and how long the rest of the way took.
pub(super) struct Holdings;

impl Stamper for Holdings {
    fn on_interest(
        &mut self,
        cx: &mut Cx<'_>,
        _view: &LinkView,
        node: &dyn NodeView,
        interest: &mut InterestMeta,
    ) {
        let Some(bytes) = interest.options.get_raw(Anticipated::TYPE).map(<[u8]>::len) else {
            return;
        };
        let Some(mut header) = interest.options.get::<Anticipated>() else {
            // Too long, or malformed: no later node needs to read it again.
            interest.options.remove(Anticipated::TYPE);
            cx.note("anticipated refused", bytes as f64);
            return;
        };
        // A node that holds the requested segment answers, and appends nothing.
        if node.holds(interest.flow, interest.segment) {
            return;
        }
        let mut held = 0;
        for (at, segment) in header.wanted().iter().enumerate() {
            held |= u64::from(node.holds(interest.flow, *segment)) << at;
        }
        // T_I.
        let holder = Holder { node: node.id(), held, elapsed: cx.now.0, hops: None };
        if header.add(holder) && !interest.options.set(&header) {
            cx.note("anticipated full", header.holders().len() as f64);
        }
    }

    fn on_data_in(
        &mut self,
        cx: &mut Cx<'_>,
        _view: &LinkView,
        node: &dyn NodeView,
        data: &mut DataMeta,
        _since_release: Duration,
    ) {
        change(data, |holder| match holder.hops {
            None => arrived(cx, node, holder),
            Some(hops) => {
                holder.hops = Some(hops.saturating_add(1).min(MOST_HOPS));
                true
            }
        });
    }

    /// Where the answer came from this very node's producer, no face has seen it come in.
    fn on_data(
        &mut self,
        cx: &mut Cx<'_>,
        _view: &LinkView,
        node: &dyn NodeView,
        data: &mut DataMeta,
    ) {
        change(data, |holder| holder.hops.is_none() && arrived(cx, node, holder));
    }
}

/// The largest count that can be written.
const MOST_HOPS: u8 = 254;

/// Replaces T_I by T_D - T_I, if this is the node's own entry. A clock that has run backwards since
/// gives the longest time there is, which the consumer ignores.
fn arrived(cx: &mut Cx<'_>, node: &dyn NodeView, holder: &mut Holder) -> bool {
    if holder.node != node.id() {
        return false;
    }
    holder.elapsed = cx.now.0.checked_sub(holder.elapsed).unwrap_or_else(|| {
        cx.note("anticipated clock", holder.elapsed as f64);
        u64::MAX
    });
    holder.hops = Some(0);
    true
}

/// Writes the header again if `of_each` has changed a holder.
fn change(data: &mut DataMeta, mut of_each: impl FnMut(&mut Holder) -> bool) {
    if data.options.get_raw(Anticipated::TYPE).is_none() {
        return;
    }
    let Some(mut header) = data.options.get::<Anticipated>() else { return };
    let changed = header.holders_mut().iter_mut().filter_map(|h| of_each(h).then_some(())).count();
    if changed > 0 {
        data.options.set(&header);
    }
}

#[cfg(test)]
mod tests;
