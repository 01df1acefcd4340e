use super::*;
use crate::trace::{Action, Direction, Item, Record};
use packet::NameRef;

/// A trace of the first application, and the number of its next packet.
struct Reader {
    stream: Name,
    next: u64,
    bytes: Vec<u8>,
}

impl Node {
    fn trace(&mut self, asked: &ControlParameters) -> Reader {
        let mut parameters = Vec::new();
        asked.encode_into(&mut parameters);
        let started = self.command_of("weir", "trace/start", &parameters);
        assert_eq!(started.code, 200, "{}", started.text);
        Reader { stream: started.body.name.unwrap(), next: 0, bytes: Vec::new() }
    }

    /// Asks for a packet of the trace; it is answered when something is recorded.
    fn want(&mut self, app: usize, reader: &Reader) -> Option<Bytes> {
        self.nonce += 1;
        let name = reader.stream.clone().with(&Component::sequence(reader.next));
        let interest = InterestBuf { nonce: Some(self.nonce), ..InterestBuf::new(name) };
        self.ask(app, &interest.encode())
    }

    /// All records.
    fn records(&mut self, reader: &mut Reader) -> Vec<Item> {
        assert_eq!(self.want(0, reader), None);
        while let Some((data, _)) = self.management.traces.poll(self.now) {
            reader.bytes.extend(Data::decode(&data).unwrap().content());
            reader.next += 1;
            let waits = self.want(0, reader);
            assert_eq!(waits, None);
        }
        let mut items = Vec::new();
        while let Ok(Some((item, length))) = Item::decode(&reader.bytes) {
            reader.bytes.drain(..length);
            items.push(item);
        }
        items
    }

    /// Sends a plain Interest from the second application.
    fn interest(&mut self, name: &str) {
        self.nonce += 1;
        let interest =
            InterestBuf { nonce: Some(self.nonce), ..InterestBuf::new(name.parse().unwrap()) };
        self.ask(1, &interest.encode());
    }
}

fn shown(items: &[Item]) -> Vec<(u64, Direction, String, Action, Vec<u64>)> {
    let record = |item: &Item| match item {
        Item::Record(record) => {
            let Record { face, direction, name, action, faces, .. } = &**record;
            (*face, *direction, name.to_string(), action.clone(), faces.clone())
        }
        other => panic!("{other:?}"),
    };
    items.iter().map(record).collect()
}

#[test]
fn each_packet_is_recorded_with_what_became_of_it() {
    let mut node = Node::new(10);
    let [reads, asks] = node.apps.map(|face| face.0);
    let mut reader = node.trace(&ControlParameters::default());
    node.interest("/nowhere");
    // A name below that of all streams does not hide a packet.
    node.interest("/localhost/weir/trace/x/seq=0");
    node.forwarder.add_route(FaceId(reads), NameRef::default(), 0).unwrap();
    node.interest("/a");
    let items = node.records(&mut reader);
    let (way_in, way_out) = (Direction::In, Direction::Out);
    let expected = [
        (asks, way_in, "/nowhere".to_owned(), Action::Nacked, vec![]),
        (asks, way_out, "/nowhere".to_owned(), Action::Queued, vec![]),
        (asks, way_in, "/a".to_owned(), Action::Forwarded, vec![reads]),
        (reads, way_out, "/a".to_owned(), Action::Queued, vec![]),
    ];
    let all = shown(&items);
    let stream = reader.stream.to_string();
    assert!(all.iter().all(|(_, _, name, ..)| !name.starts_with(&stream)), "nothing of the trace");
    let hidden = |name: &str| name.starts_with("/localhost/weir/trace/x");
    assert!(
        all.iter().any(|(face, way, name, ..)| { (*face, *way) == (asks, way_in) && hidden(name) })
    );
    let plain: Vec<_> = all.into_iter().filter(|(_, _, name, ..)| !name.contains("weir")).collect();
    assert_eq!(plain, expected);
}

#[test]
fn a_trace_may_be_of_one_face_and_of_names_below_one() {
    let mut node = Node::new(10);
    let asks = node.apps[1].0;
    let wanted = ControlParameters { face_id: Some(asks), ..of("/a") };
    let mut reader = node.trace(&wanted);
    for name in ["/a", "/b", "/a/b", "/ab"] {
        node.interest(name);
    }
    let items = node.records(&mut reader);
    let names: Vec<_> = shown(&items).into_iter().map(|(.., name, _, _)| name).collect();
    assert_eq!(names, ["/a", "/a", "/a/b", "/a/b"], "arrival and Nack");
    let unknown = ControlParameters { face_id: Some(99), ..ControlParameters::default() };
    let mut parameters = Vec::new();
    unknown.encode_into(&mut parameters);
    let rejected = node.command_of("weir", "trace/start", &parameters);
    assert_eq!((rejected.code, &rejected.text[..]), (404, "there is no face 99"));
    node.management.face_gone(&mut node.forwarder, FaceId(asks));
    let gone = Item::Ended(format!("face {asks} is gone"));
    assert_eq!(node.records(&mut reader), [gone]);
}

#[test]
fn a_trace_is_for_the_face_that_started_it() {
    let mut node = Node::new(10);
    let mut reader = node.trace(&ControlParameters::default());
    node.interest("/a");
    let data = node.want(1, &reader).expect("an answer");
    let rejection = ControlResponse::decode(Data::decode(&data).unwrap().content()).unwrap();
    assert_eq!(rejection.code, 410, "to the other application");
    assert!(!node.records(&mut reader).is_empty());
}

#[test]
fn other_users_may_not_trace() {
    let mut node = Node::new(10);
    node.management.set_owner(1000);
    node.management.set_rules(Vec::new());
    for (account, code) in [(None, 403), (Some(4711), 403), (Some(1000), 200), (Some(0), 200)] {
        let user = account.map(|uid| Account { uid, gid: None });
        node.accounts = user.map(|user| (node.apps[0], user)).into_iter().collect();
        let response = node.command_of("weir", "trace/start", &{
            let mut parameters = Vec::new();
            ControlParameters::default().encode_into(&mut parameters);
            parameters
        });
        assert_eq!(response.code, code, "{account:?}: {}", response.text);
    }
}

#[test]
fn an_unread_trace_is_bounded_counts_lost_records_and_ends() {
    let mut node = Node::new(10);
    let mut reader = node.trace(&ControlParameters::default());
    let name = format!("/{}", "a".repeat(4000));
    for _ in 0..300 {
        node.interest(&name);
    }
    assert!(node.management.traces.memory() < 5 << 20);
    let items = node.records(&mut reader);
    let lost: u64 = items.iter().map(|item| if let Item::Lost(n) = item { *n } else { 0 }).sum();
    let recorded = items.iter().filter(|item| matches!(item, Item::Record(_))).count() as u64;
    assert!(lost > 0 && recorded > 100, "{recorded} and {lost}");
    let end = node.management.next_deadline().expect("an end");
    node.now = end;
    node.management.on_deadline(&mut node.forwarder, end);
    assert_eq!(node.management.traces.memory(), 0);
    assert!(node.want(0, &reader).is_some_and(|data| {
        let data = Data::decode(&data).unwrap();
        ControlResponse::decode(data.content()).is_ok_and(|response| response.code == 410)
    }));
}

#[test]
fn only_so_many_traces_run_at_a_time() {
    let mut node = Node::new(10);
    let mut parameters = Vec::new();
    ControlParameters::default().encode_into(&mut parameters);
    let codes: Vec<u64> =
        (0..5).map(|_| node.command_of("weir", "trace/start", &parameters).code).collect();
    assert_eq!(codes, [200, 200, 503, 503, 503], "of one user");
    let mut others = (1..5).flat_map(|user| [user, user]).map(|uid| {
        node.accounts = BTreeMap::from([(node.apps[0], Account { uid, gid: None })]);
        node.command_of("weir", "trace/start", &parameters)
    });
    let codes: Vec<u64> = others.by_ref().take(6).map(|response| response.code).collect();
    assert_eq!(codes, [200; 6], "of other users");
    let rejected = others.next().unwrap();
    assert_eq!((rejected.code, rejected.text.contains("for the faces")), (503, true));
    drop(others);
    node.management.face_gone(&mut node.forwarder, node.apps[0]);
    assert_eq!(node.management.traces.memory(), 0);
}
