//! The player: a page that plays content by its name and shows how it arrives, and the library that
//! HLS and DASH need.
//!
//! The page is at a path that no content has: names below /localhost are never served. It is part
//! of the program. The library is not, because it is not ours: `scripts/player` gets it, and
//! packages have it ([`Player::find`]).

use crate::exit::{Failure, Kind};
use crate::gateway::body::AnswerBody;
use crate::site;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::body::Bytes;
use hyper::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    HeaderMap, HeaderName, HeaderValue, LOCATION, VARY,
};
use hyper::{Method, Response, StatusCode};
use router::guard::Rejection;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tokio::sync::OnceCell;
use weir::http::ask::has_tag;
use weir::http::encoding::accepts_gzip;
use weir::http::plan::confine;

/// The path of the page.
pub const PLACE: &str = "/localhost/player/";
/// The library's path from there.
const LIBRARY: &str = "library.js";
/// The library's file, in its folder.
const FILE: &str = "shaka-player.js";
/// The library's folder of packages, beside `bin`, and of a checkout, in `target`.
const INSTALLED: &str = "share/weir/player";
const BUILT: &str = "player";
/// The maximum size of the library.
const LARGEST: u64 = 8_000_000;

const STYLE: &str = include_str!("player/player.css");
const SCRIPT: &str = concat!(
    include_str!("player/playlist.js"),
    include_str!("player/requests.js"),
    include_str!("player/player.js")
);
const PAGE: &str = concat!(
    "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n",
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
    "<link rel=\"icon\" href=\"data:,\">\n<title>Player</title>\n<style>",
    include_str!("player/player.css"),
    "</style>\n",
    include_str!("player/player.html"),
    "<script>",
    include_str!("player/playlist.js"),
    include_str!("player/requests.js"),
    include_str!("player/player.js"),
    "</script>\n",
);

const HTML: &str = "text/html; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// The player's files.
#[derive(Debug, Default)]
pub struct Player {
    /// Where the library may be.
    places: Vec<PathBuf>,
    page: OnceLock<Content>,
    /// Empty until the library is found.
    library: OnceCell<Content>,
}

/// A file, as it is sent.
#[derive(Debug)]
struct Content {
    plain: Bytes,
    packed: Bytes,
    tag: String,
}

impl Content {
    fn new(plain: Bytes) -> Content {
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        // Into memory, which does not fail.
        let _ = packer.write_all(&plain);
        let packed = Bytes::from(packer.finish().unwrap_or_default());
        let tag = STANDARD.encode(Sha256::digest(&plain));
        Content { plain, packed, tag }
    }
}

impl Player {
    /// The player with the library of this folder, or of the places where a package or a checkout
    /// has it.
    ///
    /// # Errors
    /// The given folder has no library.
    pub fn find(given: Option<&Path>) -> Result<Player, Failure> {
        let places = match given {
            Some(folder) if folder.join(FILE).is_file() => vec![folder.to_owned()],
            Some(folder) => {
                let what = format!("{} has no library: there is no {FILE}", folder.display());
                let next = "get it in a checkout of Weir: scripts/player DIR";
                return Err(Failure::new(Kind::File, what).then(next));
            }
            None => std::env::current_exe()
                .map(|program| site::places(&program, INSTALLED, BUILT))
                .unwrap_or_default(),
        };
        Ok(Player { places, ..Player::default() })
    }

    /// The answer to a request for a path; `None` if the path is not one of the player's.
    pub async fn answer(
        &self,
        method: &Method,
        path: &str,
        headers: &HeaderMap,
    ) -> Option<Result<Response<AnswerBody>, Rejection>> {
        let within = match path.strip_prefix(PLACE) {
            Some(within) => within,
            None if PLACE.strip_suffix('/') == Some(path) => return Some(Ok(moved())),
            None => return None,
        };
        if !matches!(*method, Method::GET | Method::HEAD) {
            let text = "the player can only be read; use GET or HEAD";
            return Some(Err(Rejection::new(StatusCode::METHOD_NOT_ALLOWED, text)));
        }
        let (content, media_type) = match within {
            "" => (Ok(self.page()), HTML),
            LIBRARY => (self.library().await, JAVASCRIPT),
            _ => {
                let text = format!("the player has no such file; its page is {PLACE}");
                return Some(Err(Rejection::new(StatusCode::NOT_FOUND, text)));
            }
        };
        Some(content.map(|content| sent(content, media_type, method, headers)))
    }

    fn page(&self) -> &Content {
        self.page.get_or_init(|| Content::new(Bytes::from_static(PAGE.as_bytes())))
    }

    /// The library. One request reads and compresses it, in a thread where this holds up no others.
    async fn library(&self) -> Result<&Content, Rejection> {
        let found = || async {
            let places = self.places.clone();
            let read = move || places.iter().find_map(|place| read(&place.join(FILE)).ok());
            let bytes = tokio::task::spawn_blocking(move || read().map(Content::new));
            bytes.await.ok().flatten().ok_or_else(|| {
                let text = "the library that plays HLS and DASH is not installed; get it in a \
                            checkout of Weir with `scripts/player`, or name its folder with \
                            --player";
                Rejection::new(StatusCode::NOT_FOUND, text)
            })
        };
        self.library.get_or_try_init(found).await
    }
}

fn read(path: &Path) -> io::Result<Bytes> {
    let wrong = |why| io::Error::new(io::ErrorKind::InvalidData, why);
    let known = fs::metadata(path)?;
    if !known.is_file() || known.len() > LARGEST {
        return Err(wrong("no file, or too large"));
    }
    let mut bytes = Vec::new();
    // It may have grown.
    File::open(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(wrong("too large"));
    }
    Ok(Bytes::from(bytes))
}

fn moved() -> Response<AnswerBody> {
    let mut response = Response::new(AnswerBody::text(Bytes::new()));
    *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
    response.headers_mut().insert(LOCATION, HeaderValue::from_static(PLACE));
    response
}

fn sent(
    content: &Content,
    media_type: &'static str,
    method: &Method,
    asked: &HeaderMap,
) -> Response<AnswerBody> {
    let is_packed = accepts_gzip(asked);
    let form = if is_packed { "-gzip" } else { "" };
    let tag = format!("\"{}{form}\"", content.tag);
    let body = if is_packed { &content.packed } else { &content.plain };
    let is_known = has_tag(asked, &tag);
    let has_body = !is_known && *method != Method::HEAD;
    let text = if has_body { body.clone() } else { Bytes::new() };
    let mut response = Response::new(AnswerBody::text(text));
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = response.headers_mut();
    confine(headers, media_type);
    let mut set = |field: HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(field, value);
        }
    };
    set(CONTENT_SECURITY_POLICY, &policy());
    set(CONTENT_TYPE, media_type);
    set(CACHE_CONTROL, "no-cache");
    set(VARY, "Accept-Encoding");
    set(ETAG, &tag);
    if !is_known {
        set(CONTENT_LENGTH, &body.len().to_string());
        if is_packed {
            set(CONTENT_ENCODING, "gzip");
        }
    }
    response
}

/// The policy of the page: its own style and script, which alone may load another script, and
/// content of the gateway. `blob:` is the memory from which the library plays.
fn policy() -> String {
    let [style, script] = [STYLE, SCRIPT].map(|text| STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}' \
         'strict-dynamic'; connect-src 'self'; media-src 'self' blob:; img-src data:; \
         require-trusted-types-for 'script'; trusted-types weir-player; form-action 'self'; \
         base-uri 'none'; frame-ancestors 'none'"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::{ACCEPT_ENCODING, IF_NONE_MATCH};
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::future::poll_fn;
    use std::pin::pin;
    use std::sync::mpsc;
    use std::task::Poll;
    use tokio::runtime::Builder;
    use tokio::task::spawn_blocking;

    fn player() -> (tempfile::TempDir, Player) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(FILE), "the library").unwrap();
        let player = Player::find(Some(folder.path())).unwrap();
        (folder, player)
    }

    fn answer(
        player: &Player,
        method: &Method,
        path: &str,
        headers: &HeaderMap,
    ) -> Option<Result<Response<AnswerBody>, Rejection>> {
        let runtime = Builder::new_current_thread().build().unwrap();
        runtime.block_on(player.answer(method, path, headers))
    }

    fn get(player: &Player, path: &str, fields: &[(HeaderName, &str)]) -> (u16, HeaderMap) {
        let fields = fields.iter().map(|(name, value)| (name.clone(), value.parse().unwrap()));
        let answer = answer(player, &Method::GET, path, &fields.collect()).unwrap();
        answer.map_or_else(
            |rejection| (rejection.status.as_u16(), HeaderMap::new()),
            |answer| (answer.status().as_u16(), answer.headers().clone()),
        )
    }

    #[test]
    fn a_page_runs_its_own_script_and_what_that_loads() {
        let policy = policy();
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
        assert!(!policy.contains("unsafe") && policy.contains("require-trusted-types-for"));
        for text in [STYLE, SCRIPT] {
            assert_eq!(PAGE.matches(text).count(), 1);
            assert!(!text.contains("</"), "no end");
        }
        assert!(!SCRIPT.contains("innerHTML") && !STYLE.contains("url("), "no markup, no requests");
        // Names in the query are read by the script alone.
        let (_folder, player) = player();
        assert_eq!(player.page().plain, PAGE.as_bytes());
    }

    #[test]
    fn files_are_sent_compressed_and_only_once() {
        let (_folder, player) = player();
        let library = format!("{PLACE}{LIBRARY}");
        for path in [PLACE, &library] {
            let (status, plain) = get(&player, path, &[]);
            assert_eq!((status, plain.get(CONTENT_ENCODING)), (200, None));
            let (status, packed) = get(&player, path, &[(ACCEPT_ENCODING, "gzip")]);
            assert_eq!((status, packed[CONTENT_ENCODING].as_bytes()), (200, &b"gzip"[..]));
            assert_ne!(plain[ETAG], packed[ETAG]);
            let tag = plain[ETAG].to_str().unwrap();
            for known in [tag, "*", &format!("\"x\", W/{tag}")] {
                assert_eq!(get(&player, path, &[(IF_NONE_MATCH, known)]).0, 304, "{known}");
            }
            // A malformed tag that contains this one.
            for other in ["\"x\"", &format!("x{tag}")] {
                assert_eq!(get(&player, path, &[(IF_NONE_MATCH, other)]).0, 200, "{other}");
            }
        }
        let headers = get(&player, &library, &[]).1;
        assert_eq!(headers[CONTENT_LENGTH], "11");
        assert_eq!(headers[CONTENT_TYPE], JAVASCRIPT);
    }

    #[test]
    fn other_paths_are_not_the_players() {
        let (_folder, player) = player();
        for path in ["/", "/localhost", "/localhost/players", "/example/film.webm"] {
            assert!(answer(&player, &Method::GET, path, &HeaderMap::new()).is_none(), "{path}");
        }
        assert_eq!(get(&player, "/localhost/player", &[]).0, 308);
        for file in ["x", "../x", "shaka-player.js", "%2e%2e/x"] {
            assert_eq!(get(&player, &format!("{PLACE}{file}"), &[]).0, 404, "{file}");
        }
        let rejected = answer(&player, &Method::PUT, PLACE, &HeaderMap::new()).unwrap().err();
        assert_eq!(rejected.map(|rejection| rejection.status.as_u16()), Some(405));
    }

    #[test]
    fn a_library_that_is_missing_or_too_large_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let error = Player::find(Some(folder.path())).unwrap_err();
        assert!(error.to_string().contains("scripts/player"), "{error}");
        let places = vec![folder.path().to_owned()];
        let player = Player { places, ..Player::default() };
        let path = format!("{PLACE}{LIBRARY}");
        assert_eq!(get(&player, &path, &[]).0, 404);
        let file = File::create(folder.path().join(FILE)).unwrap();
        file.set_len(LARGEST + 1).unwrap();
        assert_eq!(get(&player, &path, &[]).0, 404);
        // It may be installed while the gateway runs.
        file.set_len(LARGEST).unwrap();
        assert_eq!(get(&player, &path, &[]).0, 200);
    }

    #[test]
    fn the_library_is_read_beside_the_threads_of_the_gateway() {
        let (_folder, player) = player();
        let runtime = Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
        runtime.block_on(async {
            let (release, held) = mpsc::channel::<()>();
            let busy = spawn_blocking(move || held.recv());
            let (path, headers) = (format!("{PLACE}{LIBRARY}"), HeaderMap::new());
            let mut answer = pin!(player.answer(&Method::GET, &path, &headers));
            let polled = poll_fn(|context| Poll::Ready(answer.as_mut().poll(context)));
            assert!(polled.await.is_pending(), "the only thread for it is busy");
            drop(release);
            busy.await.unwrap().unwrap_err();
            assert_eq!(answer.await.unwrap().unwrap().status().as_u16(), 200);
        });
    }

    #[test]
    fn only_a_file_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join(FILE);
        // Without a writer, the opening of a pipe would not return.
        mknodat(CWD, &at, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert!(read(&at).is_err());
    }
}
