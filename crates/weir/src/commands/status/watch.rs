//! `weir status --watch`

use super::state::shown;
use crate::exit::{Failure, Kind};
use crate::output;
use crate::signals::Stop;
use control::Duration;
use net::client::Connection;
use std::io::IsTerminal;

/// The time between two requests.
const PERIOD: Duration = Duration::from_secs(1);

/// Shows the state until a signal comes: at the same place of a terminal, otherwise one block after
/// the other.
pub fn run(connection: &mut Connection, as_json: bool, stop: &Stop) -> Result<(), Failure> {
    let on_terminal = !as_json && std::io::stdout().is_terminal();
    let mut is_first = true;
    while !stop.requested() {
        let next = connection.now() + PERIOD;
        let text = match shown(connection, as_json) {
            Err(failure) if failure.kind() == Kind::Interrupted => break,
            text => text?,
        };
        match on_terminal {
            true => output::raw(&redrawn(&text, is_first, output::height(std::io::stdout())))?,
            false if as_json || is_first => output::result(&text)?,
            false => output::result(&format!("\n{text}"))?,
        }
        is_first = false;
        while connection.now() < next && !stop.requested() {
            stop.wait();
        }
    }
    Ok(())
}

/// The text with the control sequences of ECMA-48 that put it into the place of the former one.
/// Clearing line by line avoids the flicker of an empty screen. Lines without room are left out,
/// because a terminal would move the first ones out of sight.
fn redrawn(text: &str, is_first: bool, rows: Option<usize>) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    // The cursor needs the last row.
    let room = rows.map_or(usize::MAX, |rows| rows.saturating_sub(1).max(1));
    let more = match lines.len() > room {
        true => format!("… {} more lines", lines.len() - (room - 1)),
        false => String::new(),
    };
    if !more.is_empty() {
        lines.truncate(room - 1);
        lines.push(&more);
    }
    let clear = if is_first { "\x1b[2J" } else { "" };
    format!("{clear}\x1b[H{}\x1b[J", lines.join("\x1b[K\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_takes_the_place_of_the_former_one() {
        assert_eq!(redrawn("a\n\nb", true, None), "\x1b[2J\x1b[Ha\x1b[K\n\x1b[K\nb\x1b[J");
        assert_eq!(redrawn("a\nb", false, Some(3)), "\x1b[Ha\x1b[K\nb\x1b[J");
    }

    #[test]
    fn the_first_lines_stay_in_sight() {
        let shown = redrawn("a\nb\nc\nd", false, Some(4));
        assert_eq!(shown, "\x1b[Ha\x1b[K\nb\x1b[K\n… 2 more lines\x1b[J");
        assert_eq!(redrawn("a\nb", false, Some(1)), "\x1b[H… 2 more lines\x1b[J");
    }
}
