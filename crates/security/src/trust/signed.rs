//! What has a signature: a packet, or a command, which is an Interest.

use std::borrow::Cow;

use packet::{Data, KeyLocator, NameRef, SignatureType};

/// Something signed.
#[derive(Debug, Clone)]
pub struct Signed<'a> {
    /// Its name, as messages have it.
    pub name: NameRef<'a>,
    /// What rules go by.
    pub role: Role<'a>,
    /// The signature's type.
    pub kind: SignatureType,
    /// The key that it says made it.
    pub key: Option<KeyLocator<'a>>,
    /// What the signature covers.
    pub portion: Cow<'a, [u8]>,
    /// The signature itself.
    pub value: &'a [u8],
}

/// What rules go by.
#[derive(Debug, Clone, Copy)]
pub enum Role<'a> {
    /// A packet, by its name.
    Packet,
    /// A command.
    Command {
        /// The name that it is about, for rules; empty if it is about none.
        about: NameRef<'a>,
        /// That of its Interest as it was signed, for models.
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
