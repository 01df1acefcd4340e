//! `weir repo ls` and `weir repo stat`

use super::named::{Named, below, is_tree, meant};
use super::store::open;
use crate::cli::repo::{RepoLsArgs, RepoNameArgs};
use crate::exit::Failure;
use crate::output::{self, Column, Table};
use control::Size;
use packet::{Data, KeyLocator};
use repo::{Place, View};
use schemars::JsonSchema;
use security::human_instant;
use serde::Serialize;

/// The line of an object or a tree.
#[derive(JsonSchema, Serialize)]
pub struct Row {
    /// The name of the object or tree, with its version.
    name: String,
    /// The kind of the entry.
    #[schemars(extend("enum" = ["object", "tree"]))]
    r#type: &'static str,
    /// Bytes of content.
    bytes: u64,
    /// Files of a tree, or null.
    files: Option<u64>,
    /// The time when it was stored, in ms since 1970.
    added_ms: u64,
    /// Bytes of content in a segment.
    segment_size: u32,
    /// The key that the signature names, or null. The signature is not verified here.
    key: Option<String>,
    /// The SHA-256 of the content of an object, or null.
    sha256: Option<String>,
}

impl Row {
    fn of(named: &Named) -> Row {
        let object = named.entry.object();
        let digest = object.and_then(|object| match &object.place {
            Place::Blob(digest) => Some(repo::hex(digest)),
            Place::Inline(_) => None,
        });
        let key = object.and_then(|object| {
            let root = Data::decode(&object.signed.manifest).ok()?;
            match root.signature_info().key_locator()? {
                KeyLocator::Name(key) => Some(key.to_string()),
                _ => None,
            }
        });
        Row {
            name: named.name(),
            r#type: if is_tree(&named.entry) { "tree" } else { "object" },
            bytes: named.top.bytes,
            files: named.top.files,
            added_ms: named.top.added,
            segment_size: object.map_or(0, |object| object.segment_size),
            key,
            sha256: digest,
        }
    }
}

/// Lists the content of a store.
pub fn ls(args: &RepoLsArgs) -> Result<(), Failure> {
    let store = open(&args.store)?;
    let name = args.name.as_ref().map(packet::Name::as_ref);
    let (found, broken) = below(&View::new(&store)?, name)?;
    broken.report();
    if args.output.json {
        found.iter().try_for_each(|named| output::json(&Row::of(named)))?;
        return broken.failure(&store);
    }
    let mut table = Table::new(vec![
        Column::right("bytes", 0),
        Column::right("files", 2),
        Column::left("stored", 1),
        Column::right("version", 3),
        Column::left("name", 0),
    ]);
    for named in &found {
        table.row(vec![
            Size(named.top.bytes).to_string(),
            named.top.files.map_or_else(String::new, |files| files.to_string()),
            human_instant(named.top.added / 1000),
            named.entry.version.to_string(),
            named.place(),
        ]);
    }
    if found.is_empty() {
        if !args.output.quiet {
            output::note(&format!("{} has no such objects", store.title()));
        }
        return broken.failure(&store);
    }
    let lines = table.lines(output::width(std::io::stdout()));
    lines.iter().try_for_each(|line| output::result(line))?;
    broken.failure(&store)
}

/// Shows the versions of an object or tree.
pub fn stat(args: &RepoNameArgs) -> Result<(), Failure> {
    let store = open(&args.store)?;
    let view = View::new(&store)?;
    for named in meant(&view, &args.name, &store)? {
        let row = Row::of(&named);
        if args.output.json {
            output::json(&row)?;
            continue;
        }
        let mut fields = vec![
            ("name", row.name),
            ("type", row.r#type.to_owned()),
            ("content", format!("{} ({})", Size(row.bytes), output::counted(row.bytes, "byte"))),
        ];
        fields.extend(row.files.map(|files| ("files", files.to_string())));
        fields.push(("segments of", Size(row.segment_size.into()).to_string()));
        // The store has unverified objects, and no list of them.
        let key = row.key.map(|key| format!("{key} (not verified here)"));
        fields.push(("signed by", key.unwrap_or_else(|| "a digest only".to_owned())));
        fields.extend(row.sha256.map(|digest| ("sha256", digest)));
        fields.push(("stored", human_instant(row.added_ms / 1000)));
        let prefixes: Vec<String> = named.top.prefixes.iter().map(ToString::to_string).collect();
        fields.push(("prefixes", prefixes.join(" ")));
        for (name, value) in fields {
            output::wrapped(&format!("{name:11}  {}", net::text::visible(&value)))?;
        }
    }
    Ok(())
}
