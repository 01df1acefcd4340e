//! Mistakes on the command line, told in one line like every other error.

use crate::exit::{Failure, Kind};
use crate::output;
use clap::Error;
use clap::error::ErrorKind;

/// What to do about what the command line's reader says: help and versions are printed and are no
/// failures, the rest is.
pub fn answer(error: &Error) -> Result<(), Failure> {
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => output::result(text.trim_end()),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            output::note(text.trim_end());
            Err(Failure::silent(Kind::Usage))
        }
        _ => Err(Failure::new(Kind::Usage, one_line(&text))),
    }
}

/// The reader writes paragraphs: the mistake, tips, the usage, where there is more. The mistake and
/// the tips make the line; of the usage only the command is kept, whose help is named.
fn one_line(text: &str) -> String {
    let mut line = String::new();
    let mut command = "weir".to_owned();
    for paragraph in text.split("\n\n") {
        let words = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(mistake) = words.strip_prefix("error: ") {
            line = mistake.to_owned();
        } else if let Some(usage) = words.strip_prefix("Usage: ") {
            let is_word = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase());
            command = usage.split(' ').take_while(is_word).collect::<Vec<_>>().join(" ");
        } else if let Some(tips) = words.strip_prefix("tip: ") {
            line = line + "; " + &tips.replace(" tip: ", "; ");
        } else if words.starts_with('[') {
            line = line + "; " + &words;
        }
    }
    line + "; see `" + &command + " --help`"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::Parser;

    fn said(arguments: &[&str]) -> String {
        let Err(error) = Cli::try_parse_from(arguments) else { panic!("{arguments:?} is right") };
        answer(&error).unwrap_err().to_string()
    }

    #[test]
    fn mistakes_are_one_line_with_the_way_to_the_help() {
        assert_eq!(
            said(&["weir", "get"]),
            "the following required arguments were not provided: <NAME>; see `weir get --help`"
        );
        let wrong = said(&["weir", "get", "a"]);
        assert!(wrong.starts_with("invalid value 'a' for '<NAME>': `a` is not a name"), "{wrong}");
        for (arguments, part) in [
            (&["weir", "statu"][..], "some similar subcommands exist: 'strategy', 'status'"),
            (&["weir", "get", "/a", "--contrl", "x"], "a similar argument exists: '--control'"),
            (&["weir", "key", "new"], "; see `weir key new --help`"),
            (&["weir", "put", "/a", "f", "--linger", "soon"], "`soon` is not a duration"),
        ] {
            let said = said(arguments);
            assert!(said.contains(part) && !said.contains('\n'), "{said}");
        }
    }
}
