//! The names of the management protocol.

use packet::{Name, NameRef};

fn of(words: [&[u8]; 2]) -> Name {
    words.into_iter().map(packet::Component::generic).collect()
}

/// The names that it answers to applications of this host.
#[must_use]
pub fn prefixes() -> [Name; 2] {
    [of([b"localhost", b"nfd"]), of([b"localhost", b"weir"])]
}

/// The names that it answers to peers, if any may command.
#[must_use]
pub fn remote_prefix() -> Name {
    of([b"localhop", b"nfd"])
}

/// True if peers may use the name.
pub(super) fn is_remote(name: NameRef<'_>) -> bool {
    name.first().is_some_and(|first| first.value() == b"localhop")
}

/// The module and the verb of a command's name; less if the name is shorter.
pub(super) fn verb(name: NameRef<'_>) -> String {
    let words = (2..4).filter_map(|i| name.get(i)).map(|c| c.to_string());
    words.collect::<Vec<_>>().join("/")
}

/// True if `name` is under one of the management prefixes, which no application may register.
#[must_use]
pub fn is_reserved(name: NameRef<'_>) -> bool {
    prefixes().iter().any(|p| name.starts_with(p.as_ref()) || p.as_ref().starts_with(name))
        && name.first().is_some()
        || name.starts_with(remote_prefix().as_ref())
}
