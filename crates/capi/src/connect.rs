//! Clients and their settings; requests to cancel.

use crate::pointers::{free, text, value, value_mut};
use crate::status::{Status, call};
use client::Trust;
use std::ffi::c_char;
use std::time::Duration;

/// The settings of a client, before it connects.
pub struct Builder {
    builder: client::Builder,
    anchors: Vec<String>,
}

/// A forwarder, rules of trust, and defaults of operations.
pub struct Client {
    pub(crate) client: client::Client,
}

/// Cancels fetches from another thread.
pub struct Cancel {
    pub(crate) cancel: client::Cancel,
}

/// Settings with their defaults; never null. Free them by weir_builder_free.
#[unsafe(no_mangle)]
pub extern "C" fn weir_builder_new() -> *mut Builder {
    let builder = client::Client::builder();
    Box::into_raw(Box::new(Builder { builder, anchors: Vec::new() }))
}

/// Changes the settings.
///
/// # Safety
/// The pointer is null, or that of settings that nothing else uses.
unsafe fn change(
    builder: *mut Builder,
    to: impl FnOnce(client::Builder) -> Result<client::Builder, client::Error>,
) -> Status {
    call(|| {
        // SAFETY: see above.
        let builder = unsafe { value_mut(builder, "builder") }?;
        builder.builder = to(builder.builder.clone())?;
        Ok(())
    })
}

/// The address of the forwarder: a path, unix://..., tcp://host:port or udp://host:port. Without
/// it, NDN_CLIENT_TRANSPORT and client.conf name it.
///
/// # Safety
/// The pointers are valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_builder_forwarder(
    builder: *mut Builder,
    address: *const c_char,
) -> Status {
    // SAFETY: the caller's duty.
    unsafe { change(builder, |b| Ok(b.forwarder(text(address, "address")?))) }
}

/// The congestion-control scheme of fetches, such as "cubic".
///
/// # Safety
/// The pointers are valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_builder_control(
    builder: *mut Builder,
    scheme: *const c_char,
) -> Status {
    // SAFETY: the caller's duty.
    unsafe { change(builder, |b| Ok(b.control(text(scheme, "scheme")?))) }
}

/// The name of the key, or of its identity, that signs what the client publishes.
///
/// # Safety
/// The pointers are valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_builder_key(builder: *mut Builder, name: *const c_char) -> Status {
    // SAFETY: the caller's duty.
    unsafe { change(builder, |b| Ok(b.key(text(name, "name")?))) }
}

/// Accepts only signatures by this anchor, other anchors that were added, and keys that they
/// certify: the path of a certificate or of trust rules, or the name of one of the user's keys.
///
/// # Safety
/// The pointers are valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_builder_trust(
    builder: *mut Builder,
    anchor: *const c_char,
) -> Status {
    call(|| {
        // SAFETY: the caller's duty.
        let (builder, anchor) =
            unsafe { (value_mut(builder, "builder")?, text(anchor, "anchor")?) };
        builder.anchors.push(anchor.to_owned());
        builder.builder = builder.builder.clone().trust(Trust::anchors(builder.anchors.clone()));
        Ok(())
    })
}

/// Accepts only digests, which protect from damage but not from forgery.
///
/// # Safety
/// The pointer is valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_builder_trust_digest(builder: *mut Builder) -> Status {
    // SAFETY: the caller's duty.
    unsafe { change(builder, |b| Ok(b.trust(Trust::Digest))) }
}

/// A fetch fails after this time without progress, in milliseconds; 30000 by default.
///
/// # Safety
/// The pointer is valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_builder_patience(builder: *mut Builder, milliseconds: u64) -> Status {
    // SAFETY: the caller's duty.
    unsafe { change(builder, |b| Ok(b.patience(Duration::from_millis(milliseconds)))) }
}

/// The lifetime of the Interests of fetches, in milliseconds; 4000 by default.
///
/// # Safety
/// The pointer is valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_builder_lifetime(builder: *mut Builder, milliseconds: u64) -> Status {
    // SAFETY: the caller's duty.
    unsafe { change(builder, |b| Ok(b.lifetime(Duration::from_millis(milliseconds)))) }
}

/// Checks the settings and that a forwarder is there, and writes a new client to `client`, to be
/// freed by weir_client_free. The settings stay, and are freed on their own.
///
/// # Safety
/// The pointers are valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_builder_connect(
    builder: *const Builder,
    client: *mut *mut Client,
) -> Status {
    call(|| {
        // SAFETY: the caller's duty.
        let (builder, out) = unsafe { (value(builder, "builder")?, value_mut(client, "client")?) };
        *out = std::ptr::null_mut();
        let client = builder.builder.clone().connect()?;
        *out = Box::into_raw(Box::new(Client { client }));
        Ok(())
    })
}

/// Frees settings.
///
/// # Safety
/// They come from weir_builder_new, and are not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_builder_free(builder: *mut Builder) {
    // SAFETY: the caller's duty.
    unsafe { free(builder) }
}

/// Connects to the forwarder at this address with default settings, and writes a new client to
/// `client`. A null address is that of NDN_CLIENT_TRANSPORT or client.conf.
///
/// # Safety
/// The pointers are valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_client_connect(
    address: *const c_char,
    client: *mut *mut Client,
) -> Status {
    call(|| {
        // SAFETY: the caller's duty.
        let out = unsafe { value_mut(client, "client") }?;
        *out = std::ptr::null_mut();
        let address = match address.is_null() {
            true => "",
            // SAFETY: the caller's duty.
            false => unsafe { text(address, "address") }?,
        };
        let client = client::Client::connect(address)?;
        *out = Box::into_raw(Box::new(Client { client }));
        Ok(())
    })
}

/// Frees a client. Its publications and registrations go on.
///
/// # Safety
/// It comes from this library, and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_client_free(client: *mut Client) {
    // SAFETY: the caller's duty.
    unsafe { free(client) }
}

/// A request to cancel that was not made yet; never null. Free it by weir_cancel_free.
#[unsafe(no_mangle)]
pub extern "C" fn weir_cancel_new() -> *mut Cancel {
    Box::into_raw(Box::new(Cancel { cancel: client::Cancel::new() }))
}

/// Ends all fetches with this value, from any thread. They return WEIR_CANCELLED. It stays
/// cancelled.
///
/// # Safety
/// The pointer is valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_cancel_now(cancel: *const Cancel) -> Status {
    call(|| {
        // SAFETY: the caller's duty.
        unsafe { value(cancel, "cancel") }?.cancel.cancel();
        Ok(())
    })
}

/// Frees a request to cancel.
///
/// # Safety
/// It comes from weir_cancel_new, and no call uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_cancel_free(cancel: *mut Cancel) {
    // SAFETY: the caller's duty.
    unsafe { free(cancel) }
}
