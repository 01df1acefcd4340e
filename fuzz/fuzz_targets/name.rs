//! A name that is accepted is the sum of its components, in order and in text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use packet::{ComponentRef, Name, NameRef};

// The first byte is the length of the first name; the second name follows.
fuzz_target!(|input: &[u8]| {
    let Some((&first, names)) = input.split_first() else { return };
    let (a, b) = names.split_at(names.len().min(usize::from(first)));
    let (Ok(a), Ok(b)) = (NameRef::decode(a), NameRef::decode(b)) else { return };
    let list = |name: NameRef<'_>| -> Vec<_> {
        name.components().map(|component| component.to_component()).collect()
    };
    let built: Name = list(a).into_iter().collect();
    assert_eq!(built.as_ref(), a);
    assert_eq!(a.to_string().parse::<Name>().as_ref(), Ok(&built));

    let mut wire = Vec::new();
    built.encode_into(&mut wire);
    assert_eq!(wire.len(), built.encoded_len());
    assert_eq!(NameRef::decode_tlv(&wire), Ok(a));

    let ends: Vec<usize> = a.prefix_ends().collect();
    assert_eq!(ends.len(), a.len());
    for (i, end) in ends.into_iter().enumerate() {
        let prefix = a.prefix(i + 1);
        assert_eq!((prefix.as_bytes().len(), prefix.len()), (end, i + 1));
        assert!(a.starts_with(prefix) && prefix <= a);
        assert_eq!(prefix.last(), a.get(i));
    }
    // The canonical order and prefixes, by their definitions.
    let order = |name: NameRef<'_>| -> Vec<(u16, usize, Vec<u8>)> {
        let key = |c: ComponentRef<'_>| (c.typ(), c.value().len(), c.value().to_vec());
        name.components().map(key).collect()
    };
    assert_eq!(a.cmp(&b), order(a).cmp(&order(b)));
    assert_eq!(a.starts_with(b), list(a).starts_with(&list(b)));
});
