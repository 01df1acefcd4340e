//! The lines of the log.

use super::*;

/// The log lines of `work`.
fn logged(work: impl FnOnce()) -> Vec<String> {
    use std::sync::{Arc, Mutex};
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);
    impl std::io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_max_level(tracing::Level::WARN)
        .with_writer(move || writer.clone())
        .finish();
    tracing::subscriber::with_default(subscriber, work);
    let bytes = lines.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn a_flood_of_rejected_commands_does_not_flood_the_log() {
    let mut node = Node::new(10);
    let wrong = node.signed(InterestBuf::new("/localhost/nfd/rib/register/x".parse().unwrap()));
    let end = Time(1_000_000_000);
    let lines = logged(|| {
        for _ in 0..500 {
            node.command("fib/remove", &of("/a"));
        }
        node.ask(1, &wrong);
    });
    assert_eq!(lines.len(), 2, "one for each face: {lines:?}");
    assert!(lines[0].contains("fib/remove") && lines[0].contains("code=501"), "{lines:?}");
    assert_eq!(node.management.next_deadline(), Some(end));
    let lines = logged(|| {
        node.management.on_deadline(&mut node.forwarder, end);
        node.now = end;
        node.command("fib/remove", &of("/a"));
    });
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("more=499"), "{lines:?}");
    let later = Time(end.0 + 1_000_000_000);
    let lines = logged(|| node.management.on_deadline(&mut node.forwarder, later));
    assert!(lines.len() == 1 && lines[0].contains("more=1"), "{lines:?}");
    node.management.on_deadline(&mut node.forwarder, Time(later.0 + 1_000_000_000));
    assert_eq!(node.management.next_deadline(), None, "all is quiet");
}
