//! Links that stamp a rate on Data, and consumers that ask at that rate: the parts that RCP and
//! MIRCC have in common, and sluice in part.
//!
//! M. Mahdian, S. Arianfar, J. Gibson, D. Oran, "MIRCC: Multipath-aware ICN Rate-based Congestion
//! Control", ACM ICN 2016, runs both schemes with the same consumer and the same shaper, so that
//! only the laws of their links differ. Sections and equations are those of this paper.
//!
//! - `stamper`: the measurements of a link, and the stamps (section 3.1);
//! - `consumer`: rates, pacing and paths of a consumer (sections 3.1, 4.2, 4.3);
//! - `unstamped`: the consumer's window for paths without stamps;
//! - `shaper`: the Interest shaper that the paper assumes.

pub(crate) mod consumer;
pub(crate) mod shaper;
pub(crate) mod stamper;
pub(crate) mod unstamped;
