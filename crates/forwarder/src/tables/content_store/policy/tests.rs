//! Every policy against a list of the entries, and the memory that it reports.

use super::{Policy, PolicyKind};
use control::Rng;
use proptest::prelude::*;
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug)]
enum Op {
    /// Into the n-th free slot, or a new one.
    Insert(usize),
    /// The n-th entry.
    Touch(usize),
    Remove(usize),
    Evict,
    /// As the store does: the entry of the largest slot fills the smallest free one.
    Trim,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (0usize..20).prop_map(Op::Insert),
        4 => (0usize..300).prop_map(Op::Touch),
        1 => (0usize..300).prop_map(Op::Remove),
        1 => Just(Op::Evict),
        1 => Just(Op::Trim),
    ]
}

#[derive(Clone, Copy)]
struct Entry {
    slot: u32,
    inserted: usize,
    used: usize,
    uses: u64,
}

struct Harness {
    kind: PolicyKind,
    policy: Box<dyn Policy + Send>,
    model: Vec<Entry>,
    /// Slots that there are, free ones included.
    end: u32,
    rng: Rng,
}

impl Harness {
    fn new(kind: PolicyKind) -> Self {
        let rng = Rng::stream(1, &["policy"]);
        Harness { kind, policy: kind.build(), model: Vec::new(), end: 0, rng }
    }

    fn free(&self) -> impl Iterator<Item = u32> {
        let used: BTreeSet<u32> = self.model.iter().map(|e| e.slot).collect();
        (0..self.end).filter(move |slot| !used.contains(slot))
    }

    fn insert(&mut self, n: usize, step: usize) -> Result<(), TestCaseError> {
        let slot = self.free().nth(n).unwrap_or(self.end);
        self.end = self.end.max(slot + 1);
        let before = self.policy.memory();
        let growth = self.policy.growth(self.end as usize);
        self.policy.insert(slot);
        let grown = self.policy.memory() - before;
        prop_assert!(grown <= growth, "{} instead of {}", grown, growth);
        prop_assert_eq!(grown > 0, growth > 0);
        self.model.push(Entry { slot, inserted: step, used: step, uses: 1 });
        Ok(())
    }

    fn remove(&mut self, slot: u32) {
        self.policy.remove(slot);
        self.model.retain(|e| e.slot != slot);
    }

    /// The victim, which has to be the model's.
    fn victim(&mut self) -> Result<Option<u32>, TestCaseError> {
        let victim = self.policy.victim(&mut self.rng);
        let first = match self.kind {
            PolicyKind::Fifo => self.model.iter().min_by_key(|e| e.inserted),
            PolicyKind::Lru => self.model.iter().min_by_key(|e| e.used),
            PolicyKind::Lfu => self.model.iter().min_by_key(|e| (e.uses, e.used)),
            PolicyKind::Random => self.model.iter().find(|e| Some(e.slot) == victim),
        };
        prop_assert_eq!(victim, first.map(|e| e.slot));
        prop_assert_eq!(victim.is_some(), !self.model.is_empty());
        Ok(victim)
    }

    fn trim(&mut self) {
        let Some(to) = self.free().next() else { return };
        self.end -= 1;
        if self.model.iter().any(|e| e.slot == self.end) {
            self.policy.moved(self.end, to);
            self.model.iter_mut().filter(|e| e.slot == self.end).for_each(|e| e.slot = to);
        }
        self.policy.truncate(self.end as usize);
    }

    fn step(&mut self, step: usize, op: Op) -> Result<(), TestCaseError> {
        match op {
            Op::Insert(n) => self.insert(n, step)?,
            Op::Touch(n) => {
                if let Some(entry) = self.model.get_mut(n) {
                    (entry.used, entry.uses) = (step, entry.uses + 1);
                    self.policy.touch(entry.slot);
                }
            }
            Op::Remove(n) => {
                if let Some(entry) = self.model.get(n).copied() {
                    self.remove(entry.slot);
                }
            }
            Op::Evict => {
                if let Some(slot) = self.victim()? {
                    self.remove(slot);
                }
            }
            Op::Trim => self.trim(),
        }
        // Two links for each slot, besides the number of its class, or two places in rows. Slots
        // and classes come in chunks of 64; a class has five words with its place.
        let (slots, entries) = (self.end.next_multiple_of(64) as usize, self.model.len());
        let least = match self.kind {
            PolicyKind::Lru | PolicyKind::Fifo => 8 * slots,
            PolicyKind::Lfu => 12 * slots + 40 * 64 * entries.min(1),
            PolicyKind::Random => 4 * slots + 4 * entries,
        };
        prop_assert!(self.policy.memory() >= least, "{} of {}", self.policy.memory(), least);
        self.victim().map(|_| ())
    }
}

fn agrees_with_a_list(kind: PolicyKind) {
    let config =
        ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let result = runner.run(&prop::collection::vec(op(), 1..400), |ops| {
        let mut harness = Harness::new(kind);
        prop_assert_eq!(harness.policy.memory(), 0);
        for (step, op) in ops.into_iter().enumerate() {
            harness.step(step, op)?;
        }
        while let Some(slot) = harness.victim()? {
            harness.remove(slot);
        }
        prop_assert!(harness.model.is_empty());
        // All is given back but for the classes of uses, which are few.
        harness.policy.truncate(0);
        let most = if kind == PolicyKind::Lfu { 3000 } else { 0 };
        prop_assert!(harness.policy.memory() <= most, "{}", harness.policy.memory());
        Ok(())
    });
    if let Err(error) = result {
        panic!("{kind}: {error}");
    }
}

#[test]
fn lru_agrees_with_a_list() {
    agrees_with_a_list(PolicyKind::Lru);
}

#[test]
fn lfu_agrees_with_a_list() {
    agrees_with_a_list(PolicyKind::Lfu);
}

#[test]
fn fifo_agrees_with_a_list() {
    agrees_with_a_list(PolicyKind::Fifo);
}

#[test]
fn random_agrees_with_a_list() {
    agrees_with_a_list(PolicyKind::Random);
}
