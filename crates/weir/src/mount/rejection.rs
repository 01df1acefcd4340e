//! The error numbers of failed operations.

use fuser::Errno;
use packet::NackReason;
use transport::fetch::StallCause;
use transport::fetch::batch::Failure;

/// The reason why an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// Nothing arrived within the patience.
    Silent,
    /// No route led to the producer, or no forwarder was there, within the patience.
    Unreachable,
    /// The producer no longer has this version.
    Gone,
    /// The bytes do not match the signature, or the tree breaks a rule.
    Unverified,
    /// The directory is larger than permitted.
    TooLarge,
    /// The mount ends.
    Ended,
}

impl Rejection {
    /// The rejection of a batch that stalled.
    pub fn of_stall(cause: StallCause) -> Rejection {
        match cause {
            StallCause::Nack(NackReason::NoRoute) => Rejection::Unreachable,
            StallCause::Forged => Rejection::Unverified,
            StallCause::Nack(_) | StallCause::Unanswered => Rejection::Silent,
        }
    }

    /// The rejection of an object that failed.
    pub fn of_failure(why: &Failure) -> Rejection {
        match why {
            Failure::Gone => Rejection::Gone,
            Failure::Forged | Failure::Inconsistent => Rejection::Unverified,
        }
    }

    /// The error number, as in errno(3).
    pub fn errno(self) -> Errno {
        match self {
            Rejection::Silent => Errno::ETIMEDOUT,
            Rejection::Unreachable => Errno::EHOSTUNREACH,
            Rejection::Gone => Errno::ESTALE,
            Rejection::Unverified => Errno::EIO,
            Rejection::TooLarge => Errno::EFBIG,
            Rejection::Ended => Errno::ENOTCONN,
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
            assert_eq!(Rejection::of_stall(cause).errno().code(), errno.code());
        }
        let failures = [
            (Failure::Gone, Errno::ESTALE),
            (Failure::Forged, Errno::EIO),
            (Failure::Inconsistent, Errno::EIO),
        ];
        for (why, errno) in failures {
            assert_eq!(Rejection::of_failure(&why).errno().code(), errno.code());
        }
    }
}
