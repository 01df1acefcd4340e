//! Events as lines, for people or as JSON. All of their text is from the network.

use super::line::{ChatLine, Known, Sent};
use super::printer::Printer;
use super::room::{Event, Room};
use crate::exit::Failure;
use crate::output::{counted, json_text};
use control::{Size, Time};
use net::text::{shortened, visible};
use packet::Name;
use security::human_instant;
use sync::Stream;
use weir::message::{Body, Message};

/// Letters of a message that are shown, at most.
const MOST_LETTERS: usize = 4_000;
/// A clock that is ahead by more is off.
const AHEAD_MS: u64 = 300_000;
/// A clock by which a new message is older than this is off.
const BEHIND_MS: u64 = 86_400_000;

/// The place where events are shown.
pub struct Screen {
    group: Name,
    json: bool,
    quiet: bool,
    printer: Printer,
}

impl Screen {
    /// For a group. `quiet` shows only messages.
    pub fn new(group: Name, json: bool, quiet: bool, printer: Printer) -> Screen {
        Screen { group, json, quiet, printer }
    }

    /// The output itself.
    pub fn printer(&self) -> &Printer {
        &self.printer
    }

    /// Shows an event at `now_ms`, in milliseconds since 1970.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn event(&self, event: &Event, now_ms: u64) -> Result<(), Failure> {
        if self.json {
            return self.line(|| json_of(event, now_ms));
        }
        match event {
            Event::Message { stream, seq, message, is_live } => {
                self.printer.result(self.message(stream, *seq, message, *is_live, now_ms))
            }
            Event::Here(member) => self.note(&format!("{} is here", self.label(member))),
            Event::Gone { member, has_left } => {
                let how = if *has_left { "has left" } else { "is silent, and counts as gone" };
                self.note(&format!("{} {how}", self.label(member)))
            }
            Event::Missing { stream, low, high, count } => {
                let of = self.label(&stream.name);
                self.note(&match count {
                    1 => format!("message #{low} of {of} could not be fetched"),
                    _ => {
                        format!("{count} messages of {of}, #{low} to #{high}, could not be fetched")
                    }
                })
            }
            Event::Rejected(why) => self.note(&format!("rejected {}", shortened(why, 600))),
        }
    }

    /// Shows a line about the chat itself, on standard error.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn note(&self, text: &str) -> Result<(), Failure> {
        if self.json {
            return self.line(|| ChatLine::Note { text: text.to_owned() });
        }
        match self.quiet {
            true => Ok(()),
            false => self.printer.note(format!("* {}", visible(text))),
        }
    }

    /// Shows that something went wrong that does not end the chat.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn error(&self, text: &str) -> Result<(), Failure> {
        if self.json {
            return self.line(|| ChatLine::Error { text: text.to_owned() });
        }
        self.printer.note(format!("weir chat: {}", visible(text)))
    }

    /// Shows a line of JSON, if JSON is wanted.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn line(&self, line: impl FnOnce() -> ChatLine) -> Result<(), Failure> {
        if self.json { self.printer.result(json_text(&line())) } else { Ok(()) }
    }

    /// Shows the members: those that are here, and the last publications of all.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn members(&self, room: &Room, now: Time) -> Result<(), Failure> {
        let own = room.member().own();
        let seq = room.member().seq();
        let mut members = vec![Known {
            member: own.name.to_string(),
            boot: own.boot,
            seq,
            confirmed: seq,
            here: true,
            is_self: true,
        }];
        let mut lines = vec![format!("{}: you", self.label(&own.name))];
        for (stream, entry) in room.member().others() {
            let seen = room.presence().get(&stream.name);
            let here = seen.is_some_and(|seen| seen.is_here);
            members.push(Known {
                member: stream.name.to_string(),
                boot: stream.boot,
                seq: entry.seq,
                confirmed: entry.confirmed,
                here,
                is_self: false,
            });
            let state = match seen {
                Some(seen) if here => format!("here, seen {} ago", now.since(seen.at)),
                Some(_) => "gone".to_owned(),
                None => "known from others".to_owned(),
            };
            let seq = entry.seq;
            let (name, start) = (self.label(&stream.name), human_instant(stream.boot));
            let messages = counted(seq, "message");
            lines.push(format!("{name}: {state}; {messages} since {start}"));
        }
        if self.json {
            return self.line(|| ChatLine::Members { members });
        }
        lines.into_iter().try_for_each(|line| self.printer.result(line))
    }

    /// A member's name, without the group's if it is below it.
    fn label(&self, member: &Name) -> String {
        let (group, name) = (self.group.as_ref(), member.as_ref());
        let text = match name.starts_with(group) && name.len() > group.len() {
            true => {
                let rest = name.suffix(group.len()).to_name().to_string();
                rest.trim_start_matches('/').to_owned()
            }
            false => member.to_string(),
        };
        shortened(&text, 200)
    }

    fn message(
        &self,
        stream: &Stream,
        seq: u64,
        message: &Message,
        is_live: bool,
        now_ms: u64,
    ) -> String {
        let time = human_instant(message.time_ms / 1_000);
        let when = match is_clock_off(stream, message, is_live, now_ms) {
            true => format!("#{seq}, clock off"),
            // `2026-11-20 14:03:07 UTC`: the day only if it is another one.
            false if now_ms / BEHIND_MS == message.time_ms / BEHIND_MS => time[11..19].to_owned(),
            false => time[..19].to_owned(),
        };
        let text = match &message.body {
            Body::Text(text) => shortened(text, MOST_LETTERS),
            Body::File { object, bytes } => {
                format!("(file of {}) /get {}", Size(*bytes), shortened(&object.to_string(), 600))
            }
            Body::Joined => "(has joined)".to_owned(),
            Body::Left => "(has left)".to_owned(),
            Body::Unknown(_) => "(a message of an unknown kind)".to_owned(),
        };
        format!("[{when}] {}: {text}", self.label(&stream.name))
    }
}

/// True if the sender's clock cannot be right: its order is that of the numbers then.
fn is_clock_off(stream: &Stream, message: &Message, is_live: bool, now_ms: u64) -> bool {
    let start_ms = stream.boot.saturating_mul(1_000);
    message.time_ms > now_ms.saturating_add(AHEAD_MS)
        || message.time_ms.saturating_add(AHEAD_MS) < start_ms
        || (is_live && message.time_ms.saturating_add(BEHIND_MS) < now_ms)
}

fn json_of(event: &Event, now_ms: u64) -> ChatLine {
    match event {
        Event::Here(member) => ChatLine::Here { member: member.to_string() },
        Event::Gone { member, has_left } => {
            ChatLine::Gone { member: member.to_string(), left: *has_left }
        }
        Event::Missing { stream, low, high, count } => ChatLine::Missing {
            member: stream.name.to_string(),
            boot: stream.boot,
            low: *low,
            high: *high,
            count: *count,
        },
        Event::Rejected(why) => ChatLine::Rejected { why: why.clone() },
        Event::Message { stream, seq, message, is_live } => {
            let sent = Sent {
                member: stream.name.to_string(),
                boot: stream.boot,
                seq: *seq,
                time_ms: message.time_ms,
                live: *is_live,
                clock_off: is_clock_off(stream, message, *is_live, now_ms),
            };
            match &message.body {
                Body::Text(text) => ChatLine::Message { sent, text: text.clone() },
                Body::File { object, bytes } => {
                    ChatLine::File { sent, name: object.to_string(), bytes: *bytes }
                }
                _ => ChatLine::Unknown { sent },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_MS: u64 = 1_736_266_473_000;

    fn stream() -> Stream {
        Stream { name: "/chat/alice".parse().unwrap(), boot: NOW_MS / 1_000 - 60 }
    }

    fn shown(time_ms: u64, is_live: bool, text: &str) -> String {
        let screen =
            Screen::new("/chat".parse().unwrap(), false, false, Printer::start(None).unwrap());
        let message = Message { time_ms, body: Body::Text(text.to_owned()) };
        screen.message(&stream(), 7, &message, is_live, NOW_MS)
    }

    #[test]
    fn a_message_has_time_and_member() {
        assert_eq!(shown(NOW_MS, true, "hi"), "[16:14:33] alice: hi");
    }

    #[test]
    fn clocks_that_are_off_are_replaced_by_the_number() {
        let off = "[#7, clock off] alice: hi";
        assert_eq!(shown(NOW_MS + 10 * 365 * BEHIND_MS, true, "hi"), off);
        assert_eq!(shown(0, false, "hi"), off, "before its own start");
        assert_eq!(shown(u64::MAX, true, "hi"), off);
        assert_eq!(shown(NOW_MS - 30_000, false, "hi"), "[16:14:03] alice: hi");
    }

    #[test]
    fn hostile_text_changes_no_terminal() {
        let text = "\x1b[2J\u{9b}31m\u{202e}evil\u{2066}\r\nbob: pay\u{7}\0";
        let line = shown(NOW_MS, true, text);
        assert!(line.chars().all(|c| (' '..='~').contains(&c)), "{line:?}");
        assert!(shown(NOW_MS, true, &"ä".repeat(100_000)).chars().count() < 4_100);
    }
}
