//! Commands without a trusted key: with a digest, or a signature that no rule verifies.
//!
//! Several applications sign in this way at a time, so their times need not increase, unlike those
//! of one key. Each command has a time near this host's and a nonce, and is accepted once: its
//! digest is remembered until its time is no longer accepted. A full memory rejects new commands
//! and forgets none of these.

use super::super::command::{Arrival, Claim, Rejection};
use control::{Duration, Time};
use forwarder::FaceId;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

/// The numbers of remembered commands, for the applications of this host and for peers. Peers have
/// a memory of their own, so that they cannot lock out applications.
pub(super) const LOCAL: usize = 65_536;
pub(super) const REMOTE: usize = 8192;

/// The intervals at which expired commands are looked for: in general, and if a face has used up
/// its share.
const LOOK: Duration = Duration::from_secs(10);
const LOOK_FULL: Duration = Duration::from_secs(1);

/// Bytes that one remembered command takes in the map, with the map's own overhead.
const EACH: usize = 80;

/// Half of a SHA-256: a collision only rejects a command.
type Digest = [u8; 16];

/// A remembered command.
#[derive(Clone, Copy, Debug)]
struct Accepted {
    face: FaceId,
    /// The command expires at this time of the wall clock, in milliseconds since 1970, and at this
    /// time of the clock that never jumps.
    until_ms: u64,
    until: Time,
}

/// Accepted commands that could be replayed.
#[derive(Debug)]
pub(super) struct AcceptedCommands {
    most: usize,
    accepted: BTreeMap<Digest, Accepted>,
    /// The number of them by face.
    by_face: BTreeMap<FaceId, usize>,
    looked: Time,
}

impl AcceptedCommands {
    /// A memory of at most `most` commands.
    pub fn new(most: usize) -> AcceptedCommands {
        AcceptedCommands {
            most,
            accepted: BTreeMap::new(),
            by_face: BTreeMap::new(),
            looked: Time(0),
        }
    }

    /// Bytes that it takes.
    pub fn memory(&self) -> usize {
        self.accepted.len() * EACH
    }

    /// Accepts a command if its time is within `skew` of this host's time and it was not accepted
    /// before.
    pub fn admit(
        &mut self,
        claim: &Claim<'_>,
        arrival: Arrival,
        skew: Duration,
    ) -> Result<(), Rejection> {
        let Arrival { from, now, wall_ms } = arrival;
        let nonce = claim.nonce.filter(|nonce| !nonce.is_empty());
        let (Some(time_ms), Some(_)) = (claim.time_ms, nonce) else {
            let why = "the command has no time or no nonce; sign it with SignatureTime and \
                       SignatureNonce";
            return Err(Rejection::unauthorized(why));
        };
        let distance = time_ms.abs_diff(wall_ms);
        if distance > skew.as_millis() {
            let why = format!(
                "the command's time is {} s from this host's; at most {} s are accepted; check \
                 both clocks and sign it again",
                distance / 1000,
                skew.as_millis() / 1000
            );
            return Err(Rejection::unauthorized(why));
        }
        let digest = digest(claim);
        if self.accepted.contains_key(&digest) {
            let why = "the command was accepted before; sign it again with another nonce";
            return Err(Rejection::unauthorized(why));
        }
        self.forget(now, wall_ms, from);
        if !self.has_room(from) {
            let why = format!(
                "this face has sent {} commands within the last minutes, its share of what is \
                 remembered against replays; wait and sign it again",
                self.by_face.get(&from).unwrap_or(&0)
            );
            return Err(Rejection::unauthorized(why));
        }
        let until_ms = time_ms.saturating_add(skew.as_millis());
        let until = now + Duration::from_millis(until_ms.saturating_sub(wall_ms));
        self.accepted.insert(digest, Accepted { face: from, until_ms, until });
        *self.by_face.entry(from).or_default() += 1;
        Ok(())
    }

    /// A face may have as many remembered commands as the memory has room for more. So one face
    /// takes half of the memory at most, two take two thirds, and another always has room.
    fn has_room(&self, face: FaceId) -> bool {
        let own = self.by_face.get(&face).copied().unwrap_or_default();
        own < self.most.saturating_sub(self.accepted.len())
    }

    /// Forgets commands whose time is too long ago, by both clocks: a wall clock that is set
    /// forward and back makes none of them acceptable again. After it was set back, a command may
    /// have a time in the future; it is forgotten only if its place is needed.
    fn forget(&mut self, now: Time, wall_ms: u64, from: FaceId) {
        let is_needed = !self.has_room(from);
        let pause = if is_needed { LOOK_FULL } else { LOOK };
        if now < self.looked + pause {
            return;
        }
        self.looked = now;
        let by_face = &mut self.by_face;
        self.accepted.retain(|_, one| {
            let keep = now <= one.until || wall_ms <= one.until_ms && !is_needed;
            if !keep && let Some(count) = by_face.get_mut(&one.face) {
                *count -= 1;
            }
            keep
        });
        by_face.retain(|_, count| *count > 0);
    }
}

/// The identity of a command: all that its signature covers, time and nonce included. The signature
/// is left out, because it may be of a kind that is not verified.
fn digest(claim: &Claim<'_>) -> Digest {
    let mut hash = Sha256::new();
    claim.signed_parts().iter().for_each(|part| hash.update(part));
    let mut digest = Digest::default();
    digest.copy_from_slice(&hash.finalize()[..16]);
    digest
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::Name;

    const WALL: u64 = 1_795_219_200_000;
    const SKEW: Duration = Duration::from_secs(120);

    /// True if a command of that time is accepted; `n` makes it another one.
    fn admit(
        once: &mut AcceptedCommands,
        (face, n): (u64, u64),
        time_ms: u64,
        (now_s, wall_ms): (u64, u64),
    ) -> Result<(), String> {
        let (name, nonce) = (format!("/{n}").parse::<Name>().unwrap(), n.to_be_bytes());
        let claim = Claim::test(name.as_bytes(), time_ms, &nonce);
        let now = Time(0) + Duration::from_secs(now_s);
        let arrival = Arrival { from: FaceId(face), now, wall_ms };
        once.admit(&claim, arrival, SKEW).map_err(|rejection| rejection.to_string())
    }

    #[test]
    fn a_command_is_accepted_once_by_whatever_face() {
        let mut once = AcceptedCommands::new(100);
        assert_eq!(admit(&mut once, (1, 1), WALL, (0, WALL)), Ok(()));
        for face in [1, 2] {
            let why = admit(&mut once, (face, 1), WALL, (119, WALL + 119_000)).unwrap_err();
            assert!(why.contains("accepted before"), "{why}");
        }
        let why = admit(&mut once, (1, 1), WALL, (121, WALL + 121_000)).unwrap_err();
        assert!(why.contains("121 s from this host's; at most 120 s"), "{why}");
        assert_eq!(admit(&mut once, (1, 2), WALL, (0, WALL)), Ok(()), "times need not increase");
    }

    #[test]
    fn a_command_from_the_future_is_remembered_for_twice_the_skew() {
        let mut once = AcceptedCommands::new(100);
        let time = WALL + 120_000;
        assert_eq!(admit(&mut once, (1, 1), time, (0, WALL)), Ok(()));
        // Others have the memory looked through.
        for s in [100, 200, 239] {
            let at = (s, WALL + s * 1000);
            assert_eq!(admit(&mut once, (1, 10 + s), at.1, at), Ok(()));
            assert!(admit(&mut once, (1, 1), time, at).is_err(), "{s}");
        }
    }

    #[test]
    fn a_face_cannot_use_up_the_memory_of_others() {
        let mut once = AcceptedCommands::new(100);
        let accepted = |once: &mut AcceptedCommands, face, at: (u64, u64)| {
            let all = (0..200).map(|n| admit(once, (face, face * 1000 + n + at.0), at.1, at));
            all.filter(Result::is_ok).count()
        };
        let now = (0, WALL);
        assert_eq!([1, 2, 3].map(|face| accepted(&mut once, face, now)), [50, 25, 13]);
        let why = admit(&mut once, (1, 1), WALL, now).unwrap_err();
        assert!(why.contains("this face has sent 50 commands"), "{why}");
        assert!(admit(&mut once, (4, 4), WALL, now).is_ok());
        // Accepted commands are still known.
        assert!(admit(&mut once, (3, 1000), WALL, now).unwrap_err().contains("accepted before"));
        // When the times are too long ago, all of the memory is free again.
        assert_eq!(accepted(&mut once, 1, (121, WALL + 121_000)), 50);
        assert_eq!(once.memory(), 50 * EACH);
    }

    #[test]
    fn a_clock_that_jumps_forward_and_back_makes_no_command_new() {
        let mut once = AcceptedCommands::new(100);
        assert_eq!(admit(&mut once, (1, 1), WALL, (0, WALL)), Ok(()));
        let hour = WALL + 3_600_000;
        assert_eq!(admit(&mut once, (1, 2), hour, (20, hour)), Ok(()));
        let why = admit(&mut once, (1, 1), WALL, (40, WALL + 40_000)).unwrap_err();
        assert!(why.contains("accepted before"), "{why}");
        // The same an hour later, with a command from the time when the clock was wrong.
        // Another one has the memory looked through then.
        assert_eq!(admit(&mut once, (1, 3), hour, (3590, hour)), Ok(()));
        let why = admit(&mut once, (1, 2), hour, (3600, hour)).unwrap_err();
        assert!(why.contains("accepted before"), "{why}");
    }

    #[test]
    fn the_memory_is_looked_through_every_ten_seconds_and_no_more_often() {
        let mut once = AcceptedCommands::new(100);
        // Its time is too long ago after a second.
        assert_eq!(admit(&mut once, (1, 1), WALL - 119_000, (0, WALL)), Ok(()));
        for (s, remembered) in [(2, 2), (9, 3), (10, 3), (11, 4)] {
            let at = (s, WALL + s * 1000);
            assert_eq!(admit(&mut once, (1, 1 + s), at.1, at), Ok(()));
            assert_eq!(once.memory(), remembered * EACH, "{s} s");
        }
    }

    #[test]
    fn of_faces_whose_commands_are_forgotten_nothing_is_kept() {
        let mut once = AcceptedCommands::new(100);
        for face in 1..=20 {
            assert_eq!(admit(&mut once, (face, face), WALL, (0, WALL)), Ok(()));
        }
        assert_eq!(once.by_face.len(), 20);
        let late = WALL + 121_000;
        assert_eq!(admit(&mut once, (21, 21), late, (121, late)), Ok(()));
        assert_eq!(once.by_face.keys().collect::<Vec<_>>(), [&FaceId(21)]);
        assert_eq!(once.memory(), EACH);
    }

    #[test]
    fn a_clock_that_is_set_back_locks_a_face_out_for_no_longer_than_the_skew() {
        let mut once = AcceptedCommands::new(100);
        let mut n = 0;
        let mut accepted = |s: u64, wall| {
            n += 1;
            admit(&mut once, (1, n), wall, (s, wall)).is_ok()
        };
        assert_eq!((0..100).filter(|_| accepted(0, WALL)).count(), 50);
        let before = WALL - 3_600_000;
        assert!(!accepted(60, before + 60_000), "its share is used up");
        assert!(accepted(121, before + 121_000));
    }
}
