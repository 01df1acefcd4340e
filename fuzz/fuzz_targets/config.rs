//! Any text is a configuration or has mistakes, each with its place in the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use net::config::{ConfigError, parse};

fuzz_target!(|text: &str| {
    if let Err(error) = parse(text, "fuzz.toml") {
        let ConfigError::Mistakes(mistakes) = &error else { panic!("{error}") };
        assert!(!mistakes.is_empty());
        for mistake in mistakes {
            assert!(mistake.line >= 1 && mistake.line <= text.lines().count() + 1);
        }
        assert!(error.to_string().contains("fuzz.toml:"));
    }
});
