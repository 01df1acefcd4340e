use proptest::prelude::*;

use super::*;

/// The tree built node by node: for each level, the run of children of each of its nodes.
fn naive(segments: u64, fanout: u64) -> Vec<Vec<Range<u64>>> {
    let mut levels: Vec<Vec<Range<u64>>> = Vec::new();
    let mut below = 0..segments;
    let mut next = 0;
    loop {
        let mut level = Vec::new();
        let mut first = below.start;
        while first < below.end {
            let end = below.end.min(first + fanout);
            level.push(first..end);
            first = end;
        }
        below = next..next + level.len() as u64;
        next = below.end;
        let done = level.len() == 1;
        levels.push(level);
        if done {
            return levels;
        }
    }
}

#[test]
fn the_only_leaf_is_the_root() {
    let layout = Layout::new(250, 250).unwrap();
    assert_eq!((layout.levels(), layout.nodes(), layout.root()), (1, 1, 0));
    assert_eq!(layout.children(0), Some(Children::Segments(0..250)));
    assert_eq!(layout.parent_of(0), None);
    assert_eq!(layout.leaf_of(249), Some(0));
    assert_eq!(layout.leaf_of(250), None);
}

#[test]
fn two_leaves_have_a_root_above_them() {
    let layout = Layout::new(251, 250).unwrap();
    assert_eq!((layout.levels(), layout.nodes(), layout.root()), (2, 3, 2));
    assert_eq!(layout.children(1), Some(Children::Segments(250..251)));
    assert_eq!(layout.children(2), Some(Children::Nodes(0..2)));
    assert_eq!(layout.parent_of(1), Some(2));
    assert_eq!(layout.cover(2), 0..251);
}

#[test]
fn hundred_gigabytes_need_three_levels_of_fifty_thousand_leaves() {
    let layout = Layout::new(12_500_000, DEFAULT_FANOUT).unwrap();
    assert_eq!(layout.levels(), 3);
    assert_eq!(layout.nodes_at(0), 50_000);
    assert_eq!(layout.nodes_at(1), 200);
    assert_eq!(layout.nodes_at(2), 1);
    assert_eq!(layout.nodes_at(3), 0);
    assert_eq!(layout.node_at(1, 199), Some(50_199));
    assert_eq!(layout.node_at(1, 200), None);
    assert_eq!(layout.root(), 50_200);
    assert_eq!(layout.parent_of(49_999), Some(50_199));
    assert_eq!(layout.parent_of(50_199), Some(50_200));
    assert_eq!(layout.cover(50_001), 62_500..125_000);
}

#[test]
fn the_largest_object_does_not_overflow() {
    for fanout in [2, MAX_FANOUT] {
        let layout = Layout::new(MAX_SEGMENTS, fanout).unwrap();
        let leaf = layout.leaf_of(MAX_SEGMENTS - 1).unwrap();
        assert_eq!(layout.cover(leaf).end, MAX_SEGMENTS);
        assert_eq!(layout.cover(layout.root()), 0..MAX_SEGMENTS);
        assert_eq!(layout.level_of(layout.root()), Some(layout.levels() - 1));
    }
    assert_eq!(Layout::new(MAX_SEGMENTS, 2).unwrap().levels(), 48);
}

#[test]
fn impossible_shapes_are_rejected() {
    assert_eq!(Layout::new(0, 250), Err(LayoutError::Segments(0)));
    assert_eq!(Layout::new(MAX_SEGMENTS + 1, 2), Err(LayoutError::Segments(MAX_SEGMENTS + 1)));
    assert_eq!(Layout::new(1, 1), Err(LayoutError::Fanout(1)));
    assert_eq!(Layout::new(1, MAX_FANOUT + 1), Err(LayoutError::Fanout(257)));
}

proptest! {
    #[test]
    fn agrees_with_a_tree_built_node_by_node(segments in 1u64..3000, fanout in 2u32..40) {
        let layout = Layout::new(segments, fanout).unwrap();
        let model = naive(segments, u64::from(fanout));

        prop_assert_eq!(layout.levels() as usize, model.len());
        prop_assert_eq!(layout.nodes(), model.iter().map(|level| level.len() as u64).sum::<u64>());
        let mut number = 0;
        for (level, nodes) in model.iter().enumerate() {
            prop_assert_eq!(layout.nodes_at(level as u32), nodes.len() as u64);
            for (index, run) in nodes.iter().enumerate() {
                prop_assert_eq!(layout.node_at(level as u32, index as u64), Some(number));
                prop_assert_eq!(layout.level_of(number), Some(level as u32));
                let children = layout.children(number).unwrap();
                prop_assert_eq!(matches!(children, Children::Segments(_)), level == 0);
                prop_assert_eq!(children.range(), run.clone());
                for child in run.clone() {
                    let above = match level {
                        0 => layout.leaf_of(child),
                        _ => layout.parent_of(child),
                    };
                    prop_assert_eq!(above, Some(number));
                }
                let cover = layout.cover(number);
                for segment in [cover.start, cover.end - 1] {
                    let mut at = layout.leaf_of(segment).unwrap();
                    while layout.level_of(at).unwrap() < level as u32 {
                        at = layout.parent_of(at).unwrap();
                    }
                    prop_assert_eq!(at, number);
                }
                number += 1;
            }
        }
        prop_assert_eq!(layout.root(), number - 1);
        prop_assert_eq!(layout.parent_of(number - 1), None);
        prop_assert_eq!(layout.children(number), None);
        prop_assert_eq!(layout.parent_of(number), None);
        prop_assert_eq!(layout.leaf_of(segments), None);
    }
}
