//! Orders of management to its driver, which owns the sockets: to create, change and destroy faces.

use super::face_info::{FaceInfo, Marking, Persistency};
use super::parameters::ControlParameters;
use super::response::ControlResponse;
use super::{names, status};
use crate::mac::Mac;
use crate::uri::{FaceUri, Transport};
use forwarder::{FaceId, Forwarder, Scope};
use packet::{Bytes, LpHeader, Name};

/// An action for the driver, and the addressee of its result.
#[derive(Debug)]
pub struct Order {
    /// The action.
    pub task: Task,
    /// The addressee of the result.
    pub(super) reply: Reply,
    /// The parameters of the command.
    pub asked: ControlParameters,
    /// By the face of this number.
    pub from: FaceId,
}

/// An action of the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// Make a face.
    Create(Create),
    /// Change a face.
    Update(FaceId, Change),
    /// End a face.
    Destroy(FaceId),
}

/// A face to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Create {
    /// Where it leads: UDP, TCP or Ethernet, canonical.
    pub uri: FaceUri,
    /// The interface where a face over Ethernet begins.
    pub device: Option<String>,
    /// Further properties in the command.
    pub change: Change,
}

/// The requested properties of a face; `None` leaves them unchanged, or to the driver.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The requested lifetime.
    pub persistency: Option<Persistency>,
    /// Its largest frame.
    pub mtu: Option<usize>,
    /// Bits of the management protocol's Flags, of those in `mask`.
    pub flags: u64,
    /// The bits of `flags` that apply; the others stay unchanged.
    pub mask: u64,
    /// How its queue is managed.
    pub marking: Marking,
}

impl Order {
    /// The frame with the response. The driver passes it to the forwarder from the internal face.
    #[must_use]
    pub fn reply(&self, response: &ControlResponse) -> Vec<u8> {
        self.reply.with(response)
    }

    /// Module and verb.
    pub(super) fn verb(&self) -> String {
        names::verb(self.reply.name.as_ref())
    }

    /// The response that rejects it.
    #[must_use]
    pub fn rejection(&self, code: u64, why: impl Into<String>) -> ControlResponse {
        ControlResponse::new(code, why, self.asked.clone())
    }
}

/// The place of a reply.
#[derive(Debug)]
pub struct Reply {
    /// The command's name.
    pub(super) name: Name,
    /// The Interest's token, which its answer must carry.
    pub(super) token: Bytes,
}

impl Reply {
    /// The frame to be sent to the forwarder by the internal face.
    #[must_use]
    pub(super) fn with(&self, response: &ControlResponse) -> Vec<u8> {
        frame(&response.data(self.name.as_ref()), &self.token)
    }
}

/// A Data packet with its hop-by-hop fields. A repeated request must get a new answer, not one from
/// the content store.
pub(super) fn frame(data: &[u8], token: &[u8]) -> Vec<u8> {
    let header = LpHeader { pit_token: token.into(), no_cache: true, ..LpHeader::default() };
    let mut out = Vec::with_capacity(header.encoded_len(data.len()));
    header.encode_into(data, &mut out);
    out
}

/// Why a task is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// NFD's code.
    pub code: u64,
    /// In words.
    pub why: String,
}

fn rejected<T>(code: u64, why: impl Into<String>) -> Result<T, Rejected> {
    Err(Rejected { code, why: why.into() })
}

/// Reads `faces/create`.
pub(super) fn create(asked: &ControlParameters) -> Result<Task, Rejected> {
    let Some(text) = &asked.uri else { return rejected(400, "faces/create needs a Uri") };
    let Some((scheme, _)) = text.split_once("://") else {
        return rejected(400, format!("`{text}` is not a face URI"));
    };
    if !["udp", "udp4", "udp6", "tcp", "tcp4", "tcp6", "ether"].contains(&scheme) {
        return rejected(406, format!("cannot create a face with the scheme `{scheme}`"));
    }
    let uri = match text.parse::<FaceUri>() {
        Ok(uri) => uri,
        Err(error) => return rejected(400, error.to_string()),
    };
    if let FaceUri::Ether(address) = uri {
        return create_ether(asked, address);
    }
    let FaceUri::Internet { transport, host, .. } = &uri else {
        return rejected(406, "cannot create a face to a Unix socket");
    };
    let literal = host.split('%').next().unwrap_or_default().parse::<std::net::IpAddr>();
    let Ok(address) = literal else {
        return rejected(400, format!("`{text}` is not canonical: it has no address"));
    };
    if uri.to_string() != *text || !text.contains(&address.to_string()) {
        return rejected(400, format!("`{text}` is not canonical; it would be {uri}"));
    }
    if address.is_multicast() {
        return rejected(406, "only the configuration can create multicast faces");
    }
    if *transport == Transport::Tcp && asked.local_uri.is_some() {
        return rejected(406, "the LocalUri of a TCP face cannot be chosen");
    }
    let change = new_face(asked, address.is_loopback())?;
    Ok(Task::Create(Create { uri, device: None, change }))
}

/// Reads the properties of a face to be made; `is_here`: to this host.
fn new_face(asked: &ControlParameters, is_here: bool) -> Result<Change, Rejected> {
    let change = change(asked)?;
    if change.persistency == Some(Persistency::OnDemand) {
        return rejected(406, "only peers can create on-demand faces");
    }
    if change.flags & change.mask & status::LOCAL_FIELDS != 0 && !is_here {
        return rejected(406, "local fields are for faces on this host");
    }
    Ok(change)
}

/// Reads `faces/create` with the URI of a station, with NFD's codes.
fn create_ether(asked: &ControlParameters, address: Mac) -> Result<Task, Rejected> {
    let uri = FaceUri::Ether(address);
    if asked.uri.as_ref() != Some(&uri.to_string()) {
        return rejected(400, format!("the Uri is not canonical; it would be {uri}"));
    }
    if address.is_group() {
        return rejected(406, "only the configuration can create multicast faces");
    }
    if !address.is_station() {
        return rejected(406, format!("no station has the address {address}"));
    }
    let device = match asked.local_uri.as_deref().map(str::parse) {
        Some(Ok(FaceUri::Device(name))) => name,
        Some(Err(error)) => return rejected(400, format!("LocalUri: {error}")),
        Some(Ok(_)) | None => {
            let why = "a face over Ethernet needs the interface as LocalUri, such as dev://eth0";
            return rejected(406, why);
        }
    };
    let change = new_face(asked, false)?;
    Ok(Task::Create(Create { uri, device: Some(device), change }))
}

/// Reads `faces/update`; without a FaceId, or with 0, it is about the face `from`.
pub(super) fn update(
    asked: &ControlParameters,
    from: FaceId,
    forwarder: &Forwarder,
) -> Result<Task, Rejected> {
    let face = asked.face_id.filter(|id| *id != 0).map_or(from, FaceId);
    let Some(scope) = forwarder.face_scope(face) else {
        return rejected(404, format!("there is no face {face}"));
    };
    let change = change(asked)?;
    if change.flags & change.mask & status::LOCAL_FIELDS != 0 && scope != Scope::Local {
        return rejected(409, "local fields are for faces on this host");
    }
    Ok(Task::Update(face, change))
}

/// Reads `faces/destroy`; the driver reports whether such a face exists.
pub(super) fn destroy(asked: &ControlParameters) -> Result<Task, Rejected> {
    match asked.face_id {
        None | Some(0) => rejected(400, "faces/destroy needs a FaceId"),
        Some(id) => Ok(Task::Destroy(FaceId(id))),
    }
}

/// Reads the common parameters of `faces/create` and `faces/update`.
pub(super) fn change(asked: &ControlParameters) -> Result<Change, Rejected> {
    let persistency = match asked.persistency {
        None => None,
        Some(0) => Some(Persistency::Persistent),
        Some(1) => Some(Persistency::OnDemand),
        Some(2) => Some(Persistency::Permanent),
        Some(other) => return rejected(400, format!("{other} is not a FacePersistency")),
    };
    if asked.flags.is_some() != asked.mask.is_some() {
        return rejected(400, "Flags and Mask must be given together");
    }
    // A value above the largest packet sets no limit. One below NFD's minimum leaves no room for
    // content.
    let mtu = asked.mtu.map(|mtu| usize::try_from(mtu).unwrap_or(usize::MAX));
    if mtu.is_some_and(|mtu| mtu < MIN_MTU) {
        return rejected(400, format!("an Mtu is at least {MIN_MTU}"));
    }
    let (flags, mask) = (asked.flags.unwrap_or(0), asked.mask.unwrap_or(0));
    let marking =
        Marking { interval_ns: asked.marking_interval_ns, threshold: asked.congestion_threshold };
    Ok(Change { persistency, mtu: mtu.map(|mtu| mtu.min(MAX_MTU)), flags, mask, marking })
}

/// The smallest and the largest payload of a datagram, as the configuration has them.
const MIN_MTU: usize = 576;
const MAX_MTU: usize = 65_507;

/// The reply about a face that was created, found or changed. BaseCongestionMarkingInterval,
/// DefaultCongestionThreshold and the MTU appear only on request: python-ndn expects them in
/// another order than NFD's.
#[must_use]
pub fn reply_body(face: &FaceInfo, asked: &ControlParameters, is_new: bool) -> ControlParameters {
    ControlParameters {
        face_id: Some(face.id.0),
        uri: is_new.then(|| face.uri.clone()),
        local_uri: is_new.then(|| face.local_uri.clone()),
        persistency: Some(face.persistency as u64),
        flags: Some(face.flags),
        marking_interval_ns: asked.marking_interval_ns.and(face.marking.interval_ns),
        congestion_threshold: asked.congestion_threshold.and(face.marking.threshold),
        mtu: asked.mtu.and(face.mtu).map(|mtu| mtu as u64),
        ..ControlParameters::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(uri: &str) -> ControlParameters {
        ControlParameters { uri: Some(uri.to_owned()), ..ControlParameters::default() }
    }

    // FaceMgmt, "Create a face": [mgmt-5].
    // Other projects' programs, "Commands": [peer-23].
    #[test]
    fn uris_that_are_not_canonical_or_not_ours_get_nfds_codes() {
        for (uri, code) in [
            ("udp4://192.0.2.1", 400),
            ("udp://192.0.2.1:6363", 400),
            ("udp4://host.example:6363", 400),
            ("udp6://[2001:db8:0::1]:6363", 400),
            ("udp4://192.0.2.1:0", 400),
            ("192.0.2.1:6363", 400),
            ("ether://[01:00:5e:00:17:aa]", 406),
            ("unix:///run/nfd/nfd.sock", 406),
            ("udp4://224.0.23.170:56363", 406),
        ] {
            let rejected = create(&asked(uri)).unwrap_err();
            assert_eq!(rejected.code, code, "{uri}: {}", rejected.why);
        }
        assert_eq!(create(&ControlParameters::default()).unwrap_err().code, 400);
        for uri in ["udp4://192.0.2.1:7777", "tcp6://[2001:db8::1]:6363"] {
            let Ok(Task::Create(made)) = create(&asked(uri)) else { panic!("{uri}") };
            assert_eq!(made.uri.to_string(), uri);
        }
    }

    #[test]
    fn a_face_over_ethernet_needs_its_interface_and_gets_nfds_codes() {
        let station = "ether://[08:00:27:01:01:01]";
        let with = |uri: &str, local: Option<&str>| {
            let local_uri = local.map(str::to_owned);
            create(&ControlParameters { local_uri, ..asked(uri) })
        };
        let Ok(Task::Create(made)) = with(station, Some("dev://eth0")) else { panic!() };
        assert_eq!((made.uri.to_string(), made.device.as_deref()), (station.into(), Some("eth0")));
        for (uri, local, code) in [
            (station, None, 406),
            (station, Some("udp4://192.0.2.1:6363"), 406),
            (station, Some("dev://"), 400),
            (station, Some("eth0"), 400),
            ("ether://[01:00:5e:00:17:aa]", Some("dev://eth0"), 406),
            ("ether://[00:00:00:00:00:00]", Some("dev://eth0"), 406),
            ("ether://[08:00:27:01:01:AB]", Some("dev://eth0"), 400),
            ("ether://[08:00:27:01:01]", Some("dev://eth0"), 400),
            ("dev://eth0", None, 406),
        ] {
            let rejected = with(uri, local).unwrap_err();
            assert_eq!(rejected.code, code, "{uri} {local:?}: {}", rejected.why);
        }
    }

    // FaceMgmt, "Create a face": [mgmt-6], [mgmt-7].
    // Other projects' programs, "Commands": [peer-25].
    #[test]
    fn absurd_parameters_are_rejected() {
        let base = asked("udp4://192.0.2.1:7777");
        for (wrong, code) in [
            (ControlParameters { persistency: Some(7), ..base.clone() }, 400),
            (ControlParameters { persistency: Some(1), ..base.clone() }, 406),
            (ControlParameters { flags: Some(1), ..base.clone() }, 400),
            (ControlParameters { mask: Some(1), ..base.clone() }, 400),
            (ControlParameters { flags: Some(1), mask: Some(1), ..base.clone() }, 406),
            (ControlParameters { mtu: Some(0), ..base.clone() }, 400),
            (
                ControlParameters {
                    uri: Some("tcp4://192.0.2.1:6363".to_owned()),
                    local_uri: Some("tcp4://192.0.2.2:1".to_owned()),
                    ..base.clone()
                },
                406,
            ),
        ] {
            assert_eq!(create(&wrong).unwrap_err().code, code, "{wrong:?}");
        }
        let vast = ControlParameters { mtu: Some(u64::MAX), ..base };
        assert_eq!(change(&vast).unwrap().mtu, Some(MAX_MTU));
    }
}
