//! The committed reference manual is what the tables say.

use std::path::Path;

/// Set `WEIR_REGENERATE=1` to write the file again.
#[test]
fn the_manual_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/schemes.md");
    let current = schemes::reference::markdown();
    if std::env::var_os("WEIR_REGENERATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &current).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == current,
        "docs/reference/schemes.md is out of date; run \
         WEIR_REGENERATE=1 cargo test -p schemes --test reference"
    );
}
