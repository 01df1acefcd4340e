//! Folders of trees: their own page `index.html`, or a page with their entries.

use crate::exit::{Failure, Kind};
use crate::file::{Reader, pipe};
use crate::gateway::context::Gateway;
use crate::gateway::folders::Root;
use crate::gateway::head::{Head, Outcome, WAITING};
use crate::gateway::log::Answered;
use crate::gateway::page::{self, Folder, HTML, Item, JSON, MOST, Upload};
use crate::gateway::uploads::Listing;
use crate::signals::Stop;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::StatusCode;
use hyper::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderMap,
    HeaderName, HeaderValue, VARY,
};
use net::clock::monotonic;
use packet::{Component, Name};
use router::guard::Rejection;
use sha2::{Digest, Sha256};
use tree::Kind as EntryKind;
use weir::http::ask::{Ask, FolderAsk};
use weir::http::plan::confine;

/// The file that is the page of its folder.
const INDEX: &[u8] = b"index.html";
/// Entries that a search looks at.
pub const MOST_SEARCHED: usize = 200_000;

/// The result of a request for a folder.
pub enum Found {
    /// A file, as any request for content does.
    Content(Box<Ask>),
    /// The answer.
    Page(Outcome),
}

/// Answers if the request is for a folder.
pub fn answer(gateway: &Gateway, mut ask: Ask, answered: &mut Answered, stop: &Stop) -> Found {
    let Some(wanted) = ask.folder.take() else { return Found::Content(Box::new(ask)) };
    let began = monotonic();
    if let Some(outcome) = stored(gateway, &ask, &wanted, answered) {
        answered.duration_s = monotonic().since(began).as_secs_f64();
        return Found::Page(outcome);
    }
    let listed = list(gateway, &ask.name, &wanted, stop);
    answered.duration_s = monotonic().since(began).as_secs_f64();
    let (mut folder, root) = match listed {
        Ok((Some(folder), root)) => (folder, root),
        Ok((None, _)) => {
            ask.name = ask.name.with(&Component::generic(INDEX));
            return Found::Content(Box::new(ask));
        }
        Err(failure) => {
            let rejection = Rejection::new(status(&failure), failure.to_string());
            answered.status = rejection.status.as_u16();
            answered.fail(&rejection.text);
            return Found::Page(Err(rejection));
        }
    };
    answered.name = Some(root.object.to_string());
    answered.verified = Some(root.verified);
    answered.key = root.key.clone();
    let content = if wanted.json { folder.list() } else { folder.page() };
    let version = root.object.as_ref().last().map(|version| version.to_string());
    let tag = version.unwrap_or_default();
    Found::Page(give(&ask, &wanted, &tag, &content, &page::policy(false), answered))
}

/// The answer for a folder of the store of uploads; `None` if the store has no such folder.
fn stored(
    gateway: &Gateway,
    ask: &Ask,
    wanted: &FolderAsk,
    answered: &mut Answered,
) -> Option<Outcome> {
    let uploads = gateway.uploads.as_ref()?;
    let base = uploads.prefix_of(&ask.name)?.len();
    let listing = match uploads.keeper().list(&ask.name, wanted.query.as_deref()) {
        Ok(Some(listing)) => listing,
        // The prefix itself is a folder from the beginning.
        Ok(None) if ask.name.len() == base => Listing::default(),
        Ok(None) => return None,
        Err(failure) => {
            let text = "the store cannot be read now; the gateway's log has the reason";
            let rejection = Rejection::new(StatusCode::INTERNAL_SERVER_ERROR, text);
            answered.status = rejection.status.as_u16();
            answered.fail(&failure.to_string());
            return Some(Err(rejection));
        }
    };
    let Listing { entries, is_cut } = listing;
    let upload = Some(Upload { limit: uploads.limit(), has_token: uploads.has_token() });
    let (name, query) = (ask.name.clone(), wanted.query.clone());
    let mut folder = Folder { name, base, query, is_cut, entries, upload };
    let content = if wanted.json { folder.list() } else { folder.page() };
    let tag = STANDARD.encode(Sha256::digest(&content));
    Some(give(ask, wanted, &tag, &content, &page::policy(true), answered))
}

/// The answer, and its line for the log.
fn give(
    ask: &Ask,
    wanted: &FolderAsk,
    tag: &str,
    content: &str,
    policy: &str,
    answered: &mut Answered,
) -> Outcome {
    let head = head(ask, wanted, tag, content, policy);
    answered.status =
        head.as_ref().map_or_else(|rejected| rejected.status, |head| head.status).as_u16();
    if matches!(&head, Ok(Head { body: Some(_), .. })) {
        answered.bytes = content.len() as u64;
    }
    head
}

/// The entries; none if the folder has a page of its own.
fn list(
    gateway: &Gateway,
    name: &Name,
    wanted: &FolderAsk,
    stop: &Stop,
) -> Result<(Option<Folder>, Root), Failure> {
    let query = wanted.query.as_ref().map(|query| query.to_lowercase());
    let (mut entries, mut is_cut, mut has_index, mut seen) = (Vec::new(), false, false, 0);
    let root = gateway.folders.read(name, query.is_some(), stop, &mut |path, entry| {
        seen += 1;
        let is_file = matches!(entry.kind, EntryKind::File(_));
        has_index |= is_file && path == INDEX && query.is_none() && !wanted.json;
        let called = String::from_utf8_lossy(entry.name.as_bytes()).to_lowercase();
        if query.as_ref().is_none_or(|query| called.contains(query)) {
            match entries.len() < MOST {
                true => entries.push(Item::new(path, entry)),
                false => is_cut = true,
            }
        }
        is_cut |= seen >= MOST_SEARCHED;
        // A folder is read to its end: its own page may come last.
        !has_index && seen < MOST_SEARCHED && !(is_cut && query.is_some())
    })?;
    let (name, query, base) = (name.clone(), wanted.query.clone(), root.base);
    let folder = Folder { name, base, query, is_cut, entries, upload: None };
    Ok(((!has_index).then_some(folder), root))
}

fn head(ask: &Ask, wanted: &FolderAsk, tag: &str, content: &str, policy: &str) -> Outcome {
    let (form, media_type) = if wanted.json { ("json", JSON) } else { ("html", HTML) };
    let tag = format!("\"{tag}-{form}\"");
    let mut headers = HeaderMap::new();
    confine(&mut headers, media_type);
    set(&mut headers, ETAG, &tag);
    set(&mut headers, VARY, "Accept");
    set(&mut headers, CACHE_CONTROL, "no-cache");
    if !wanted.json {
        set(&mut headers, CONTENT_SECURITY_POLICY, policy);
    }
    let mut status = StatusCode::OK;
    if ask.fails_precondition(Some(&tag), None) {
        status = StatusCode::PRECONDITION_FAILED;
    } else if ask.has(Some(&tag), None) {
        status = StatusCode::NOT_MODIFIED;
    } else {
        set(&mut headers, CONTENT_TYPE, media_type);
        set(&mut headers, CONTENT_LENGTH, &content.len().to_string());
    }
    let has_body = status == StatusCode::OK && !ask.is_head;
    let body = if has_body { Some(filled(content.as_bytes())?) } else { None };
    Ok(Head { status, headers, body })
}

/// Sets a field, unless the value has characters that none may have.
fn set(headers: &mut HeaderMap, field: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(field, value);
    }
}

/// A pipe with all of it.
pub fn filled(content: &[u8]) -> Result<Reader, Rejection> {
    let (mut writer, reader) = pipe(WAITING).map_err(|error| {
        Rejection::new(StatusCode::SERVICE_UNAVAILABLE, format!("{error}; try again later"))
    })?;
    writer.write(content);
    writer.end();
    Ok(reader)
}

fn status(failure: &Failure) -> StatusCode {
    match failure.kind() {
        Kind::NotFound => StatusCode::NOT_FOUND,
        Kind::Usage => StatusCode::BAD_REQUEST,
        _ => StatusCode::BAD_GATEWAY,
    }
}
