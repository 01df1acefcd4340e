//! Fetching: into memory, into a file, block by block; one packet.

use crate::connect::{Cancel, Client};
use crate::pointers::{give, null, text, value, value_mut};
use crate::status::{Status, call, prove};
use client::{Error, Interest, Request, Verified};
use std::ffi::{c_char, c_void};
use std::time::Duration;

/// Takes a verified part of an object, and returns true to go on. The bytes are valid during the
/// call.
pub type OnBlock =
    Option<unsafe extern "C" fn(bytes: *const u8, len: usize, user: *mut c_void) -> bool>;

/// The request of a name.
///
/// # Safety
/// The pointers are valid or null.
unsafe fn request(
    client: *const Client,
    name: *const c_char,
    cancel: *const Cancel,
) -> Result<Request, Error> {
    prove(None);
    // SAFETY: see above.
    let (client, name) = unsafe { (value(client, "client")?, text(name, "name")?) };
    let request = client.client.request(name);
    // SAFETY: see above.
    Ok(match unsafe { cancel.as_ref() } {
        Some(cancel) => request.cancel(&cancel.cancel),
        None => request,
    })
}

/// Runs `fetch`, and hands the content that it returns to the caller.
///
/// # Safety
/// The pointers are valid or null.
unsafe fn into_memory(
    bytes: *mut *mut u8,
    len: *mut usize,
    fetch: impl FnOnce() -> Result<(Vec<u8>, Verified), Error>,
) -> Status {
    call(|| {
        prove(None);
        // SAFETY: see above.
        let (bytes, len) = unsafe { (value_mut(bytes, "bytes")?, value_mut(len, "len")?) };
        (*bytes, *len) = (std::ptr::null_mut(), 0);
        let (content, verified) = fetch()?;
        prove(Some(&verified));
        give(content, bytes, len);
        Ok(())
    })
}

/// Fetches an object of at most 1 GB into memory. The bytes are written to `bytes` and `len`, and
/// freed by weir_bytes_free. `cancel` may be null.
///
/// # Safety
/// The pointers are valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_fetch(
    client: *const Client,
    name: *const c_char,
    cancel: *const Cancel,
    bytes: *mut *mut u8,
    len: *mut usize,
) -> Status {
    // SAFETY: the caller's duty.
    unsafe {
        into_memory(bytes, len, || {
            let fetched = request(client, name, cancel)?.bytes()?;
            Ok((fetched.content, fetched.verified))
        })
    }
}

/// As weir_fetch, only the bytes from `from` up to, but not including, `to`.
///
/// # Safety
/// The pointers are valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_fetch_range(
    client: *const Client,
    name: *const c_char,
    from: u64,
    to: u64,
    cancel: *const Cancel,
    bytes: *mut *mut u8,
    len: *mut usize,
) -> Status {
    // SAFETY: the caller's duty.
    unsafe {
        into_memory(bytes, len, || {
            let fetched = request(client, name, cancel)?.range(from..to).bytes()?;
            Ok((fetched.content, fetched.verified))
        })
    }
}

/// Fetches an object into a file, which appears or changes only when all is verified and on disk.
/// `cancel` may be null.
///
/// # Safety
/// The pointers are valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_fetch_file(
    client: *const Client,
    name: *const c_char,
    path: *const c_char,
    cancel: *const Cancel,
) -> Status {
    call(|| {
        // SAFETY: the caller's duty.
        let (request, path) = unsafe { (request(client, name, cancel)?, text(path, "path")?) };
        prove(Some(&request.to_file(path)?.verified));
        Ok(())
    })
}

/// Fetches an object, and calls `on_block` in this thread for each part in order. If it returns
/// false, the fetch ends with WEIR_CANCELLED. `cancel` and `user` may be null.
///
/// # Safety
/// The pointers are valid or null, and `on_block` may be called with `user`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_fetch_blocks(
    client: *const Client,
    name: *const c_char,
    cancel: *const Cancel,
    on_block: OnBlock,
    user: *mut c_void,
) -> Status {
    call(|| {
        prove(None);
        let on_block = on_block.ok_or_else(|| null("on_block"))?;
        // SAFETY: the caller's duty.
        let mut blocks = unsafe { request(client, name, cancel) }?.blocks()?;
        for block in &mut blocks {
            let block = block?;
            // SAFETY: the caller's duty; the block lives longer than the call.
            if !unsafe { on_block(block.as_ptr(), block.len(), user) } {
                return Err(Error::Cancelled);
            }
        }
        prove(blocks.verified().as_ref());
        Ok(())
    })
}

/// Sends one Interest with this lifetime, and writes the content of the verified Data packet that
/// answers it to `bytes` and `len`, to be freed by weir_bytes_free. `can_be_prefix`: Data below the
/// name answers it, too. `must_be_fresh`: only fresh Data does.
///
/// # Safety
/// The pointers are valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_express(
    client: *const Client,
    name: *const c_char,
    can_be_prefix: bool,
    must_be_fresh: bool,
    lifetime_milliseconds: u64,
    bytes: *mut *mut u8,
    len: *mut usize,
) -> Status {
    // SAFETY: the caller's duty.
    unsafe {
        into_memory(bytes, len, || {
            let (client, name) = (value(client, "client")?, text(name, "name")?);
            let lifetime = Duration::from_millis(lifetime_milliseconds);
            let mut interest = Interest::new(name)?.lifetime(lifetime);
            (interest.can_be_prefix, interest.must_be_fresh) = (can_be_prefix, must_be_fresh);
            let data = client.client.express(&interest)?;
            Ok((data.content, data.verified))
        })
    }
}
