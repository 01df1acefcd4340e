//! Small files of the user, read whole. A device such as /dev/zero has no end, so reading stops.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// The most bytes of a file.
const MOST: u64 = 16_000_000;

/// The text of a configuration, of rules or of a certificate.
///
/// # Errors
/// It cannot be read, is no text, or has more than 16 MB.
pub fn text(path: &Path) -> io::Result<String> {
    String::from_utf8(bytes(path)?)
        .map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not text in UTF-8"))
}

/// The content of such a file that is no text.
///
/// # Errors
/// It cannot be read, or has more than 16 MB.
pub fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    File::open(path)?.take(MOST + 1).read_to_end(&mut content)?;
    if content.len() as u64 > MOST {
        let why = "it has more than 16 MB";
        return Err(io::Error::new(ErrorKind::FileTooLarge, why));
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_an_end_and_other_than_text_are_errors() {
        let problem = |path: &Path| text(path).unwrap_err().to_string();
        assert_eq!(problem(Path::new("/dev/zero")), "it has more than 16 MB");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, b"\xff\xfe").unwrap();
        assert_eq!(problem(&path), "it is not text in UTF-8");
        File::options().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(problem(&path), "it has more than 16 MB");
        std::fs::write(&path, "text").unwrap();
        assert_eq!(text(&path).unwrap(), "text");
    }
}
