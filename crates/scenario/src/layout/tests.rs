use super::{Arrangement, Layout};
use crate::{Scenario, parse};

fn scenario(text: &str) -> Scenario {
    let batch = parse(text, "t.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    Scenario::clone(&batch.runs[0].scenario)
}

fn generated(topology: &str, producer: &str, consumers: &str) -> Scenario {
    scenario(&format!(
        "[scenario]\nduration = \"1 s\"\n[topology]\nrate = \"1 Mbit/s\"\n{topology}\n\
         [[content]]\nname = \"/x\"\nat = \"{producer}\"\nsize = \"1 kB\"\n\
         [[consumer]]\nat = {consumers}\nname = \"/x\"\n"
    ))
}

fn place(scenario: &Scenario, layout: &Layout, name: &str) -> [f64; 2] {
    layout.places[scenario.nodes.iter().position(|n| n.name == name).unwrap()]
}

#[test]
fn a_dumbbell_has_four_columns_and_its_routers_half_way_down() {
    let s = generated("generator = \"dumbbell\"\nsize = 3", "p0", "[\"c0\", \"c1\", \"c2\"]");
    let layout = Layout::new(&s);
    assert_eq!((layout.arrangement, layout.size), (Arrangement::Layered, [3.0, 2.0]));
    let at = |name| place(&s, &layout, name);
    assert_eq!([at("c0"), at("c1"), at("c2")], [[0.0, 0.0], [0.0, 1.0], [0.0, 2.0]]);
    assert_eq!([at("left"), at("right")], [[1.0, 1.0], [2.0, 1.0]]);
    assert_eq!([at("p0")[0], at("p1")[0], at("p2")[0]], [3.0; 3]);
}

#[test]
fn consumers_of_a_parking_lot_stand_before_the_router_that_they_use() {
    let s = generated("generator = \"parking-lot\"\nsize = 3", "p", "[\"c\", \"c1\", \"c2\"]");
    let layout = Layout::new(&s);
    let column = |name| place(&s, &layout, name)[0];
    assert_eq!(["c", "r0", "r1", "r2", "r3", "p"].map(column), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(["c1", "c2"].map(column), [1.0, 2.0]);
}

#[test]
fn a_tree_with_interests_both_ways_is_drawn_in_columns_too() {
    let s = scenario(
        "[scenario]\nduration = \"1 s\"\n\
         [topology]\ngenerator = \"line\"\nsize = 4\nrate = \"1 Mbit/s\"\n\
         [[content]]\nname = \"/x\"\nat = \"n3\"\nsize = \"1 kB\"\n\
         [[content]]\nname = \"/y\"\nat = \"n0\"\nsize = \"1 kB\"\n\
         [[consumer]]\nat = \"n0\"\nname = \"/x\"\n[[consumer]]\nat = \"n3\"\nname = \"/y\"\n",
    );
    let layout = Layout::new(&s);
    assert_eq!(layout.places, [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]);
}

/// Twelve nodes, each joined to the next and to the third next.
fn mesh() -> Scenario {
    let mut text = String::from("[scenario]\nduration = \"1 s\"\n");
    for i in 0..12 {
        text += &format!("[[node]]\nname = \"n{i}\"\n");
    }
    for i in 0..12 {
        for step in [1, 3] {
            let to = (i + step) % 12;
            text += &format!("[[link]]\nbetween = [\"n{i}\", \"n{to}\"]\nrate = \"1 Mbit/s\"\n");
        }
    }
    text += "[[content]]\nname = \"/x\"\nat = \"n5\"\nsize = \"1 kB\"\n\
             [[consumer]]\nat = \"n0\"\nname = \"/x\"\n";
    scenario(&text)
}

#[test]
fn nodes_do_not_overlap_and_neighbours_are_close() {
    let s = mesh();
    let layout = Layout::new(&s);
    assert_eq!(layout.arrangement, Arrangement::Stress);
    assert_eq!(layout, Layout::new(&s), "nothing is left to chance");
    let (mut joined, mut others) = (Vec::new(), Vec::new());
    for (a, at) in layout.places.iter().enumerate() {
        for (b, other) in layout.places.iter().enumerate().skip(a + 1) {
            let is_joined = matches!(b - a, 1 | 3 | 9 | 11);
            let far = super::links::distance(*at, *other);
            if is_joined {
                joined.push(far)
            } else {
                others.push(far)
            };
        }
    }
    let mean = |list: &[f64]| list.iter().sum::<f64>() / list.len() as f64;
    assert!((mean(&joined) - 1.0).abs() < 1e-9, "a link is one unit long");
    assert!(mean(&others) > mean(&joined) * 1.1, "{joined:?} {others:?}");
    assert!(joined.iter().chain(&others).all(|far| *far > 0.2), "{joined:?} {others:?}");
}

#[test]
fn given_positions_are_kept_and_the_others_stand_between() {
    let mut s = mesh();
    for (i, node) in s.nodes.iter_mut().enumerate() {
        node.position = (i != 11).then_some([i as f64 * 10.0, 5.0]);
    }
    let layout = Layout::new(&s);
    assert_eq!(layout.arrangement, Arrangement::Given);
    let [first, third] = [layout.places[0], layout.places[2]];
    let [fifth, _] = layout.places[4];
    assert!((fifth - third[0] - (third[0] - first[0])).abs() < 1e-9);
    assert!(layout.places.iter().flatten().all(|at| *at >= 0.0 && at.is_finite()));
}
