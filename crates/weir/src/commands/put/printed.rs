//! The lines of `weir put` and `weir share`, for programs.

use schemars::JsonSchema;
use serde::Serialize;

/// A line of `weir put` and `weir share`.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
pub enum Printed {
    /// Serving begins.
    Begin(Beginning),
    /// Serving has ended.
    End(Summary),
}

/// The line when serving begins.
#[derive(JsonSchema, Serialize)]
pub struct Beginning {
    /// The objects and trees that are served from now on.
    pub serving: Vec<Object>,
}

/// The result of serving, for programs.
#[derive(JsonSchema, Serialize)]
pub struct Summary {
    /// The objects and trees that were served.
    pub objects: Vec<Object>,
    /// Interests answered with Data.
    pub answered: u64,
    /// Bytes of content sent.
    pub content_bytes: u64,
    /// Interests for missing parts of a published object.
    pub refused: u64,
    /// Interests for names that are not published.
    pub unknown: u64,
    /// Interests dropped from a full queue.
    pub dropped: u64,
    /// Frames other than Interests.
    pub malformed: u64,
    /// Answers that could not be made, because a file could not be read or had changed.
    pub failed: u64,
}

/// An object or a tree that is served.
#[derive(JsonSchema, Serialize)]
pub struct Object {
    /// The name with its version; of a tree with a slash at its end.
    pub name: String,
    /// Bytes of content.
    pub bytes: u64,
    /// Segments of an object; absent for a tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segments: Option<u64>,
    /// Files of a tree; absent for an object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<u64>,
}
