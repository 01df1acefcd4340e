//! The directives that select log lines, as in `log = "info,net=debug"`.

use tracing_subscriber::filter::{LevelFilter, Targets};

/// The lines that directives like `info,net=debug` pass.
///
/// The log library's own reader of directives (`EnvFilter`) is not safe for any text: it panics
/// where a blank and letters of several bytes meet, and takes a field's value for a regular
/// expression of any size.
///
/// # Errors
///
/// The fault: an unknown level, or no directive at all.
pub(crate) fn filter(directives: &str) -> Result<Targets, String> {
    let mut wanted = Targets::new();
    for directive in directives.split(',') {
        wanted = match directive.split_once('=') {
            Some((target, word)) => wanted.with_target(target.trim(), level(word.trim())?),
            None => wanted.with_default(level(directive.trim())?),
        };
    }
    Ok(wanted)
}

fn level(word: &str) -> Result<LevelFilter, String> {
    // The library takes nothing for `error`.
    let known = if word.is_empty() { None } else { word.parse().ok() };
    known.ok_or_else(|| format!("`{word}` is not a log level"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::Level;

    #[test]
    fn directives_say_which_lines_are_written() {
        let all = filter("debug").unwrap();
        assert!(all.would_enable("net::daemon", &Level::DEBUG));
        assert!(!all.would_enable("net::daemon", &Level::TRACE));
        for text in ["warn,net=debug,net::faces=off", " net::faces = off , warn , net = debug"] {
            let some = filter(text).unwrap();
            assert!(some.would_enable("net::daemon", &Level::DEBUG));
            assert!(!some.would_enable("net::faces", &Level::ERROR));
            assert!(some.would_enable("mio", &Level::WARN));
            assert!(!some.would_enable("mio", &Level::INFO));
        }
    }

    #[test]
    fn errors_name_the_invalid_level() {
        for (text, named) in [
            ("", "``"),
            ("inof", "`inof`"),
            ("info,", "``"),
            ("info,net=loud", "`loud`"),
            ("net=", "``"),
            ("[span{field=o{9}}]", "`o{9}}]`"),
            ("\tn\u{d02de}[]", "`n\u{d02de}[]`"),
        ] {
            let rejection = filter(text).unwrap_err();
            assert_eq!(rejection, format!("{named} is not a log level"), "{text}");
        }
    }
}
