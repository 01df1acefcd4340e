use super::*;
use proptest::prelude::*;

// tlv.rst, "Variable Size Encoding": [tlv-1], [tlv-2], [tlv-3], [tlv-4].
#[test]
fn numbers_at_the_borders_of_their_widths() {
    for (n, wire) in [
        (0, &[0][..]),
        (252, &[252]),
        (253, &[0xfd, 0, 253]),
        (65_535, &[0xfd, 255, 255]),
        (65_536, &[0xfe, 0, 1, 0, 0]),
        (4_294_967_296, &[0xff, 0, 0, 0, 1, 0, 0, 0, 0]),
    ] {
        let mut out = Vec::new();
        put_var(&mut out, n);
        assert_eq!(out, wire);
        assert_eq!(read_var(wire), Ok((n, wire.len())));
        for cut in 0..wire.len() {
            assert_eq!(read_var(&wire[..cut]), Err(Fault::Truncated));
        }
    }
    assert_eq!(read_var(&[0xfd, 0, 252]), Err(Fault::NotShortest));
    assert_eq!(read_var(&[0xfe, 0, 0, 255, 255]), Err(Fault::NotShortest));
    assert_eq!(read_var(&[0xff, 0, 0, 0, 0, 255, 255, 255, 255]), Err(Fault::NotShortest));
}

// tlv.rst, "Non Negative Integer Encoding": [tlv-7].
// Other projects' programs, "Packets": [peer-8].
#[test]
fn wide_integers_are_accepted_and_narrow_ones_sent() {
    assert_eq!(read_nni(&[0, 0, 0, 0, 0, 0, 0, 7]), Some(7));
    assert_eq!(read_nni(&[]), None);
    assert_eq!(read_nni(&[0, 0, 7]), None);
    let mut out = Vec::new();
    put_nni_tlv(&mut out, types::FRESHNESS_PERIOD, 10_000);
    assert_eq!(out, [0x19, 2, 0x27, 0x10]);
}

#[test]
fn a_stream_is_cut_at_its_packets() {
    assert_eq!(frame_len(&[], 100), Ok(None));
    assert_eq!(frame_len(&[5], 100), Ok(None));
    assert_eq!(frame_len(&[5, 3, 1], 100), Ok(Some(5)));
    assert_eq!(frame_len(&[0x64, 0], 100), Ok(Some(2)));
    assert_eq!(frame_len(&[0x64, 0xfd, 1], 1000), Ok(None));
    assert_eq!(frame_len(&[0x64, 0xfd, 1, 0], 1000), Ok(Some(260)));
    assert!(frame_len(&[0x64, 0xfd, 1, 0], 259).is_err());
    assert!(frame_len(&[0x47, 3, 1], 100).is_err(), "0x47 begins no packet");
    assert!(frame_len(&[5, 0xff, 255, 255, 255, 255, 255, 255, 255, 255], 100).is_err());
}

// tlv.rst, "Considerations for Evolvability": [tlv-9].
#[test]
fn ignorable_elements_are_skipped_only_on_the_way() {
    // 126 is ignorable, 127 is not.
    let mut reader = Reader::new(&[126, 0, 10, 1, 9]);
    assert_eq!(reader.optional(10).unwrap().unwrap().value, [9]);
    let mut reader = Reader::new(&[127, 0, 10, 1, 9]);
    assert_eq!(reader.optional(10), Ok(None));
    assert_eq!(reader.finish(), Err(Fault::Critical(127)));
}

proptest! {
    // tlv.rst, "Variable Size Encoding": [tlv-4].
    #[test]
    fn var_numbers_round_trip(n: u64) {
        let mut out = Vec::new();
        put_var(&mut out, n);
        prop_assert_eq!(out.len(), var_len(n));
        prop_assert_eq!(read_var(&out), Ok((n, out.len())));
    }

    #[test]
    fn readers_end_on_any_input(input: Vec<u8>) {
        let mut reader = Reader::new(&input);
        let mut steps = 0;
        while let Ok(Some(_)) = reader.next_element() {
            steps += 1;
        }
        prop_assert!(steps <= input.len());
    }
}
