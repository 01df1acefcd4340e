//! How a consumer or a flow of a workload fetches an object, or plays a video.

use crate::model::{Adaptation, Fetching, Objects, Player};
use crate::places::Names;
use crate::schema::{AdaptationWord, FetchSection, PlayerSection};
use document::Section;

/// The fields of a player of video.
const OF_PLAYERS: [&str; 4] = ["adaptation", "quality", "buffer", "startup"];

/// Fields of players mean nothing for anything but a video.
pub fn not_a_player(s: &Section<'_>) {
    for field in OF_PLAYERS.iter().filter(|field| s.given(field).is_some()) {
        s.misplaced(field, "only a consumer or workload of a content with `video` has it");
    }
}

/// How a fetch is done.
pub fn fetching(s: &Section<'_>, names: &Names<'_>, fetch: &FetchSection) -> Option<Fetching> {
    let control = match s.given("control") {
        Some(_) => fetch.control.clone(),
        None => names.control.clone(),
    };
    let FetchSection { patience, lifetime, range, .. } = *fetch;
    Some(Fetching { control: control?, patience, lifetime, range })
}

/// How a video is played.
pub fn player(s: &Section<'_>, video: &Objects, player: PlayerSection) -> Option<Player> {
    let Objects::Video { ladder, segment, .. } = video else { return None };
    let PlayerSection { adaptation, quality, buffer, startup } = player;
    if buffer < *segment {
        s.mistake("buffer", "it does not hold a segment of the video");
    }
    if startup > buffer {
        s.mistake("startup", "the `buffer` does not hold as much");
    }
    let adaptation = match adaptation {
        // The paper has a buffer of 240 s, a reservoir of 90 s and a cushion of 126 s.
        AdaptationWord::Buffer => Adaptation::Buffer {
            reservoir: buffer.mul_f64(90.0 / 240.0),
            cushion: buffer.mul_f64(126.0 / 240.0),
        },
        AdaptationWord::Rate => Adaptation::Rate { safety: 0.85, memory: 5 },
        AdaptationWord::Fixed => Adaptation::Fixed(quality),
    };
    if s.given("quality").is_some() && !matches!(adaptation, Adaptation::Fixed(_)) {
        s.mistake("quality", "only `adaptation = \"fixed\"` has it");
    } else if quality >= ladder.len() {
        s.mistake("quality", &format!("the ladder has {} qualities, from 0 on", ladder.len()));
    }
    Some(Player { adaptation, buffer, startup })
}
