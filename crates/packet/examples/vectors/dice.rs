//! A random stream that is the same on every machine (SplitMix64).

pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let n = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        n ^ (n >> 31)
    }

    /// From 0 to `n` - 1.
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// With a chance of `percent` in a hundred.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub fn bytes(&mut self, from: u64, to: u64) -> Vec<u8> {
        let len = from + self.below(to - from + 1);
        (0..len).map(|_| self.next() as u8).collect()
    }

    /// A number of any width.
    pub fn number(&mut self) -> u64 {
        let bits = [8, 16, 32, 64][self.below(4) as usize];
        self.next() >> (64 - bits)
    }

    pub fn maybe<T>(&mut self, value: impl FnOnce(&mut Dice) -> T) -> Option<T> {
        if self.chance(50) { Some(value(self)) } else { None }
    }
}
