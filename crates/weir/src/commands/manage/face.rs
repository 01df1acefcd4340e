//! `weir face`

use super::Session;
use super::canonical::canonical;
use super::flags::{flag_names, flags};
use crate::cli::manage::{FaceCommand, FaceOptions, ListArgs, PersistencyWord, Switch};
use crate::exit::Failure;
use crate::output::{Column, Table};
use net::client::{FaceEntry, Passed, lists};
use net::management::parameters::ControlParameters;
use net::management::{CONGESTION_MARKING, LOCAL_FIELDS, RELIABILITY};
use schemars::JsonSchema;
use serde::Serialize;

/// A face of a forwarder.
#[derive(JsonSchema, Serialize)]
pub struct Face {
    /// Its number.
    id: u64,
    /// The URI of the other end.
    uri: String,
    /// The URI of this end.
    local_uri: String,
    /// It is one of an application on the same host.
    local: bool,
    /// When it ends.
    #[schemars(extend("enum" = PERSISTENCIES))]
    persistency: &'static str,
    /// The services that are on.
    #[schemars(extend("items" = { "type": "string", "enum": SERVICES }))]
    flags: Vec<&'static str>,
    /// The largest packet in bytes, or null.
    mtu: Option<u64>,
    /// Packets received on it.
    received: Packets,
    /// Packets sent on it.
    sent: Packets,
}

/// Packets of a face.
#[derive(JsonSchema, Serialize)]
struct Packets {
    /// Interests.
    interests: u64,
    /// Data packets.
    data: u64,
    /// Nacks.
    nacks: u64,
    /// Bytes of all packets.
    bytes: u64,
}

/// A face that was made or changed, as the forwarder says it. Null where it does not say it.
#[derive(JsonSchema, Serialize)]
pub struct FaceReply {
    /// The number of the face, or null.
    id: Option<u64>,
    /// The URI of the other end, or null.
    uri: Option<String>,
    /// The URI of this end, or null.
    local_uri: Option<String>,
    /// When it ends, or null.
    #[schemars(extend("enum" = ["persistent", "on-demand", "permanent", "unknown", null]))]
    persistency: Option<&'static str>,
    /// The services that are on, or null.
    flags: Option<Vec<&'static str>>,
    /// The largest packet in bytes, or null.
    mtu: Option<u64>,
}

/// The result of `weir face create`.
#[derive(JsonSchema, Serialize)]
pub struct Created {
    #[serde(flatten)]
    face: FaceReply,
    /// True if the face was made, false if it was there already.
    created: bool,
}

/// The result of `weir face destroy`.
#[derive(JsonSchema, Serialize)]
pub struct Destroyed {
    /// The number of the face.
    id: u64,
}

/// The services of faces.
const SERVICES: [&str; 3] = ["local-fields", "reliability", "marking"];

/// The words for when faces end.
const PERSISTENCIES: [&str; 4] = ["persistent", "on-demand", "permanent", "unknown"];

const FLAGS: [(u64, &str); 3] =
    [(LOCAL_FIELDS, SERVICES[0]), (RELIABILITY, SERVICES[1]), (CONGESTION_MARKING, SERVICES[2])];

/// A face exists that leads there.
const CONFLICT: u64 = 409;

/// Lists, makes, changes or ends faces.
pub fn run(command: &FaceCommand) -> Result<(), Failure> {
    match command {
        FaceCommand::List(args) => list(args),
        FaceCommand::Create { uri, local, options, list } => {
            create(uri, local.as_deref(), options, list)
        }
        FaceCommand::Update { face, local_fields, options, list } => {
            let mut session = Session::open(list)?;
            let face = session.face(face)?;
            let asked = asked(options, *local_fields);
            let asked = ControlParameters { face_id: Some(face), ..asked };
            let what = format!("change face {face}");
            let body = session.command(["nfd", "faces", "update"], &asked, &what, &[])?.body;
            session.print(&face_reply(&body), &format!("face {face} changed"))
        }
        FaceCommand::Destroy { face, list } => {
            let mut session = Session::open(list)?;
            let face = session.face(face)?;
            let asked = ControlParameters { face_id: Some(face), ..Default::default() };
            let what = format!("end face {face}");
            session.command(["nfd", "faces", "destroy"], &asked, &what, &[])?;
            session.print(&Destroyed { id: face }, &format!("face {face} ended"))
        }
    }
}

fn create(
    uri: &str,
    local: Option<&str>,
    options: &FaceOptions,
    list: &ListArgs,
) -> Result<(), Failure> {
    let uri = canonical(uri)?;
    let local_uri = local.map(canonical).transpose()?;
    let mut session = Session::open(list)?;
    let asked = ControlParameters { uri: Some(uri.clone()), local_uri, ..asked(options, None) };
    let what = format!("make a face to {uri}");
    let answer = session.command(["nfd", "faces", "create"], &asked, &what, &[CONFLICT])?;
    let face = answer.body.face_id.unwrap_or_default();
    let known = answer.code == CONFLICT;
    let object = Created { face: face_reply(&answer.body), created: !known };
    let how = if known { "was there already" } else { "made" };
    session.print(&object, &format!("face {face} to {uri} {how}"))
}

fn asked(options: &FaceOptions, local_fields: Option<Switch>) -> ControlParameters {
    let (flags, mask) = flags(&[
        (local_fields, LOCAL_FIELDS),
        (options.reliability, RELIABILITY),
        (options.marking, CONGESTION_MARKING),
    ]);
    let persistency = options.persistency.map(|word| match word {
        PersistencyWord::Persistent => 0,
        PersistencyWord::OnDemand => 1,
        PersistencyWord::Permanent => 2,
    });
    ControlParameters { persistency, mtu: options.mtu, flags, mask, ..Default::default() }
}

fn face_reply(body: &ControlParameters) -> FaceReply {
    FaceReply {
        id: body.face_id,
        uri: body.uri.clone(),
        local_uri: body.local_uri.clone(),
        persistency: body.persistency.map(persistency),
        flags: body.flags.map(|flags| flag_names(flags, &FLAGS)),
        mtu: body.mtu,
    }
}

fn persistency(number: u64) -> &'static str {
    PERSISTENCIES.get(number as usize).copied().unwrap_or("unknown")
}

fn list(args: &ListArgs) -> Result<(), Failure> {
    let mut session = Session::open(args)?;
    let faces = lists::faces(&mut session.connection)?;
    session.list(&faces.iter().map(object).collect::<Vec<_>>(), &table(&faces))
}

/// A face as JSON.
pub fn object(face: &FaceEntry) -> Face {
    Face {
        id: face.id,
        uri: face.uri.clone(),
        local_uri: face.local_uri.clone(),
        local: face.is_local,
        persistency: persistency(face.persistency),
        flags: flag_names(face.flags, &FLAGS),
        mtu: face.mtu,
        received: packets(&face.received),
        sent: packets(&face.sent),
    }
}

fn packets(passed: &Passed) -> Packets {
    let Passed { interests, data, nacks, bytes } = *passed;
    Packets { interests, data, nacks, bytes }
}

/// Bytes in megabytes, for a table.
pub fn megabytes(bytes: u64) -> String {
    format!("{:.2}", bytes as f64 / 1e6)
}

/// Faces as a table. In a narrow terminal, the columns of packets are omitted first.
pub fn table(faces: &[FaceEntry]) -> Table {
    let mut table = Table::new(vec![
        Column::right("face", 0),
        Column::right("in MB", 1),
        Column::right("Interests", 2),
        Column::right("Data", 2),
        Column::right("out MB", 1),
        Column::right("Interests", 2),
        Column::right("Data", 2),
        Column::left("lives", 1),
        Column::left("flags", 1),
        Column::left("where", 0),
    ]);
    for face in faces {
        table.row(vec![
            face.id.to_string(),
            megabytes(face.received.bytes),
            face.received.interests.to_string(),
            face.received.data.to_string(),
            megabytes(face.sent.bytes),
            face.sent.interests.to_string(),
            face.sent.data.to_string(),
            persistency(face.persistency).to_owned(),
            flag_names(face.flags, &FLAGS).join(" "),
            face.uri.clone(),
        ]);
    }
    table
}
