//! The result of a call: a number, and a text for this thread.

use client::{Error, Verified};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result of a call. Later versions may have more values.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(non_camel_case_types, reason = "names in C")]
pub enum Status {
    /// It succeeded.
    WEIR_OK = 0,
    /// It failed for another reason than those below.
    WEIR_FAILED = 1,
    /// An argument is wrong: a null pointer, text that is not UTF-8, a name or a setting.
    WEIR_USAGE = 2,
    /// No route leads to the name, or its producer has nothing of that name.
    WEIR_NOT_FOUND = 3,
    /// A signature or digest was rejected.
    WEIR_NOT_VERIFIED = 4,
    /// It was cancelled.
    WEIR_CANCELLED = 5,
    /// There is no forwarder, or the connection to it was lost.
    WEIR_NO_FORWARDER = 6,
    /// A local file could not be read or written.
    WEIR_FILE = 7,
    /// No answer arrived in time.
    WEIR_TIMED_OUT = 8,
    /// The object has more bytes than were permitted.
    WEIR_TOO_LARGE = 9,
    /// The forwarder rejected a registration.
    WEIR_REJECTED = 10,
}

/// The proof by a signature. Later versions may have more values.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(non_camel_case_types, reason = "names in C")]
pub enum Proof {
    /// Nothing: the signature is by a key that is not known here, or no fetch in this thread has
    /// succeeded.
    WEIR_UNCHECKED = 0,
    /// It is not damaged, and anyone can have made it.
    WEIR_DIGEST = 1,
    /// A trusted key has signed it.
    WEIR_KEY = 2,
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
    static PROOF: Cell<Proof> = const { Cell::new(Proof::WEIR_UNCHECKED) };
}

/// The proof of what the last fetch, or weir_express, has returned in this thread. It is
/// WEIR_UNCHECKED after one that failed.
#[unsafe(no_mangle)]
pub extern "C" fn weir_last_proof() -> Proof {
    PROOF.get()
}

/// Keeps a proof for the thread.
pub fn prove(verified: Option<&Verified>) {
    PROOF.set(match verified {
        Some(Verified::Key(_)) => Proof::WEIR_KEY,
        Some(Verified::Digest) => Proof::WEIR_DIGEST,
        _ => Proof::WEIR_UNCHECKED,
    });
}

/// The text of the last failure in this thread, or an empty text. It is valid until the next call
/// in this thread that fails.
#[unsafe(no_mangle)]
pub extern "C" fn weir_last_error() -> *const c_char {
    LAST.with(|last| last.try_borrow().map_or(c"".as_ptr(), |last| last.as_ptr()))
}

/// The version of this library, such as `0.1.0`.
#[unsafe(no_mangle)]
pub extern "C" fn weir_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// Runs a function of the library, and keeps its error for the thread.
pub fn call(function: impl FnOnce() -> Result<(), Error>) -> Status {
    // The values that a panic leaves half-changed are the caller's, who is told of the failure.
    let done = catch_unwind(AssertUnwindSafe(function));
    let (status, text) = match done {
        Ok(Ok(())) => return Status::WEIR_OK,
        Ok(Err(error)) => (of(&error), error.to_string()),
        Err(panic) => {
            (Status::WEIR_FAILED, format!("a mistake in libweir: {}", panic_text(&*panic)))
        }
    };
    // A zero byte would end the text.
    let text = CString::new(text.replace('\0', "?")).unwrap_or_default();
    LAST.with(|last| last.replace(text));
    status
}

fn of(error: &Error) -> Status {
    match error {
        Error::NotFound(_) => Status::WEIR_NOT_FOUND,
        Error::NotVerified(_) => Status::WEIR_NOT_VERIFIED,
        Error::NoForwarder(_) => Status::WEIR_NO_FORWARDER,
        Error::TimedOut(_) => Status::WEIR_TIMED_OUT,
        Error::Cancelled => Status::WEIR_CANCELLED,
        Error::File(_) => Status::WEIR_FILE,
        Error::Usage(_) => Status::WEIR_USAGE,
        Error::TooLarge(_) => Status::WEIR_TOO_LARGE,
        Error::Rejected(_) => Status::WEIR_REJECTED,
        _ => Status::WEIR_FAILED,
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    #[test]
    fn a_panic_becomes_a_status_and_a_text() {
        let status = call(|| panic!("of {} arguments", 3));
        assert_eq!(status, Status::WEIR_FAILED);
        // SAFETY: the pointer is that of this thread's text, which no call replaces meanwhile.
        let text = unsafe { CStr::from_ptr(weir_last_error()) };
        assert_eq!(text.to_str(), Ok("a mistake in libweir: of 3 arguments"));
        assert_eq!(call(|| Err(Error::Cancelled)), Status::WEIR_CANCELLED);
    }
}
