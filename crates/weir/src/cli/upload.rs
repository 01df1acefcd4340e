//! The arguments of `weir gateway` about uploads.

use super::repo::StoreArgs;
use clap::Args;
use control::Size;
use packet::Name;
use std::path::PathBuf;

/// Uploads.
#[derive(Args)]
pub struct UploadArgs {
    /// Accept uploads (PUT) of names below this one, which must be below --prefix; may be repeated.
    /// Uploads go into the store, and the gateway serves the store by name. Without --put-token,
    /// only programs of the gateway's own user may upload.
    #[arg(long, value_name = "NAME")]
    pub put: Vec<Name>,
    /// Require the token in this file for uploads, as `Authorization: Bearer TOKEN`. It is required
    /// if the gateway listens on another address than loopback.
    #[arg(long, value_name = "FILE", requires = "put")]
    pub put_token: Option<PathBuf>,
    /// The maximum size of an upload.
    #[arg(long, value_name = "SIZE", default_value = "4 GB", requires = "put")]
    pub put_limit: Size,
    /// Sign uploads with this key, by key or identity name. The default is the default key if
    /// the names are under its identity, otherwise a digest, which detects corruption only.
    #[arg(long, value_name = "KEY", requires = "put")]
    pub sign: Option<Name>,
    /// Reject uploads if the content in the store, with names and signatures, would take more than
    /// this.
    #[arg(long, value_name = "SIZE", default_value = "20 GB", requires = "put")]
    pub quota: Size,
    #[command(flatten)]
    pub store: StoreArgs,
}
