//! Random streams with names as keys, so that adding a node does not change another node's numbers.

use siphasher::sip::SipHasher13;
use std::hash::Hasher;

/// A stream of random numbers (xoshiro256++ of Blackman and Vigna, 2019). The whole generator is in
/// this file because a run must repeat byte for byte after any change of a library. It is not for
/// secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng([u64; 4]);

impl Rng {
    /// The stream that `seed` and a list of names (node, face, role …) select. Equal arguments give
    /// equal streams; the list is hashed with lengths, so `["ab", "c"]` is not `["a", "bc"]`.
    #[must_use]
    pub fn stream(seed: u64, names: &[&str]) -> Rng {
        let mut state = [0; 4];
        for (i, word) in state.iter_mut().enumerate() {
            let mut hash = SipHasher13::new_with_keys(seed, i as u64);
            for name in names {
                hash.write_u64(name.len() as u64);
                hash.write(name.as_bytes());
            }
            *word = hash.finish();
        }
        // The generator's one forbidden state; unreachable in practice, ruled out in principle.
        if state == [0; 4] {
            state[0] = 1;
        }
        Rng(state)
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.0;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// The next 32 random bits.
    pub fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    /// A number below `n`, each equally likely (Lemire 2019, with rejection); 0 if `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 {
            return 0;
        }
        let reject_below = n.wrapping_neg() % n;
        loop {
            let wide = u128::from(self.next_u64()) * u128::from(n);
            if wide as u64 >= reject_below {
                return (wide >> 64) as u64;
            }
        }
    }

    /// A number in [0, 1) with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with probability `p`. Always draws exactly one number, so that another probability does
    /// not shift later draws.
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// An exponentially distributed number with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * crate::math::ln(1.0 - self.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_depend_on_every_name_and_its_borders() {
        let draw = |seed, names: &[&str]| Rng::stream(seed, names).next_u64();
        assert_eq!(draw(1, &["a", "b"]), draw(1, &["a", "b"]));
        assert_ne!(draw(1, &["a", "b"]), draw(2, &["a", "b"]));
        assert_ne!(draw(1, &["ab", "c"]), draw(1, &["a", "bc"]));
        assert_ne!(draw(1, &[]), draw(1, &[""]));
    }

    #[test]
    fn first_output_follows_the_published_generator() {
        // rotl(s0 + s3, 23) + s0 with s = [1, 2, 3, 4]: rotl(5, 23) + 1 = 41943041.
        assert_eq!(Rng([1, 2, 3, 4]).next_u64(), 41_943_041);
    }

    #[test]
    fn below_is_uniform_and_in_range() {
        let mut rng = Rng::stream(7, &["below"]);
        let mut counts = [0u32; 6];
        for _ in 0..60_000 {
            counts[rng.below(6) as usize] += 1;
        }
        // 10,000 expected; the standard deviation is 91, five of them are 456.
        assert!(counts.iter().all(|c| c.abs_diff(10_000) < 456), "{counts:?}");
        assert_eq!(rng.below(0), 0);
        assert_eq!(rng.below(1), 0);
    }

    #[test]
    fn unit_chance_and_exponential_have_their_means() {
        let mut rng = Rng::stream(7, &["means"]);
        let n = 100_000;
        let mean = (0..n).map(|_| rng.unit()).sum::<f64>() / f64::from(n);
        assert!((mean - 0.5).abs() < 0.005, "{mean}");
        let hits = (0..n).filter(|_| rng.chance(0.1)).count();
        assert!(hits.abs_diff(10_000) < 475, "{hits}");
        let mean = (0..n).map(|_| rng.exponential(3.0)).sum::<f64>() / f64::from(n);
        assert!((mean - 3.0).abs() < 0.05, "{mean}");
        assert!(!rng.chance(0.0) && rng.chance(1.0));
    }
}
