//! The number of requests in flight is bounded, whatever the controller permits.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::support::Memory;
use control::{
    Arrival, Ask, Controller, Cx, Duration, Loss, MAX_WINDOW, Permit, Sent, Size, Ticket, Time,
};
use packet::tlv::{put_tlv, types};
use packet::{Bytes, Component, DataBuf, HopOptions, Interest, LpPacket, Name};
use security::TrustPolicy;
use transport::fetch::{Fetch, FetchConfig};
use transport::rdr;

/// A controller that permits every request.
struct Boundless;

impl Controller for Boundless {
    fn permit(&self, _: Time, _: &Ask<'_>) -> Permit {
        Permit::Now(0)
    }

    fn on_sent(&mut self, _: &mut Cx<'_>, _: &Sent) -> Ticket {
        Ticket { timeout: Duration::from_secs(10), memo: [0; 2], options: HopOptions::default() }
    }

    fn on_data(&mut self, _: &mut Cx<'_>, _: &Arrival<'_>) {}

    fn on_loss(&mut self, _: &mut Cx<'_>, _: &Loss<'_>) {}
}

/// The answer to an Interest for the version's root packet or for the first of a million segments.
fn answer(interest: &Interest<'_>) -> Option<Bytes> {
    let asked = interest.name();
    let object = "/a/v=1".parse::<Name>().unwrap();
    if asked == rdr::root_name(object.as_ref()).as_ref() {
        let mut content = Vec::new();
        put_tlv(&mut content, types::NAME, object.as_ref().as_bytes());
        return Some(DataBuf::new(asked.to_name(), content).encode_digest());
    }
    let first = asked.last().and_then(|last| last.as_segment()) == Some(0);
    first.then(|| {
        let mut data = DataBuf::new(asked.to_name(), Bytes::from_static(b"content"));
        data.final_block = Some(Component::segment(999_999));
        data.encode_digest()
    })
}

#[test]
fn a_controller_without_bounds_has_no_more_in_flight_than_may_be() {
    let mut config = FetchConfig::new("/a/v=1".parse().unwrap(), TrustPolicy::DigestOnly);
    // The stash does not limit the number of requests either.
    config.stash = Size(1 << 30);
    let mut fetch = Fetch::new(config, Box::new(Boundless));
    let (mut sink, now, mut out) = (Memory::default(), Time(1_000_000), Vec::new());
    let (mut sent, mut answered) = (0u32, 0u32);
    while fetch.poll_transmit(now, &mut out) {
        sent += 1;
        let frame = std::mem::take(&mut out);
        let lp = LpPacket::decode(&frame).unwrap();
        let interest = Interest::decode(lp.fragment().unwrap()).unwrap();
        if let Some(data) = answer(&interest) {
            fetch.receive(now, &data, &mut sink);
            answered += 1;
        }
        assert!(f64::from(sent - answered) <= MAX_WINDOW, "{sent}");
    }
    assert_eq!(f64::from(sent - answered), MAX_WINDOW, "{answered} answers");
}
