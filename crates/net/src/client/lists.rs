//! Readers of a forwarder's lists: the datasets of NFD's management protocol, which other
//! forwarders provide as well.

use crate::client::dataset::malformed;
use crate::client::{Connection, DatasetError};
use crate::management::parameters::numbers as n;
use crate::management::status as s;
use packet::tlv::{Element, Fault, Reader};
use packet::{Component, Name, NameRef};

/// A face.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaceEntry {
    /// Its number.
    pub id: u64,
    /// Where it leads.
    pub uri: String,
    /// Where it begins.
    pub local_uri: String,
    /// True if it leads to an application of the forwarder's host.
    pub is_local: bool,
    /// 0 persistent, 1 on demand, 2 permanent.
    pub persistency: u64,
    /// The largest frame.
    pub mtu: Option<u64>,
    /// 1 local fields, 2 reliability, 4 congestion marking.
    pub flags: u64,
    /// Packets and bytes received.
    pub received: Passed,
    /// Packets and bytes sent.
    pub sent: Passed,
}

/// Packets and bytes in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// Interests.
    pub interests: u64,
    /// Data.
    pub data: u64,
    /// Nacks.
    pub nacks: u64,
    /// Bytes; not of the forwarder as a whole.
    pub bytes: u64,
}

/// A route.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouteEntry {
    /// The prefix.
    pub prefix: Name,
    /// The face that it leaves by.
    pub face: u64,
    /// Its creator.
    pub origin: u64,
    /// Smaller is preferred.
    pub cost: u64,
    /// 1 child inherit, 2 capture.
    pub flags: u64,
    /// Milliseconds that it lives.
    pub expires_ms: Option<u64>,
}

/// The strategy of a prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StrategyEntry {
    /// The prefix.
    pub prefix: Name,
    /// The strategy's name, with its version.
    pub strategy: Name,
}

/// The content store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreInfo {
    /// Packets that it may hold.
    pub capacity: u64,
    /// 1 it takes in, 2 it answers.
    pub flags: u64,
    /// Packets in it.
    pub entries: u64,
    /// Interests that it answered.
    pub hits: u64,
    /// Interests that it did not.
    pub misses: u64,
}

/// The forwarder as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct General {
    /// Its program and version.
    pub version: String,
    /// The time since its start.
    pub uptime_ms: u64,
    /// Prefixes with next hops.
    pub fib: u64,
    /// Pending Interests.
    pub pit: u64,
    /// Cached Data.
    pub cached: u64,
    /// Packets and bytes received.
    pub received: Passed,
    /// Packets and bytes sent.
    pub sent: Passed,
    /// Answered Interests.
    pub satisfied: u64,
    /// Unanswered Interests.
    pub unsatisfied: u64,
}

impl General {
    /// The name of the dataset.
    #[must_use]
    pub fn dataset() -> Name {
        name("status", "general")
    }

    /// Reads it.
    ///
    /// # Errors
    /// It is malformed.
    pub fn read(content: &[u8]) -> Result<General, DatasetError> {
        match Fields::read(content) {
            Ok(fields) => Ok(read_general(&fields)),
            Err(_) => Err(malformed(&General::dataset(), "it cannot be decoded")),
        }
    }
}

/// The elements of a value.
struct Fields<'a>(Vec<Element<'a>>);

impl<'a> Fields<'a> {
    fn read(value: &'a [u8]) -> Result<Fields<'a>, Fault> {
        let mut reader = Reader::new(value);
        let mut all = Vec::new();
        while let Some(element) = reader.next_element()? {
            all.push(element);
        }
        Ok(Fields(all))
    }

    fn all(&self, typ: u64) -> impl Iterator<Item = &Element<'a>> {
        self.0.iter().filter(move |element| element.typ == typ)
    }

    fn number(&self, typ: u64) -> Option<u64> {
        self.all(typ).next()?.nni().ok()
    }

    fn count(&self, typ: u64) -> u64 {
        self.number(typ).unwrap_or(0)
    }

    fn text(&self, typ: u64) -> String {
        let value = self.all(typ).next().map(|element| element.value).unwrap_or_default();
        String::from_utf8_lossy(value).into_owned()
    }

    fn name(&self) -> Result<Name, Fault> {
        let element = self.all(packet::tlv::types::NAME).next();
        let element = element.ok_or(Fault::Expected(packet::tlv::types::NAME))?;
        Ok(NameRef::decode(element.value).map_err(|error| error.fault)?.to_name())
    }

    fn passed(&self, [interests, data, nacks, bytes]: [u64; 4]) -> Passed {
        Passed {
            interests: self.count(interests),
            data: self.count(data),
            nacks: self.count(nacks),
            bytes: self.count(bytes),
        }
    }
}

const IN: [u64; 4] = [s::N_IN_INTERESTS, s::N_IN_DATA, s::N_IN_NACKS, s::N_IN_BYTES];
const OUT: [u64; 4] = [s::N_OUT_INTERESTS, s::N_OUT_DATA, s::N_OUT_NACKS, s::N_OUT_BYTES];

fn read_face(entry: &Fields<'_>) -> FaceEntry {
    FaceEntry {
        id: entry.count(n::FACE_ID),
        uri: entry.text(n::URI),
        local_uri: entry.text(n::LOCAL_URI),
        is_local: entry.count(s::FACE_SCOPE) == 1,
        persistency: entry.count(n::FACE_PERSISTENCY),
        mtu: entry.number(n::MTU),
        flags: entry.count(n::FLAGS),
        received: entry.passed(IN),
        sent: entry.passed(OUT),
    }
}

fn read_routes(entry: &Fields<'_>) -> Result<Vec<RouteEntry>, Fault> {
    let prefix = entry.name()?;
    let mut routes = Vec::new();
    for element in entry.all(s::RECORD) {
        let route = Fields::read(element.value)?;
        routes.push(RouteEntry {
            prefix: prefix.clone(),
            face: route.count(n::FACE_ID),
            origin: route.count(n::ORIGIN),
            cost: route.count(n::COST),
            flags: route.count(n::FLAGS),
            expires_ms: route.number(n::EXPIRATION_PERIOD),
        });
    }
    Ok(routes)
}

fn read_strategy(entry: &Fields<'_>) -> Result<StrategyEntry, Fault> {
    let strategy = entry.all(n::STRATEGY).next().ok_or(Fault::Expected(n::STRATEGY))?;
    Ok(StrategyEntry { prefix: entry.name()?, strategy: Fields::read(strategy.value)?.name()? })
}

fn read_store(entry: &Fields<'_>) -> StoreInfo {
    StoreInfo {
        capacity: entry.count(n::CAPACITY),
        flags: entry.count(n::FLAGS),
        entries: entry.count(s::N_CS_ENTRIES),
        hits: entry.count(s::N_HITS),
        misses: entry.count(s::N_MISSES),
    }
}

fn read_general(fields: &Fields<'_>) -> General {
    let (started, now) = (fields.count(s::START_TIMESTAMP), fields.count(s::CURRENT_TIMESTAMP));
    // The forwarder's status counts packets only.
    let [mut received, mut sent] = [IN, OUT].map(|types| fields.passed(types));
    (received.bytes, sent.bytes) = (0, 0);
    General {
        version: fields.text(s::NFD_VERSION),
        uptime_ms: now.saturating_sub(started),
        fib: fields.count(s::N_FIB_ENTRIES),
        pit: fields.count(s::N_PIT_ENTRIES),
        cached: fields.count(s::N_CS_ENTRIES),
        received,
        sent,
        satisfied: fields.count(s::N_SATISFIED_INTERESTS),
        unsatisfied: fields.count(s::N_UNSATISFIED_INTERESTS),
    }
}

/// The forwarder's faces.
///
/// # Errors
/// It does not answer, or not with a list of faces; so for the others.
pub fn faces(connection: &mut Connection) -> Result<Vec<FaceEntry>, DatasetError> {
    entries(connection, "faces", "list", |entry| Ok(read_face(entry)))
}

/// The forwarder's routes.
///
/// # Errors
/// See [`faces`].
pub fn routes(connection: &mut Connection) -> Result<Vec<RouteEntry>, DatasetError> {
    Ok(entries(connection, "rib", "list", read_routes)?.concat())
}

/// The forwarder's strategies.
///
/// # Errors
/// See [`faces`].
pub fn strategies(connection: &mut Connection) -> Result<Vec<StrategyEntry>, DatasetError> {
    entries(connection, "strategy-choice", "list", read_strategy)
}

/// The forwarder's content store.
///
/// # Errors
/// See [`faces`].
pub fn store(connection: &mut Connection) -> Result<StoreInfo, DatasetError> {
    let all = entries(connection, "cs", "info", |entry| Ok(read_store(entry)))?;
    match all.into_iter().next() {
        Some(info) => Ok(info),
        None => Err(malformed(&name("cs", "info"), "it has no entry")),
    }
}

/// The forwarder as a whole.
///
/// # Errors
/// See [`faces`].
pub fn general(connection: &mut Connection) -> Result<General, DatasetError> {
    let content = connection.dataset(&General::dataset())?;
    General::read(&content)
}

fn entries<T>(
    connection: &mut Connection,
    module: &str,
    verb: &str,
    read: impl Fn(&Fields<'_>) -> Result<T, Fault>,
) -> Result<Vec<T>, DatasetError> {
    let name = name(module, verb);
    let content = connection.dataset(&name)?;
    let all = Fields::read(&content).and_then(|fields| {
        let entries = fields.all(s::ENTRY);
        entries.map(|entry| read(&Fields::read(entry.value)?)).collect()
    });
    all.map_err(|_| malformed(&name, "it cannot be decoded"))
}

fn name(module: &str, verb: &str) -> Name {
    ["localhost", "nfd", module, verb]
        .map(|word| Component::generic(word.as_bytes()))
        .into_iter()
        .collect()
}
