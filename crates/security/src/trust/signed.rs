//! Signed items: a packet, or a command, which is an Interest.

use std::borrow::Cow;

use packet::{Data, KeyLocator, NameRef, SignatureType};

/// Something signed.
#[derive(Debug, Clone)]
pub struct Signed<'a> {
    /// Its name, as messages have it.
    pub name: NameRef<'a>,
    /// The input of rules.
    pub role: Role<'a>,
    /// The signature's type.
    pub kind: SignatureType,
    /// The claimed signing key.
    pub key: Option<KeyLocator<'a>>,
    /// The signed portion.
    pub portion: Cow<'a, [u8]>,
    /// The signature itself.
    pub value: &'a [u8],
}

/// The input of rules.
#[derive(Debug, Clone, Copy)]
pub enum Role<'a> {
    /// A packet, by its name.
    Packet,
    /// A command.
    Command {
        /// The name of its subject, for rules; empty without one.
        about: NameRef<'a>,
        /// The name of its Interest as signed, for models.
        interest: NameRef<'a>,
    },
}

impl<'a> From<&Data<'a>> for Signed<'a> {
    fn from(data: &Data<'a>) -> Signed<'a> {
        let info = data.signature_info();
        Signed {
            name: data.name(),
            role: Role::Packet,
            kind: info.signature_type(),
            key: info.key_locator(),
            portion: Cow::Borrowed(data.signed_portion()),
            value: data.signature_value(),
        }
    }
}
