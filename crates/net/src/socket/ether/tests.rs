use super::*;

const OWN: Mac = Mac::new([2, 0, 0, 0, 0, 1]);
const PEER: Mac = Mac::new([2, 0, 0, 0, 0, 2]);
const BROADCAST: Mac = Mac::new([0xff; 6]);

/// A frame with these addresses, EtherType and content.
fn frame(to: Mac, from: Mac, ethertype: u16, content: &[u8]) -> Vec<u8> {
    [&to.bytes()[..], &from.bytes(), &ethertype.to_be_bytes(), content].concat()
}

/// An Interest with `length` bytes of value.
fn packet(length: u8) -> Vec<u8> {
    let mut packet = vec![5, length];
    packet.resize(2 + usize::from(length), 7);
    packet
}

// Other projects' programs, "Other carriers": [peer-43].
#[test]
fn a_packet_is_read_without_its_padding() {
    let mut padded = packet(10);
    padded.resize(46, 0);
    let bytes = frame(OWN, PEER, ETHERTYPE, &padded);
    let read = read(&bytes, OWN, 1500).unwrap();
    assert_eq!((read.from, read.group, read.frame), (PEER, None, &packet(10)[..]));
}

#[test]
fn a_frame_to_a_group_names_it() {
    for group in [Mac::NDN, BROADCAST] {
        let bytes = frame(group, PEER, ETHERTYPE, &packet(10));
        assert_eq!(read(&bytes, OWN, 1500).unwrap().group, Some(group));
    }
}

// Other projects' programs, "Other carriers": [peer-43].
#[test]
fn frames_that_are_not_from_a_station_to_this_one_are_left_out() {
    let other = Mac::new([2, 0, 0, 0, 0, 3]);
    for (to, from, ethertype) in [
        (OWN, Mac::NDN, ETHERTYPE),
        (OWN, BROADCAST, ETHERTYPE),
        (OWN, Mac::new([0; 6]), ETHERTYPE),
        (OWN, OWN, ETHERTYPE),
        (Mac::NDN, OWN, ETHERTYPE),
        (other, PEER, ETHERTYPE),
        (OWN, PEER, 0x0800),
        (OWN, PEER, 0x8100),
    ] {
        let bytes = frame(to, from, ethertype, &packet(10));
        assert!(read(&bytes, OWN, 1500).is_none(), "{to} {from} {ethertype:x}");
    }
}

// Other projects' programs, "Other carriers": [peer-43].
#[test]
fn frames_of_a_wrong_length_are_left_out() {
    let whole = frame(OWN, PEER, ETHERTYPE, &packet(100));
    for length in 0..whole.len() {
        assert!(read(&whole[..length], OWN, 1500).is_none(), "{length} bytes");
    }
    assert!(read(&whole, OWN, 102).is_some());
    assert!(read(&whole, OWN, 101).is_none(), "longer than the MTU");
    // A packet of the length 2^32, and one of zeros alone.
    let vast = frame(OWN, PEER, ETHERTYPE, &[5, 0xfe, 0xff, 0xff, 0xff, 0xff, 0, 0]);
    assert!(read(&vast, OWN, 1500).is_none());
    assert!(read(&frame(OWN, PEER, ETHERTYPE, &[0; 46]), OWN, 1500).is_none());
}

#[test]
fn loopback_and_a_missing_interface_have_no_ethernet_faces() {
    let error = Device::find("lo").unwrap_err().to_string();
    assert_eq!(error, "the interface `lo` is not an Ethernet interface");
    let error = Device::find("nosuch0").unwrap_err().to_string();
    assert!(error.starts_with("the interface `nosuch0` is not there"), "{error}");
}
