//! The maximum number of each thing that commands may make.

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
    let mut node = Node::with_memory(10, Some(limit));
    let long = "x".repeat(3000);
    let taken = (0..strategies::MOST).take_while(|i| {
        let code = set(&mut node, &format!("/{i}/{long}"));
        node.management.count(&mut node.forwarder);
        assert!(node.forwarder.memory().total() <= limit);
        code == 200
    });
    // An eighth of the memory is for routes and similar records. Blocks are rounded up, to less
    // than twice their size.
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

#[test]
fn programs_of_other_users_register_within_bounds() {
    let mut node = Node::new(10);
    node.management.set_owner(1000);
    node.management.set_rules(Vec::new());
    let [app, other] = node.apps;
    let account = |uid| Account { uid, gid: None };
    node.accounts.insert(other, account(1000));
    let route = rib::Route { cost: 0, flags: 0, expires: None };
    let own = "/own".parse().unwrap();
    let key = rib::RouteKey { face: other, origin: rib::ORIGIN_APPLICATION };
    node.management.rib().add(&mut node.forwarder, &own, key, route).unwrap();
    let on = |face: FaceId, prefix| ControlParameters { face_id: Some(face.0), ..of(prefix) };
    for uid in [Some(65534), None] {
        node.accounts.remove(&app);
        node.accounts.extend(uid.map(|uid| (app, account(uid))));
        let mut code = |verb, asked: &ControlParameters| {
            let response = node.command(verb, asked);
            assert!(
                response.code == 200 || response.text.contains("[[authorize]]"),
                "{response:?}"
            );
            response.code
        };
        assert_eq!(code("rib/register", &of("/")), 403);
        assert_eq!(code("rib/register", &on(other, "/a")), 403, "for another face");
        assert_eq!(code("rib/unregister", &on(other, "/own")), 403);
        for (prefix, expected) in [("/own", 403), ("/own/below", 403), ("/owner", 200), ("/a", 200)]
        {
            assert_eq!(code("rib/register", &of(prefix)), expected, "{uid:?} {prefix}");
        }
        assert_eq!(code("rib/unregister", &of("/a")), 200);
    }
    node.accounts.insert(app, account(65534));
    assert_eq!(node.command("strategy-choice/unset", &of("/a")).code, 403);
    node.accounts.insert(app, account(1000));
    assert_eq!(node.command("rib/register", &of("/")).code, 200, "its own user's");
    assert_eq!(node.command("rib/unregister", &on(other, "/own")).code, 200);
}

/// A shorter prefix of one user is no next hop for names that another one registers, before or
/// after it.
#[test]
fn routes_of_other_users_are_not_inherited() {
    let mut node = Node::new(10);
    node.management.set_owner(1000);
    node.management.set_rules(Vec::new());
    let [app, own] = node.apps;
    node.accounts.insert(app, Account { uid: 65534, gid: None });
    let route = rib::Route { cost: 0, flags: 0, expires: None };
    let add = |node: &mut Node, name: &str| {
        let name = name.parse().unwrap();
        let key = rib::RouteKey { face: own, origin: rib::ORIGIN_APPLICATION };
        node.management.rib().add(&mut node.forwarder, &name, key, route).unwrap();
    };
    add(&mut node, "/vic/film");
    // 1 is ChildInherit and 2 is Capture.
    for flags in [None, Some(3)] {
        let reply = node.command("rib/register", &ControlParameters { flags, ..of("/vic") });
        assert_eq!((reply.code, reply.body.flags), (200, Some(0)));
        assert_eq!(node.next_hops("/vic"), [(app.0, 0)]);
    }
    add(&mut node, "/vic/photo");
    for name in ["/vic/film", "/vic/photo"] {
        assert_eq!(node.next_hops(name), [(own.0, 0)], "{name}");
    }
    for scope in ["/localhost", "/localhop"] {
        assert_eq!(node.command("rib/register", &of(scope)).code, 403, "{scope}");
    }
}
