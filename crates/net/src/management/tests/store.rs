//! Commands of the module `cs`.

use super::*;

/// Has the content store keep Data of this name, which the second application produces.
fn cache(node: &mut Node, name: &str) {
    let name: Name = name.parse().unwrap();
    node.nonce += 1;
    let mut interest = InterestBuf::new(name.clone());
    interest.nonce = Some(node.nonce);
    let (now, [consumer, producer]) = (node.now, node.apps);
    node.forwarder.add_route(producer, Name::default().as_ref(), 0).unwrap();
    node.forwarder.receive(now, consumer, Wire::Borrowed(&interest.encode()));
    let data = packet::DataBuf::new(name, vec![0; 10]).encode_digest();
    node.forwarder.receive(now, producer, Wire::Borrowed(&data));
    while let Some(face) = node.forwarder.poll_ready() {
        while node.forwarder.poll_transmit(now, face, &mut Vec::new()).is_some() {}
    }
}

// CsMgmt, "Update configuration": [mgmt-19], [mgmt-20].
// Other projects' programs, "Commands": [peer-25].
#[test]
fn the_content_store_is_bounded_and_switched() {
    let mut node = Node::new(10);
    let (admit, serve) = (1, 2);
    let set = |flags, mask| ControlParameters {
        flags: Some(flags),
        mask: Some(mask),
        ..ControlParameters::default()
    };
    for i in 0..10 {
        cache(&mut node, &format!("/c/{i}"));
    }
    assert_eq!(node.forwarder.content_store().len(), 10);
    let asked = ControlParameters { capacity: Some(4), ..ControlParameters::default() };
    let reply = node.command("cs/config", &asked);
    assert_eq!((reply.body.capacity, reply.body.flags), (Some(4), Some(admit | serve)));
    assert_eq!(node.forwarder.content_store().len(), 4);
    // Each flag on its own, by the mask.
    assert_eq!(node.command("cs/config", &set(0, admit)).body.flags, Some(serve));
    cache(&mut node, "/c/more");
    let before = node.forwarder.content_store().counters().hits;
    cache(&mut node, "/c/9");
    assert_eq!(
        (node.forwarder.content_store().len(), node.forwarder.content_store().counters().hits),
        (4, before + 1)
    );
    assert_eq!(node.command("cs/config", &set(admit, admit | serve)).body.flags, Some(admit));
    cache(&mut node, "/c/9");
    assert_eq!(node.forwarder.content_store().counters().hits, before + 1, "it does not serve");
    let (_, content) = dataset(&mut node, "/localhost/nfd/cs/info", false);
    let entry = Reader::new(&content).next_element().unwrap().unwrap().value.to_vec();
    let mut reader = Reader::new(&entry);
    assert_eq!(reader.expect(n::CAPACITY).unwrap().nni().unwrap(), 4);
    assert_eq!(reader.expect(n::FLAGS).unwrap().nni().unwrap(), admit);
    for wrong in [
        set(4, 4),
        ControlParameters { flags: Some(1), ..ControlParameters::default() },
        ControlParameters { mask: Some(1), ..ControlParameters::default() },
    ] {
        assert_eq!(node.command("cs/config", &wrong).code, 400, "{wrong:?}");
    }
}

// CsMgmt, "Erase entries": [mgmt-21].
// Other projects' programs, "Commands": [peer-27].
#[test]
fn content_is_erased_a_few_at_a_time() {
    let mut node = Node::new(10);
    for i in 0..300 {
        cache(&mut node, &format!("/c/{i}"));
    }
    cache(&mut node, "/d");
    let some = ControlParameters { count: Some(3), ..of("/c") };
    let reply = node.command("cs/erase", &some);
    assert_eq!((reply.code, reply.body.count, reply.body.capacity), (200, Some(3), None));
    let reply = node.command("cs/erase", &of("/c"));
    assert_eq!((reply.body.count, reply.body.capacity), (Some(256), Some(256)), "there is more");
    let reply = node.command("cs/erase", &of("/c"));
    assert_eq!((reply.body.count, reply.body.capacity), (Some(41), None));
    assert_eq!(node.forwarder.content_store().len(), 1, "/d is left");
    assert_eq!(node.command("cs/erase", &ControlParameters::default()).code, 400);
    let none = ControlParameters { count: Some(0), ..of("/d") };
    assert_eq!(node.command("cs/erase", &none).code, 400);
}
