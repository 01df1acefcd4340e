//! Reading and writing the files of a key chain.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use packet::{Name, NameRef};
use sha2::{Digest as _, Sha256};
use zeroize::{Zeroize as _, Zeroizing};

use super::error::{KeyChainError, MAX_FILE, Problem};
use crate::base64_text;
use crate::key::SecretKey;

const WARNING: &str =
    "A secret key for Named Data Networking: whoever has this file can sign as its owner.";
const ARMOUR: [&str; 2] = ["-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"];
const NAME: &str = "Name: ";
/// Begins the names of files that are being written.
pub(super) const TEMPORARY: &str = ".tmp-";

/// Most readable bytes of a name that a file name takes over.
const MAX_SLUG: usize = 64;

/// The file name, without extension, for files of the key named `name`.
pub(super) fn stem(name: NameRef<'_>) -> String {
    let mut stem = String::new();
    for byte in name.to_string().bytes().take(MAX_SLUG) {
        if byte.is_ascii_alphanumeric() {
            stem.push(byte as char);
        } else if !stem.is_empty() && !stem.ends_with('-') {
            stem.push('-');
        }
    }
    if !stem.ends_with('-') {
        stem.push('-');
    }
    for byte in &Sha256::digest(name.as_bytes())[..8] {
        stem.push_str(&format!("{byte:02x}"));
    }
    stem
}

/// The text of a secret's file.
pub(super) fn secret_text(name: &Name, secret: &SecretKey) -> Zeroizing<String> {
    armoured(WARNING, name, ARMOUR, &secret.to_pkcs8())
}

/// A text with a header line, a name, and base64 between two lines.
pub(super) fn armoured(
    what: &str,
    name: &Name,
    [begin, end]: [&str; 2],
    bytes: &[u8],
) -> Zeroizing<String> {
    let lines = base64_text::encode(bytes);
    let head = format!("{what}\n{NAME}{name}\n");
    let parts = [&head, begin, "\n", &lines, end, "\n"];
    // The exact size, so that growing leaves no half-filled copy of the secret in memory.
    let len = parts.iter().map(|part| part.len()).sum();
    let mut text = Zeroizing::new(String::with_capacity(len));
    text.extend(parts);
    text
}

/// The name in such a text.
pub(super) fn parse_name(text: &str) -> Result<Name, Problem> {
    let head = text.lines().take_while(|line| !line.starts_with("-----BEGIN"));
    let line = head.filter_map(|line| line.strip_prefix(NAME)).next();
    line.and_then(|name| name.trim_end().parse().ok()).ok_or(Problem::NoName)
}

/// The bytes between the two lines.
pub(super) fn parse_armoured(
    text: &str,
    [begin, end]: [&'static str; 2],
) -> Result<Zeroizing<Vec<u8>>, Problem> {
    let (_, after) = text.split_once(begin).ok_or(Problem::NoArmour(begin))?;
    let (body, _) = after.split_once(end).ok_or(Problem::NoArmour(begin))?;
    base64_text::decode(body).ok_or(Problem::Base64)
}

/// The secret in a secret's file.
pub(super) fn parse_secret(text: &str) -> Result<SecretKey, Problem> {
    Ok(SecretKey::from_pkcs8(&parse_armoured(text, ARMOUR)?)?)
}

/// Reads a text file of limited size; a secret's only if no other user can read it.
pub(crate) fn read(path: &Path, secret: bool) -> Result<Zeroizing<String>, KeyChainError> {
    let file = File::open(path).map_err(KeyChainError::io("read", path))?;
    // Queries the open file instead of the path, which may have changed in between.
    let metadata = file.metadata().map_err(KeyChainError::io("read", path))?;
    if secret && let Some(mode) = bits(&metadata, 0o077) {
        return Err(KeyChainError::Exposed { path: path.to_owned(), mode });
    }
    let mut bytes = Zeroizing::new(Vec::with_capacity(metadata.len().min(MAX_FILE) as usize + 1));
    let mut limited = file.take(MAX_FILE + 1);
    limited.read_to_end(&mut bytes).map_err(KeyChainError::io("read", path))?;
    let problem = if bytes.len() as u64 > MAX_FILE {
        Problem::TooBig
    } else {
        match String::from_utf8(std::mem::take(&mut *bytes)) {
            Ok(text) => return Ok(Zeroizing::new(text)),
            Err(not_text) => {
                not_text.into_bytes().zeroize();
                Problem::NotText
            }
        }
    };
    Err(KeyChainError::Damaged { path: path.to_owned(), problem })
}

/// Writes `text` to `path` atomically, readable only by the owner. With `replace` false, an
/// existing file is kept and the error has the kind `AlreadyExists`.
pub(super) fn write(path: &Path, text: &str, replace: bool) -> Result<(), KeyChainError> {
    write_atomically(path, text, replace).map_err(KeyChainError::io("write", path))
}

fn write_atomically(path: &Path, text: &str, replace: bool) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    // Temporary files have mode 0600 from the start.
    let mut file = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(dir)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    if replace {
        file.persist(path)?;
    } else {
        file.persist_noclobber(path)?;
    }
    sync(dir)
}

/// Removes a file; a missing file is not an error.
pub(super) fn remove(path: &Path) -> Result<(), KeyChainError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(KeyChainError::Io { doing: "delete", path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

/// Creates the directory, mode 0700, if necessary; rejects one that other users can write to.
pub(super) fn prepare(dir: &Path) -> Result<(), KeyChainError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir).map_err(KeyChainError::io("make the key directory", dir))?;
    let metadata =
        fs::metadata(dir).map_err(KeyChainError::io("look at the key directory", dir))?;
    match bits(&metadata, 0o022) {
        Some(mode) => Err(KeyChainError::OpenDirectory { path: dir.to_owned(), mode }),
        None => Ok(()),
    }
}

/// Makes renames and deletions in a directory durable.
pub(super) fn sync(dir: &Path) -> io::Result<()> {
    // Only Unix opens directories as files; elsewhere the file system is trusted to order them.
    if cfg!(unix) { File::open(dir)?.sync_all() } else { Ok(()) }
}

/// The permission bits, if any of `forbidden` is among them.
#[cfg(unix)]
fn bits(metadata: &fs::Metadata, forbidden: u32) -> Option<u32> {
    let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o7777;
    (mode & forbidden != 0).then_some(mode)
}

/// Other systems have no permission bits; the directory's own access rules apply.
#[cfg(not(unix))]
fn bits(_: &fs::Metadata, _: u32) -> Option<u32> {
    None
}
