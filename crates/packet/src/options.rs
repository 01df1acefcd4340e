//! Hop-by-hop options: header fields that forwarders ignore if they do not support them.
//!
//! The codec keeps type and bytes; the file that defines an option gives them their meaning.
//! Options that schemes and forwarders share are defined here, in the order of their types in
//! `docs/reference/wire.md`. A number before other fields is a var-number, like TLV-TYPE and
//! TLV-LENGTH; a number that ends a value is a NonNegativeInteger.

mod answer;
mod anticipated;
mod exclude;
mod label;
mod list;
mod numbers;
mod offers;
mod option;
mod paths;
mod range;

pub use answer::answer;
pub use anticipated::{Anticipated, Holder, MAX_HOLDERS, MAX_WANTED, ServedBy};
pub use exclude::{Exclude, MAX_EXCLUDED};
pub use label::{LabelMode, MAX_LABEL, PathLabel};
pub use list::{HopOptions, MAX_OPTION_BYTES, MAX_OPTIONS, NON_DISCOVERY, PREFIX_ANNOUNCEMENT};
pub use numbers::{AddressChallenge, AddressEcho, Capability, ExpectedBytes};
pub use numbers::{RateStamp, ResidenceTime, RttHint, RttSpread, TrafficClass};
pub use offers::{MAX_OFFERS, Offer, Offers};
pub use option::HopOption;
pub use paths::{MAX_HINT, PathId, SteeringHint, SteeringKind};
pub use range::{MAX_RANGE, Range, SegmentBits, segments_in};

#[cfg(test)]
mod tests {
    mod typed;

    use super::*;

    struct Rate(u8);
    impl HopOption for Rate {
        const TYPE: u32 = 868;
        fn encode(&self, out: &mut Vec<u8>) {
            out.push(self.0);
        }
        fn decode(value: &[u8]) -> Option<Rate> {
            let [n] = *value else { return None };
            Some(Rate(n))
        }
    }

    #[test]
    fn options_are_set_replaced_read_and_bounded() {
        let mut options = HopOptions::new();
        assert!(options.set_raw(872, &[9]) && options.set(&Rate(1)) && options.set(&Rate(2)));
        assert_eq!(options.get::<Rate>().unwrap().0, 2);
        assert_eq!(options.iter().map(|(t, _)| t).collect::<Vec<_>>(), [868, 872]);
        assert!(options.set_raw(868, &[]) && options.get::<Rate>().is_none(), "malformed");
        options.remove(868);
        assert_eq!(options.len(), 1);
        assert!(!options.set_raw(866, &[]) && !options.set_raw(832, &[]));
        for typ in 0..2000 {
            options.set_raw(typ, &[]);
        }
        assert_eq!(options.len(), MAX_OPTIONS);
        assert!(options.iter().all(|(t, _)| t % 4 == 0 && (844..=959).contains(&t)));
        assert!(options.has_standard());
        let standard: Vec<u32> = options.standard().iter().map(|(typ, _)| typ).collect();
        assert_eq!(standard, [NON_DISCOVERY, PREFIX_ANNOUNCEMENT]);

        let mut options = HopOptions::new();
        assert!(options.set_raw(872, &[1; 1000]) && options.set_raw(876, &[2; 24]));
        assert!(!options.set_raw(880, &[3]) && !options.set_raw(876, &[2; 25]), "1025 bytes");
        assert!(options.set_raw(872, &[1; 999]) && options.set_raw(880, &[3]));
        assert_eq!((options.len(), options.bytes()), (3, MAX_OPTION_BYTES));
    }
}
