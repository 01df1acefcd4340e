//! The files of one origin that consumers have requested, and the proxy's knowledge of them.

use super::facts::version_of_head;
use super::lists::{Lists, WITH_CONTENT, WITHOUT_CONTENT};
use super::news::{Answered, Event, Job, News, Object, Task, Unfilled};
use super::packets::Shape;
use super::slab::{Key, Slab};
use super::wanted::{Part, Wanted};
use super::workers::Workers;
use control::{Duration, Time};
use packet::{NackReason, Name};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use weir::http::mirror::{Described, Resource, head_name};

/// The number of remembered versions of a file: transfers of the former version can end.
const VERSIONS: usize = 2;
/// Transfers of one file at a time.
const TRANSFERS: usize = 4;
/// Blocks of a version that wait for one of these transfers.
const QUEUED: usize = 64;
/// Blocks of the longest transfer of an origin that sends parts.
const LONGEST: u64 = 16;
/// The pause after a failed transfer without progress, in which the origin is not asked for the
/// file's bytes. In the pause after a transfer that has found another file, the origin is not asked
/// for the file at all.
const PAUSE: Duration = Duration::from_secs(1);

/// The answer to an Interest.
#[derive(Debug, PartialEq, Eq)]
pub enum Look {
    /// Metadata of a version, and the milliseconds for which it is fresh.
    Metadata(Facts, u64),
    /// The same under the name of the version.
    Root(Facts),
    /// A segment, with its content.
    Segment(Facts, u64, Vec<u8>),
    /// The proxy has none.
    Nack(NackReason),
    /// The origin is asked. The Interest waits for this.
    Wait(Place),
}

/// The news that an Interest waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The origin's answer for the file of this number.
    Answer(u64),
    /// The first bytes of a block, by their number.
    Bytes(Key, u64),
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
    number: u64,
    resource: Resource,
    segment_size: u64,
    answer: Option<Answer>,
    is_asking: bool,
    /// The versions, the latest last.
    objects: Vec<Known>,
    /// The origin is not asked for the version before this instant.
    pause: Option<Time>,
}

/// The latest answer of the origin.
struct Answer {
    described: Described,
    /// See [`Answered::is_busy`].
    is_busy: bool,
    document: Vec<u8>,
    facts: Facts,
    until: Time,
}

/// A version, and the transfers of it.
struct Known {
    object: Object,
    running: Vec<Range<u64>>,
    /// Blocks to be requested next.
    queued: BTreeSet<u64>,
    /// The end of the latest transfer, and its length.
    latest: Range<u64>,
    /// The end of a pause in requests. Interests get this reason meanwhile.
    pause: Option<(Time, NackReason)>,
}

/// The files.
pub struct Table {
    files: BTreeMap<Name, File>,
    lists: Lists,
    next: u64,
    slab: Arc<Slab>,
    workers: Workers,
    failure: Option<String>,
}

impl Table {
    /// An empty one, with the threads of the origin.
    pub fn new(slab: Arc<Slab>, workers: Workers) -> Table {
        let (files, lists) = (BTreeMap::new(), Lists::default());
        Table { files, lists, next: 0, slab, workers, failure: None }
    }

    /// Notes a file of an Interest. Returns false if the table is full.
    pub fn note(
        &mut self,
        name: &Name,
        resource: Resource,
        segment_size: impl FnOnce(&Name) -> u64,
    ) -> bool {
        if self.files.contains_key(name) {
            self.lists.touch(name);
            return true;
        }
        while self.lists.is_full(WITHOUT_CONTENT) {
            if !self.evict(WITHOUT_CONTENT) {
                return false;
            }
        }
        // The document's name is longer.
        let segment_size = segment_size(&head_name(name));
        let (answer, is_asking, objects) = (None, false, Vec::new());
        self.next += 1;
        let number = self.next;
        let pause = None;
        let file = File { number, resource, segment_size, answer, is_asking, objects, pause };
        self.files.insert(name.clone(), file);
        self.lists.put(name, WITHOUT_CONTENT, true);
        true
    }

    /// Forgets the least recently used file of a list, if no thread works for it.
    fn evict(&mut self, list: usize) -> bool {
        let Some(name) = self.lists.take_oldest(list) else { return false };
        for known in self.files.remove(&name).into_iter().flat_map(|file| file.objects) {
            self.slab.remove(known.object.id);
        }
        true
    }

    /// Puts a file where it belongs now.
    fn place(&mut self, name: &Name) {
        let Some(file) = self.files.get(name) else { return };
        let list = if file.objects.is_empty() { WITHOUT_CONTENT } else { WITH_CONTENT };
        self.lists.put(name, list, file.is_idle());
        while self.lists.is_over(WITH_CONTENT) && self.evict(WITH_CONTENT) {}
    }

    /// The answer to an Interest for a noted file.
    pub fn look(&mut self, now: Time, name: &Name, wanted: Wanted) -> Look {
        let Some(file) = self.files.get_mut(name) else {
            // It was evicted while the Interest waited to be looked at.
            return Look::Nack(NackReason::Congestion);
        };
        let was_idle = file.is_idle();
        let look = file.look(now, &self.workers, &self.slab, name, wanted);
        if file.is_idle() != was_idle {
            self.place(name);
        }
        look
    }

    /// Notes the work of a thread. Returns the places whose Interests are to be looked at again.
    pub fn happened(&mut self, now: Time, event: Event) -> Vec<Range<Place>> {
        let Event { key, news, .. } = event;
        let Some(file) = self.files.get_mut(&key) else { return Vec::new() };
        let mut places = Vec::new();
        match news {
            News::Same(fresh) => {
                file.is_asking = false;
                places.push(answer_of(file.number));
                let until = now + duration(fresh);
                file.answer.iter_mut().for_each(|answer| answer.until = until);
            }
            News::Described(answered) => {
                let Answered { described, object, fresh, complaint, is_busy, coming } = *answered;
                self.failure = complaint.or(self.failure.take());
                file.is_asking = false;
                places.push(answer_of(file.number));
                let until = now + duration(fresh);
                file.answer = Answer::new(described, is_busy, file.segment_size, until);
                let old = object.and_then(|object| file.learn(object, coming));
                places.extend(old.map(|id| blocks_of(id, 0..u64::MAX)));
                old.into_iter().for_each(|id| self.slab.remove(id));
            }
            News::Filled { id, blocks, result } => {
                let at = file.objects.iter().position(|known| known.object.id == id);
                let Some(at) = at else { return places };
                let known = &mut file.objects[at];
                known.running.retain(|running| *running != blocks);
                if let Err(gone @ (Unfilled::Changed(_) | Unfilled::Evicted)) = result {
                    file.objects.remove(at);
                    file.answer = None;
                    self.slab.remove(id);
                    places.push(blocks_of(id, 0..u64::MAX));
                    if let Unfilled::Changed(text) = gone {
                        // An origin may do so again and again, such as two hosts behind one name.
                        file.pause = Some(now + PAUSE);
                        self.failure = Some(text);
                    }
                } else {
                    places.push(blocks_of(id, blocks));
                    let failure = known.note(now, result);
                    self.failure = failure.or(self.failure.take());
                    let (workers, resource) = (&self.workers, &file.resource);
                    let more = known.advance(now, workers, &self.slab, &key, resource);
                    places.extend(more.into_iter().map(|block| blocks_of(id, block..block + 1)));
                }
            }
        }
        self.place(&key);
        places
    }

    /// The latest failure of the origin, once.
    pub fn take_failure(&mut self) -> Option<String> {
        self.failure.take().map(|text| text.trim_end().to_owned())
    }
}

/// The place of Interests that wait for the answer for a file.
fn answer_of(file: u64) -> Range<Place> {
    Place::Answer(file)..Place::Answer(file + 1)
}

/// The places of Interests that wait for these blocks.
fn blocks_of(id: u64, blocks: Range<u64>) -> Range<Place> {
    Place::Bytes((id, blocks.start), 0)..Place::Bytes((id, blocks.end), 0)
}

fn duration(from: std::time::Duration) -> Duration {
    Duration::from_millis(from.as_millis() as u64)
}

impl Answer {
    /// `None` if the document is too long, which no answer of an origin makes.
    fn new(described: Described, is_busy: bool, segment_size: u64, until: Time) -> Option<Answer> {
        let document = serde_json::to_vec(&described).ok()?;
        let (version, size) = (version_of_head(&document), document.len() as u64);
        let facts = Facts { version, size, segment_size };
        Some(Answer { described, is_busy, document, facts, until })
    }

    /// A packet of the document. A segment may belong to a document that is no longer fresh.
    fn look(&self, now: Time, part: Part) -> Option<Look> {
        let own = self.facts.version;
        let fresh = self.until.since(now.min(self.until));
        match part {
            Part::Metadata(version) if version.unwrap_or(own) == own && now < self.until => {
                Some(Look::Metadata(self.facts, (fresh.0 / 1_000_000).max(1)))
            }
            Part::Root(version) if version == own => Some(Look::Root(self.facts)),
            Part::First if now < self.until => Some(self.segment(0)),
            Part::Segment(version, segment) if version == own => Some(self.segment(segment)),
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

    fn look(
        &mut self,
        now: Time,
        workers: &Workers,
        slab: &Slab,
        name: &Name,
        wanted: Wanted,
    ) -> Look {
        let is_fresh = self.answer.as_ref().is_some_and(|answer| now < answer.until);
        if wanted.of_head {
            let known = self.answer.as_ref().and_then(|answer| answer.look(now, wanted.part));
            return match known {
                Some(look) => look,
                None if is_fresh => Look::Nack(NackReason::None),
                None => self.ask(now, workers, name),
            };
        }
        let (version, segment) = match wanted.part {
            Part::Metadata(_) | Part::First if !is_fresh => return self.ask(now, workers, name),
            Part::Metadata(version) => return self.metadata(now, version),
            Part::First => match self.objects.last() {
                Some(known) => (known.object.version, 0),
                None => return self.none(),
            },
            Part::Root(version) | Part::Segment(version, _) if self.version(version).is_none() => {
                return if is_fresh { self.none() } else { self.ask(now, workers, name) };
            }
            Part::Root(version) => {
                let root = self.version(version).map(|known| Facts::of(&known.object));
                return root.map_or_else(|| self.none(), Look::Root);
            }
            Part::Segment(version, segment) => (version, segment),
        };
        self.segment(now, workers, slab, name, version, segment)
    }

    fn version(&self, version: u64) -> Option<&Known> {
        self.objects.iter().find(|known| known.object.version == version)
    }

    /// The reason for missing content.
    fn none(&self) -> Look {
        Look::Nack(match &self.answer {
            Some(answer) if answer.is_busy => NackReason::Congestion,
            // A failing origin is like an unreachable one: another proxy may have the file.
            Some(answer) if answer.described.status >= 500 => NackReason::NoRoute,
            _ => NackReason::None,
        })
    }

    fn ask(&mut self, now: Time, workers: &Workers, name: &Name) -> Look {
        if self.pause.is_some_and(|until| now < until) {
            return Look::Nack(NackReason::Congestion);
        }
        if !self.is_asking {
            let latest = self.answer.as_ref().and_then(|answer| answer.described.version);
            let known = latest.and_then(|version| self.version(version));
            let known = known.map(|known| known.object.clone());
            let task = Task::Describe(known, self.segment_size);
            let (key, target) = (name.clone(), self.resource.target());
            self.is_asking = workers.push(Job { key, target, task });
        }
        match self.is_asking {
            true => Look::Wait(Place::Answer(self.number)),
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

    /// Adds a version with these coming blocks. Returns the number of a forgotten version.
    fn learn(&mut self, object: Object, coming: Range<u64>) -> Option<u64> {
        let old = self.objects.iter().position(|known| known.object.version == object.version);
        let (mut known, mut forgotten) = match old.map(|at| self.objects.remove(at)) {
            Some(known) if known.object.id == object.id => (Known { object, ..known }, None),
            Some(known) => (Known::new(object), Some(known.object.id)),
            None => (Known::new(object), None),
        };
        known.running.extend(Some(coming).filter(|coming| !coming.is_empty()));
        self.objects.push(known);
        if self.objects.len() > VERSIONS {
            forgotten = Some(self.objects.remove(0).object.id);
        }
        forgotten
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
            Ok(false) => {
                let place = Place::Bytes((known.object.id, block), within + len);
                match known.want(now, workers, slab, name, &self.resource, block) {
                    Ok(()) => Look::Wait(place),
                    Err(reason) => Look::Nack(reason),
                }
            }
            Err(_) => Look::Nack(NackReason::NoRoute),
        }
    }
}

impl Known {
    fn new(object: Object) -> Known {
        let (running, queued) = (Vec::new(), BTreeSet::new());
        Known { object, running, queued, latest: 0..0, pause: None }
    }

    /// A block comes, or will come when a transfer has ended.
    ///
    /// # Errors
    /// It does not. Interests for it get this reason.
    fn want(
        &mut self,
        now: Time,
        workers: &Workers,
        slab: &Slab,
        name: &Name,
        resource: &Resource,
        block: u64,
    ) -> Result<(), NackReason> {
        if let Some((_, reason)) = self.pause.filter(|(until, _)| now < *until) {
            return Err(reason);
        }
        if self.is_coming(slab, block) {
            return Ok(());
        }
        if self.running.len() < TRANSFERS {
            return self.start(workers, slab, name, resource, block);
        }
        if self.queued.len() >= QUEUED && !self.queued.contains(&block) {
            return Err(NackReason::Congestion);
        }
        self.queued.insert(block);
        Ok(())
    }

    fn is_coming(&self, slab: &Slab, block: u64) -> bool {
        let is_running = self.running.iter().any(|running| running.contains(&block));
        is_running || slab.is_claimed((self.object.id, block))
    }

    /// Notes the end of a transfer. Returns the failure of the origin.
    fn note(&mut self, now: Time, result: Result<(), Unfilled>) -> Option<String> {
        let (reason, text) = match result {
            // An origin that makes progress is not failing: the next transfer continues there.
            Ok(()) | Err(Unfilled::Failed { had_progress: true, .. }) => {
                self.pause = None;
                return None;
            }
            Err(Unfilled::Changed(_) | Unfilled::Evicted) => return None,
            Err(Unfilled::Full(text)) => (NackReason::Congestion, text),
            Err(Unfilled::Failed { text, .. }) => (NackReason::NoRoute, text),
        };
        self.pause = Some((now + PAUSE, reason));
        Some(text)
    }

    /// Begins with blocks that wait for a transfer. Returns those whose Interests do not wait for
    /// one any more.
    fn advance(
        &mut self,
        now: Time,
        workers: &Workers,
        slab: &Slab,
        name: &Name,
        resource: &Resource,
    ) -> Vec<u64> {
        let mut ended = Vec::new();
        while self.running.len() < TRANSFERS {
            let Some(block) = self.queued.pop_first() else { break };
            let is_there = slab.filled((self.object.id, block)) == self.object.len_of(block);
            if is_there || self.want(now, workers, slab, name, resource, block).is_err() {
                ended.push(block);
            }
        }
        ended
    }

    /// Begins to fetch a block, and those behind it if this one follows the latest. An origin
    /// without parts sends all.
    fn start(
        &mut self,
        workers: &Workers,
        slab: &Slab,
        name: &Name,
        resource: &Resource,
        block: u64,
    ) -> Result<(), NackReason> {
        let object = &self.object;
        let end = if object.has_ranges {
            let follows = self.latest.end == block && block > 0;
            let twice = (self.latest.end - self.latest.start) * 2;
            let count = if follows { twice.clamp(2, LONGEST) } else { 1 };
            let most = (block + count).min(object.blocks());
            let mut behind = block + 1..most;
            let present = behind.find(|next| {
                let is_running = self.running.iter().any(|running| running.contains(next));
                is_running || slab.filled((object.id, *next)) >= object.len_of(*next)
            });
            present.unwrap_or(most)
        } else {
            object.blocks()
        };
        let (key, target) = (name.clone(), resource.target());
        let task = Task::Fill(object.clone(), block..end);
        if !workers.push(Job { key, target, task }) {
            return Err(NackReason::Congestion);
        }
        self.running.push(block..end);
        self.latest = block..end;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
