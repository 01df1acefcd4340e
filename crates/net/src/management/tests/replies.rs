//! The contents of replies.

use super::*;

/// ndn-cxx, `ndn-cxx/mgmt/nfd/control-command.cpp`: its clients take a reply that lacks one of
/// these fields, or has another, for a failure.
// Other projects' programs, "Commands": [peer-41].
#[test]
fn replies_have_the_fields_that_clients_insist_on_and_no_others() {
    let mut node = Node::new(10);
    let strategy = Some("/localhost/nfd/strategy/multicast".parse().unwrap());
    let ending = ControlParameters { expiration_ms: Some(9000), ..of("/a") };
    let (name, of_a) = (types::NAME, of("/a"));
    let cases: [(&str, ControlParameters, &[u64]); 10] = [
        ("rib/register", of_a.clone(), &[name, n::FACE_ID, n::ORIGIN, n::COST, n::FLAGS]),
        (
            "rib/register",
            ending,
            &[name, n::FACE_ID, n::ORIGIN, n::COST, n::FLAGS, n::EXPIRATION_PERIOD],
        ),
        ("rib/unregister", of_a.clone(), &[name, n::FACE_ID, n::ORIGIN]),
        ("fib/add-nexthop", of_a.clone(), &[name, n::FACE_ID, n::COST]),
        ("fib/remove-nexthop", of_a.clone(), &[name, n::FACE_ID]),
        ("cs/config", ControlParameters::default(), &[n::CAPACITY, n::FLAGS]),
        ("cs/erase", of_a.clone(), &[name, n::COUNT]),
        (
            "strategy-choice/set",
            ControlParameters { strategy, ..of_a.clone() },
            &[name, n::STRATEGY],
        ),
        ("strategy-choice/unset", of_a.clone(), &[name]),
        ("rib/unregister", of_a, &[name, n::FACE_ID, n::ORIGIN]),
    ];
    for (verb, asked, fields) in cases {
        let reply = node.command(verb, &asked);
        assert_eq!(reply.code, 200, "{verb}: {}", reply.text);
        let mut body = Vec::new();
        reply.body.encode_into(&mut body);
        let value = packet::tlv::only(&body, n::CONTROL_PARAMETERS).unwrap();
        assert_eq!(elements(value), fields, "{verb}");
        assert_ne!(reply.body.face_id, Some(0), "{verb}");
    }
}

#[test]
fn a_command_that_fills_a_packet_is_answered_in_short() {
    let mut node = Node::new(10);
    let long = "x".repeat(5000);
    let reply = node.command("rib/register", &of(&format!("/{long}")));
    assert_eq!((reply.code, reply.text.as_str(), reply.body.name), (200, "Success", None));
    let reply = node.command("rib/register", &of(&format!("/localhost/nfd/{long}")));
    assert_eq!(reply.code, 403);
    assert_eq!(reply.text, format!("/localhost/nfd/{long}")[..200]);
}
