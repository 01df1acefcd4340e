//! A folder of a tree as a page for people, or as a list for programs.

use crate::gateway::player::PLACE;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use control::Size;
use net::text::visible;
use packet::{Component, Name};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use tree::{Entry, Kind};
use weir::http::media::{is_playable, media_type};

/// Entries of a page; the rest of a larger folder is found by searching.
pub const MOST: usize = 5000;
/// Pictures with more bytes have no preview.
const PREVIEW: u64 = 2_000_000;

const STYLE: &str = include_str!("page.css");
/// The script of pages with uploads.
const SCRIPT: &str = include_str!("upload.js");

/// The media type of a page.
pub const HTML: &str = "text/html; charset=utf-8";
/// The media type of a list.
pub const JSON: &str = "application/json";

/// An entry, with the fields of `weir ls --json` except `name`.
#[derive(Clone, Debug, Serialize)]
pub struct Item {
    path: String,
    #[serde(rename = "type")]
    kind: &'static str,
    size: Option<u64>,
    mode: u16,
    /// In nanoseconds since 1970.
    modified: u64,
    target: Option<String>,
    /// The path as a browser asks for it.
    #[serde(skip)]
    link: String,
}

impl Item {
    /// An entry at a path from the folder.
    #[must_use]
    pub fn new(path: &[u8], entry: &Entry) -> Item {
        let (kind, size, target) = match &entry.kind {
            Kind::File(file) => ("file", Some(file.size), None),
            Kind::Directory(page) => ("directory", Some(page.totals.bytes), None),
            Kind::Link(target) => {
                ("link", None, Some(String::from_utf8_lossy(target).into_owned()))
            }
        };
        let link = link(path, kind == "directory");
        let (mode, modified) = (entry.mode, entry.modified);
        let path = String::from_utf8_lossy(path).into_owned();
        Item { path, kind, size, mode, modified, target, link }
    }

    /// An object of a store, or a folder of several, at a path from the folder. `size` is `None`
    /// for a folder that is too large to add up. `modified` is in nanoseconds since 1970.
    #[must_use]
    pub fn stored(path: &str, size: Option<u64>, is_folder: bool, modified: u64) -> Item {
        let (kind, mode) = if is_folder { ("directory", 0o755) } else { ("file", 0o644) };
        let link = link(path.as_bytes(), is_folder);
        Item { path: path.to_owned(), kind, size, mode, modified, target: None, link }
    }

    fn is_picture(&self) -> bool {
        let is_small = self.size.is_some_and(|size| size <= PREVIEW);
        self.kind == "file" && is_small && media_type(&self.path).starts_with("image/")
    }
}

/// A path as a browser asks for it.
fn link(path: &[u8], is_folder: bool) -> String {
    let parts = path.split(|byte| *byte == b'/');
    let link =
        parts.fold(".".to_owned(), |link, part| format!("{link}/{}", Component::generic(part)));
    if is_folder { link + "/" } else { link }
}

/// The form for uploads.
#[derive(Clone, Copy, Debug)]
pub struct Upload {
    /// The maximum size of a file.
    pub limit: Size,
    /// A token is required.
    pub has_token: bool,
}

impl Upload {
    fn form(self) -> String {
        let Upload { limit, has_token } = self;
        let token = if has_token {
            "<form><label>Token <input type=\"password\" autocomplete=\"off\"></label></form>\n"
        } else {
            ""
        };
        format!(
            "<section id=\"upload\" data-limit=\"{}\" hidden>\n\
             <p><label for=\"files\">Upload files</label> \
             <input id=\"files\" type=\"file\" multiple></p>\n\
             <p>Or drop them on this page. A file may have {limit}. \
             A file with the same name becomes a new version.</p>\n{token}\
             <ul aria-live=\"polite\"></ul>\n</section>\n\
             <noscript><p>Uploads from this page need its script; <code>curl --upload-file</code> \
             needs none.</p></noscript>\n<script>{SCRIPT}</script>\n",
            limit.0
        )
    }
}

/// A folder, or the results of a search in it.
#[derive(Debug, Serialize)]
pub struct Folder {
    /// Its name.
    #[serde(serialize_with = "as_text")]
    pub name: Name,
    /// Components of the tree's own name at the beginning of it.
    #[serde(skip)]
    pub base: usize,
    /// The words that were searched for.
    pub query: Option<String>,
    /// There are more entries than these.
    pub is_cut: bool,
    /// The entries, in any order.
    pub entries: Vec<Item>,
    /// Uploads, if they are possible here.
    #[serde(skip)]
    pub upload: Option<Upload>,
}

impl Folder {
    /// A page for people. Names come from a publisher, who may be hostile, and words from any
    /// link: all of them are escaped.
    #[must_use]
    pub fn page(&mut self) -> String {
        self.entries.sort_by_cached_key(|item| (item.kind != "directory", item.path.clone()));
        let title = escaped(&visible(&format!("{}/", self.name)));
        let query = escaped(&visible(self.query.as_deref().unwrap_or_default()));
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n\
             <style>{STYLE}</style>\n<main>\n<h1>{}</h1>\n\
             <form role=\"search\"><input type=\"search\" name=\"q\" value=\"{query}\" \
             placeholder=\"a part of a name\" \
             aria-label=\"Search this folder and those below\">\
             <button>Search</button></form>\n",
            self.path()
        );
        let (count, more) = (self.entries.len(), if self.is_cut { "the first " } else { "" });
        let what = match (&self.query, count) {
            (Some(_), _) => "found",
            (None, 1) => "entry",
            (None, _) => "entries",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(page, "<p>{more}{count} {what}</p>");
        page += "<table>\n<thead><tr><th>name</th><th class=\"n\">size</th>\
                 <th class=\"t\">modified</th></tr></thead>\n<tbody>\n";
        let name = self.name.to_string();
        self.entries.iter().for_each(|item| row(&mut page, &name, item));
        page += "</tbody>\n</table>\n";
        self.upload.into_iter().for_each(|upload| page += &upload.form());
        page += "</main>\n";
        page
    }

    /// A list for programs.
    #[must_use]
    pub fn list(&mut self) -> String {
        self.entries.sort_by(|one, other| one.path.cmp(&other.path));
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }

    /// The name, with links to the folders above in the tree.
    fn path(&self) -> String {
        let mut path = String::new();
        for (at, part) in self.name.as_ref().components().enumerate() {
            let shown = escaped(&visible(&String::from_utf8_lossy(part.value())));
            let above = self.name.len() - 1 - at;
            let _ = match at + 1 >= self.base && above > 0 {
                true => write!(path, "/<a href=\"{}\">{shown}</a>", "../".repeat(above)),
                false => write!(path, "/{shown}"),
            };
        }
        path + "/"
    }
}

/// The policy of a page: its own style, pictures of the gateway, and a form that asks the gateway.
/// A page with uploads has its own script too, which sends files to the gateway; others have none.
#[must_use]
pub fn policy(uploads: bool) -> String {
    let style = STANDARD.encode(Sha256::digest(STYLE));
    let script = match uploads {
        true => format!(
            "script-src 'sha256-{}'; connect-src 'self'; require-trusted-types-for 'script'; \
             trusted-types 'none'; ",
            STANDARD.encode(Sha256::digest(SCRIPT))
        ),
        false => String::new(),
    };
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; {script}img-src 'self' data:; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
}

/// The link to the player; empty for other files. `folder` is the name of the folder.
fn play(folder: &str, item: &Item) -> String {
    if item.kind != "file" || !is_playable(&item.path) {
        return String::new();
    }
    let path = item.link.trim_start_matches('.');
    // Both are of the characters of a path; in a query, a percent sign needs one of its own.
    let name = format!("{}{path}", folder.trim_end_matches('/')).replace('%', "%25");
    format!(" <a class=\"play\" href=\"{PLACE}?name={}\">play</a>", escaped(&name))
}

fn row(page: &mut String, folder: &str, item: &Item) {
    let shown = escaped(&visible(&item.path));
    let name = match item.kind {
        "directory" => format!("<a href=\"{}\">{shown}/</a>", item.link),
        "link" => {
            let target = visible(item.target.as_deref().unwrap_or_default());
            format!("{shown} → {}", escaped(&target))
        }
        _ if item.is_picture() => format!(
            "<a href=\"{0}\"><img src=\"{0}\" alt=\"\" loading=\"lazy\">{shown}</a>",
            item.link
        ),
        _ => format!("<a href=\"{}\">{shown}</a>{}", item.link, play(folder, item)),
    };
    let size = item.size.map_or_else(String::new, |size| Size(size).to_string());
    let time = security::human_instant(item.modified / 1_000_000_000);
    let _ = writeln!(
        page,
        "<tr><td>{name}</td><td class=\"n\">{size}</td><td class=\"t\">{time}</td></tr>"
    );
}

/// Text as text of HTML, or as the value of an attribute in quotes.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            other => out.push(other),
        }
    }
    out
}

fn as_text<S: serde::Serializer>(name: &Name, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::FileName;

    fn link(name: &[u8], target: &[u8]) -> Entry {
        let (name, kind) = (FileName::new(name).unwrap(), Kind::Link(target.into()));
        Entry { name, mode: 0o644, modified: 1_795_181_079_307_000_000, kind }
    }

    fn folder(entries: Vec<Item>, query: Option<&str>) -> Folder {
        let query = query.map(str::to_owned);
        Folder {
            name: "/a/tree/sub".parse().unwrap(),
            base: 2,
            query,
            is_cut: false,
            entries,
            upload: None,
        }
    }

    #[test]
    fn names_cannot_become_markup() {
        let hostile = b"\"><script>alert('1')</script>&\x1b[31m";
        let item = Item::new(hostile, &link(b"x", b"<b>"));
        let page = folder(vec![item], Some("\"><b>")).page();
        assert!(!page.contains("<script") && !page.contains("<b>") && !page.contains('\u{1b}'));
        assert!(page.contains("&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;"));
        assert!(page.contains("value=\"&quot;&gt;&lt;b&gt;\""));
    }

    #[test]
    fn links_lead_to_the_entry_and_to_folders_of_the_tree() {
        for (path, expected) in [
            (&b"a b"[..], "./a%20b"),
            (b"javascript:alert(1)", "./javascript%3Aalert%281%29"),
            (b"x/...", "./x/......"),
            (b"\xff\"", "./%FF%22"),
        ] {
            assert_eq!(Item::new(path, &link(b"x", b"y")).link, expected);
        }
        assert_eq!(folder(Vec::new(), None).path(), "/a/<a href=\"../\">tree</a>/sub/");
    }

    #[test]
    fn films_have_a_link_to_the_player() {
        let size = Some(9);
        let films = ["a film.webm", "...", "<x>.m3u8", "part1.m4s", "dir.webm"];
        let items = films.map(|path| Item::stored(path, size, path.starts_with("dir"), 0));
        let page = folder(items.to_vec(), None).page();
        let links = page.split("class=\"play\" href=\"").skip(1);
        let links: Vec<_> = links.map(|rest| rest.split('"').next().unwrap()).collect();
        let place = "/localhost/player/?name=/a/tree/sub";
        let expected = ["%253Cx%253E.m3u8", "a%2520film.webm"];
        assert_eq!(links, expected.map(|file| format!("{place}/{file}")));
    }

    #[test]
    fn a_list_has_what_a_program_needs() {
        let items = vec![Item::new(b"b", &link(b"b", b"c")), Item::new(b"a", &link(b"a", b"c"))];
        let list = folder(items, Some("x")).list();
        let list: serde_json::Value = serde_json::from_str(&list).unwrap();
        assert_eq!((&list["name"], &list["query"]), (&"/a/tree/sub".into(), &"x".into()));
        assert_eq!((&list["entries"][0]["path"], &list["is_cut"]), (&"a".into(), &false.into()));
        assert_eq!(list["entries"][0]["target"], "c");
    }

    #[test]
    fn a_page_with_uploads_runs_its_own_script_alone() {
        let policy = policy(true);
        assert!(policy.contains("script-src 'sha256-") && policy.contains("connect-src 'self'"));
        assert!(!policy.contains("unsafe"));
        assert!(!SCRIPT.contains("</") && !SCRIPT.contains("innerHTML"), "no end, and no markup");
        let item = Item::stored("<script>x", Some(7), false, 1_795_181_079_307_000_000);
        let mut folder = folder(vec![item], None);
        folder.upload = Some(Upload { limit: Size(9), has_token: true });
        let page = folder.page();
        assert_eq!(page.matches("<script>").count(), 1, "{page}");
        assert!(page.contains("data-limit=\"9\"") && page.contains("type=\"password\""));
    }

    #[test]
    fn a_page_may_use_its_own_style_alone() {
        let policy = policy(false);
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
        assert!(!policy.contains("unsafe") && !policy.contains("script"));
        assert!(!STYLE.contains("url(") && !STYLE.contains("</"), "no requests, and no end");
    }
}
