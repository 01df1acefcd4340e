//! The lines of a text file, which may be compressed with gzip.

use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::Path;

/// The longest line, in bytes.
const LONGEST: u64 = 1 << 16;

/// The lines of a file, without empty ones.
pub struct Lines {
    file: String,
    from: Box<dyn BufRead + Send>,
    line: String,
    /// The number of `line`, from 1.
    number: u64,
}

impl Lines {
    /// Opens a file.
    ///
    /// # Errors
    /// The text of an error that names the file.
    pub fn open(path: &Path) -> Result<Lines, String> {
        let file = path.display().to_string();
        match reader(path) {
            Ok(Some(from)) => Ok(Lines { file, from, line: String::new(), number: 0 }),
            Ok(None) => Err(format!("cannot read {file}: it is a folder")),
            Err(error) => Err(format!("cannot read {file}: {}", error.to_string().to_lowercase())),
        }
    }

    /// The next line that is not empty, without its end.
    ///
    /// # Errors
    /// The text of an error that names file and line.
    pub fn read(&mut self) -> Result<Option<&str>, String> {
        loop {
            self.line.clear();
            self.number += 1;
            let read = (&mut self.from).take(LONGEST).read_line(&mut self.line);
            match read {
                Ok(0) => return Ok(None),
                Ok(many) if many as u64 == LONGEST => {
                    return Err(self.wrong(&format!("a line of more than {LONGEST} bytes")));
                }
                Ok(_) => {}
                Err(error) => return Err(self.wrong(&format!("cannot read on: {error}"))),
            }
            let end = self.line.trim_end_matches(['\n', '\r']).len();
            if end > 0 {
                return Ok(Some(&self.line[..end]));
            }
        }
    }

    /// A message about the line that was read last.
    pub fn wrong(&self, why: &str) -> String {
        format!("{}:{}: {why}", self.file, self.number)
    }
}

/// Reads a file from its beginning; `None` if it is a folder.
fn reader(path: &Path) -> io::Result<Option<Box<dyn BufRead + Send>>> {
    let mut file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Ok(None);
    }
    let mut magic = [0; 2];
    let many = file.read(&mut magic)?;
    file.rewind()?;
    Ok(Some(if magic[..many] == [0x1f, 0x8b] {
        Box::new(BufReader::new(MultiGzDecoder::new(BufReader::new(file))))
    } else {
        Box::new(BufReader::new(file))
    }))
}
