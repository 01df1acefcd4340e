use super::*;
use mio::{Events, Interest, Poll, Token};

const OPTIONS: UdpOptions = UdpOptions { receive_buffer: 1 << 20, force: false };

fn pair() -> (Udp, Udp) {
    let any = "127.0.0.1:0".parse().unwrap();
    let listener = Udp::listen(any, OPTIONS).unwrap();
    let peer = listener.local().unwrap();
    (Udp::connect(any, peer, OPTIONS).unwrap(), listener)
}

/// Receives until `count` datagrams came.
fn receive(socket: &mut Udp, count: usize) -> Vec<Vec<u8>> {
    let mut poll = Poll::new().unwrap();
    poll.registry().register(socket.source(), Token(0), Interest::READABLE).unwrap();
    let mut buffers = ReceiveBuffers::new(4);
    let mut got: Vec<Vec<u8>> = Vec::new();
    let mut events = Events::with_capacity(4);
    while got.len() < count {
        let wait = std::time::Duration::from_secs(10);
        poll.poll(&mut events, Some(wait)).unwrap();
        assert!(!events.is_empty(), "only {} of {count} datagrams came", got.len());
        while socket.receive(&mut buffers, 1 << 20, |d, _, _| got.push(d.to_vec())).unwrap()
            == Progress::More
        {}
    }
    got
}

#[test]
fn a_batch_arrives_as_its_frames() {
    let (mut sender, mut listener) = pair();
    let mut batch = Batch::new(sender.max_segments());
    let packet: Vec<u8> = (0..8000).map(|i| (i / 1400) as u8).collect();
    batch.buffer().extend(&packet);
    batch.appended(Some(1400));
    assert_eq!(sender.send(&mut batch), Ok(Progress::Done));
    assert!(batch.is_empty());
    let got = receive(&mut listener, 6);
    assert_eq!(got.iter().map(Vec::len).collect::<Vec<_>>(), [1400, 1400, 1400, 1400, 1400, 1000]);
    assert_eq!(got.concat(), packet);
}

#[test]
fn a_closed_port_does_no_harm() {
    let (mut sender, listener) = pair();
    let local = listener.local().unwrap();
    drop(listener);
    for _ in 0..4 {
        let mut batch = Batch::new(1);
        batch.buffer().extend(b"nobody");
        batch.appended(None);
        // The kernel decides when the error of an earlier datagram returns.
        let _ = sender.send(&mut batch);
        assert!(batch.is_empty());
    }
    let mut listener = Udp::listen(local, OPTIONS).unwrap();
    let mut batch = Batch::new(1);
    batch.buffer().extend(b"somebody");
    batch.appended(None);
    assert_eq!(sender.send(&mut batch), Ok(Progress::Done));
    assert_eq!(receive(&mut listener, 1), [b"somebody".to_vec()]);
}

#[test]
fn a_peers_socket_shares_the_listeners_port_and_gets_its_datagrams() {
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let listener = Udp::listen(any, OPTIONS).unwrap();
    let address = listener.local().unwrap();
    let mut peer = Udp::connect(any, address, OPTIONS).unwrap();
    let peer_address = peer.local().unwrap();
    let mut face =
        Udp::connect(local_for(address, None, peer_address), peer_address, OPTIONS).unwrap();
    let mut batch = Batch::new(1);
    batch.buffer().extend(b"to the face");
    batch.appended(None);
    peer.send(&mut batch).unwrap();
    assert_eq!(receive(&mut face, 1), [b"to the face".to_vec()]);
    batch.buffer().extend(b"and back");
    batch.appended(None);
    face.send(&mut batch).unwrap();
    assert_eq!(receive(&mut peer, 1), [b"and back".to_vec()]);
}

#[cfg(target_os = "linux")]
#[test]
fn the_route_knows_its_payload() {
    let (sender, listener) = pair();
    // The kernel reports 65535, the longest IPv4 packet, for loopback; 28 bytes are headers.
    assert_eq!(sender.route_payload(), Some(65_535 - 28));
    assert_eq!(listener.route_payload(), None);
}

#[test]
fn link_local_addresses_keep_their_interface() {
    let listener = "[::]:6363".parse().unwrap();
    let peer: SocketAddr = SocketAddrV6::new("fe80::2".parse().unwrap(), 6363, 0, 7).into();
    let local = local_for(listener, Some("fe80::1".parse().unwrap()), peer);
    assert_eq!(local, SocketAddrV6::new("fe80::1".parse().unwrap(), 6363, 0, 7).into());
    let v4 = local_for("0.0.0.0:6363".parse().unwrap(), None, "192.0.2.1:1".parse().unwrap());
    assert_eq!(v4, "0.0.0.0:6363".parse().unwrap());
}
