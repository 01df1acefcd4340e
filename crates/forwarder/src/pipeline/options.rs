//! Options as they come in: what is malformed goes no further, and is counted by reason.

use super::Pipeline;
use crate::caching::{CachesBelow, CachesPassed};
use crate::counters::OptionFault;
use crate::tables::FaceId;
use packet::options::{
    AddressChallenge, AddressEcho, Anticipated, Capability, Exclude, ExpectedBytes, MAX_RANGE,
    NON_DISCOVERY, Offers, PREFIX_ANNOUNCEMENT, PathId, PathLabel, Range, RateStamp, ResidenceTime,
    RttHint, RttSpread, ServedBy, SteeringHint, TrafficClass,
};
use packet::{HopOption, HopOptions, LpPacket, tlv};

/// The options of a frame that came over a face. One that is unknown is handed on as it is.
#[inline]
pub(super) fn take_options(
    p: &mut Pipeline<'_>,
    face: FaceId,
    header: &LpPacket<'_>,
) -> HopOptions {
    if !header.has_options() && !header.has_learning() {
        return HopOptions::new();
    }
    let mut options = HopOptions::new();
    let mut last = 0;
    for (typ, value) in header.all_options() {
        let fault = if typ == last { Some(OptionFault::Repeated) } else { fault(typ, value) };
        last = typ;
        if let Some(fault) = fault {
            p.faces.count_option_fault(face, fault);
        } else if !options.set_raw(typ, value) {
            p.faces.count_option_fault(face, OptionFault::TooManyBytes);
        }
    }
    if header.non_discovery() {
        options.set_raw(NON_DISCOVERY, &[]);
    }
    if let Some(announcement) = header.prefix_announcement()
        && !options.set_raw(PREFIX_ANNOUNCEMENT, announcement)
    {
        p.faces.count_option_fault(face, OptionFault::TooManyBytes);
    }
    options
}

/// Takes a Range off that came from an unproved address: one small Interest with a forged
/// sender would bring up to 256 Data packets to that sender. The address is asked for its
/// proof at once. A peer that sends ranges believed itself proved, perhaps by an earlier face.
pub(super) fn ignore_unproved_range(p: &mut Pipeline<'_>, face: FaceId, options: &mut HopOptions) {
    if options.is_empty() || options.get_raw(Range::TYPE).is_none() {
        return;
    }
    let Some(state) = p.faces.get_mut(face) else { return };
    if state.link_mut().capabilities.is_proved() {
        return;
    }
    state.link_mut().capabilities.ask_for_proof();
    options.remove(Range::TYPE);
    p.faces.count_option_fault(face, OptionFault::RangeUnproved);
    p.wake(face);
}

/// The fault of an option. Unknown types have none.
fn fault(typ: u32, value: &[u8]) -> Option<OptionFault> {
    macro_rules! read {
        ($($option:ident,)+) => {
            match typ {
                Range::TYPE => (!Range::is_well_formed(value)).then(|| range_fault(value)),
                $($option::TYPE => {
                    (!$option::is_well_formed(value)).then_some(OptionFault::$option)
                })+
                _ => None,
            }
        };
    }
    read! {
        TrafficClass,
        RateStamp,
        PathId,
        PathLabel,
        SteeringHint,
        Anticipated,
        ServedBy,
        ExpectedBytes,
        RttHint,
        Capability,
        AddressChallenge,
        AddressEcho,
        Offers,
        RttSpread,
        ResidenceTime,
        CachesBelow,
        CachesPassed,
        Exclude,
    }
}

/// The fault of a malformed Range.
#[cold]
fn range_fault(value: &[u8]) -> OptionFault {
    match tlv::read_var(value) {
        Err(_) => OptionFault::Range,
        Ok((count, _)) if !(2..=u64::from(MAX_RANGE)).contains(&count) => OptionFault::RangeCount,
        Ok(_) => OptionFault::RangeBitmap,
    }
}
