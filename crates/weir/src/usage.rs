//! Mistakes on the command line, in one line like every other error.

use crate::cli::Cli;
use crate::exit::{Failure, Kind};
use crate::output;
use clap::error::ErrorKind;
use clap::{CommandFactory, Error};
use std::ffi::OsString;

/// The reaction to the message of the arguments' reader: help and versions are printed and are no
/// failures, the rest is.
pub fn answer(
    error: &Error,
    arguments: impl IntoIterator<Item = impl Into<OsString>>,
) -> Result<(), Failure> {
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => output::result(text.trim_end()),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            output::note(text.trim_end());
            Err(Failure::silent(Kind::Usage, "a command is missing"))
        }
        _ => Err(in_one_line(&text, &command(arguments))),
    }
}

/// True if arguments ask for JSON. They may be wrong otherwise.
pub fn asks_json(arguments: impl IntoIterator<Item = impl Into<OsString>>) -> bool {
    let options = arguments.into_iter().skip(1).map(Into::into);
    options.take_while(|argument: &OsString| argument != "--").any(|option| {
        let option = option.as_encoded_bytes();
        // With a value, which is a mistake, it asks as well.
        option == b"--json" || option.starts_with(b"--json=")
    })
}

/// The command that arguments begin with. The reader does not name it where an option's value is
/// wrong, and calls the program by the name of its file.
fn command(arguments: impl IntoIterator<Item = impl Into<OsString>>) -> String {
    let (mut at, mut words) = (&Cli::command(), "weir".to_owned());
    for argument in arguments.into_iter().skip(1).map(Into::into) {
        let Some(next) = at.find_subcommand(&argument) else { break };
        words = words + " " + next.get_name();
        at = next;
    }
    words
}

/// clap writes paragraphs: the mistake, tips, the usage, the place of more help. The mistake and
/// the tips make the line; the next step names the command with the help.
fn in_one_line(text: &str, command: &str) -> Failure {
    let (mut mistake, mut next) = (String::new(), Vec::new());
    for paragraph in text.split("\n\n") {
        let words = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(words) = words.strip_prefix("error: ") {
            mistake = words.to_owned();
        } else if let Some(tips) = words.strip_prefix("tip: ") {
            next.push(tips.replace(" tip: ", "; "));
        } else if words.starts_with('[') {
            next.push(words);
        }
    }
    for (standard, plain) in [
        ("invalid digit found in string", "it is not a whole number"),
        ("invalid float literal", "it is not a number"),
        ("number too large to fit in target type", "the number is too large"),
    ] {
        mistake = mistake.replace(standard, plain);
    }
    next.push(format!("see `{command} --help`"));
    Failure::new(Kind::Usage, mistake).then(&next.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn message(arguments: &[&str]) -> String {
        let Err(error) = Cli::try_parse_from(arguments) else { panic!("{arguments:?} is right") };
        answer(&error, arguments).unwrap_err().to_string()
    }

    #[test]
    fn mistakes_are_one_line_with_the_way_to_the_help() {
        assert_eq!(
            message(&["weir", "get"]),
            "the following required arguments were not provided: <NAME>; see `weir get --help`"
        );
        let wrong = message(&["weir", "get", "a"]);
        assert!(wrong.starts_with("invalid value 'a' for '<NAME>': `a` is not a name"), "{wrong}");
        for (arguments, part) in [
            (&["weir", "statu"][..], "some similar subcommands exist: 'strategy', 'status'"),
            (&["weir", "get", "/a", "--contrl", "x"], "a similar argument exists: '--control'"),
            (&["weir", "key", "new"], "; see `weir key new --help`"),
            (&["weir", "get", "/a", "--patience", "soon"], "; see `weir get --help`"),
            (
                &["weir", "get", "/a", "--lifetime", "0 ms"],
                "of less than 1 ms is too short; try \"4 s\"",
            ),
            (&["weir", "put", "/a", "f", "--linger", "soon"], "; see `weir put --help`"),
            (&["weir", "gateway", "--client-timeout", "get"], "; see `weir gateway --help`"),
            (&["weir", "gateway", "--clients", "0"], "a number from 1 to 65535, such as 64"),
            (&["weir", "gateway", "--listen", "8080"], "such as 127.0.0.1:8080"),
            (&["weir", "gateway", "--listen", "localhost:0"], "such as 127.0.0.1:8080"),
            (&["weir", "put", "/a", "f", "--linger", "soon"], "`soon` is not a duration"),
            (&["weir", "sim", "run", "f", "--seed", "x"], "it is not a whole number"),
            (&["weir", "sim", "run", "f", "--seed", "-1"], "it is not a whole number"),
            (&["weir", "sim", "run", "f", "--seed", "9223372036854775808"], "9223372036854775807"),
        ] {
            let message = message(arguments);
            assert!(message.contains(part) && !message.contains('\n'), "{message}");
        }
    }

    #[test]
    fn json_is_asked_for_by_an_option_alone() {
        assert!(asks_json(["weir", "get", "/a", "--json"]) && asks_json(["weir", "gt", "--json"]));
        assert!(asks_json(["weir", "status", "--json=yes"]) && !asks_json(["weir", "--jsons"]));
        assert!(!asks_json(["--json", "get"]) && !asks_json(["weir", "get", "--", "--json"]));
    }
}
