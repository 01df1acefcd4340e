//! The committed header is the one that cbindgen makes of the source.

use cbindgen::{Builder, Config};
use std::path::Path;

#[test]
fn the_header_is_that_of_the_source() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = Config::from_file(root.join("cbindgen.toml")).unwrap();
    let mut made = Vec::new();
    let sources = ["status", "pointers", "connect", "fetch", "publish", "register", "group"];
    let sources = sources.iter().map(|name| root.join("src").join(format!("{name}.rs")));
    let builder = sources.fold(Builder::new().with_config(config), Builder::with_src);
    builder.generate().unwrap().write(&mut made);
    let made = String::from_utf8(made).unwrap();
    // Duties of the caller are in the header's beginning.
    let made = made.replace("///", "//");
    let path = root.join("include/weir.h");
    if std::env::var_os("WEIR_REGENERATE").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == made,
        "include/weir.h differs from the source: \
         WEIR_REGENERATE=1 cargo test --package capi --test header"
    );
}
