//! Records of packets as lines of text or JSON.

use control::Kind;
use net::text::visible;
use net::trace::{Action, Direction, Record};
use schemars::JsonSchema;
use serde::Serialize;

/// A terminal of fewer columns gets short lines.
const WIDE: usize = 100;
/// In a terminal of fewer columns names have lines of their own.
const LEAST: usize = 60;
/// With fewer columns left for it, a name has a line of its own, too.
const LEAST_NAME: usize = 12;
/// Before a name on a line of its own.
const INDENT: &str = "  ";

/// How lines are laid out.
pub struct Lines {
    /// The columns of the terminal; `None` if the output is not a terminal.
    width: Option<usize>,
}

impl Lines {
    pub fn new(width: Option<usize>) -> Lines {
        Lines { width }
    }

    fn is_narrow(&self) -> bool {
        self.width.is_some_and(|width| width < WIDE)
    }

    /// The line above all others.
    pub fn head(&self) -> String {
        if self.is_narrow() {
            let head =
                format!("{:9} {:>4} {:3} {:8} {:16} ", "min:s", "face", "way", "type", "action");
            return self.with_name(&head, "name");
        }
        format!(
            "{:15}  {:>5}  {:3}  {:8}  {:>5}  {:24}  name",
            "time (UTC)", "face", "way", "type", "bytes", "action"
        )
    }

    /// The line of a packet, or two where the terminal is narrow.
    pub fn line(&self, record: &Record) -> String {
        let (face, way, kind) = (record.face, record.direction.word(), kind(record.kind));
        let action = action(record);
        let name =
            if record.kind.is_some() { visible(&record.name.to_string()) } else { "-".into() };
        let [hour, minute, second, micros] = time_of_day(record.time_ns);
        let start = if self.is_narrow() {
            let millis = micros / 1000;
            let time = format!("{minute:02}:{second:02}.{millis:03}");
            format!("{time} {face:>4} {way:3} {kind:8} {action:16} ")
        } else {
            let time = format!("{hour:02}:{minute:02}:{second:02}.{micros:06}");
            let size = record.size;
            format!("{time}  {face:>5}  {way:3}  {kind:8}  {size:>5}  {action:24}  ")
        };
        self.with_name(&start, &name)
    }

    /// The name behind the other columns, or below them. One without enough room loses its middle.
    fn with_name(&self, start: &str, name: &str) -> String {
        let Some(width) = self.width else { return format!("{start}{name}") };
        let room = width.saturating_sub(start.chars().count());
        if width >= LEAST && room >= LEAST_NAME {
            return format!("{start}{}", elided(name, room));
        }
        let name = elided(name, width.saturating_sub(INDENT.len()));
        format!("{}\n{INDENT}{name}", elided(start.trim_end(), width))
    }
}

/// The words for the actions of the forwarder.
const ACTIONS: [&str; 9] = [
    "hit",
    "aggregated",
    "forwarded",
    "nacked",
    "kept",
    "queued",
    "expanded",
    "answered",
    "dropped",
];

/// A line of `weir trace --json`.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
pub enum Printed {
    /// A packet.
    Packet(Packet),
    /// Packets are missing here.
    Lost(Lost),
}

/// The line about a packet.
#[derive(JsonSchema, Serialize)]
pub struct Packet {
    /// When it came or left, in nanoseconds since 1970.
    time_ns: u64,
    /// The number of its face.
    face: u64,
    /// It was received or sent on the face.
    #[schemars(extend("enum" = ["in", "out"]))]
    direction: &'static str,
    /// The type of the packet; null for a frame that could not be decoded.
    #[schemars(extend("enum" = ["interest", "data", "nack", null]))]
    r#type: Option<String>,
    /// Its size in bytes.
    bytes: u64,
    /// Its name; null for a frame that could not be decoded.
    name: Option<String>,
    /// The forwarder's decision about it.
    #[schemars(extend("enum" = ACTIONS))]
    action: &'static str,
    /// The numbers of the faces to which it was forwarded.
    faces: Vec<u64>,
    /// Why it was dropped; absent unless the action is `dropped`.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// The line in place of packets.
#[derive(JsonSchema, Serialize)]
pub struct Lost {
    /// Packets that are missing here, because they arrived faster than they were read.
    pub lost: u64,
}

/// The record as an object.
pub fn object(record: &Record) -> Printed {
    let reason = match &record.action {
        Action::Dropped(reason) => Some(reason.clone()),
        _ => None,
    };
    Printed::Packet(Packet {
        time_ns: record.time_ns,
        face: record.face,
        direction: record.direction.word(),
        r#type: record.kind.map(|kind| self::kind(Some(kind)).to_lowercase()),
        bytes: record.size,
        name: record.kind.map(|_| record.name.to_string()),
        action: record.action.word(),
        faces: record.faces.clone(),
        reason,
    })
}

fn kind(kind: Option<Kind>) -> &'static str {
    match kind {
        Some(Kind::Interest) => "Interest",
        Some(Kind::Data) => "Data",
        Some(Kind::Nack) => "Nack",
        None => "-",
    }
}

/// The action in words.
pub fn action(record: &Record) -> String {
    let faces = record.faces.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let is_interest = record.kind == Some(Kind::Interest);
    match &record.action {
        Action::Forwarded => format!("to {faces}"),
        Action::Aggregated if faces.is_empty() => "aggregated".to_owned(),
        Action::Aggregated => format!("aggregated, to {faces}"),
        Action::Kept if record.direction == Direction::In && !is_interest => {
            "no downstream".to_owned()
        }
        Action::Kept => "held".to_owned(),
        Action::Dropped(reason) => format!("dropped {}", visible(reason)),
        Action::Hit | Action::Nacked | Action::Queued | Action::Expanded | Action::Answered => {
            record.action.word().to_owned()
        }
    }
}

/// The text with `…` in the place of its middle, if it has more than `most` characters.
fn elided(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most || most == 0 {
        return text.to_owned();
    }
    // The end distinguishes the segments of an object.
    let tail = most / 2;
    let head: String = text.chars().take(most - tail - 1).collect();
    let end: String = text.chars().skip(length - tail).collect();
    format!("{head}…{end}")
}

/// Hour, minute, second and microsecond of the day (UTC).
fn time_of_day(time_ns: u64) -> [u64; 4] {
    let seconds = time_ns / 1_000_000_000;
    [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60, time_ns / 1000 % 1_000_000]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        Record {
            // 2001-09-09 01:46:40 UTC
            time_ns: 1_000_000_000_123_456_789,
            face: 3,
            direction: Direction::In,
            kind: Some(Kind::Interest),
            size: 53,
            name: "/a/file/v=1/seg=17".parse().unwrap(),
            action: Action::Forwarded,
            faces: vec![4, 5],
            packet: Vec::new(),
        }
    }

    #[test]
    fn a_line_is_readable_on_wide_and_on_narrow_terminals() {
        let wide = Lines::new(None);
        assert_eq!(
            wide.line(&record()),
            "01:46:40.123456      3  in   Interest     53  to 4, 5                   \
             /a/file/v=1/seg=17"
        );
        let head = wide.head();
        assert_eq!(head.find("name"), wide.line(&record()).find("/a"));
        let narrow = Lines::new(Some(60));
        let line = narrow.line(&record());
        assert_eq!(line, "46:40.123    3 in  Interest to 4, 5          /a/file…/seg=17");
        assert_eq!(line.chars().count(), 60, "{line}");
        assert_eq!(narrow.head().find("name"), line.find("/a"));
        let phone = Lines::new(Some(40));
        let lines = phone.line(&record());
        assert_eq!(lines, "46:40.123    3 in  Interest to 4, 5\n  /a/file/v=1/seg=17");
        assert!(phone.head().ends_with("type     action\n  name"), "{}", phone.head());
        let dropped = Record {
            action: Action::Dropped("for a reason that is long".into()),
            name: "/a/file/with/many/components/v=1/seg=17".parse().unwrap(),
            ..record()
        };
        let lines = phone.line(&dropped);
        assert!(lines.lines().all(|line| line.chars().count() == 40), "{lines}");
        assert!(lines.ends_with("onents/v=1/seg=17"), "{lines}");
    }

    #[test]
    fn a_long_action_moves_the_name_to_a_line_of_its_own() {
        for width in [60, 100] {
            let faces = (100..100 + width as u64 / 5).collect();
            let long = Record { action: Action::Aggregated, faces, ..record() };
            let lines = Lines::new(Some(width)).line(&long);
            let (first, name) = lines.split_once('\n').unwrap();
            assert_eq!(first.chars().count(), width, "{lines}");
            assert_eq!(name, "  /a/file/v=1/seg=17");
        }
    }

    #[test]
    fn each_decision_has_its_text() {
        let words = |kind, direction, decided, faces: &[u64]| {
            let faces = faces.to_vec();
            action(&Record { kind: Some(kind), direction, action: decided, faces, ..record() })
        };
        let (interest, data, way) = (Kind::Interest, Kind::Data, Direction::In);
        assert_eq!(words(interest, way, Action::Hit, &[]), "hit");
        assert_eq!(words(interest, way, Action::Answered, &[]), "answered");
        assert_eq!(words(interest, way, Action::Aggregated, &[]), "aggregated");
        assert_eq!(words(interest, way, Action::Aggregated, &[7]), "aggregated, to 7");
        assert_eq!(words(interest, way, Action::Kept, &[]), "held");
        assert_eq!(words(data, way, Action::Kept, &[]), "no downstream");
        let dropped = Action::Dropped("data-queue-full".to_owned());
        assert_eq!(words(data, Direction::Out, dropped.clone(), &[]), "dropped data-queue-full");
        let object = object(&Record { action: dropped, ..record() });
        let object = serde_json::to_value(object).unwrap();
        assert_eq!(object["reason"], "data-queue-full");
        assert_eq!(object["type"], "interest");
    }

    #[test]
    fn a_frame_that_could_not_be_decoded_has_no_name() {
        let malformed = Action::Dropped("malformed".to_owned());
        let of = Record { kind: None, action: malformed, faces: Vec::new(), ..record() };
        assert!(Lines::new(None).line(&of).ends_with("dropped malformed         -"));
        assert_eq!(serde_json::to_value(object(&of)).unwrap()["type"], serde_json::Value::Null);
    }
}
