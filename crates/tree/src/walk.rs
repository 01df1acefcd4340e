//! The consumer's side: from the root to all entries.

use crate::entry::{Entry, Kind, PageRef, Totals};
use crate::error::TreeError;
use crate::name::{FileName, shown};
use crate::page::{Page, Part};
use crate::root::Root;
use std::sync::Arc;

/// The bounds of a walk. They protect from trees that are made to exhaust their readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of entries.
    pub entries: u64,
    /// The maximum number of components of a path.
    pub depth: usize,
    /// The maximum number of bytes of a path.
    pub path: usize,
    /// The maximum number of bytes of all paths together. Pages that name the same page many times
    /// make a large tree of few bytes.
    pub paths: u64,
}

impl Default for Limits {
    /// Ten million entries; paths as long as Linux accepts (`PATH_MAX`), and a hundred bytes for
    /// each entry.
    fn default() -> Limits {
        Limits { entries: 10_000_000, depth: 1000, path: 4095, paths: 1_000_000_000 }
    }
}

/// A directory of the tree.
#[derive(Debug, PartialEq, Eq)]
pub struct Directory {
    /// The path from the tree's folder, without a slash at either end; empty for the folder itself.
    pub path: Vec<u8>,
    /// The number of directories in the path.
    pub depth: usize,
}

impl Directory {
    /// The path of an entry of this directory.
    #[must_use]
    pub fn join(&self, name: &FileName) -> Vec<u8> {
        let mut path = Vec::with_capacity(self.path.len() + 1 + name.as_bytes().len());
        path.extend_from_slice(&self.path);
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(name.as_bytes());
        path
    }
}

/// A page to fetch.
#[derive(Clone, Debug)]
pub struct Request {
    /// The page: its name and its digest.
    pub page: PageRef,
    directory: Arc<Directory>,
    /// The name that the page begins with, unless it is the first one of its directory.
    first: Option<FileName>,
    /// The page ends before this name.
    end: Option<FileName>,
}

impl Request {
    /// The directory that the page belongs to.
    #[must_use]
    pub fn directory(&self) -> &Arc<Directory> {
        &self.directory
    }
}

/// The content of a page.
#[derive(Debug)]
pub struct Found {
    /// The directory.
    pub directory: Arc<Directory>,
    /// Its entries, or some of them.
    pub entries: Vec<Entry>,
    /// The number of pages of parts of this directory that the page names instead of entries.
    pub parts: usize,
}

/// Walks through a tree, page by page, and checks it. The caller fetches pages and verifies their
/// digests.
///
/// Pages are requested depth first, so the memory is bounded by the depth and the number of entries
/// in a page. The number of pages is bounded by the number of entries in the root: every page must
/// have exactly the totals that the page above states. So a small number of pages that name each
/// other cannot describe an endless tree.
#[derive(Debug)]
pub struct Walk {
    limits: Limits,
    /// Pages that have not been requested, the next one last.
    open: Vec<Request>,
    /// The number of pages that have been requested and not accepted.
    requested: usize,
    /// The bytes of all paths so far.
    paths: u64,
}

impl Walk {
    /// Begins at the root.
    ///
    /// # Errors
    /// The tree has too many entries.
    pub fn new(root: &Root, limits: Limits) -> Result<Walk, TreeError> {
        let entries = root.page.totals.entries;
        if entries > limits.entries {
            return Err(TreeError::TooMany { entries, limit: limits.entries });
        }
        let directory = Arc::new(Directory { path: Vec::new(), depth: 0 });
        let (page, first, end) = (root.page, None, None);
        let open = vec![Request { page, directory, first, end }];
        Ok(Walk { limits, open, requested: 0, paths: 0 })
    }

    /// The next page to fetch. Pages may arrive in any order.
    pub fn next_page(&mut self) -> Option<Request> {
        let next = self.open.pop();
        self.requested += usize::from(next.is_some());
        next
    }

    /// True if all pages have been requested and accepted.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.open.is_empty() && self.requested == 0
    }

    /// Accepts the content of a page. `enter` selects the directories in it whose pages are
    /// requested.
    ///
    /// # Errors
    /// The content is not a page, or contradicts the pages above it.
    pub fn accept(
        &mut self,
        request: Request,
        content: &[u8],
        enter: &mut dyn FnMut(&Directory, &Entry) -> bool,
    ) -> Result<Found, TreeError> {
        let page = Page::decode(content)?;
        check_totals(request.page.totals, page.totals())?;
        check_place(&request, &page)?;
        self.requested = self.requested.saturating_sub(1);
        match page {
            Page::Entries(entries) => {
                self.open_directories(&request.directory, &entries, enter)?;
                Ok(Found { directory: request.directory, entries, parts: 0 })
            }
            Page::Parts(parts) => {
                let (directory, count) = (request.directory.clone(), parts.len());
                self.open_parts(request, parts);
                Ok(Found { directory, entries: Vec::new(), parts: count })
            }
        }
    }

    fn open_directories(
        &mut self,
        parent: &Directory,
        entries: &[Entry],
        enter: &mut dyn FnMut(&Directory, &Entry) -> bool,
    ) -> Result<(), TreeError> {
        for entry in entries.iter().rev() {
            let path = parent.join(&entry.name);
            if path.len() > self.limits.path || parent.depth >= self.limits.depth {
                return Err(TreeError::TooDeep(shown(&path)));
            }
            self.paths = self.paths.saturating_add(path.len() as u64);
            if self.paths > self.limits.paths {
                return Err(TreeError::Paths { limit: self.limits.paths });
            }
            let Kind::Directory(page) = entry.kind else { continue };
            if !enter(parent, entry) {
                continue;
            }
            let directory = Arc::new(Directory { path, depth: parent.depth + 1 });
            self.open.push(Request { page, directory, first: None, end: None });
        }
        Ok(())
    }

    fn open_parts(&mut self, request: Request, parts: Vec<Part>) {
        let mut end = request.end;
        for part in parts.into_iter().rev() {
            let first = Some(part.first.clone());
            let (page, directory) = (part.page, request.directory.clone());
            self.open.push(Request { page, directory, first, end });
            end = Some(part.first);
        }
    }
}

fn check_totals(expected: Totals, found: Option<Totals>) -> Result<(), TreeError> {
    let found = found.unwrap_or(Totals { entries: u64::MAX, bytes: u64::MAX });
    for (expected, found) in [(expected.entries, found.entries), (expected.bytes, found.bytes)] {
        if found != expected {
            return Err(TreeError::Totals { expected, found });
        }
    }
    Ok(())
}

/// Checks that the names in a page are those between its first name and the next page's: so names
/// do not repeat in a directory of several pages.
fn check_place(request: &Request, page: &Page) -> Result<(), TreeError> {
    let Some((first, last)) = page.ends() else { return Ok(()) };
    if request.first.as_ref().is_some_and(|expected| expected != first) {
        return Err(TreeError::Place(first.to_string()));
    }
    if request.end.as_ref().is_some_and(|end| last >= end) {
        return Err(TreeError::Place(last.to_string()));
    }
    Ok(())
}
