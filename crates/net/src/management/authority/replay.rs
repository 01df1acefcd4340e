//! The last command of each key, so that each command is executed once (NDN Packet Format, "Signed
//! Interest").

use super::super::command::{Claim, Rejection};
use control::Duration;
use packet::Name;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, VecDeque};

/// The number of remembered nonces of one key. Times increase, so the time reveals a replay; the
/// specification leaves the number to the protocol.
const NONCES: usize = 16;

/// The most keys remembered. An owner of a certificate can make any number of further ones.
const MOST: usize = 4096;

/// The last command of a key.
#[derive(Clone, Debug, Default)]
struct Last {
    time_ms: u64,
    sequence: Option<u64>,
    /// After this its commands are rejected for their time.
    until_ms: u64,
    /// The digests of nonces, which may be of any length.
    nonces: VecDeque<[u8; 32]>,
}

/// The last commands of all keys.
#[derive(Debug, Default)]
pub(super) struct Replays {
    /// By the key's name.
    last: BTreeMap<Name, Last>,
}

impl Replays {
    /// Accepts a command if it is new: signed about now and after the key's last one, with a new
    /// nonce and, if it has a sequence number, with a greater one.
    pub fn admit(
        &mut self,
        key: Name,
        claim: &Claim<'_>,
        wall_ms: u64,
        skew: Duration,
    ) -> Result<(), Rejection> {
        let (Some(time_ms), Some(nonce)) = (claim.time_ms, claim.nonce) else {
            return Err(Rejection::unauthorized("the signature has no time or no nonce"));
        };
        if time_ms.abs_diff(wall_ms) > skew.as_millis() {
            let why = "the signature's time is too far from now; check both clocks";
            return Err(Rejection::unauthorized(why));
        }
        if self.last.len() >= MOST && !self.last.contains_key(&key) {
            self.last.retain(|_, last| last.until_ms >= wall_ms);
            if self.last.len() >= MOST {
                return Err(Rejection::unauthorized("too many keys have signed commands recently"));
            }
        }
        let last = self.last.entry(key).or_default();
        last.admit(time_ms, Sha256::digest(nonce).into(), claim.sequence)?;
        last.until_ms = last.until_ms.max(time_ms.saturating_add(skew.as_millis()));
        Ok(())
    }
}

impl Last {
    fn admit(
        &mut self,
        time_ms: u64,
        nonce: [u8; 32],
        sequence: Option<u64>,
    ) -> Result<(), Rejection> {
        if self.nonces.contains(&nonce) {
            return Err(Rejection::unauthorized("the command was received before"));
        }
        if time_ms <= self.time_ms {
            let why = "the key has signed a later command already, or one of the same millisecond";
            return Err(Rejection::unauthorized(why));
        }
        if sequence.is_some() && sequence <= self.sequence {
            let why = "the key has signed a command of this number or a greater one already";
            return Err(Rejection::unauthorized(why));
        }
        self.time_ms = time_ms;
        self.sequence = sequence.or(self.sequence);
        self.nonces.truncate(NONCES - 1);
        self.nonces.push_front(nonce);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WALL: u64 = 1_795_219_200_000;
    const SKEW: Duration = Duration::from_secs(120);

    /// True if a command that key `n` made at this time is accepted at once.
    fn admit(replays: &mut Replays, n: usize, at: u64) -> Result<(), String> {
        let (key, nonce) = (format!("/op/{n}").parse().unwrap(), at.to_be_bytes());
        let claim = Claim::test(b"", at, &nonce);
        replays.admit(key, &claim, at, SKEW).map_err(|rejection| rejection.to_string())
    }

    #[test]
    fn keys_are_bounded_and_make_room_when_none_of_their_commands_can_be_repeated() {
        let mut replays = Replays::default();
        for n in 0..MOST {
            assert_eq!(admit(&mut replays, n, WALL), Ok(()), "{n}");
        }
        let full = |result: Result<(), String>| result.unwrap_err().contains("too many keys");
        assert!(full(admit(&mut replays, MOST, WALL)));
        // A known key continues, and is remembered for longer.
        assert_eq!(admit(&mut replays, 0, WALL + 60_000), Ok(()));
        assert!(full(admit(&mut replays, MOST, WALL + 120_000)), "to the last millisecond");
        assert_eq!(admit(&mut replays, MOST, WALL + 120_001), Ok(()));
        assert_eq!(replays.last.len(), 2);
        let earlier = admit(&mut replays, 0, WALL + 60_000).unwrap_err();
        assert!(earlier.contains("received before"), "{earlier}");
    }
}
