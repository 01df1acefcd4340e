//! The names of runs.

use crate::cli::perf;
use packet::tlv::types;
use packet::{Component, Name, NameRef};
use transport::rdr;

/// The keyword behind the prefix.
const KEYWORD: &[u8] = b"perf";
/// The version of all runs: the layout of their content.
const VERSION: u64 = 1;
/// The number of components that describe a run.
pub const DESCRIPTION: usize = 3;

/// The prefix of all runs of a server.
pub fn base(prefix: &Name) -> Name {
    prefix.clone().with(&Component::keyword(KEYWORD))
}

/// A run: an object that exists only as the answers to Interests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    pub id: u64,
    pub segment_size: u64,
    pub bytes: u64,
}

/// The packet of a run that a name asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    Metadata,
    Root,
    Segment(u64),
}

impl Run {
    /// The name without a version.
    pub fn name(&self, base: &Name) -> Name {
        let Run { id, segment_size, bytes } = self;
        let parts = [format!("{id:016x}"), segment_size.to_string(), bytes.to_string()];
        parts
            .iter()
            .fold(base.clone(), |name, part| name.with(&Component::generic(part.as_bytes())))
    }

    /// The name of the object.
    pub fn object(&self, base: &Name) -> Name {
        self.name(base).with(&Component::version(VERSION))
    }

    pub fn segments(&self) -> u64 {
        self.bytes.div_ceil(self.segment_size)
    }

    /// Bytes of content in a segment.
    pub fn length(&self, segment: u64) -> usize {
        let before = segment.saturating_mul(self.segment_size);
        self.bytes.saturating_sub(before).min(self.segment_size) as usize
    }

    /// Reads the components of a name behind the prefix of `at` components. Each run has one
    /// spelling: `None` for leading zeros, signs and upper case.
    pub fn read(name: NameRef<'_>, at: usize) -> Option<Run> {
        let id = perf::run(text(name, at)?).ok()?;
        let (segment_size, bytes) = (decimal(name, at + 1)?, decimal(name, at + 2)?);
        if segment_size > packet::MAX_PACKET as u64 {
            return None;
        }
        Some(Run { id, segment_size, bytes })
    }
}

/// The run and the packet that an Interest's name asks for. `at` is the number of components before
/// the run. `can_be_prefix`: the name may be continued.
pub fn wanted(name: NameRef<'_>, at: usize, can_be_prefix: bool) -> Option<(Run, Wanted)> {
    let run = Run::read(name, at)?;
    let next = name.get(at + DESCRIPTION)?;
    let described = name.prefix(at + DESCRIPTION);
    if next.is_keyword(rdr::METADATA) {
        let whole = metadata_name(described);
        let is_it = name == whole.as_ref() || can_be_prefix && whole.as_ref().starts_with(name);
        return is_it.then_some((run, Wanted::Metadata));
    }
    if can_be_prefix || next.as_version() != Some(VERSION) {
        return None;
    }
    match (name.len() - described.len(), name.last()?) {
        (2, last) => {
            let segment = last.as_segment().filter(|segment| *segment < run.segments())?;
            Some((run, Wanted::Segment(segment)))
        }
        _ => {
            let object = name.prefix(at + DESCRIPTION + 1);
            (name == rdr::root_name(object).as_ref()).then_some((run, Wanted::Root))
        }
    }
}

fn text(name: NameRef<'_>, at: usize) -> Option<&str> {
    let component = name.get(at).filter(|c| c.typ() == types::GENERIC)?;
    std::str::from_utf8(component.value()).ok()
}

/// A number without leading zeros and sign.
fn decimal(name: NameRef<'_>, at: usize) -> Option<u64> {
    let text = text(name, at)?;
    if text.starts_with(['0', '+']) {
        return None;
    }
    text.parse().ok()
}

/// The full name of a run's metadata.
pub fn metadata_name(name: NameRef<'_>) -> Name {
    let metadata = rdr::metadata_prefix(name).with(&Component::version(VERSION));
    metadata.with(&Component::segment(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: Run = Run { id: 0x0123_4567_89ab_cdef, segment_size: 8000, bytes: 20_001 };

    fn name(text: &str) -> Name {
        text.parse().unwrap()
    }

    fn read(text: &str, can_be_prefix: bool) -> Option<(Run, Wanted)> {
        wanted(name(text).as_ref(), 2, can_be_prefix)
    }

    #[test]
    fn a_name_describes_a_run_and_its_packet() {
        let base = base(&name("/a"));
        let text = "/a/32=perf/0123456789abcdef/8000/20001";
        assert_eq!(RUN.name(&base), name(text));
        assert_eq!(RUN.object(&base), name(&format!("{text}/v=1")));
        for (behind, can_be_prefix, found) in [
            ("/v=1/seg=0", false, Wanted::Segment(0)),
            ("/v=1/seg=2", false, Wanted::Segment(2)),
            ("/32=metadata", true, Wanted::Metadata),
            ("/32=metadata/v=1/seg=0", false, Wanted::Metadata),
        ] {
            assert_eq!(read(&format!("{text}{behind}"), can_be_prefix), Some((RUN, found)));
        }
        let root = rdr::root_name(RUN.object(&base).as_ref());
        assert_eq!(wanted(root.as_ref(), 2, false), Some((RUN, Wanted::Root)));
    }

    #[test]
    fn other_names_are_not_answered() {
        let text = "/a/32=perf/0123456789abcdef/8000/20001";
        for other in [
            "/a/32=perf",
            "/a/32=perf/0123456789abcdef/8000",
            text,
            &format!("{text}/v=1"),
            &format!("{text}/v=2/seg=0"),
            &format!("{text}/v=1/seg=3"),
            &format!("{text}/v=1/seg=18446744073709551615"),
            &format!("{text}/v=1/0"),
            &format!("{text}/v=1/seg=0/seg=0"),
            &format!("{text}/32=metadata"),
            &format!("{text}/32=metadata/v=1/seg=1"),
            "/a/32=perf/0123456789ABCDEF/8000/20001/v=1/seg=0",
            "/a/32=perf/123456789abcdef/8000/20001/v=1/seg=0",
            "/a/32=perf/+123456789abcdef/8000/20001/v=1/seg=0",
            "/a/32=perf/0123456789abcdef/08000/20001/v=1/seg=0",
            "/a/32=perf/0123456789abcdef/0/20001/v=1/seg=0",
            "/a/32=perf/0123456789abcdef/8000/0/v=1/seg=0",
            "/a/32=perf/0123456789abcdef/8000/-1/v=1/seg=0",
            "/a/32=perf/0123456789abcdef/8801/20001/v=1/seg=0",
            "/a/32=perf/0123456789abcdef/8000/18446744073709551616/v=1/seg=0",
            "/a/32=perf/0123456789abcdef/8000/32=20001/v=1/seg=0",
            "/a/32=perf/%FF%FF%FF%FF%FF%FF%FF%FF%FF%FF%FF%FF%FF%FF%FF%FF/1/1/v=1/seg=0",
        ] {
            assert_eq!(read(other, false), None, "{other}");
        }
        assert_eq!(read(&format!("{text}/v=1/seg=0"), true), None, "only metadata has a prefix");
    }

    #[test]
    fn the_last_segment_has_the_rest() {
        assert_eq!(RUN.segments(), 3);
        assert_eq!([0, 1, 2, 3].map(|n| RUN.length(n)), [8000, 8000, 4001, 0]);
        let endless = Run { bytes: u64::MAX, ..RUN };
        assert_eq!(endless.length(endless.segments() - 1), (u64::MAX % 8000) as usize);
    }
}
