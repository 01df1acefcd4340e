//! Accepted signatures, and their proofs.

use crate::error::Error;
use crate::parts::keys;
use packet::Name;
use security::{Proof, TrustPolicy};

/// The signatures that a consumer accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trust {
    /// As `weir get` without `--trust`: signatures by this user's own keys are checked, and those
    /// by other keys are accepted as [`Verified::Unchecked`]. This protects digest-signed content
    /// from damage, and is for content whose bytes are checked by other means.
    #[default]
    OwnKeys,
    /// Only a digest is accepted. It detects corruption, not forgery.
    Digest,
    /// Only signatures by these anchors, and by keys that they certify. Each text is the path of a
    /// certificate, or of a shared key, or the name of one of this user's keys; or there is one
    /// text, the path of a file of trust rules.
    Anchors(Vec<String>),
}

impl Trust {
    /// These anchors: see [`Trust::Anchors`].
    pub fn anchors<T: Into<String>>(anchors: impl IntoIterator<Item = T>) -> Trust {
        Trust::Anchors(anchors.into_iter().map(Into::into).collect())
    }

    /// Reads the anchors.
    pub(crate) fn policy(&self) -> Result<TrustPolicy, Error> {
        match self {
            Trust::OwnKeys => Ok(keys::policy(&[])?),
            Trust::Digest => Ok(TrustPolicy::DigestOnly),
            Trust::Anchors(anchors) if anchors.is_empty() => {
                Err(Error::Usage("the list of trust anchors is empty; name one".to_owned()))
            }
            Trust::Anchors(anchors) => Ok(keys::policy(anchors)?),
        }
    }
}

/// The proof by an accepted signature.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verified {
    /// It was signed by this key, which is trusted.
    Key(Name),
    /// Its digest matches: it is not damaged, and anyone can have made it.
    Digest,
    /// It was signed by a key that is not known here: see [`Trust::OwnKeys`].
    Unchecked,
}

impl From<&Proof> for Verified {
    fn from(proof: &Proof) -> Verified {
        match proof {
            Proof::Key(name) => Verified::Key(name.clone()),
            Proof::Digest => Verified::Digest,
            _ => Verified::Unchecked,
        }
    }
}
