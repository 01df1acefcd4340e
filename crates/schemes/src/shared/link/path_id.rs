//! The path of Data, for every scheme that distinguishes paths: a stamper that folds one hop after
//! the other into the path identifier.

use control::{Cx, DataMeta, Duration, LinkView, NodeView, Stamper};
use packet::options::PathId;

/// Folds the node and the face by which Data came into its path identifier. A face is known by a
/// number that is drawn once: two links between the same nodes are two paths.
#[derive(Debug, Default)]
pub(crate) struct PathFolder {
    face: Option<u64>,
}

impl PathFolder {
    /// MIRCC (Mahdian and others, ACM ICN 2016), path identification: id <- hash(id, node, link).
    pub(crate) fn fold(&mut self, cx: &mut Cx<'_>, node: &dyn NodeView, data: &mut DataMeta) {
        let face = *self.face.get_or_insert_with(|| cx.rng.next_u64());
        let before = data.options.get::<PathId>().unwrap_or_default();
        data.options.set(&before.folded(node.id(), face));
    }
}

impl Stamper for PathFolder {
    fn on_data_in(
        &mut self,
        cx: &mut Cx<'_>,
        _view: &LinkView,
        node: &dyn NodeView,
        data: &mut DataMeta,
        _since_release: Duration,
    ) {
        self.fold(cx, node, data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::{Rng, Size, Time};
    use packet::HopOptions;

    struct Node(u64);
    impl NodeView for Node {
        fn id(&self) -> u64 {
            self.0
        }
        fn holds(&self, _: u64, _: u64) -> bool {
            false
        }
    }

    /// The identifier after these hops, each a node and the name of the face by which Data came.
    fn path(hops: &[(u64, &str)]) -> PathId {
        let options = HopOptions::new();
        let mut data = DataMeta { flow: 1, segment: 2, size: Size(3), mark: 0, options };
        for (node, face) in hops {
            let mut rng = Rng::stream(1, &[&node.to_string(), face]);
            let mut tap = |_| {};
            let mut cx = Cx { now: Time(0), rng: &mut rng, tap: &mut tap };
            let (view, since) = (LinkView::default(), Duration::ZERO);
            let mut stamper = PathFolder::default();
            let start = data.options.clone();
            stamper.on_data_in(&mut cx, &view, &Node(*node), &mut data, since);
            let first = data.options.clone();
            data.options = start;
            stamper.on_data_in(&mut cx, &view, &Node(*node), &mut data, since);
            assert_eq!(data.options, first, "a face's number stays");
        }
        data.options.get().unwrap()
    }

    #[test]
    fn equal_paths_have_equal_numbers_and_others_others() {
        let paths: [&[(u64, &str)]; 5] = [
            &[(1, "a"), (2, "b")],
            &[(2, "b"), (1, "a")],
            &[(1, "a"), (2, "c")],
            &[(1, "a"), (3, "b")],
            &[(1, "a")],
        ];
        for (i, one) in paths.iter().enumerate() {
            assert_eq!(path(one), path(one));
            assert!(paths[..i].iter().all(|other| path(other) != path(one)), "{one:?}");
        }
    }
}
