//! The lines of `weir chat --json`.

use schemars::JsonSchema;
use serde::Serialize;

/// A line: an event.
#[derive(JsonSchema, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum ChatLine {
    /// This member has joined the group.
    Joined {
        /// The group.
        group: String,
        /// The name of this member.
        member: String,
        /// Its start, in seconds since 1970.
        boot: u64,
    },
    /// A text of a member.
    Message {
        #[serde(flatten)]
        sent: Sent,
        /// The text.
        text: String,
    },
    /// A file that a member serves.
    File {
        #[serde(flatten)]
        sent: Sent,
        /// The name of its object, with its version.
        name: String,
        /// Its size in bytes, as its sender says.
        bytes: u64,
    },
    /// A message of a kind that this program does not know.
    Unknown {
        #[serde(flatten)]
        sent: Sent,
    },
    /// A message of this member was published.
    Sent {
        /// Its number among those of this start.
        seq: u64,
    },
    /// A file of this member is served.
    Serving {
        /// The name of its object, with its version.
        name: String,
        /// Its size in bytes.
        bytes: u64,
    },
    /// A file was fetched.
    Got {
        /// Its path.
        file: String,
    },
    /// A member is here.
    Here {
        /// Its name.
        member: String,
    },
    /// A member has gone.
    Gone {
        /// Its name.
        member: String,
        /// It announced that it leaves; otherwise it has fallen silent.
        left: bool,
    },
    /// The answer to `/who`.
    Members {
        /// All members that are known.
        members: Vec<Known>,
    },
    /// Messages that could not be fetched.
    Missing {
        /// The name of their member.
        member: String,
        /// The start of the member that sent them, in seconds since 1970.
        boot: u64,
        /// The number of the first of them.
        low: u64,
        /// The number of the last of them.
        high: u64,
        /// How many they are.
        count: u64,
    },
    /// A packet was dropped. Each reason is printed once, and 20 of them at most.
    Rejected {
        /// The packet, and the reason.
        why: String,
    },
    /// The connection to the forwarder.
    Forwarder {
        /// It was lost, or it is there again.
        #[schemars(extend("enum" = ["away", "back"]))]
        state: &'static str,
    },
    /// A note about the chat itself.
    Note {
        /// The note.
        text: String,
    },
    /// Something went wrong that does not end the chat.
    Error {
        /// The fault.
        text: String,
    },
    /// This member has left: the counters of its stay.
    Left(Left),
}

/// The origin of a message.
#[derive(JsonSchema, Serialize)]
pub struct Sent {
    /// The name of the member that sent it.
    pub member: String,
    /// The start of that member, in seconds since 1970.
    pub boot: u64,
    /// Its number among those of this start.
    pub seq: u64,
    /// The time by the member's clock, in ms since 1970.
    pub time_ms: u64,
    /// It was sent since this member joined.
    pub live: bool,
    /// The member's clock is wrong.
    pub clock_off: bool,
}

/// A start of a member.
#[derive(JsonSchema, Serialize)]
pub struct Known {
    /// The name of the member.
    pub member: String,
    /// Its start, in seconds since 1970.
    pub boot: u64,
    /// The number of its last message.
    pub seq: u64,
    /// The number of the last message that the member itself has confirmed.
    pub confirmed: u64,
    /// It is here.
    pub here: bool,
    /// It is this member.
    #[serde(rename = "self")]
    pub is_self: bool,
}

/// The counters of a stay.
#[derive(JsonSchema, Serialize)]
pub struct Left {
    /// Packets that are not by a trusted signer, or not in order otherwise.
    pub rejected: u64,
    /// Sync Interests among them.
    pub rejected_vectors: u64,
    /// Events that were not shown, because too many waited.
    pub unshown: u64,
    /// State vectors that were sent.
    pub vectors_sent: u64,
    /// State vectors that were received.
    pub vectors_received: u64,
    /// State vectors that were not sent, because others had sent the same.
    pub suppressed: u64,
    /// Entries of vectors that were rejected.
    pub implausible: u64,
    /// Own messages that no other member has fetched.
    pub unfetched: u64,
}
