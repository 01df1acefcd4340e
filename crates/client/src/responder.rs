//! Replies made after the handler has returned.

use crate::bell::Bell;
use crate::packets::{Interest, Reply};
use packet::{LpHeader, NackReason};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// An Interest without a reply.
#[derive(Debug)]
pub(crate) struct Pending {
    /// The forwarder's token.
    pub token: Vec<u8>,
    /// The packet.
    pub fragment: Vec<u8>,
    pub interest: Interest,
    /// The number of the connection that it arrived over.
    pub connection: u64,
}

impl Pending {
    /// The frame of its answer: a Data packet, or itself with a Nack.
    pub fn frame(&self, nack: Option<NackReason>, packet: &[u8]) -> Vec<u8> {
        let pit_token = self.token.as_slice().into();
        let mut out = Vec::new();
        LpHeader { pit_token, nack, ..LpHeader::default() }.encode_into(packet, &mut out);
        out
    }
}

/// Replies on their way to the thread of the registration.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    replies: Mutex<VecDeque<(Pending, Option<Reply>)>>,
    /// Interests of responders, and replies here.
    open: AtomicUsize,
    /// The number of the connection. Replies to Interests of an earlier one are void.
    connection: AtomicU64,
    /// Wakes the thread.
    pub bell: Mutex<Option<Arc<Bell>>>,
}

impl Outbox {
    /// The number of Interests whose replies are not made, or not taken.
    pub fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// The number of the connection.
    pub fn connection(&self) -> u64 {
        self.connection.load(Ordering::Relaxed)
    }

    /// The connection is another one now.
    pub fn reconnect(&self) {
        self.connection.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes a reply.
    pub fn pop(&self) -> Option<(Pending, Option<Reply>)> {
        let reply = self.replies.lock().unwrap_or_else(PoisonError::into_inner).pop_front()?;
        self.open.fetch_sub(1, Ordering::Relaxed);
        Some(reply)
    }

    fn push(&self, pending: Pending, reply: Option<Reply>) {
        let mut replies = self.replies.lock().unwrap_or_else(PoisonError::into_inner);
        replies.push_back((pending, reply));
        drop(replies);
        let bell = self.bell.lock().unwrap_or_else(PoisonError::into_inner);
        bell.iter().for_each(|bell| bell.ring());
    }
}

/// Replies to one Interest, from any thread. If it is dropped without a reply, the Interest is
/// rejected.
///
/// ```no_run
/// use client::{Client, RegisterOptions, Reply};
///
/// # fn main() -> Result<(), client::Error> {
/// # let client = Client::connect("")?;
/// let options = RegisterOptions::default();
/// let registration = client.register_deferred("/demo/sum", &options, |interest, responder| {
///     let parameters = interest.parameters.clone().unwrap_or_default();
///     std::thread::spawn(move || {
///         let sum: u64 = parameters.iter().map(|&byte| u64::from(byte)).sum();
///         responder.reply(Some(Reply::new(sum.to_string())));
///     });
/// })?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Responder {
    pending: Option<Pending>,
    outbox: Arc<Outbox>,
}

impl Responder {
    pub(crate) fn new(pending: Pending, outbox: &Arc<Outbox>) -> Responder {
        outbox.open.fetch_add(1, Ordering::Relaxed);
        Responder { pending: Some(pending), outbox: Arc::clone(outbox) }
    }

    /// True if the Interest's connection is lost, as after a restart of the forwarder: a reply
    /// would have no effect.
    #[must_use]
    pub fn is_void(&self) -> bool {
        let connection = self.outbox.connection();
        self.pending.as_ref().is_none_or(|pending| pending.connection != connection)
    }

    /// Replies; `None` rejects the Interest. Without effect after the registration has ended, or
    /// the forwarder has restarted.
    pub fn reply(mut self, reply: Option<Reply>) {
        if let Some(pending) = self.pending.take() {
            self.outbox.push(pending, reply);
        }
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        if let Some(pending) = self.pending.take() {
            let reply = std::thread::panicking().then(Reply::failure);
            self.outbox.push(pending, reply);
        }
    }
}
