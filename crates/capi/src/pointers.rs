//! Pointers of the caller as references, texts and slices.

use crate::status::call;
use client::Error;
use std::ffi::{CStr, c_char};

/// The error of a pointer that must not be null.
pub fn null(what: &str) -> Error {
    Error::Usage(format!("the pointer `{what}` is null"))
}

/// The value behind a pointer.
///
/// # Safety
/// The pointer is null, or valid for `'a`.
pub unsafe fn value<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Error> {
    // SAFETY: see above.
    unsafe { pointer.as_ref() }.ok_or_else(|| null(what))
}

/// The value behind a pointer, to be changed.
///
/// # Safety
/// The pointer is null, or valid for `'a`, and nothing else uses the value meanwhile.
pub unsafe fn value_mut<'a, T>(pointer: *mut T, what: &str) -> Result<&'a mut T, Error> {
    // SAFETY: see above.
    unsafe { pointer.as_mut() }.ok_or_else(|| null(what))
}

/// A text.
///
/// # Safety
/// The pointer is null, or that of a text with a zero byte at its end, valid for `'a`.
pub unsafe fn text<'a>(pointer: *const c_char, what: &str) -> Result<&'a str, Error> {
    if pointer.is_null() {
        return Err(null(what));
    }
    // SAFETY: see above.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|_| Error::Usage(format!("the text `{what}` is not UTF-8")))
}

/// Bytes; none for a null pointer with the length 0.
///
/// # Safety
/// The pointer is null, or that of `len` bytes that are valid for `'a`.
pub unsafe fn bytes<'a>(pointer: *const u8, len: usize, what: &str) -> Result<&'a [u8], Error> {
    if len == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() {
        return Err(null(what));
    }
    if len > isize::MAX as usize {
        let text = format!("`{what}` has {len} bytes, more than the available memory");
        return Err(Error::Usage(text));
    }
    // SAFETY: see above.
    Ok(unsafe { std::slice::from_raw_parts(pointer, len) })
}

/// Hands bytes to the caller, who frees them by `weir_bytes_free`. No bytes are a null pointer.
pub fn give(content: Vec<u8>, to: &mut *mut u8, len: &mut usize) {
    *len = content.len();
    *to = match content.is_empty() {
        true => std::ptr::null_mut(),
        false => Box::into_raw(content.into_boxed_slice()).cast(),
    };
}

/// Frees bytes that a function of this library returned. `len` must be the returned length.
///
/// # Safety
/// The bytes come from this library with this length, and were not freed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_bytes_free(bytes: *mut u8, len: usize) {
    if bytes.is_null() || len == 0 {
        return;
    }
    let slice = std::ptr::slice_from_raw_parts_mut(bytes, len);
    // SAFETY: `give` has made it from a box of this length.
    drop(unsafe { Box::from_raw(slice) });
}

/// Frees a handle; nothing for null. A panic ends here.
///
/// # Safety
/// The handle comes from `Box::into_raw`, and nothing uses it any more.
pub unsafe fn free<T>(handle: *mut T) {
    if !handle.is_null() {
        call(|| {
            // SAFETY: see above.
            drop(unsafe { Box::from_raw(handle) });
            Ok(())
        });
    }
}
