use packet::Data;
use proptest::prelude::*;

use super::*;
use crate::manifest::{Announcement, Builder};

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        hex.bytes().filter_map(|c| (c as char).to_digit(16)).map(|digit| digit as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// The example of `docs/reference/wire.md`: an object of three segments with the digests 11…, 22…
/// and 33…, two digests a node, the root with a digest for a signature. Made by a program of its
/// own from the table there, and the lengths added up by hand.
mod example {
    pub const LEAF_0: &str = "
        0697 0713 080161 360101 20086d616e6966657374 320100
             1409 180104 19040036ee80
             154e fdf6070100 fdf6090100 fdf60b40
                  1111111111111111111111111111111111111111111111111111111111111111
                  2222222222222222222222222222222222222222222222222222222222222222
             1603 1b0100
             1720 1c811405407f19140d862828cd33bbdff05c14c7b4aa5acad88d7d11272064f7";
    pub const LEAF_1: &str = "
        0677 0713 080161 360101 20086d616e6966657374 320101
             1409 180104 19040036ee80
             152e fdf6070100 fdf6090102 fdf60b20
                  3333333333333333333333333333333333333333333333333333333333333333
             1603 1b0100
             1720 643bd285e6a72016581a75cb508840d283af063f0cd35387af928b5e2a06c26f";
    pub const ROOT: &str = "
        06a6 0713 080161 360101 20086d616e6966657374 320102
             140e 180104 19040036ee80 1a03320102
             1558 fdf6030103 fdf6050102 fdf6070101 fdf6090100 fdf60b40
                  3d8741eb7de62a0699c034281c9a019d80657dead6dd5dedd4922088f3bb0177
                  c417216eb7fff1620b8506cabd4d46b12d20663020dd09bf5a7e03e0eedc3e3e
             1603 1b0100
             1720 17e46f4969f093adbb130ee5af760250f3ac9fc89253684d0ede9dfb85f73c5e";
    pub const ANNOUNCEMENT: &str = "
        fdf6002e fdf6030103 fdf6050102
                 fdf60d20 e908a8de1a9a335e040f29f0ad6c2da317a2dee95c9954d304bfebdbd82c896f";
}

#[test]
fn the_example_of_the_manual() {
    let mut builder = Builder::new("/a/v=1".parse().unwrap(), 2).unwrap();
    let digests = [[0x11; 32], [0x22; 32], [0x33; 32]];
    digests.iter().for_each(|digest| builder.push(*digest).unwrap());
    let tree = builder.finish(&Signer::Digest).unwrap();
    let mut leaf = Vec::new();
    tree.encode_leaf(0, &digests[..2], &mut leaf).unwrap();
    assert_eq!(leaf, bytes(example::LEAF_0));
    leaf.clear();
    tree.encode_leaf(1, &digests[2..], &mut leaf).unwrap();
    assert_eq!(leaf, bytes(example::LEAF_1));
    assert_eq!(tree.root()[..], bytes(example::ROOT));
    let mut metadata = Vec::new();
    tree.announcement().encode_into(&mut metadata);
    assert_eq!(metadata, bytes(example::ANNOUNCEMENT));
}

#[test]
fn reads_the_example() {
    let wire = bytes(example::ROOT);
    let root = Data::decode(&wire).unwrap();
    let node = Node::decode_data(&root).unwrap();
    assert_eq!(node.shape, Some(Shape { segments: 3, fanout: 2 }));
    assert_eq!((node.level, node.first, node.digests.len()), (1, 0, 2));
    assert_eq!(node.root_layout(2), Layout::new(3, 2).map_err(NodeError::from));
    assert_eq!(node.root_layout(1), Err(NodeError::Place));

    let wire = bytes(example::LEAF_1);
    let leaf = Node::decode_data(&Data::decode(&wire).unwrap()).unwrap();
    assert_eq!(leaf, Node { shape: None, level: 0, first: 2, digests: &[[0x33; 32]] });
    assert_eq!(leaf.root_layout(0), Err(Fault::Expected(types::SEGMENT_COUNT).into()));

    let found = Announcement::find(&bytes(example::ANNOUNCEMENT)).unwrap().unwrap();
    assert_eq!(found.layout, Layout::new(3, 2).unwrap());
    assert_eq!(found.root_digest, root.implicit_digest());
}

#[test]
fn an_announcement_is_found_among_other_elements() {
    // A name, a FinalBlockId, the size of a file server, then the announcement, then one unknown.
    let metadata = format!("0703080161 1a03320102 fdf5020103 {} f00100", example::ANNOUNCEMENT);
    assert!(Announcement::find(&bytes(&metadata)).unwrap().is_some());
    assert_eq!(Announcement::find(&bytes("0703080161 1a03320102")), Ok(None));
    assert_eq!(Announcement::find(&[]), Ok(None));
}

#[test]
fn announcements_that_cannot_be_are_rejected() {
    let digest = "00".repeat(32);
    for (value, why) in [
        (String::new(), Fault::Expected(types::SEGMENT_COUNT).into()),
        ("fdf6030100".into(), Fault::Expected(types::FANOUT).into()),
        ("fdf6030103 fdf6050102".into(), Fault::Expected(types::ROOT_DIGEST).into()),
        ("fdf6030103 fdf6050102 fdf60d0100".into(), NodeError::Digests(1)),
        ("fdf603020300 fdf6050102".into(), Fault::Expected(types::ROOT_DIGEST).into()),
        ("fdf60303010203".into(), Fault::BadLength(types::SEGMENT_COUNT).into()),
        (format!("fdf6030100 fdf6050102 fdf60d20{digest}"), LayoutError::Segments(0).into()),
        (format!("fdf6030101 fdf6050101 fdf60d20{digest}"), LayoutError::Fanout(1).into()),
        (
            format!("fdf6030101 fdf60508ffffffffffffffff fdf60d20{digest}"),
            LayoutError::Fanout(u64::MAX).into(),
        ),
    ] {
        let value = bytes(&value);
        let mut metadata = Vec::new();
        tlv::put_tlv(&mut metadata, types::MANIFEST, &value);
        assert_eq!(Announcement::find(&metadata), Err(why), "{value:02x?}");
    }
}

#[test]
fn contents_that_are_no_nodes_are_rejected() {
    let digest = "00".repeat(32);
    for (content, why) in [
        (String::new(), Fault::Expected(types::LEVEL).into()),
        ("fdf6070100".into(), Fault::Expected(types::FIRST).into()),
        ("fdf6070100 fdf6090100".into(), Fault::Expected(types::DIGESTS).into()),
        ("fdf6070100 fdf6090100 fdf60b00".into(), NodeError::Digests(0)),
        ("fdf6070100 fdf6090100 fdf60b0100".into(), NodeError::Digests(1)),
        (
            format!("fdf6070100 fdf6090100 fdf60bfd2020 {}", digest.repeat(257)),
            NodeError::Digests(257 * 32),
        ),
        (format!("fdf60700 fdf6090100 fdf60b20{digest}"), Fault::BadLength(types::LEVEL).into()),
        (format!("fdf60708ffffffffffffffff fdf6090100 fdf60b20{digest}"), NodeError::Place),
        (format!("fdf6090100 fdf6070100 fdf60b20{digest}"), Fault::Expected(types::LEVEL).into()),
        (
            format!("fdf6070100 fdf6090100 fdf60b20{digest} fdf60b20{digest}"),
            Fault::Critical(types::DIGESTS).into(),
        ),
        ("fdf6030100 fdf6050102 fdf6070100".into(), LayoutError::Segments(0).into()),
        ("fdf6030101 fdf605020101 fdf6070100".into(), LayoutError::Fanout(257).into()),
        // Unassigned critical types: 255, and 31.
        (
            format!("fdf6070100 fd00ff00 fdf6090100 fdf60b20{digest}"),
            Fault::Expected(types::FIRST).into(),
        ),
        (format!("fdf6070100 fdf6090100 fdf60b20{digest} 1f00"), Fault::Critical(31).into()),
    ] {
        assert_eq!(Node::decode(&bytes(&content)), Err(why), "{content}");
    }
}

#[test]
fn unknown_elements_that_are_not_critical_are_passed_over() {
    let digest = "00".repeat(32);
    let content =
        bytes(&format!("f000 fdf6070100 fdf60800 fdf6090100 f000 fdf60b20{digest} fdf60e00"));
    assert_eq!(
        Node::decode(&content),
        Ok(Node { shape: None, level: 0, first: 0, digests: &[[0; 32]] })
    );
}

#[test]
fn a_packet_of_another_type_is_no_node() {
    // ContentType 0 in place of 4.
    let wire = bytes(&example::LEAF_0.replace("180104", "180100"));
    let data = Data::decode(&wire).unwrap();
    assert_eq!(Node::decode_data(&data), Err(NodeError::ContentType(0)));
}

#[test]
fn names_of_nodes() {
    let object: Name = "/a/v=1".parse().unwrap();
    let name = node_name(object.as_ref(), 300);
    assert_eq!(name, "/a/v=1/32=manifest/50=%01%2C".parse().unwrap());
    assert_eq!(node_number(object.as_ref(), name.as_ref()), Some(300));
    for other in [
        "/a/v=1",
        "/a/v=1/32=manifest",
        "/a/v=1/manifest/50=%00",
        "/a/v=2/32=manifest/50=%00",
        "/a/v=1/32=manifest/%00",
        "/a/v=1/32=manifest/50=%00/50=%00",
        "/a/v=1/50=%00",
    ] {
        let other: Name = other.parse().unwrap();
        assert_eq!(node_number(object.as_ref(), other.as_ref()), None, "{other}");
    }
}

proptest! {
    #[test]
    fn a_content_comes_back(
        segments in prop::option::of((1..=super::super::MAX_SEGMENTS, 2_u32..=256)),
        level: u32,
        first: u64,
        digests in prop::collection::vec(any::<Digest>(), 1..=256),
    ) {
        let shape = segments.map(|(segments, fanout)| Shape { segments, fanout });
        let node = Node { shape, level, first, digests: &digests };
        let mut content = Vec::new();
        node.encode_into(&mut content);
        prop_assert_eq!(Node::decode(&content), Ok(node));
        // Truncated anywhere, it is no node.
        let cut = first as usize % content.len();
        prop_assert!(Node::decode(&content[..cut]).is_err());
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Node::decode(&bytes);
        let _ = Announcement::find(&bytes);
    }
}

#[test]
fn a_node_has_the_level_the_first_child_and_the_length_of_its_place() {
    // Five segments by twos: leaves 0, 1 and 2 of 2, 2 and 1; nodes 3 and 4 above; the root 5.
    let layout = Layout::new(5, 2).unwrap();
    let two = [[1; 32], [2; 32]];
    let node = |level, first, digests| Node { shape: None, level, first, digests };
    for (number, good) in [(1, node(0, 2, &two)), (2, node(0, 4, &two[..1])), (3, node(1, 0, &two))]
    {
        assert_eq!(good.check_place(&layout, number), Ok(()));
        let level = Node { level: good.level + 1, ..good };
        let first = Node { first: good.first + 1, ..good };
        let digests = Node { digests: &[[3; 32]; 3], ..good };
        for other in [level, first, digests] {
            assert_eq!(other.check_place(&layout, number), Err(NodeError::Place), "{other:?}");
        }
    }
    assert_eq!(node(0, 0, &two).check_place(&layout, 6), Err(NodeError::Place));
}

#[test]
fn the_largest_fanout_fills_a_packet_and_no_more() {
    // Names of every length modulo the 32 bytes of a digest.
    for len in 2000..2032 {
        let object: Name = format!("/{}", "x".repeat(len)).parse().unwrap();
        let fanout = largest_fanout(object.as_ref(), &Signer::Digest);
        let digests = vec![[1; 32]; fanout as usize + 1];
        let size = |digests| {
            let (segments, fanout) = (crate::manifest::MAX_SEGMENTS, crate::manifest::MAX_FANOUT);
            let shape = Shape { segments, fanout };
            let (level, first) = (u32::MAX, u64::MAX);
            let node = Node { shape: Some(shape), level, first, digests };
            let mut packet = Vec::new();
            manifest_data(object.as_ref(), u64::MAX, &node, &Signer::Digest, &mut packet);
            packet.len()
        };
        assert!(size(&digests[1..]) <= packet::MAX_PACKET, "{len}");
        // The length of the whole packet has its three bytes already, and is reckoned as if not.
        assert!(size(&digests) + 2 > packet::MAX_PACKET, "{len}");
    }
}
