//! How a consumer or a flow of a workload fetches an object, or plays a video.

use super::places::Names;
use crate::model::{Adaptation, Fetching, Objects, Player};
use control::Duration;
use document::{Section, parts};

/// The fields of a player of video.
const OF_PLAYERS: [&str; 4] = ["adaptation", "quality", "buffer", "startup"];

/// Fields of players mean nothing for anything but a video.
pub fn not_a_player(s: &Section<'_>) {
    for field in OF_PLAYERS.iter().filter(|field| s.given(field).is_some()) {
        s.mistake(field, "only who asks for a content with `video` has it");
    }
}

/// How a fetch is done.
pub fn fetching(s: &Section<'_>, names: &Names<'_>) -> Option<Fetching> {
    let control = match s.given("control") {
        Some(_) => parts::controller(s, "control"),
        None => names.control.clone(),
    };
    let (patience, lifetime) = (s.quantity("patience")?, s.quantity("lifetime")?);
    let range = s.given("range").and_then(|_| s.number("range"));
    Some(Fetching { control: control?, patience, lifetime, range })
}

/// How a video is played.
pub fn player(s: &Section<'_>, video: &Objects) -> Option<Player> {
    let Objects::Video { ladder, segment, .. } = video else { return None };
    let buffer: Duration = s.quantity("buffer")?;
    let startup: Duration = s.quantity("startup")?;
    if buffer < *segment {
        s.mistake("buffer", "it does not hold a segment of the video");
    }
    if startup > buffer {
        s.mistake("startup", "the `buffer` does not hold as much");
    }
    let quality = s.count("quality");
    let adaptation = match s.word("adaptation") {
        // The paper has a buffer of 240 s, a reservoir of 90 s and a cushion of 126 s.
        0 => Adaptation::Buffer {
            reservoir: buffer.mul_f64(90.0 / 240.0),
            cushion: buffer.mul_f64(126.0 / 240.0),
        },
        1 => Adaptation::Rate { safety: 0.85, memory: 5 },
        _ => Adaptation::Fixed(quality),
    };
    if s.given("quality").is_some() && !matches!(adaptation, Adaptation::Fixed(_)) {
        s.mistake("quality", "only `adaptation = \"fixed\"` has it");
    } else if quality >= ladder.len() {
        s.mistake("quality", &format!("the ladder has {} qualities, from 0 on", ladder.len()));
    }
    Some(Player { adaptation, buffer, startup })
}
