use super::*;
use crate::uri::FaceUri;

#[test]
fn the_forwarder_is_found_where_it_is_said_to_be() {
    let at = |socket, variable| locate(socket, variable).unwrap().to_string();
    assert_eq!(at(None, None), "unix:///run/nfd/nfd.sock");
    assert_eq!(at(None, Some("")), "unix:///run/nfd/nfd.sock");
    assert_eq!(at(None, Some("tcp4://192.0.2.1:99")), "tcp4://192.0.2.1:99");
    assert_eq!(at(Some("/tmp/x.sock"), Some("tcp4://192.0.2.1:99")), "unix:///tmp/x.sock");
    let error = locate(None, Some("pipe:///x")).unwrap_err().to_string();
    assert!(error.contains("NDN_CLIENT_TRANSPORT") && error.contains("pipe"), "{error}");
}

#[test]
fn why_nobody_answers_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nfd.sock");
    let uri = FaceUri::Unix(path.clone());
    let error = Client::connect(&uri).unwrap_err();
    assert!(matches!(error, ClientError::NoSocket { .. }), "{error}");
    assert!(error.to_string().contains("weir daemon"), "{error}");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let error = Client::connect(&uri).unwrap_err();
    assert!(matches!(error, ClientError::NobodyListening { .. }), "{error}");
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = Client::connect(&FaceUri::tcp(free)).unwrap_err();
    assert!(matches!(error, ClientError::NobodyListening { .. }), "{error}");
}

/// An endpoint that only listens.
struct Silent;

impl Endpoint for Silent {
    fn receive(&mut self, _now: Time, _frame: &[u8]) {}
    fn poll_transmit(&mut self, _now: Time, _out: &mut Vec<u8>) -> bool {
        false
    }
    fn on_deadline(&mut self, _now: Time) {}
    fn next_deadline(&mut self, _now: Time) -> Option<Time> {
        None
    }
    fn is_done(&self) -> bool {
        false
    }
}

#[test]
fn a_forwarder_that_goes_away_or_talks_nonsense_is_an_error() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nfd.sock");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let uri = FaceUri::Unix(path);
    let tick = Duration::from_secs(10);
    let go_on = |_: Time, _: &mut Silent| ControlFlow::Continue(());

    let mut client = Client::connect(&uri).unwrap();
    drop(listener.accept().unwrap());
    let error = client.drive(&mut Silent, tick, go_on).unwrap_err();
    assert!(matches!(error, ClientError::Closed { .. } | ClientError::Lost { .. }), "{error}");

    let mut client = Client::connect(&uri).unwrap();
    let (mut peer, _) = listener.accept().unwrap();
    peer.write_all(b"HTTP/1.1 400 Bad Request\r\n").unwrap();
    let error = client.drive(&mut Silent, tick, go_on).unwrap_err();
    assert!(error.to_string().contains("not NDN"), "{error}");
}
