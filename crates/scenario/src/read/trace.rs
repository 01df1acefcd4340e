//! Traces of requests: CSV with a head line.

use super::content::Found;
use crate::model::{Objects, Request};
use crate::places::Names;
use crate::source::Source;
use control::{Duration, Size};
use document::{Section, valid_words};
use packet::Name;
use std::collections::BTreeMap;
use std::ops::Range;

/// The columns that there may be.
const COLUMNS: [&str; 4] = ["time", "node", "name", "size"];
/// The most requests of a trace.
const MAX_REQUESTS: usize = 2_000_000;

/// The names in the rows read so far.
struct Reading<'a, 'd> {
    source: &'a Source<'d>,
    names: &'a Names<'a>,
    wanted: &'a [usize],
    contents: &'a mut [Found],
    /// The numbers of listed objects, by content.
    numbers: BTreeMap<(usize, Name), u64>,
}

/// Reads the trace of a workload; objects of contents that are listed are added to these.
pub fn read(
    s: &Section<'_>,
    names: &Names<'_>,
    wanted: &[usize],
    contents: &mut [Found],
) -> Option<Vec<Request>> {
    let source = Source::open(s, "trace")?;
    let mut rows = source.lines();
    let Some((at, head)) = rows.next() else {
        s.mistake("trace", "the file is empty");
        return None;
    };
    let columns = columns(&source, at, head)?;
    let mut numbers = BTreeMap::new();
    for content in wanted {
        if let Objects::Listed(list) = &contents[*content].0.objects {
            let known = list.iter().map(|(name, _)| (*content, name.clone())).zip(0..);
            numbers.extend(known);
        }
    }
    let mut reading = Reading { source: &source, names, wanted, contents, numbers };
    let mut requests = Vec::new();
    for (at, row) in rows {
        if requests.len() == MAX_REQUESTS {
            let most = format!("a trace has at most {MAX_REQUESTS} requests");
            source.mistake(at..at + row.len(), most);
            break;
        }
        requests.extend(reading.row(at, row, &columns));
    }
    if requests.is_empty() && source.is_sound() {
        s.mistake("trace", "there is no request in the file");
    }
    // Sorting keeps the order of those that come at once.
    requests.sort_by_key(|request| request.at);
    source.is_sound().then_some(requests)
}

/// The order of the columns.
fn columns(source: &Source<'_>, at: usize, head: &str) -> Option<Vec<&'static str>> {
    let mut found = Vec::new();
    for (place, word) in cells(at, head) {
        match COLUMNS.iter().find(|column| **column == word) {
            Some(column) if found.contains(column) => {
                source.mistake(place, format!("the column `{word}` is there twice"));
            }
            Some(column) => found.push(*column),
            None => {
                let valid = valid_words(word, COLUMNS);
                source.mistake(place, format!("`{word}` is not a column of a trace; {valid}"));
            }
        }
    }
    if let Some(missing) = COLUMNS[..3].iter().find(|column| !found.contains(column)) {
        let why = format!("the head line lacks `{missing}`; write `time,node,name`");
        source.mistake(at..at + head.len(), why);
    }
    source.is_sound().then_some(found)
}

/// The cells of a line and where they stand. Quotes around a cell are taken off.
fn cells(at: usize, line: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let mut start = at;
    line.split(',').map(move |cell| {
        let begin = start + cell.len() - cell.trim_start().len();
        start += cell.len() + 1;
        let text = cell.trim();
        let bare = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        (begin..begin + text.len(), bare.unwrap_or(text))
    })
}

impl Reading<'_, '_> {
    fn row(&mut self, at: usize, row: &str, columns: &[&'static str]) -> Option<Request> {
        let found: Vec<_> = cells(at, row).collect();
        if found.len() != columns.len() {
            let (has, wants) = (found.len(), columns.len());
            let why = format!("the line has {has} cells, the head line {wants}");
            self.source.mistake(at..at + row.len(), why);
            return None;
        }
        let [time, node, name, size] = ["time", "node", "name", "size"].map(|name| {
            let place = columns.iter().position(|column| *column == name)?;
            found.get(place).cloned()
        });
        let (time, node, name) = (time?, node?, name?);
        let when = self.checked(&time, seconds);
        let node = self.checked(&node, |text| self.names.known(text));
        let size = match size.filter(|(_, text)| !text.is_empty()) {
            Some(size) => Some(self.checked(&size, bytes)?),
            None => None,
        };
        let (content, object) = self.object(&name, size)?;
        Some(Request { at: when?, node: node?, content, object })
    }

    fn checked<T>(
        &self,
        (place, text): &(Range<usize>, &str),
        convert: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        convert(text).map_err(|why| self.source.mistake(place.clone(), why)).ok()
    }

    /// The content that a name is of, as its place among those wanted, and the object's number.
    fn object(
        &mut self,
        (place, text): &(Range<usize>, &str),
        size: Option<u64>,
    ) -> Option<(usize, u64)> {
        let found = match text.parse::<u64>() {
            Ok(number) => self.numbered(0, number),
            Err(_) => self.named(text, size),
        };
        found.map_err(|why| self.source.mistake(place.clone(), why)).ok()
    }

    fn numbered(&self, place: usize, number: u64) -> Result<(usize, u64), String> {
        let content = &self.contents[self.wanted[place]].0;
        let objects = match &content.objects {
            Objects::Numbered { count, .. } => count.unwrap_or(u64::MAX),
            Objects::One => 1,
            Objects::Listed(_) => return Err("a listed object has a name".to_owned()),
            Objects::Video { .. } => 1,
        };
        match number < objects {
            true => Ok((place, number)),
            false => {
                let name = &content.name;
                Err(format!("`{name}` has {objects} objects, counted from 0"))
            }
        }
    }

    fn named(&mut self, text: &str, size: Option<u64>) -> Result<(usize, u64), String> {
        let name: Name = text.parse().map_err(|e| format!("`{text}` is not a name: {e}"))?;
        let place = self
            .wanted
            .iter()
            .position(|i| name.as_ref().starts_with(self.contents[*i].0.name.as_ref()));
        let Some(place) = place else {
            let names = self.wanted.iter().map(|i| self.contents[*i].0.name.to_string());
            let names: Vec<String> = names.collect();
            return Err(format!("`{text}` is not below `{}`", names.join("` or `")));
        };
        let content = self.wanted[place];
        let depth = self.contents[content].0.name.as_ref().len();
        let mut own = Name::default();
        for component in (depth..name.as_ref().len()).filter_map(|i| name.as_ref().get(i)) {
            own.push(component);
        }
        if let Objects::Listed(_) = self.contents[content].0.objects {
            return self.listed(place, content, own, size);
        }
        if own.as_ref().is_empty() {
            return self.numbered(place, 0);
        }
        let number = own
            .as_ref()
            .first()
            .and_then(|first| std::str::from_utf8(first.value()).ok()?.parse::<u64>().ok());
        match number {
            Some(number) => self.numbered(place, number),
            None => Err(format!("`{text}` is not the name of an object; they have numbers")),
        }
    }

    /// An object that is listed for the first time, or again.
    fn listed(
        &mut self,
        place: usize,
        content: usize,
        own: Name,
        size: Option<u64>,
    ) -> Result<(usize, u64), String> {
        let mean = self.contents[content].0.size.0;
        let Objects::Listed(list) = &mut self.contents[content].0.objects else {
            return Err("it is not listed".to_owned());
        };
        if own.as_ref().is_empty() {
            return Err("the name of an object is longer than that of its content".to_owned());
        }
        if let Some(number) = self.numbers.get(&(content, own.clone())) {
            let known = usize::try_from(*number).ok().and_then(|n| list.get(n)).map(|(_, s)| *s);
            return match size.filter(|size| known != Some(*size)) {
                Some(size) => {
                    let before = known.unwrap_or_default();
                    Err(format!("the object had {before} bytes before, and has {size} here"))
                }
                None => Ok((place, *number)),
            };
        }
        let number = list.len() as u64;
        list.push((own.clone(), size.unwrap_or(mean)));
        self.numbers.insert((content, own), number);
        Ok((place, number))
    }
}

/// `1.5`, in seconds, or `5 ms`.
fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(n) if (0.0..1e9).contains(&n) => Ok(Duration::from_secs_f64(n)),
        Ok(n) if n < 0.0 => Err(format!("the time `{text}` is negative")),
        Ok(_) => Err(format!("the time `{text}` is too large")),
        Err(_) => text.parse().map_err(|e| format!("{e}, or a number of seconds")),
    }
}

/// `1500`, in bytes, or `1.5 kB`.
fn bytes(text: &str) -> Result<u64, String> {
    let size = match text.parse::<u64>() {
        Ok(n) => n,
        Err(_) => text.parse::<Size>().map_err(|e| format!("{e}, or a number of bytes"))?.0,
    };
    if size == 0 { Err("a size of zero transfers nothing".to_owned()) } else { Ok(size) }
}
