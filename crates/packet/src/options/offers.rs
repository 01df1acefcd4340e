//! The rates that the links of a path offer a flow.

use super::option::HopOption;
use smallvec::SmallVec;

/// The most offers on one packet.
pub const MAX_OFFERS: usize = 3;

/// Bytes of an offer.
const OFFER: usize = 4;

/// A link's offer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Offer {
    /// The rate of Data in 1024ths of octaves above 1 bit/s: 1024 times its binary logarithm.
    pub rate: u16,
    /// The link, by a number that it drew.
    pub link: u16,
}

/// The lowest offers of a path, the lowest first; not more than one of a link.
///
/// A consumer whose Data come by several paths, or in part from caches near by, loads each link
/// with a part of its rate. It learns the part from the share of Data that carry the link's offer.
/// The lowest offer alone would hide a link that all paths share, behind those that they do not
/// share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offers(SmallVec<[Offer; MAX_OFFERS]>);

impl Offers {
    /// No offer.
    #[must_use]
    pub fn new() -> Offers {
        Offers::default()
    }

    /// Adds an offer, unless [`MAX_OFFERS`] others are lower. Of two offers of a link the lower
    /// one stays.
    pub fn add(&mut self, offer: Offer) {
        if let Some(at) = self.0.iter().position(|other| other.link == offer.link) {
            if self.0[at].rate <= offer.rate {
                return;
            }
            self.0.remove(at);
        }
        let at = self.0.partition_point(|other| *other < offer);
        self.0.insert(at, offer);
        self.0.truncate(MAX_OFFERS);
    }

    /// The offers, the lowest first.
    pub fn iter(&self) -> impl Iterator<Item = Offer> + '_ {
        self.0.iter().copied()
    }
}

impl HopOption for Offers {
    const TYPE: u32 = 924;

    fn encode(&self, out: &mut Vec<u8>) {
        for offer in self.iter() {
            out.extend(offer.rate.to_be_bytes());
            out.extend(offer.link.to_be_bytes());
        }
    }

    fn decode(value: &[u8]) -> Option<Offers> {
        let count = value.len() / OFFER;
        if !value.len().is_multiple_of(OFFER) || !(1..=MAX_OFFERS).contains(&count) {
            return None;
        }
        let mut offers = Offers::new();
        for bytes in value.chunks_exact(OFFER) {
            let &[a, b, c, d] = bytes else { return None };
            offers
                .add(Offer { rate: u16::from_be_bytes([a, b]), link: u16::from_be_bytes([c, d]) });
        }
        // Offers in another order, or two of a link, are no offers.
        let mut again = Vec::with_capacity(value.len());
        offers.encode(&mut again);
        (again == value).then_some(offers)
    }
}
