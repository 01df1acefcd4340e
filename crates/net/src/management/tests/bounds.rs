//! How much of each thing commands may make.

use super::*;

fn set(node: &mut Node, prefix: &str) -> u64 {
    let strategy = Some("/localhost/nfd/strategy/random".parse().unwrap());
    node.command("strategy-choice/set", &ControlParameters { strategy, ..of(prefix) }).code
}

#[test]
fn so_many_prefixes_have_strategies_by_command() {
    let mut node = Node::new(10);
    // The root has one.
    for i in 1..strategies::MOST {
        assert_eq!(set(&mut node, &format!("/{i}")), 200, "{i}");
    }
    assert_eq!(set(&mut node, "/more"), 500);
    assert_eq!((set(&mut node, "/1"), set(&mut node, "/")), (200, 200), "others instead");
    assert_eq!(node.command("strategy-choice/unset", &of("/1")).code, 200);
    assert_eq!(set(&mut node, "/more"), 200);
}

#[test]
fn strategies_take_no_more_memory_than_there_is() {
    let limit = 16_000_000;
    let mut node = Node::with_memory(10, limit);
    let long = "x".repeat(3000);
    let taken = (0..strategies::MOST).take_while(|i| {
        let code = set(&mut node, &format!("/{i}/{long}"));
        node.management.count(&mut node.forwarder);
        assert!(node.forwarder.memory().total() <= limit);
        code == 200
    });
    // An eighth of what there is is for routes and the like; blocks are rounded up, by less than
    // twice.
    let expected = limit / 8 / (3 * long.len());
    let taken = taken.count();
    assert!((expected / 2..=expected).contains(&taken), "{taken} were taken");
}

#[test]
fn a_face_is_next_hop_of_so_many_prefixes() {
    let mut node = Node::new(2);
    let add = |node: &mut Node, prefix: &str| node.command("fib/add-nexthop", &of(prefix)).code;
    assert_eq!(["/a", "/b", "/c"].map(|prefix| add(&mut node, prefix)), [200, 200, 403]);
    assert_eq!(node.next_hops("/c"), []);
    let dearer = ControlParameters { cost: Some(3), ..of("/a") };
    assert_eq!(node.command("fib/add-nexthop", &dearer).code, 200, "it is there already");
    let other = ControlParameters { face_id: Some(node.apps[1].0), ..of("/c") };
    assert_eq!(node.command("fib/add-nexthop", &other).code, 200);
    assert_eq!(node.command("fib/remove-nexthop", &of("/a")).code, 200);
    assert_eq!(add(&mut node, "/c"), 200);
}
