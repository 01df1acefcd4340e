//! The command line: names, quantities, schemes with parameters, addresses. Any words are a command
//! or have a message that says why not; a quantity's text means the same when it is read again.
//!
//! The input is text, one argument a line. Its last line is also read as each kind of value alone.
#![no_main]

// As the manual's test has it.
#[path = "../../crates/weir/src/cli.rs"]
#[allow(dead_code, reason = "the program uses all of it")]
mod cli;

use clap::Parser;
use cli::{Cli, Command, TransferArgs};
use control::{Duration, Rate, Ratio, Size};
use libfuzzer_sys::fuzz_target;
use net::uri::FaceUri;
use packet::Name;
use schemes::Choice;

fuzz_target!(|text: &str| {
    let words: Vec<&str> = text.lines().collect();
    value(words.last().copied().unwrap_or_default());
    // The program's own name is the first one.
    match Cli::try_parse_from(std::iter::once("weir").chain(words)) {
        Ok(Cli { command: Command::Get(args) }) => scheme(&args.transfer),
        Ok(Cli { command: Command::Gateway(args) }) => scheme(&args.transfer),
        Ok(_) => {}
        Err(error) => {
            assert!(!error.to_string().trim().is_empty());
            assert!([0, 2].contains(&error.exit_code()));
        }
    }
});

/// The scheme and its parameters, as `weir get` reads them.
fn scheme(args: &TransferArgs) {
    let mut choice: Choice = match args.control.parse() {
        Ok(choice) => choice,
        Err(error) => {
            let error: schemes::ChoiceError = error;
            return assert!(!error.to_string().is_empty());
        }
    };
    for (name, value) in args.set.iter().filter_map(|set| set.split_once('=')) {
        let _ = choice.set(name, value);
    }
    // Every value that was accepted makes a controller, if the scheme has one.
    assert_eq!(choice.controller().is_ok(), choice.scheme().controller.is_some());
}

fn value(text: &str) {
    // The text has three digits, so that reading it again may round, once.
    if let Ok(rate) = text.parse::<Rate>() {
        assert!(rate.to_string().parse::<Rate>().is_ok(), "{rate}");
    }
    if let Ok(size) = text.parse::<Size>() {
        assert!(size.to_string().parse::<Size>().is_ok(), "{size}");
    }
    if let Ok(span) = text.parse::<Duration>() {
        assert!(span.to_string().parse::<Duration>().is_ok(), "{span}");
    }
    if let Ok(ratio) = text.parse::<Ratio>() {
        assert!((0.0..=1.0).contains(&ratio.get()), "{text}");
        assert!(ratio.to_string().parse::<Ratio>().is_ok(), "{ratio}");
    }
    if let Ok(name) = text.parse::<Name>() {
        assert_eq!(name.to_string().parse::<Name>().as_ref(), Ok(&name));
    }
    if let Ok(uri) = text.parse::<FaceUri>() {
        let again = uri.to_string().parse::<FaceUri>().map(|again| again.to_string());
        assert_eq!(again.ok(), Some(uri.to_string()), "{text}");
    }
}
