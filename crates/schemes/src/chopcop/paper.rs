//! The paper of CHoPCoP and its parts.

pub(super) const PAPER: &str = "F. Zhang, Y. Zhang, A. Reznik, H. Liu, C. Qian, C. Xu, \
     A Transport Protocol for Content-Centric Networking with Explicit Congestion Control, \
     ICCCN 2014";
