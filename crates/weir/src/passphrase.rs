//! Passphrases: the first line of a file, or what is typed at the terminal without being shown.

use crate::exit::{Failure, Kind};
use crate::signals::Stop;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use zeroize::Zeroizing;

/// A passphrase in memory, overwritten when it is dropped.
pub type Passphrase = Zeroizing<String>;

/// A longer line is none.
const MOST: u64 = 4096;

/// A passphrase that exists.
///
/// # Errors
/// The file cannot be read, or there is no terminal.
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
    let failed = |error: io::Error| {
        let message = format!("cannot read --passphrase-file {}: {error}", path.display());
        Failure::new(Kind::File, message).then("its first line is the passphrase")
    };
    line(File::open(path).map_err(failed)?).map_err(failed)
}

fn typed(prompt: &str) -> Result<Passphrase, Failure> {
    let failed = |error: io::Error| {
        Failure::new(Kind::Usage, format!("no terminal to ask for a passphrase: {error}"))
            .then("put it into a file and name that with --passphrase-file")
    };
    let mut terminal =
        OpenOptions::new().read(true).write(true).open("/dev/tty").map_err(failed)?;
    // A signal must not end the process while the terminal shows nothing of what is typed.
    let stop = Stop::listen().map_err(failed)?;
    let shown = tcgetattr(&terminal).map_err(|error| failed(error.into()))?;
    let mut hidden = shown.clone();
    hidden.local_modes.remove(LocalModes::ECHO);
    (&terminal).write_all(prompt.as_bytes()).map_err(failed)?;
    tcsetattr(&terminal, OptionalActions::Flush, &hidden).map_err(|e| failed(e.into()))?;
    let typed = line(stop.interrupts(&mut terminal));
    let restored = tcsetattr(&terminal, OptionalActions::Flush, &shown);
    restored.map_err(|error| failed(error.into()))?;
    (&terminal).write_all(b"\n").map_err(failed)?;
    if stop.requested() {
        return Err(Failure::new(Kind::Interrupted, "interrupted before the passphrase was typed")
            .then("run the same command again"));
    }
    typed.map_err(failed)
}

fn line(from: impl Read) -> io::Result<Passphrase> {
    // The exact size, so that growing leaves no copies in memory.
    let mut line = Zeroizing::new(String::with_capacity(MOST as usize));
    BufReader::new(from.take(MOST)).read_line(&mut line)?;
    let len = line.trim_end_matches(['\r', '\n']).len();
    line.truncate(len);
    Ok(line)
}
