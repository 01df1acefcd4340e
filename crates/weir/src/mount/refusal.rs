//! The error numbers of failed operations.

use fuser::Errno;
use packet::NackReason;
use transport::fetch::StallCause;
use transport::fetch::batch::Failure;

/// The reason why an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Nothing arrived for as long as the patience lasts.
    Silent,
    /// No route leads to the producer, or there is no forwarder, for as long.
    Unreachable,
    /// The producer no longer has this version.
    Gone,
    /// The bytes are not those that were signed, or the tree breaks a rule.
    Unverified,
    /// The directory is larger than permitted.
    TooLarge,
    /// The mount ends.
    Ended,
}

impl Refusal {
    /// The refusal of a batch that stalled.
    pub fn of_stall(cause: StallCause) -> Refusal {
        match cause {
            StallCause::Nack(NackReason::NoRoute) => Refusal::Unreachable,
            StallCause::Forged => Refusal::Unverified,
            StallCause::Nack(_) | StallCause::Unanswered => Refusal::Silent,
        }
    }

    /// The refusal of an object that failed.
    pub fn of_failure(why: &Failure) -> Refusal {
        match why {
            Failure::Gone => Refusal::Gone,
            Failure::Forged | Failure::Inconsistent => Refusal::Unverified,
        }
    }

    /// The error number, as in errno(3).
    pub fn errno(self) -> Errno {
        match self {
            Refusal::Silent => Errno::ETIMEDOUT,
            Refusal::Unreachable => Errno::EHOSTUNREACH,
            Refusal::Gone => Errno::ESTALE,
            Refusal::Unverified => Errno::EIO,
            Refusal::TooLarge => Errno::EFBIG,
            Refusal::Ended => Errno::ENOTCONN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_has_the_error_number_that_programs_expect() {
        let stalls = [
            (StallCause::Unanswered, Errno::ETIMEDOUT),
            (StallCause::Nack(NackReason::NoRoute), Errno::EHOSTUNREACH),
            (StallCause::Nack(NackReason::Congestion), Errno::ETIMEDOUT),
            (StallCause::Forged, Errno::EIO),
        ];
        for (cause, errno) in stalls {
            assert_eq!(Refusal::of_stall(cause).errno().code(), errno.code());
        }
        let failures = [
            (Failure::Gone, Errno::ESTALE),
            (Failure::Forged, Errno::EIO),
            (Failure::Inconsistent, Errno::EIO),
        ];
        for (why, errno) in failures {
            assert_eq!(Refusal::of_failure(&why).errno().code(), errno.code());
        }
    }
}
