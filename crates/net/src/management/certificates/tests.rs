use super::*;
use packet::{Interest, LpPacket};
use security::trust::Schema;
use security::{Certificate, SecretKey, Validity};

fn certificate(identity: &str) -> Certificate {
    let identity: Name = identity.parse().unwrap();
    let secret = SecretKey::ed25519(&[1; 32]);
    Certificate::self_signed(identity.as_ref(), &secret, Validity::days(0, 1), 1)
}

fn missing(name: Name) -> MissingCertificate {
    let validator = Arc::new(Validator::new(Vec::new(), Schema::Hierarchy));
    MissingCertificate { name, validator, why: String::new() }
}

fn waiting(face: u64) -> Waiting {
    let what = What::Command { wire: Bytes::from_static(b"command"), token: Bytes::new() };
    Waiting { what, from: FaceId(face), since: Time(0), wall_ms: 0, is_last: false }
}

/// The Interests to be sent: names, and the chosen face, if any.
fn asked(certificates: &mut Certificates) -> Vec<(Name, Option<u64>)> {
    std::iter::from_fn(|| certificates.poll_transmit())
        .map(|frame| {
            let link = LpPacket::decode(&frame).unwrap();
            let interest = Interest::decode(link.fragment().unwrap()).unwrap();
            (interest.name().to_name(), link.next_hop_face_id())
        })
        .collect()
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_certificate_is_asked_for_by_the_routes_and_of_who_needs_it() {
    let mut all = Certificates::default();
    let wanted = certificate("/a");
    let name = wanted.key_name();
    let needs = missing(name.clone());
    all.wait(Time(0), &needs, waiting(7)).unwrap();
    all.wait(Time(0), &needs, waiting(8)).unwrap();
    assert_eq!(asked(&mut all), [(name.clone(), None)], "once for both");
    // Without a route, both faces are asked at once, and so are later ones.
    all.on_nack(Time(5), name.as_ref());
    assert_eq!(asked(&mut all), [(name.clone(), Some(7)), (name.clone(), Some(8))]);
    all.wait(Time(6), &needs, waiting(9)).unwrap();
    assert_eq!(asked(&mut all), [(name.clone(), Some(9))]);
    let other = certificate("/b");
    all.receive(Time(7), &Data::decode(other.wire()).unwrap());
    assert!(all.poll_ready().is_none());
    all.receive(Time(8), &Data::decode(wanted.wire()).unwrap());
    let ready: Vec<_> = std::iter::from_fn(|| all.poll_ready()).collect();
    assert_eq!(
        ready.iter().map(|w| (w.from.0, w.is_last)).collect::<Vec<_>>(),
        [(7, false), (8, false), (9, false)]
    );
    assert_eq!((all.next_deadline(), all.memory()), (None, 0));
}

#[test]
fn unanswered_certificate_requests_are_given_up() {
    let mut all = Certificates::default();
    let name = certificate("/a").name().clone();
    all.wait(Time(0), &missing(name.clone()), waiting(7)).unwrap();
    for face in [None, Some(7), None, Some(7)] {
        assert_eq!(asked(&mut all), [(name.clone(), face)]);
        assert!(all.poll_ready().is_none());
        let at = all.next_deadline().unwrap();
        all.on_deadline(at);
    }
    assert!(all.poll_ready().unwrap().is_last);
    assert_eq!((asked(&mut all), all.next_deadline()), (vec![], None));
    let again = Waiting { is_last: true, ..waiting(7) };
    assert!(all.wait(Time(0), &missing(name.clone()), again).is_err());
    let patient = Time(0) + PATIENCE;
    assert!(all.wait(patient, &missing(name), waiting(7)).unwrap_err().contains("in time"));
}

#[test]
fn an_invalid_certificate_is_requested_elsewhere() {
    let mut all = Certificates::default();
    let name = certificate("/a").name().clone();
    all.wait(Time(0), &missing(name.clone()), waiting(7)).unwrap();
    let junk = packet::DataBuf::new(name.clone(), b"junk".to_vec()).encode_digest();
    asked(&mut all);
    all.receive(Time(0) + SECOND, &Data::decode(&junk).unwrap());
    assert_eq!(asked(&mut all), [(name, Some(7))]);
    assert!(all.poll_ready().is_none());
}

#[test]
fn each_face_and_all_together_have_bounds() {
    let mut all = Certificates::default();
    let named = |n: usize| format!("/n{n}/KEY/k").parse::<Name>().unwrap();
    for n in 0..FETCHES_OF_FACE {
        all.wait(Time(0), &missing(named(n)), waiting(1)).unwrap();
    }
    let rejected = all.wait(Time(0), &missing(named(99)), waiting(1)).unwrap_err();
    assert!(rejected.contains("too many certificates"), "{rejected}");
    // More may wait for a certificate that is being fetched, up to a bound.
    for _ in FETCHES_OF_FACE..WAITING_OF_FACE {
        all.wait(Time(0), &missing(named(0)), waiting(1)).unwrap();
    }
    let rejected = all.wait(Time(0), &missing(named(0)), waiting(1)).unwrap_err();
    assert!(rejected.contains("too many packets already wait"), "{rejected}");
    // Another face is not affected, but all faces together have a bound.
    let mut taken = 0;
    for n in 0..1000 {
        taken +=
            usize::from(all.wait(Time(0), &missing(named(100 + n)), waiting(2 + n as u64)).is_ok());
    }
    assert_eq!(taken, FETCHES - FETCHES_OF_FACE);
    assert!(all.memory() < 1 << 20, "{}", all.memory());
    for face in 0..2000 {
        all.face_gone(FaceId(face));
    }
    assert_eq!((all.memory(), all.next_deadline()), (0, None));
}

#[test]
fn nothing_is_asked_for_that_does_not_leave_its_host() {
    let mut all = Certificates::default();
    for name in ["/localhost/op/KEY/k", "/localhop/op/KEY/k"] {
        assert!(all.wait(Time(0), &missing(name.parse().unwrap()), waiting(1)).is_err());
    }
    assert!(asked(&mut all).is_empty());
}
