//! Groups of programs that publish for each other.

use crate::connect::Client;
use crate::pointers::{bytes, free, text, value, value_mut};
use crate::status::{Status, call};
use client::{Error, Verified};
use std::ffi::{CString, c_char};
use std::time::Duration;

/// The options of a member. Zeros are the defaults, and in later versions of the library, too.
#[repr(C)]
pub struct JoinOptions {
    /// The key, or identity, that signs; by default the client's key, or else the member's own.
    pub key: *const c_char,
    /// The number of earlier publications of each start of a member that are fetched: at most 2000,
    /// which is the default.
    pub history: usize,
    /// The number of own publications that are kept for others: at most 2000, which is the default.
    pub keep: usize,
    /// The number of publications that wait for weir_group_next before no more are asked for; 1000
    /// by default.
    pub waiting: usize,
}

impl JoinOptions {
    /// The same for the crate.
    ///
    /// # Safety
    /// The key is valid or null.
    unsafe fn to_client(&self) -> Result<client::JoinOptions, Error> {
        let mut options = client::JoinOptions::default();
        if !self.key.is_null() {
            // SAFETY: see above.
            options = options.key(unsafe { text(self.key, "key") }?);
        }
        if self.history != 0 {
            options = options.history(self.history);
        }
        if self.keep != 0 {
            options = options.keep(self.keep);
        }
        if self.waiting != 0 {
            options = options.waiting(self.waiting);
        }
        Ok(options)
    }
}

/// A member of a group.
pub struct Group {
    group: client::Group,
}

/// A verified publication of another member.
pub struct MemberPublication {
    publication: client::MemberPublication,
    member: CString,
    key: CString,
}

/// Joins a group under the name of a member, and writes it to `joined`, to be freed by
/// weir_group_free. It takes up to a second. Null for `options` is their defaults. Members accept
/// signatures by the client's anchors (weir_builder_trust) and keys that they certify, and without
/// any, by their own key. After a restart of the forwarder, the member is there again.
///
/// # Safety
/// The pointers are valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_join(
    client: *const Client,
    group: *const c_char,
    member: *const c_char,
    options: *const JoinOptions,
    joined: *mut *mut Group,
) -> Status {
    call(|| {
        // SAFETY: the caller's duty.
        let out = unsafe { value_mut(joined, "joined") }?;
        *out = std::ptr::null_mut();
        // SAFETY: the caller's duty.
        let (client, group, member) =
            unsafe { (value(client, "client")?, text(group, "group")?, text(member, "member")?) };
        // SAFETY: the caller's duty.
        let options = match unsafe { options.as_ref() } {
            // SAFETY: the caller's duty.
            Some(options) => unsafe { options.to_client() }?,
            None => client::JoinOptions::default(),
        };
        let group = client.client.join(group, member, &options)?;
        *out = Box::into_raw(Box::new(Group { group }));
        Ok(())
    })
}

/// Publishes a copy of `len` bytes for the group, and writes the number of the publication to
/// `seq`, which may be null. Content, names and signature have room for 8800 bytes in all. Nothing
/// waits for other members. WEIR_CANCELLED after weir_group_close.
///
/// # Safety
/// The pointers are valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_group_publish(
    group: *const Group,
    content: *const u8,
    len: usize,
    seq: *mut u64,
) -> Status {
    call(|| {
        // SAFETY: the caller's duty.
        let (group, content) = unsafe { (value(group, "group")?, bytes(content, len, "content")?) };
        let published = group.group.publish(content)?;
        // SAFETY: the caller's duty.
        if let Some(seq) = unsafe { seq.as_mut() } {
            *seq = published;
        }
        Ok(())
    })
}

/// Waits for the next publication of another member, and writes it to `publication`, to be freed by
/// weir_member_publication_free. Those of one start of a member come in the order of their numbers.
/// Numbers that are left out could not be fetched: see weir_group_missing. WEIR_TIMED_OUT if none
/// comes in time, or after weir_group_wake. WEIR_CANCELLED after weir_group_close, when all that
/// had come were taken.
///
/// # Safety
/// The pointers are valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_group_next(
    group: *const Group,
    timeout_milliseconds: u64,
    publication: *mut *mut MemberPublication,
) -> Status {
    call(|| {
        // SAFETY: the caller's duty.
        let out = unsafe { value_mut(publication, "publication") }?;
        *out = std::ptr::null_mut();
        // SAFETY: the caller's duty.
        let group = unsafe { value(group, "group") }?;
        let next = group.group.next(Duration::from_millis(timeout_milliseconds))?;
        let publication = next.ok_or_else(|| {
            Error::TimedOut(format!("no publication arrived in the group {}", group.group.name()))
        })?;
        let member = CString::new(publication.member.to_string()).unwrap_or_default();
        let key = match &publication.verified {
            Verified::Key(key) => CString::new(key.to_string()).unwrap_or_default(),
            _ => CString::default(),
        };
        *out = Box::into_raw(Box::new(MemberPublication { publication, member, key }));
        Ok(())
    })
}

/// Ends one wait of weir_group_next: the call that waits now in another thread, or the next one
/// that would wait, returns WEIR_TIMED_OUT at once.
///
/// # Safety
/// The pointer is valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_group_wake(group: *const Group) -> Status {
    call(|| {
        // SAFETY: the caller's duty.
        unsafe { value(group, "group") }?.group.wake();
        Ok(())
    })
}

/// Waits until each own publication was fetched by another member, which serves it when this one
/// has left. It is fetched when the answer was handed to the connection to the forwarder, and can
/// still be lost on its way. WEIR_TIMED_OUT if it takes longer; WEIR_FAILED if some had to make
/// room before.
///
/// # Safety
/// The pointer is valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_group_wait_until_fetched(
    group: *const Group,
    timeout_milliseconds: u64,
) -> Status {
    call(|| {
        // SAFETY: the caller's duty.
        let group = unsafe { value(group, "group") }?;
        let timeout = Duration::from_millis(timeout_milliseconds);
        if group.group.wait_until_fetched(timeout)? {
            return Ok(());
        }
        let left = group.group.unfetched();
        Err(Error::TimedOut(format!("no other member has fetched {left} publications yet")))
    })
}

/// The number of publications that could not be fetched, with those that come late; 0 for null.
///
/// # Safety
/// The pointer is valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_group_missing(group: *const Group) -> u64 {
    // SAFETY: the caller's duty.
    unsafe { group.as_ref() }.map_or(0, |group| group.group.missing())
}

/// The number of packets that were dropped because their signers are not trusted, or because they
/// are malformed; 0 for null.
///
/// # Safety
/// The pointer is valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_group_rejected(group: *const Group) -> u64 {
    // SAFETY: the caller's duty.
    unsafe { group.as_ref() }.map_or(0, |group| group.group.rejected())
}

/// WEIR_OK while the member is in the group, also while the forwarder is away, and after
/// weir_group_close; otherwise why that has ended. A null pointer is WEIR_USAGE.
///
/// # Safety
/// The pointer is valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_group_state(group: *const Group) -> Status {
    call(|| {
        // SAFETY: the caller's duty.
        unsafe { value(group, "group") }?.group.error().map_or(Ok(()), Err)
    })
}

/// Leaves the group, from any thread. Calls of weir_group_next that wait return then. A second call
/// does nothing.
///
/// # Safety
/// The pointer is valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_group_close(group: *const Group) -> Status {
    call(|| {
        // SAFETY: the caller's duty.
        unsafe { value(group, "group") }?.group.close();
        Ok(())
    })
}

/// Leaves the group unless it is closed, and frees it. Its publications stay valid.
///
/// # Safety
/// It comes from this library, and no call uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_group_free(group: *mut Group) {
    // SAFETY: the caller's duty.
    unsafe { free(group) }
}

/// The name of the member that has published it, valid until it is freed; an empty text for null.
///
/// # Safety
/// The pointer is valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_member_publication_member(
    publication: *const MemberPublication,
) -> *const c_char {
    // SAFETY: the caller's duty.
    unsafe { publication.as_ref() }.map_or(c"".as_ptr(), |one| one.member.as_ptr())
}

/// The start of that member, in seconds since 1970: each start numbers its publications from 1. 0
/// for null.
///
/// # Safety
/// The pointer is valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_member_publication_boot(
    publication: *const MemberPublication,
) -> u64 {
    // SAFETY: the caller's duty.
    unsafe { publication.as_ref() }.map_or(0, |one| one.publication.boot)
}

/// The number of the publication; 0 for null.
///
/// # Safety
/// The pointer is valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_member_publication_seq(publication: *const MemberPublication) -> u64 {
    // SAFETY: the caller's duty.
    unsafe { publication.as_ref() }.map_or(0, |one| one.publication.seq)
}

/// The content, valid until the publication is freed, and its length in `len`. Null without
/// content.
///
/// # Safety
/// The pointers are valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_member_publication_content(
    publication: *const MemberPublication,
    len: *mut usize,
) -> *const u8 {
    // SAFETY: the caller's duty.
    let (publication, len) = unsafe { (publication.as_ref(), len.as_mut()) };
    let content = publication.map_or(&[][..], |one| &one.publication.content);
    if let Some(len) = len {
        *len = content.len();
    }
    if content.is_empty() { std::ptr::null() } else { content.as_ptr() }
}

/// The name of the trusted key that has signed it, valid until the publication is freed; an empty
/// text for null.
///
/// # Safety
/// The pointer is valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_member_publication_key(
    publication: *const MemberPublication,
) -> *const c_char {
    // SAFETY: the caller's duty.
    unsafe { publication.as_ref() }.map_or(c"".as_ptr(), |one| one.key.as_ptr())
}

/// True if later ones of this start have come before it, because it could not be fetched then;
/// false for null.
///
/// # Safety
/// The pointer is valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_member_publication_is_late(
    publication: *const MemberPublication,
) -> bool {
    // SAFETY: the caller's duty.
    unsafe { publication.as_ref() }.is_some_and(|one| one.publication.is_late)
}

/// Frees a publication.
///
/// # Safety
/// It comes from this library, and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_member_publication_free(publication: *mut MemberPublication) {
    // SAFETY: the caller's duty.
    unsafe { free(publication) }
}
