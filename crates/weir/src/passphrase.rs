//! Passphrases: the first line of a file, or hidden input of the terminal.

use crate::exit::{Failure, Kind};
use crate::signals::Stop;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use zeroize::Zeroizing;

/// A passphrase in memory, overwritten when it is dropped.
pub type Passphrase = Zeroizing<String>;

/// The maximum length of a passphrase.
const MOST: u64 = 4096;

/// An existing passphrase.
///
/// # Errors
/// The file cannot be read, or the program has no terminal.
pub fn known(file: Option<&Path>) -> Result<Passphrase, Failure> {
    match file {
        Some(path) => first_line(path),
        None => typed("Passphrase: "),
    }
}

/// A new passphrase, which has to be typed twice and may not be empty.
///
/// # Errors
/// As for [`known`].
pub fn new(file: Option<&Path>) -> Result<Passphrase, Failure> {
    let passphrase = known(file)?;
    if passphrase.is_empty() {
        return Err(Failure::new(Kind::Usage, "an empty passphrase protects nothing")
            .then("choose another one"));
    }
    if file.is_none() && *typed("The same again: ")? != *passphrase {
        return Err(Failure::new(Kind::Usage, "the two passphrases differ").then("try again"));
    }
    Ok(passphrase)
}

fn first_line(path: &Path) -> Result<Passphrase, Failure> {
    File::open(path).and_then(line).map_err(|error| {
        let message = format!("cannot read --passphrase-file {}: {error}", path.display());
        Failure::new(Kind::File, message).then("its first line is the passphrase")
    })
}

fn typed(prompt: &str) -> Result<Passphrase, Failure> {
    let mut terminal = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/tty")
        .map_err(|error| no_terminal(&error))?;
    // A signal must not end the process while the terminal hides its input.
    let stop = Stop::listen().map_err(|error| no_terminal(&error))?;
    let typed = hidden_line(&mut terminal, prompt, &stop);
    if stop.requested() {
        return Err(Failure::new(Kind::Interrupted, "interrupted before the passphrase was typed")
            .then("run the same command again"));
    }
    typed.map_err(|error| no_terminal(&error))
}

/// Reads a line that the terminal does not show.
fn hidden_line(terminal: &mut File, prompt: &str, stop: &Stop) -> io::Result<Passphrase> {
    let shown = tcgetattr(&*terminal)?;
    let mut hidden = shown.clone();
    hidden.local_modes.remove(LocalModes::ECHO);
    terminal.write_all(prompt.as_bytes())?;
    tcsetattr(&*terminal, OptionalActions::Flush, &hidden)?;
    let typed = line(stop.interrupts(&mut *terminal));
    tcsetattr(&*terminal, OptionalActions::Flush, &shown)?;
    terminal.write_all(b"\n")?;
    typed
}

fn no_terminal(error: &io::Error) -> Failure {
    Failure::new(Kind::Usage, format!("no terminal to ask for a passphrase: {error}"))
        .then("put it into a file and name that with --passphrase-file")
}

fn line(from: impl Read) -> io::Result<Passphrase> {
    // The exact size, so that growing leaves no copies in memory.
    let mut line = Zeroizing::new(String::with_capacity(MOST as usize));
    BufReader::new(from.take(MOST)).read_line(&mut line)?;
    let len = line.trim_end_matches(['\r', '\n']).len();
    line.truncate(len);
    Ok(line)
}
