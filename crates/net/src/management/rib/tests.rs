use super::*;
use forwarder::{FaceConfig, ForwarderConfig};
use proptest::prelude::*;

/// A forwarder with two faces and its routes.
struct Table {
    forwarder: Forwarder,
    rib: Rib,
    faces: [FaceId; 2],
}

impl Table {
    fn new() -> Table {
        let strategy = schemes::Choice::named("best-route").unwrap().strategy().unwrap();
        let mut forwarder = Forwarder::new(ForwarderConfig::new(strategy));
        let mut face = || forwarder.add_face(Time(0), FaceConfig::default());
        let faces = [face(), face()];
        Table { forwarder, rib: Rib::default(), faces }
    }

    fn add(&mut self, prefix: &str, face: usize, cost: u64, flags: u64) {
        let key = RouteKey { face: self.faces[face], origin: ORIGIN_APPLICATION };
        let route = Route { cost, flags, expires: None };
        self.rib.add(&mut self.forwarder, &prefix.parse().unwrap(), key, route).unwrap();
    }

    fn remove(&mut self, prefix: &str, face: usize) {
        let key = RouteKey { face: self.faces[face], origin: ORIGIN_APPLICATION };
        assert!(self.rib.remove(&mut self.forwarder, &prefix.parse().unwrap(), key));
    }

    /// The next hops that the FIB has for exactly this prefix: which face, and the cost.
    fn hops(&self, prefix: &str) -> Vec<(usize, u64)> {
        let prefix: Name = prefix.parse().unwrap();
        let found = self.forwarder.fib().iter().find(|(p, _)| *p == prefix.as_ref());
        let hops = found.map(|(_, hops)| hops).unwrap_or_default();
        let which = |id: u64| self.faces.iter().position(|face| face.0 == id).unwrap();
        hops.iter().map(|hop| (which(hop.face), hop.cost)).collect()
    }
}

// RibMgmt, "Route inheritance": [mgmt-14].
#[test]
fn a_longer_prefix_has_the_routes_of_shorter_ones() {
    let mut table = Table::new();
    table.add("/a", 0, 5, CHILD_INHERIT);
    table.add("/a/b/c", 1, 7, CHILD_INHERIT);
    assert_eq!(table.hops("/a"), [(0, 5)]);
    assert_eq!(table.hops("/a/b/c"), [(0, 5), (1, 7)]);
    // A prefix in between is inherited now, because the nearest one counts.
    table.add("/a/b", 0, 9, CHILD_INHERIT);
    assert_eq!(table.hops("/a/b/c"), [(1, 7), (0, 9)]);
    table.remove("/a/b", 0);
    assert_eq!(table.hops("/a/b/c"), [(0, 5), (1, 7)]);
    assert_eq!(table.hops("/a/b"), [], "a prefix without routes has no next hops");
    table.remove("/a", 0);
    assert_eq!((table.hops("/a"), table.hops("/a/b/c")), (vec![], vec![(1, 7)]));
    assert_eq!(table.rib.iter().count(), 1);
}

// RibMgmt, "Route inheritance": [mgmt-14].
#[test]
fn a_route_without_child_inherit_is_for_its_prefix_alone() {
    let mut table = Table::new();
    table.add("/a", 0, 5, 0);
    table.add("/a/b", 1, 7, 0);
    assert_eq!(table.hops("/a/b"), [(1, 7)]);
    table.add("/a", 0, 5, CHILD_INHERIT);
    assert_eq!(table.hops("/a/b"), [(0, 5), (1, 7)], "the flag was set later");
    table.add("/a", 0, 5, 0);
    assert_eq!(table.hops("/a/b"), [(1, 7)], "and taken back");
}

// RibMgmt, "Route inheritance": [mgmt-14].
#[test]
fn captured_prefixes_inherit_no_routes_and_pass_on_their_own() {
    let mut table = Table::new();
    table.add("/", 0, 1, CHILD_INHERIT);
    table.add("/a", 1, 2, CHILD_INHERIT | CAPTURE);
    table.add("/a/b", 1, 9, CHILD_INHERIT);
    assert_eq!(table.hops("/a"), [(1, 2)]);
    // Its own route to face 1 counts, though it is dearer than the inherited one.
    assert_eq!(table.hops("/a/b"), [(1, 9)]);
    table.add("/a", 1, 2, CHILD_INHERIT);
    assert_eq!(table.hops("/a"), [(0, 1), (1, 2)]);
    assert_eq!(table.hops("/a/b"), [(0, 1), (1, 9)]);
}

#[test]
fn a_capture_that_its_face_takes_along_is_over() {
    let mut table = Table::new();
    table.add("/", 0, 1, CHILD_INHERIT);
    table.add("/a", 1, 2, CAPTURE);
    table.add("/a/b", 0, 3, 0);
    assert_eq!(table.hops("/a/b"), [(0, 3)]);
    let key = RouteKey { face: table.faces[0], origin: 128 };
    let route = Route { cost: 8, flags: 0, expires: None };
    table.rib.add(&mut table.forwarder, &"/a".parse().unwrap(), key, route).unwrap();
    assert_eq!(table.hops("/a"), [(1, 2), (0, 8)]);
    let gone = table.faces[1];
    table.forwarder.remove_face(Time(0), gone);
    table.rib.face_gone(&mut table.forwarder, gone);
    assert_eq!(table.hops("/a"), [(0, 8)], "its own of that face counts");
    assert_eq!((table.rib.routes_of(gone), table.rib.routes_of(table.faces[0])), (0, 3));
}

#[test]
fn memory_is_given_back() {
    let mut table = Table::new();
    for i in 0..100 {
        table.add(&format!("/{i}/{i}"), 0, 1, CHILD_INHERIT);
        table.add(&format!("/{i}"), 1, 1, CHILD_INHERIT);
    }
    assert!(table.rib.memory() > 0);
    for face in table.faces {
        table.rib.face_gone(&mut table.forwarder, face);
    }
    assert_eq!((table.rib.memory(), table.rib.iter().count()), (0, 0));
    assert_eq!(table.forwarder.fib().len(), 0);
}

const PREFIXES: [&str; 8] = ["/", "/a", "/a/b", "/a/b/c", "/a/c", "/b", "/b/a/b/c", "/ab"];

/// A prefix's number, which face, and which origin.
type Which = (usize, usize, u64);

#[derive(Clone, Debug)]
enum Change {
    Add(Which, u64, u64),
    Remove(Which),
    Lose(usize),
}

fn change() -> impl Strategy<Value = Change> {
    let which = || (0..PREFIXES.len(), 0..2_usize, 0..2_u64);
    prop_oneof![
        6 => (which(), 0..3_u64, 0..4_u64).prop_map(|(w, cost, flags)| Change::Add(w, cost, flags)),
        3 => which().prop_map(Change::Remove),
        1 => (0..2_usize).prop_map(Change::Lose),
    ]
}

/// The cost of a prefix's next hop, computed by the rules of RibMgmt from the routes alone.
fn cost_of(routes: &BTreeMap<Which, Route>, prefix: &Name, face: usize) -> Option<u64> {
    for length in (0..=prefix.len()).rev() {
        let here = |at: usize| {
            PREFIXES[at].parse::<Name>().unwrap().as_ref() == prefix.as_ref().prefix(length)
        };
        let at_it = || routes.iter().filter(|((at, ..), _)| here(*at));
        let counts = |flags| length == prefix.len() || flags & CHILD_INHERIT != 0;
        let of_face = at_it().filter(|((_, of, _), route)| *of == face && counts(route.flags));
        let cheapest = of_face.map(|(_, route)| route.cost).min();
        if cheapest.is_some() || at_it().any(|(_, route)| route.flags & CAPTURE != 0) {
            return cheapest;
        }
    }
    None
}

proptest! {
    // RibMgmt, "Route inheritance": [mgmt-14].
    #[test]
    fn after_any_changes_the_fib_has_what_the_routes_say(
        changes in prop::collection::vec(change(), 1..60),
    ) {
        let (mut table, mut routes) = (Table::new(), BTreeMap::<Which, Route>::new());
        for change in changes {
            let (rib, forwarder, faces) = (&mut table.rib, &mut table.forwarder, table.faces);
            let place = |(at, face, origin): Which| {
                let key = RouteKey { face: faces[face], origin };
                (PREFIXES[at].parse::<Name>().unwrap(), key)
            };
            match change {
                Change::Add(which, cost, flags) => {
                    let route = Route { cost, flags, expires: None };
                    let (prefix, key) = place(which);
                    rib.add(forwarder, &prefix, key, route).unwrap();
                    routes.insert(which, route);
                }
                Change::Remove(which) => {
                    let (prefix, key) = place(which);
                    let was_there = rib.remove(forwarder, &prefix, key);
                    prop_assert_eq!(was_there, routes.remove(&which).is_some());
                }
                Change::Lose(face) => {
                    rib.face_gone(forwarder, faces[face]);
                    routes.retain(|(_, of, _), _| *of != face);
                }
            }
            for (at, uri) in PREFIXES.iter().enumerate() {
                let prefix = uri.parse::<Name>().unwrap();
                let has_own = routes.keys().any(|(of, ..)| *of == at);
                let cost = |face| cost_of(&routes, &prefix, face).filter(|_| has_own);
                let mut expected: Vec<_> =
                    (0..2).filter_map(|face| Some((face, cost(face)?))).collect();
                expected.sort_by_key(|(face, cost)| (*cost, *face));
                prop_assert_eq!(table.hops(uri), expected, "{}", uri);
            }
            prop_assert_eq!(table.rib.memory() > 0, !routes.is_empty());
        }
    }
}
