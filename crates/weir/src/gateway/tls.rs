//! TLS: the gateway's certificate and key.

#[cfg(feature = "tls")]
pub use with::Tls;
#[cfg(not(feature = "tls"))]
pub use without::Tls;

#[cfg(feature = "tls")]
mod with {
    use crate::exit::{Failure, Kind};
    use crate::gateway::stream::Watched;
    use rustls::ServerConfig;
    use rustls::crypto::ring;
    use rustls::pki_types::pem::{self, PemObject};
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    use std::path::Path;
    use std::sync::Arc;
    use tokio_rustls::TlsAcceptor;
    pub use tokio_rustls::server::TlsStream;

    /// Encrypts connections.
    #[derive(Clone)]
    pub struct Tls(TlsAcceptor);

    impl Tls {
        /// Reads a chain of certificates, the gateway's own first, and its key; both as PEM.
        ///
        /// # Errors
        /// One of them cannot be read, or they do not belong together.
        pub fn read(chain: &Path, key: &Path) -> Result<Tls, Failure> {
            let certificates = CertificateDer::pem_file_iter(chain)
                .and_then(Iterator::collect::<Result<Vec<_>, _>>)
                .map_err(|error| unusable(chain, "certificate", &error))?;
            if certificates.is_empty() {
                return Err(unusable(chain, "certificate", &pem::Error::NoItemsFound));
            }
            let secret = PrivateKeyDer::from_pem_file(key)
                .map_err(|error| unusable(key, "private key", &error))?;
            let mut config = config(certificates, secret).map_err(|error| {
                let (chain, key) = (chain.display(), key.display());
                let message = format!("{chain} and {key} cannot be used together: {error}");
                Failure::new(Kind::File, message).then("name a certificate and its own key")
            })?;
            #[cfg(feature = "http2")]
            config.alpn_protocols.push(b"h2".to_vec());
            config.alpn_protocols.push(b"http/1.1".to_vec());
            Ok(Tls(TlsAcceptor::from(Arc::new(config))))
        }

        /// Begins to encrypt a connection.
        ///
        /// # Errors
        /// The client does not.
        pub async fn accept(&self, stream: Watched) -> std::io::Result<TlsStream<Watched>> {
            self.0.accept(stream).await
        }
    }

    fn config(
        certificates: Vec<CertificateDer<'static>>,
        secret: PrivateKeyDer<'static>,
    ) -> Result<ServerConfig, rustls::Error> {
        ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(certificates, secret)
    }

    fn unusable(path: &Path, wanted: &str, error: &pem::Error) -> Failure {
        let message = match error {
            pem::Error::NoItemsFound => format!("it has no {wanted} in PEM"),
            pem::Error::Io(error) => error.to_string(),
            error => format!("its {wanted} is encrypted, or not in PEM: {error}"),
        };
        let message = format!("cannot use {}: {message}", path.display());
        Failure::new(Kind::File, message)
            .then(&format!("name a file with a {wanted} in PEM, without a password"))
    }
}

#[cfg(not(feature = "tls"))]
mod without {
    use crate::exit::{Failure, Kind};
    use std::convert::Infallible;
    use std::path::Path;

    /// This program has no TLS.
    #[derive(Clone)]
    pub struct Tls(Infallible);

    impl Tls {
        /// # Errors
        /// Always.
        pub fn read(_chain: &Path, _key: &Path) -> Result<Tls, Failure> {
            let message = "this weir was built without TLS";
            Err(Failure::new(Kind::Usage, message).then("build it with the feature `tls`"))
        }
    }
}
