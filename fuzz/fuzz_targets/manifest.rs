//! Manifests from the network: a node's content, an object's metadata, a root packet.
#![no_main]

use libfuzzer_sys::fuzz_target;
use packet::{Data, Name};
use security::manifest::{Announcement, Check, Node, Verifier};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(node) = Node::decode(bytes) {
        let mut again = Vec::new();
        node.encode_into(&mut again);
        assert_eq!(Node::decode(&again), Ok(node));
    }
    if let Ok(Some(found)) = Announcement::find(bytes) {
        let mut again = Vec::new();
        found.encode_into(&mut again);
        assert_eq!(Announcement::find(&again), Ok(Some(found)));
    }
    if let Ok(root) = Data::decode(bytes) {
        from_root(&root);
    }
});

/// Whatever tree a root describes, walking about in it is quick and bounded.
fn from_root(root: &Data<'_>) {
    let object = root.name().parent().parent();
    let Ok(mut verifier) = Verifier::from_digest(object, root, &root.implicit_digest()) else {
        return;
    };
    let layout = verifier.layout();
    let last = layout.segments() - 1;
    for segment in [0, last / 2, last] {
        let leaf = layout.leaf_of(segment).expect("a segment of the object has a leaf");
        assert!(layout.cover(leaf).contains(&segment));
        match verifier.check_segment(segment, &[0; 32]) {
            Check::NeedNode(node) => {
                assert!(layout.cover(node).contains(&segment));
                assert!(verifier.expected_node(node).is_some());
                assert_eq!(verifier.needed(segment..segment + 1).next(), Some(node));
            }
            Check::Mismatch { expected } => {
                assert_eq!(verifier.check_segment(segment, &expected), Check::Verified);
            }
            Check::Verified => {}
            Check::Beyond => unreachable!("segment {segment} is of the object"),
        }
    }
    assert_eq!(verifier.check_segment(last + 1, &[0; 32]), Check::Beyond);
    assert!(verifier.needed(0..u64::MAX).take(300).count() <= 256);
    assert_eq!(verifier.accept(root), Ok(layout.root()));
    verifier.forget_before(last);
    let _: Name = verifier.node_name(layout.root());
}
