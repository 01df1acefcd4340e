use crate::support;
use forwarder::tables::{NameHasher, StrategyChoice};
use packet::Name;
use proptest::prelude::*;
use std::collections::BTreeMap;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn agrees_with_a_sorted_map(
        ops in prop::collection::vec((0u8..4, support::name(), 1u32..100), 1..80),
    ) {
        let hasher = NameHasher::new(7);
        let mut table = StrategyChoice::new(0);
        let mut model = BTreeMap::from([(Name::new(), 0)]);
        for (op, name, value) in ops {
            let hashed = hasher.hash(name.as_ref());
            match op {
                0 | 1 => {
                    prop_assert_eq!(table.set(&hashed, value), Ok(model.insert(name, value)));
                }
                2 => {
                    let old = if name.is_empty() { None } else { model.remove(&name) };
                    prop_assert_eq!(table.unset(&hashed), old);
                }
                _ => {
                    let longest = (0..=name.len())
                        .rev()
                        .find_map(|n| model.get(&name.as_ref().prefix(n).to_name()));
                    prop_assert_eq!(Some(table.find(&hashed)), longest);
                    prop_assert_eq!(Some(&*table.find_mut(&hashed)), longest);
                }
            }
            prop_assert_eq!((table.len(), table.is_empty()), (model.len(), false));
            let others = model.keys().filter(|name| !name.is_empty());
            let lengths = others.fold(0, |lengths, name| lengths | 1 << name.len());
            prop_assert_eq!(table.lengths(), lengths);
        }
        prop_assert!(table.iter().map(|(name, v)| (name.to_name(), *v)).eq(model));
    }
}

#[test]
fn choices_take_memory_as_long_as_they_are_there() {
    let hasher = NameHasher::new(7);
    let mut table = StrategyChoice::new(0_u64);
    let empty = table.memory();
    assert!(empty >= size_of_val(&table));
    let names: Vec<Name> = (0..100).map(|n| format!("/some/prefix/{n}").parse().unwrap()).collect();
    for name in &names {
        table.set(&hasher.hash(name.as_ref()), 1).unwrap();
    }
    // Each has its name, a word, and some more to be found by.
    let each = (table.memory() - empty) / 100;
    assert!((64..256).contains(&each), "{each}");
    for name in &names {
        table.unset(&hasher.hash(name.as_ref())).unwrap();
    }
    let named = 100 * 32;
    assert!(table.memory() + named <= empty + 100 * each, "{}", table.memory());
}
