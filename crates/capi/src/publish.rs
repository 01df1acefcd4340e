//! Publishing bytes and files.

use crate::connect::Client;
use crate::pointers::{bytes, free, text, value, value_mut};
use crate::status::{Status, call};
use client::{Content, Error};
use std::ffi::{CString, c_char};
use std::path::PathBuf;

/// An object that is served from a thread until it is freed.
pub struct Publication {
    publication: client::Publication,
    name: CString,
}

/// Publishes content under a name.
///
/// # Safety
/// The pointers are valid or null.
unsafe fn publish(
    client: *const Client,
    name: *const c_char,
    content: Result<Content, Error>,
    out: *mut *mut Publication,
) -> Result<(), Error> {
    // SAFETY: see above.
    let out = unsafe { value_mut(out, "publication") }?;
    *out = std::ptr::null_mut();
    // SAFETY: see above.
    let (client, name) = unsafe { (value(client, "client")?, text(name, "name")?) };
    let publication = client.client.publish(name, content?)?;
    let name = CString::new(publication.name().to_string()).unwrap_or_default();
    *out = Box::into_raw(Box::new(Publication { publication, name }));
    Ok(())
}

/// Publishes a copy of `len` bytes under a name and a new version, and serves them from a thread
/// until the publication is freed by weir_publication_free. After a restart of the forwarder they
/// are served again.
///
/// # Safety
/// The pointers are valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_publish(
    client: *const Client,
    name: *const c_char,
    content: *const u8,
    len: usize,
    publication: *mut *mut Publication,
) -> Status {
    call(|| {
        // SAFETY: the caller's duty.
        let content = unsafe { bytes(content, len, "content") }.map(Content::from);
        // SAFETY: the caller's duty.
        unsafe { publish(client, name, content, publication) }
    })
}

/// As weir_publish, the content of a file, which must not change meanwhile. Its version is the time
/// of its modification.
///
/// # Safety
/// The pointers are valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_publish_file(
    client: *const Client,
    name: *const c_char,
    path: *const c_char,
    publication: *mut *mut Publication,
) -> Status {
    call(|| {
        // SAFETY: the caller's duty.
        let path = unsafe { text(path, "path") };
        let content = path.map(|path| Content::File(PathBuf::from(path)));
        // SAFETY: the caller's duty.
        unsafe { publish(client, name, content, publication) }
    })
}

/// The name with the version, valid until the publication is freed; an empty text for null.
///
/// # Safety
/// The pointer is valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_publication_name(publication: *const Publication) -> *const c_char {
    // SAFETY: the caller's duty.
    unsafe { publication.as_ref() }.map_or(c"".as_ptr(), |publication| publication.name.as_ptr())
}

/// Data packets that were sent so far; 0 for null.
///
/// # Safety
/// The pointer is valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_publication_answered(publication: *const Publication) -> u64 {
    // SAFETY: the caller's duty.
    unsafe { publication.as_ref() }.map_or(0, |publication| publication.publication.answered())
}

/// WEIR_OK while it is served, also while the forwarder is away; otherwise why it has ended. A null
/// pointer is WEIR_USAGE.
///
/// # Safety
/// The pointer is valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_publication_state(publication: *const Publication) -> Status {
    call(|| {
        // SAFETY: the caller's duty.
        let publication = unsafe { value(publication, "publication") }?;
        publication.publication.error().map_or(Ok(()), Err)
    })
}

/// Ends a publication. Its thread and its registration have ended then.
///
/// # Safety
/// It comes from this library, and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_publication_free(publication: *mut Publication) {
    // SAFETY: the caller's duty.
    unsafe { free(publication) }
}
