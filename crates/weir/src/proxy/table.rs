//! The files that consumers have asked for, and what is known of them.

use super::facts::version_of_head;
use super::packets::Shape;
use super::slab::Slab;
use super::wanted::{Part, Wanted};
use super::workers::{Event, Job, News, Object, Task, Unfilled, Workers};
use control::{Duration, Time};
use packet::{NackReason, Name};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use weir::http::mirror::{Described, Resource, head_name};

/// Files whose answers are remembered. Each takes at most 32 kB.
const MOST: usize = 2048;
/// Versions of a file that are remembered: transfers of the one before can end.
const VERSIONS: usize = 2;
/// Transfers of one file at a time.
const TRANSFERS: usize = 4;
/// Blocks of the longest transfer.
const LONGEST: u64 = 16;
/// After a failed transfer, the origin is not asked for the file's bytes for so long.
const PAUSE: Duration = Duration::from_secs(1);

/// The answer to an Interest.
#[derive(Debug, PartialEq, Eq)]
pub enum Look {
    /// Metadata of a version, fresh for so many milliseconds.
    Metadata(Facts, u64),
    /// The same under the name of the version.
    Root(Facts),
    /// A segment, with its content.
    Segment(Facts, u64, Vec<u8>),
    /// There is none.
    Nack(NackReason),
    /// The origin is asked.
    Wait,
}

/// The numbers of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The version.
    pub version: u64,
    /// Bytes.
    pub size: u64,
    /// Bytes in a segment.
    pub segment_size: u64,
}

impl Facts {
    fn of(object: &Object) -> Facts {
        let Object { version, size, segment_size, .. } = *object;
        Facts { version, size, segment_size }
    }

    /// With the name.
    pub fn shape<'a>(&self, name: &'a Name) -> Shape<'a> {
        let Facts { version, size, segment_size } = *self;
        Shape { name, version, size, segment_size }
    }
}

/// A file.
struct File {
    origin: usize,
    resource: Resource,
    segment_size: u64,
    answer: Option<Answer>,
    is_asking: bool,
    /// The versions, the latest last.
    objects: Vec<Known>,
    used: u64,
}

/// The latest answer of the origin.
struct Answer {
    described: Described,
    document: Vec<u8>,
    facts: Facts,
    until: Time,
}

/// A version, and the transfers of it.
struct Known {
    object: Object,
    running: Vec<Range<u64>>,
    /// The end of the latest transfer, and its length.
    latest: Range<u64>,
    /// Nothing is asked for before this instant.
    resume_at: Time,
}

/// The files.
pub struct Table {
    files: BTreeMap<Name, File>,
    order: BTreeMap<u64, Name>,
    clock: u64,
    slab: Arc<Slab>,
    workers: Vec<Workers>,
    failure: Option<String>,
}

impl Table {
    /// An empty one, with the threads of each origin.
    pub fn new(slab: Arc<Slab>, workers: Vec<Workers>) -> Table {
        let (files, order, failure) = (BTreeMap::new(), BTreeMap::new(), None);
        Table { files, order, clock: 0, slab, workers, failure }
    }

    /// Notes a file that an Interest is for. Returns false if there is no room.
    pub fn note(
        &mut self,
        name: &Name,
        origin: usize,
        resource: Resource,
        segment_size: impl FnOnce(&Name) -> u64,
    ) -> bool {
        self.clock += 1;
        if let Some(file) = self.files.get_mut(name) {
            self.order.remove(&file.used);
            file.used = self.clock;
            self.order.insert(self.clock, name.clone());
            return true;
        }
        if self.files.len() >= MOST && !self.evict() {
            return false;
        }
        // The document's name is longer.
        let segment_size = segment_size(&head_name(name));
        let (answer, is_asking, objects, used) = (None, false, Vec::new(), self.clock);
        let file = File { origin, resource, segment_size, answer, is_asking, objects, used };
        self.files.insert(name.clone(), file);
        self.order.insert(self.clock, name.clone());
        true
    }

    /// Forgets the file that was not used for the longest time, if no thread works for it.
    fn evict(&mut self) -> bool {
        let is_idle = |name: &Name| self.files.get(name).is_none_or(File::is_idle);
        let Some((used, name)) = self.order.iter().find(|(_, name)| is_idle(name)) else {
            return false;
        };
        let (used, name) = (*used, name.clone());
        self.order.remove(&used);
        for known in self.files.remove(&name).into_iter().flat_map(|file| file.objects) {
            self.slab.remove(known.object.id);
        }
        true
    }

    /// The answer to an Interest for a noted file.
    pub fn look(&mut self, now: Time, name: &Name, wanted: Wanted) -> Look {
        let Some(file) = self.files.get_mut(name) else { return Look::Nack(NackReason::None) };
        let workers = &self.workers[file.origin];
        let is_fresh = file.answer.as_ref().is_some_and(|answer| now < answer.until);
        match wanted.part {
            _ if wanted.of_head => {
                let document = |answer: &Answer| answer.look(now, wanted.part);
                let known = file.answer.as_ref().and_then(document);
                match known {
                    Some(look) => look,
                    None if is_fresh => Look::Nack(NackReason::None),
                    None => file.ask(workers, name),
                }
            }
            Part::Metadata(_) | Part::First if !is_fresh => file.ask(workers, name),
            Part::Metadata(version) => file.metadata(now, version),
            Part::First => match file.objects.last().map(|known| known.object.version) {
                Some(version) => file.segment(now, workers, &self.slab, name, version, 0),
                None => file.none(),
            },
            Part::Root(version) => match file.version(version) {
                Some(known) => Look::Root(Facts::of(&known.object)),
                None if is_fresh => file.none(),
                None => file.ask(workers, name),
            },
            Part::Segment(version, segment) => match file.version(version) {
                Some(_) => file.segment(now, workers, &self.slab, name, version, segment),
                None if is_fresh => file.none(),
                None => file.ask(workers, name),
            },
        }
    }

    /// Notes what a thread has found.
    pub fn happened(&mut self, now: Time, event: Event) {
        let Some(file) = self.files.get_mut(&event.key) else { return };
        match event.news {
            News::Progress => {}
            News::Same(fresh) => {
                file.is_asking = false;
                let until = now + duration(fresh);
                file.answer.iter_mut().for_each(|answer| answer.until = until);
            }
            News::Described { described, object, fresh } => {
                file.is_asking = false;
                if described.status >= 500 {
                    self.failure = String::from_utf8(described.body()).ok();
                }
                let until = now + duration(fresh);
                file.answer = Answer::new(described, file.segment_size, until);
                let old = object.map(|object| file.learn(object));
                old.into_iter().flatten().for_each(|id| self.slab.remove(id));
            }
            News::Filled { id, blocks, result } => {
                let at = file.objects.iter().position(|known| known.object.id == id);
                let Some(at) = at else { return };
                let known = &mut file.objects[at];
                known.running.retain(|running| *running != blocks);
                match result {
                    Ok(()) => {}
                    Err(Unfilled::Changed) => {
                        file.objects.remove(at);
                        file.answer = None;
                        self.slab.remove(id);
                    }
                    Err(Unfilled::Failed(why)) => {
                        known.resume_at = now + PAUSE;
                        self.failure = Some(why);
                    }
                }
            }
        }
    }

    /// The latest failure of an origin, once.
    pub fn take_failure(&mut self) -> Option<String> {
        self.failure.take().map(|text| text.trim_end().to_owned())
    }
}

fn duration(from: std::time::Duration) -> Duration {
    Duration::from_millis(from.as_millis() as u64)
}

impl Answer {
    /// `None` if the document is too long, which no answer of an origin makes.
    fn new(described: Described, segment_size: u64, until: Time) -> Option<Answer> {
        let document = serde_json::to_vec(&described).ok()?;
        let (version, size) = (version_of_head(&document), document.len() as u64);
        let facts = Facts { version, size, segment_size };
        Some(Answer { described, document, facts, until })
    }

    /// A packet of the document. A segment may be of a document that is no longer fresh.
    fn look(&self, now: Time, part: Part) -> Option<Look> {
        let is_it = |version: u64| version == self.facts.version;
        let fresh = self.until.since(now.min(self.until));
        match part {
            Part::Metadata(version) if version.is_none_or(is_it) && now < self.until => {
                Some(Look::Metadata(self.facts, (fresh.0 / 1_000_000).max(1)))
            }
            Part::Root(version) if is_it(version) => Some(Look::Root(self.facts)),
            Part::First if now < self.until => Some(self.segment(0)),
            Part::Segment(version, segment) if is_it(version) => Some(self.segment(segment)),
            _ => None,
        }
    }

    fn segment(&self, segment: u64) -> Look {
        let size = self.facts.segment_size as usize;
        match self.document.chunks(size).nth(usize::try_from(segment).unwrap_or(usize::MAX)) {
            Some(content) => Look::Segment(self.facts, segment, content.to_vec()),
            None => Look::Nack(NackReason::None),
        }
    }
}

impl File {
    fn is_idle(&self) -> bool {
        !self.is_asking && self.objects.iter().all(|known| known.running.is_empty())
    }

    fn version(&self, version: u64) -> Option<&Known> {
        self.objects.iter().find(|known| known.object.version == version)
    }

    /// Why there is no content.
    fn none(&self) -> Look {
        // A failing origin is as one that cannot be reached: another proxy may have the file.
        let fails = self.answer.as_ref().is_some_and(|answer| answer.described.status >= 500);
        Look::Nack(if fails { NackReason::NoRoute } else { NackReason::None })
    }

    fn ask(&mut self, workers: &Workers, name: &Name) -> Look {
        if !self.is_asking {
            let latest = self.answer.as_ref().and_then(|answer| answer.described.version);
            let known = latest.and_then(|version| self.version(version));
            let known = known.map(|known| known.object.clone());
            let task = Task::Describe(known, self.segment_size);
            let (key, target) = (name.clone(), self.resource.target());
            self.is_asking = workers.push(Job { key, target, task });
        }
        match self.is_asking {
            true => Look::Wait,
            false => Look::Nack(NackReason::Congestion),
        }
    }

    fn metadata(&self, now: Time, version: Option<u64>) -> Look {
        let latest = self.answer.as_ref().and_then(|answer| {
            let known = self.version(answer.described.version?)?;
            let fresh = answer.until.since(now.min(answer.until));
            Some((&known.object, (fresh.0 / 1_000_000).max(1)))
        });
        match latest.filter(|(object, _)| version.is_none_or(|v| v == object.version)) {
            Some((object, fresh)) => Look::Metadata(Facts::of(object), fresh),
            None => self.none(),
        }
    }

    /// Adds a version. Returns the number of one that is forgotten.
    fn learn(&mut self, object: Object) -> Option<u64> {
        let old = self.objects.iter().position(|known| known.object.version == object.version);
        let known = match old.map(|at| self.objects.remove(at)) {
            Some(known) if known.object.id == object.id => Known { object, ..known },
            Some(known) => {
                let id = known.object.id;
                self.objects.push(Known::new(object));
                return Some(id);
            }
            None => Known::new(object),
        };
        self.objects.push(known);
        let is_full = self.objects.len() > VERSIONS;
        is_full.then(|| self.objects.remove(0).object.id)
    }

    fn segment(
        &mut self,
        now: Time,
        workers: &Workers,
        slab: &Slab,
        name: &Name,
        version: u64,
        segment: u64,
    ) -> Look {
        let target = self.resource.target();
        let known = self.objects.iter_mut().find(|known| known.object.version == version);
        let Some(known) = known.filter(|known| segment < known.object.segments()) else {
            return Look::Nack(NackReason::None);
        };
        let object = &known.object;
        let offset = segment * object.segment_size;
        let len = object.size.saturating_sub(offset).min(object.segment_size);
        let (block, within) = (offset / object.block_size(), offset % object.block_size());
        let mut content = vec![0; len as usize];
        let read = match len {
            0 => Ok(true),
            _ => slab.read((object.id, block), within, &mut content),
        };
        match read {
            Ok(true) => Look::Segment(Facts::of(object), segment, content),
            Ok(false) if now < known.resume_at => Look::Nack(NackReason::NoRoute),
            Ok(false) => known.want(workers, slab, name, target, block),
            Err(_) => Look::Nack(NackReason::NoRoute),
        }
    }
}

impl Known {
    fn new(object: Object) -> Known {
        Known { object, running: Vec::new(), latest: 0..0, resume_at: Time::ZERO }
    }

    /// Begins to fetch a block, and those behind it if this one follows the latest.
    fn want(
        &mut self,
        workers: &Workers,
        slab: &Slab,
        name: &Name,
        target: String,
        block: u64,
    ) -> Look {
        let (object, running) = (&self.object, &self.running);
        let is_coming = running.iter().any(|running| running.contains(&block));
        if is_coming || slab.is_claimed((object.id, block)) || running.len() >= TRANSFERS {
            return Look::Wait;
        }
        let follows = self.latest.end == block && block > 0;
        let count = match object.has_ranges {
            true if follows => ((self.latest.end - self.latest.start) * 2).clamp(2, LONGEST),
            true => 1,
            false => object.blocks(),
        };
        let is_missing = |next: &u64| {
            let is_running = running.iter().any(|running| running.contains(next));
            !is_running && slab.filled((object.id, *next)) < object.len_of(*next)
        };
        let most = (block + count).min(object.blocks());
        let end = (block + 1..most).find(|next| !is_missing(next)).unwrap_or(most);
        let task = Task::Fill(object.clone(), block..end);
        if !workers.push(Job { key: name.clone(), target, task }) {
            return Look::Nack(NackReason::Congestion);
        }
        self.running.push(block..end);
        self.latest = block..end;
        Look::Wait
    }
}
