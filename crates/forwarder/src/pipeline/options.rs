//! Options as they come in: what is malformed goes no further, and is counted by reason.

use super::{Pipeline, ranges};
use crate::caching::{CachesBelow, CachesPassed};
use crate::counters::OptionFault;
use crate::tables::FaceId;
use packet::options::{
    AddressChallenge, AddressEcho, Anticipated, Capability, Exclude, ExpectedBytes, NON_DISCOVERY,
    Offers, PREFIX_ANNOUNCEMENT, PathId, PathLabel, Range, RateStamp, ResidenceTime, RttHint,
    RttSpread, ServedBy, SteeringHint, TrafficClass,
};
use packet::{HopOption, HopOptions, LpPacket};

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

/// Puts the options of a frame with an Interest that came over a face into `options`, which are
/// none. A range is left out if the sender has not proved its address. Most frames have none: they
/// write nothing.
#[inline]
pub(super) fn take_interest_options(
    p: &mut Pipeline<'_>,
    face: FaceId,
    header: &LpPacket<'_>,
    options: &mut HopOptions,
) {
    if header.has_options() || header.has_learning() {
        *options = take_options(p, face, header);
        ranges::ignore_unproved(p, face, options);
    }
}

/// The fault of an option. Unknown types have none.
fn fault(typ: u32, value: &[u8]) -> Option<OptionFault> {
    macro_rules! read {
        ($($option:ident,)+) => {
            match typ {
                Range::TYPE => ranges::fault(value),
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
