//! Answering Interests by a function of the caller.

use crate::connect::Client;
use crate::pointers::{bytes, free, null, text, value, value_mut};
use crate::status::{Status, call};
use std::ffi::{CString, c_char, c_void};
use std::time::Duration;

/// A prefix that a function answers for until it is freed.
pub struct Registration {
    registration: client::Registration,
}

/// An Interest, during the call of a weir_on_interest.
pub struct Interest {
    interest: client::Interest,
    name: CString,
}

/// The reply to an Interest, during the call of a weir_on_interest.
pub struct Reply {
    reply: Option<client::Reply>,
}

/// Answers an Interest by weir_reply_set. Without a call of it, the Interest is rejected. It is
/// called in a thread of the library, never twice at a time for one registration.
pub type OnInterest =
    Option<unsafe extern "C" fn(interest: *const Interest, reply: *mut Reply, user: *mut c_void)>;

/// A pointer that the caller lets other threads use.
struct User(*mut c_void);

// SAFETY: `weir_register` demands that the function may be called with it from another thread.
unsafe impl Send for User {}

impl User {
    fn pointer(&self) -> *mut c_void {
        self.0
    }
}

/// Answers Interests under `prefix` by `on_interest`, until the registration is freed by
/// weir_registration_free. After a restart of the forwarder it is registered again. `user` may be
/// null. `on_interest` must not free the registration.
///
/// # Safety
/// The pointers are valid or null, and `on_interest` may be called with `user` from another thread
/// until the registration has been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_register(
    client: *const Client,
    prefix: *const c_char,
    on_interest: OnInterest,
    user: *mut c_void,
    registration: *mut *mut Registration,
) -> Status {
    call(|| {
        // SAFETY: the caller's duty.
        let out = unsafe { value_mut(registration, "registration") }?;
        *out = std::ptr::null_mut();
        // SAFETY: the caller's duty.
        let (client, prefix) = unsafe { (value(client, "client")?, text(prefix, "prefix")?) };
        let on_interest = on_interest.ok_or_else(|| null("on_interest"))?;
        let user = User(user);
        let registration = client.client.register(prefix, move |interest| {
            let name = CString::new(interest.name.to_string()).unwrap_or_default();
            let interest = Interest { interest: interest.clone(), name };
            let mut reply = Reply { reply: None };
            // SAFETY: the caller's duty; both values live longer than the call.
            unsafe { on_interest(&raw const interest, &raw mut reply, user.pointer()) };
            reply.reply
        })?;
        *out = Box::into_raw(Box::new(Registration { registration }));
        Ok(())
    })
}

/// The name of an Interest, valid during the call of a weir_on_interest; an empty text for null.
///
/// # Safety
/// The pointer is valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_interest_name(interest: *const Interest) -> *const c_char {
    // SAFETY: the caller's duty.
    unsafe { interest.as_ref() }.map_or(c"".as_ptr(), |interest| interest.name.as_ptr())
}

/// The parameters of an Interest, valid during the call of a weir_on_interest, and their length in
/// `len`. Null without parameters.
///
/// # Safety
/// The pointers are valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_interest_parameters(
    interest: *const Interest,
    len: *mut usize,
) -> *const u8 {
    // SAFETY: the caller's duty.
    let (interest, len) = unsafe { (interest.as_ref(), len.as_mut()) };
    let parameters = interest.and_then(|interest| interest.interest.parameters.as_deref());
    if let Some(len) = len {
        *len = parameters.map_or(0, <[u8]>::len);
    }
    parameters.map_or(std::ptr::null(), <[u8]>::as_ptr)
}

/// Answers with a copy of `len` bytes, under the name of the Interest. Caches may answer with them
/// to Interests for fresh Data for `freshness_milliseconds`. Name, content and signature have room
/// for 8800 bytes in all; a reply beyond that is rejected.
///
/// # Safety
/// The pointers are valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_reply_set(
    reply: *mut Reply,
    content: *const u8,
    len: usize,
    freshness_milliseconds: u64,
) -> Status {
    call(|| {
        // SAFETY: the caller's duty.
        let (reply, content) =
            unsafe { (value_mut(reply, "reply")?, bytes(content, len, "content")?) };
        let freshness = Duration::from_millis(freshness_milliseconds);
        reply.reply = Some(client::Reply::new(content).fresh_for(freshness));
        Ok(())
    })
}

/// Does not answer at all: another producer of the prefix may.
///
/// # Safety
/// The pointer is valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_reply_silence(reply: *mut Reply) -> Status {
    call(|| {
        // SAFETY: the caller's duty.
        unsafe { value_mut(reply, "reply") }?.reply = Some(client::Reply::silence());
        Ok(())
    })
}

/// Interests that were answered so far; 0 for null.
///
/// # Safety
/// The pointer is valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_registration_answered(registration: *const Registration) -> u64 {
    // SAFETY: the caller's duty.
    unsafe { registration.as_ref() }.map_or(0, |one| one.registration.answered())
}

/// WEIR_OK while Interests are answered, also while the forwarder is away; otherwise why that has
/// ended. A null pointer is WEIR_USAGE.
///
/// # Safety
/// The pointer is valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_registration_state(registration: *const Registration) -> Status {
    call(|| {
        // SAFETY: the caller's duty.
        let registration = unsafe { value(registration, "registration") }?;
        registration.registration.error().map_or(Ok(()), Err)
    })
}

/// Ends a registration. Its function is not called any more then. If the forwarder hangs, that
/// takes up to six seconds; the same holds for publications.
///
/// # Safety
/// It comes from this library, and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_registration_free(registration: *mut Registration) {
    // SAFETY: the caller's duty.
    unsafe { free(registration) }
}
