//! Verification of publications and vectors, with the certificates that it needs.

use packet::{Bytes, ContentType, Data, Name};
use security::certificate::key_of;
use security::{Proof, TrustPolicy};
use std::collections::BTreeMap;

/// Packets that wait for certificates, in number and in bytes.
const MOST_WAITING: usize = 256;
const MOST_BYTES: usize = 1_000_000;
/// Sync Interests among them; the oldest makes room.
const MOST_VECTORS: usize = 64;
/// The maximum number of fetched certificates that are not verified yet.
const MOST_CANDIDATES: usize = 64;

/// The accepted signers, and packets that wait for certificates.
pub struct Trust {
    policy: TrustPolicy,
    waiting: Vec<Waiting>,
    bytes: usize,
    candidates: Vec<Bytes>,
    /// The number of wrong packets for a name.
    wrong: BTreeMap<Name, u32>,
}

struct Waiting {
    certificate: Name,
    /// The name by which the packet was requested; `None` for a sync Interest.
    wanted: Option<Name>,
    packet: Bytes,
}

impl Waiting {
    fn is_vector(&self) -> bool {
        self.wanted.is_none()
    }
}

/// The result of an examination.
pub enum Verdict {
    /// A certificate, for the packets that wait for it.
    Certificate,
    /// This trusted key has signed it.
    Verified(Name),
    /// This certificate is needed.
    Missing(Name),
    /// It is rejected.
    Wrong {
        /// The reason.
        why: String,
        /// The number of such packets for this name.
        times: u32,
    },
}

impl Trust {
    pub fn new(policy: TrustPolicy) -> Trust {
        let (waiting, candidates) = (Vec::new(), Vec::new());
        Trust { policy, waiting, bytes: 0, candidates, wrong: BTreeMap::new() }
    }

    /// Sets the time, in seconds since 1970.
    pub fn set_clock(&mut self, clock_s: u64) {
        if let TrustPolicy::Chains(chains) = &mut self.policy {
            chains.now = clock_s;
        }
    }

    pub fn policy(&self) -> &TrustPolicy {
        &self.policy
    }

    /// Examines a packet that was requested as `wanted`.
    pub fn judge(&mut self, wanted: &Name, data: &Data<'_>) -> Verdict {
        if key_of(wanted.as_ref()).is_some() {
            if let Err(error) = self.policy.offer(data) {
                return self.wrong(wanted, error.to_string());
            }
            if self.candidates.len() == MOST_CANDIDATES {
                self.candidates.remove(0);
            }
            self.candidates.push(Bytes::copy_from_slice(data.wire()));
            return Verdict::Certificate;
        }
        match self.policy.verify(data) {
            Ok(Proof::Key(key)) => {
                // Statements may still be wrong, and their number is bounded, too.
                if data.content_type() != ContentType::NACK {
                    self.wrong.remove(wanted);
                }
                Verdict::Verified(key)
            }
            Ok(Proof::Digest) => self.wrong(wanted, format!("{wanted} is not signed by a key")),
            Ok(Proof::Unchecked) => {
                self.wrong(wanted, format!("{wanted} is signed by a key that is not trusted"))
            }
            Err(error) => match error.missing() {
                Some(missing) => Verdict::Missing(missing.clone()),
                None => self.wrong(wanted, error.to_string()),
            },
        }
    }

    /// Counts a wrong packet in place of `wanted`.
    pub fn wrong(&mut self, wanted: &Name, why: String) -> Verdict {
        if self.wrong.len() >= MOST_WAITING {
            self.wrong.pop_first();
        }
        let times = self.wrong.entry(wanted.clone()).or_default();
        *times += 1;
        Verdict::Wrong { why, times: *times }
    }

    /// Lets a packet wait for a certificate. Of sync Interests, the last one for each certificate
    /// waits. Returns false if too many wait.
    pub fn wait_for(&mut self, certificate: &Name, wanted: Option<Name>, packet: Bytes) -> bool {
        let mut waiting = self.waiting.iter_mut();
        if let Some(waiting) =
            waiting.find(|other| other.wanted == wanted && other.certificate == *certificate)
        {
            self.bytes = self.bytes - waiting.packet.len() + packet.len();
            waiting.packet = packet;
            return true;
        }
        if wanted.is_none()
            && self.waiting.iter().filter(|waiting| waiting.is_vector()).count() >= MOST_VECTORS
            && let Some(oldest) = self.waiting.iter().position(Waiting::is_vector)
        {
            self.bytes -= self.waiting.remove(oldest).packet.len();
        }
        if self.waiting.len() >= MOST_WAITING || self.bytes + packet.len() > MOST_BYTES {
            return false;
        }
        self.bytes += packet.len();
        self.waiting.push(Waiting { certificate: certificate.clone(), wanted, packet });
        true
    }

    /// The packets that waited for this certificate.
    pub fn released(&mut self, certificate: &Name) -> Vec<(Option<Name>, Bytes)> {
        let released = self.waiting.extract_if(.., |one| one.certificate == *certificate);
        let released: Vec<_> = released.collect();
        self.bytes -= released.iter().map(|waiting| waiting.packet.len()).sum::<usize>();
        released.into_iter().map(|waiting| (waiting.wanted, waiting.packet)).collect()
    }

    /// The fetched certificates that have been verified since the last call. Others stay.
    pub fn verified_certificates(&mut self) -> Vec<Bytes> {
        let policy = &self.policy;
        self.candidates.extract_if(.., |wire| is_verified(policy, wire)).collect()
    }
}

fn is_verified(policy: &TrustPolicy, wire: &Bytes) -> bool {
    Data::decode(wire).is_ok_and(|data| matches!(policy.verify(&data), Ok(Proof::Key(_))))
}
