//! The committed manual of the commands is equal to the one generated from the command line.

#[path = "../src/cli.rs"]
mod cli;

use clap::{Arg, Command, CommandFactory};
use std::fmt::Write;
use std::path::Path;

/// Set `WEIR_REGENERATE=1` to write the file again.
#[test]
fn the_manual_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/commands.md");
    let current = markdown();
    if std::env::var_os("WEIR_REGENERATE").is_some() {
        std::fs::write(&path, &current).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == current,
        "docs/reference/commands.md is out of date; run \
         WEIR_REGENERATE=1 cargo test -p weir --test reference"
    );
}

fn markdown() -> String {
    let mut weir = cli::Cli::command();
    weir.build();
    let mut out = String::from(
        "# Commands\n\nGenerated from the program's description of its command line, as in `weir \
         COMMAND --help`; a test compares.\n\n",
    );
    commands(&mut out, &weir, "weir");
    out.push_str(EXIT_CODES);
    out.push_str(
        "\n## JSON\n\nEach command with `--json` has a JSON Schema: [JSON output](json.md) has \
         the fields of all, and of errors.\n",
    );
    out
}

/// A command, then those below it.
fn commands(out: &mut String, command: &Command, path: &str) {
    let below: Vec<_> = command.get_subcommands().filter(|c| c.get_name() != "help").collect();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    if below.is_empty() {
        let usage = command.clone().render_usage().to_string();
        let usage = usage.trim_start_matches("Usage: ");
        let _ =
            writeln!(out, "## `{path}`\n\n{}.\n\n```\n{usage}\n```\n", about.trim_end_matches('.'));
        let arguments = command.get_arguments().filter(|a| !a.is_hide_set());
        let shown: Vec<_> = arguments.filter(|a| a.get_id() != "help").collect();
        if !shown.is_empty() {
            out.push_str("| argument | meaning | default |\n|---|---|---|\n");
            shown.into_iter().for_each(|argument| row(out, argument, path));
            out.push('\n');
        }
    }
    for command in below {
        commands(out, command, &format!("{path} {}", command.get_name()));
    }
}

fn row(out: &mut String, argument: &Arg, path: &str) {
    let names = argument.get_short().map(|short| format!("-{short}")).into_iter();
    let names = names.chain(argument.get_long().map(|long| format!("--{long}")));
    let mut shown = names.collect::<Vec<_>>().join(", ");
    if argument.is_positional() || argument.get_action().takes_values() {
        let values = argument.get_value_names().unwrap_or_default();
        let value = values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        shown = format!("{shown} {value}").trim().to_owned();
    }
    let help = argument.get_long_help().or(argument.get_help());
    let help = help.map(ToString::to_string).unwrap_or_default().replace(['\n', '|'], " ");
    let mut help = help.trim_end_matches('.').to_owned();
    if argument.get_long() == Some("json") {
        let file = path.trim_start_matches("weir ").replace(' ', "-");
        help += &format!(": [schema](json/{file}.schema.json)");
    }
    let default: Vec<_> =
        argument.get_default_values().iter().map(|v| v.to_string_lossy()).collect();
    let default = match default.join(" ") {
        none if none.is_empty() || !argument.get_action().takes_values() => String::new(),
        value => format!("`{value}`"),
    };
    let _ = writeln!(out, "| `{shown}` | {help} | {default} |");
}

const EXIT_CODES: &str = "\
## Exit codes

| code | the command |
|---|---|
| 0 | succeeded; `put`, `gateway`, `daemon` also when a signal ended them |
| 1 | failed for another reason; `doctor`: a result is `wrong` |
| 2 | was used wrongly: its command line or a configuration has a mistake |
| 3 | found no such name, or no route to it |
| 4 | rejected a signature or a digest |
| 5 | was interrupted by a signal |
| 6 | found no forwarder, or lost the connection to it |
| 7 | could not read or write a local file or stream |

Every error is one line on standard error: `weir: `, what happened and where, then what to do next;
mistakes in a file follow it, one each, with the line. With `--json` the last line is
[an object](json.md#errors).
A file that `get` could not complete never appears under its name. The received part is in
`FILE.part`, beside a journal of verified segments, and the same command resumes the transfer.
";

/// The short form in `weir --help` has the same codes.
#[test]
fn the_help_knows_every_exit_code() {
    let help = cli::Cli::command().render_help().to_string();
    let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for code in 0..=7 {
        assert!(EXIT_CODES.contains(&format!("| {code} | ")));
        let named = words.contains(&format!(" {code} "));
        assert!(named, "{code} is missing in the help: {words}");
    }
}
