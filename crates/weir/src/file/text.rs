//! Texts that are written as a whole.

use std::io::Write;
use std::path::Path;

/// Written beside its place and moved there, so that it is never half written.
pub fn replace(path: &Path, content: impl AsRef<[u8]>) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file = tempfile::Builder::new()
        .permissions(std::fs::Permissions::from_mode(0o666))
        .tempfile_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(content.as_ref())?;
    file.persist(path).map(drop).map_err(|error| error.error)
}
