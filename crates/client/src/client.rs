//! The client: a forwarder, rules of trust, and defaults of operations.

use crate::cancel::Cancel;
use crate::error::Error;
use crate::express;
use crate::fetch::{Fetched, Request};
use crate::group::{Group, JoinOptions};
use crate::name::AsName;
use crate::packets::{Data, Interest, Reply};
use crate::publish::{Content, Publication, PublishOptions};
use crate::register::{Handler, RegisterOptions, Registration};
use crate::responder::Responder;
use crate::settings::{Settings, Unstopped};
use crate::trust::Trust;
use net::client::Address;
use schemes::Choice;
use std::sync::Arc;
use std::time::Duration;
use transport::fetch::FetchConfig;

/// A forwarder, rules of trust, and defaults of operations.
///
/// Each operation opens a connection of its own. Copies share the settings.
#[derive(Clone, Debug)]
pub struct Client {
    pub(crate) settings: Arc<Settings>,
}

impl Client {
    /// Connects to the forwarder at `address`, with the defaults of [`Client::builder`]. The
    /// address is a path, `unix:///run/nfd/nfd.sock`, `tcp://host:6363` or `udp://host:6363`. If it
    /// is empty, NDN_CLIENT_TRANSPORT and `client.conf` name it, as for Weir's tools.
    ///
    /// # Errors
    /// [`Error::Usage`]: the address is invalid. [`Error::NoForwarder`]: no forwarder is there.
    pub fn connect(address: &str) -> Result<Client, Error> {
        Client::builder().forwarder(address).connect()
    }

    /// The settings of a new client.
    ///
    /// ```no_run
    /// use client::{Client, Trust};
    /// use std::time::Duration;
    ///
    /// # fn main() -> Result<(), client::Error> {
    /// let client = Client::builder()
    ///     .forwarder("tcp://192.0.2.1:6363")
    ///     .trust(Trust::anchors(["alice.cert"]))
    ///     .control("cubic")
    ///     .patience(Duration::from_secs(10))
    ///     .connect()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Fetches an object into memory, at most 1 GB. `name` may end in a version; without it, the
    /// newest version is found. [`Client::request`] has more options.
    ///
    /// # Errors
    /// Those of [`Request::bytes`].
    pub fn fetch(&self, name: impl AsName) -> Result<Fetched, Error> {
        self.request(name).bytes()
    }

    /// Prepares the fetch of an object: see [`Request`].
    pub fn request(&self, name: impl AsName) -> Request {
        Request::new(Arc::clone(&self.settings), name.as_name())
    }

    /// Publishes an object with the default options, and serves it until the [`Publication`] is
    /// dropped.
    ///
    /// # Errors
    /// Those of [`Client::publish_with`].
    pub fn publish(
        &self,
        name: impl AsName,
        content: impl Into<Content>,
    ) -> Result<Publication, Error> {
        self.publish_with(name, content, &PublishOptions::default())
    }

    /// Publishes an object under `name` and a version, and serves it from a thread until the
    /// [`Publication`] is dropped. Large content takes the time of hashing it.
    ///
    /// ```no_run
    /// use client::{Client, PublishOptions};
    /// use std::path::Path;
    ///
    /// # fn main() -> Result<(), client::Error> {
    /// # let client = Client::connect("")?;
    /// let options = PublishOptions::default().key("/demo").version(3);
    /// let publication = client.publish_with("/demo/photo", Path::new("photo.jpg"), &options)?;
    /// println!("serving {}", publication.name());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Usage`]: the name, the key or the size of segments does not fit. [`Error::File`]:
    /// the file or the keys cannot be read. [`Error::Rejected`]: the forwarder does not let this
    /// program publish the name. [`Error::NoForwarder`] and [`Error::TimedOut`]: it does not
    /// answer.
    pub fn publish_with(
        &self,
        name: impl AsName,
        content: impl Into<Content>,
        options: &PublishOptions,
    ) -> Result<Publication, Error> {
        Publication::start(&self.settings, name.as_name()?, content.into(), options)
    }

    /// Answers Interests under `prefix` by `handler`, with the default options, until the
    /// [`Registration`] is dropped. The handler runs in a thread of the registration, one Interest
    /// at a time. `None` rejects the Interest, so that its consumer does not wait.
    ///
    /// ```no_run
    /// use client::{Client, Reply};
    ///
    /// # fn main() -> Result<(), client::Error> {
    /// # let client = Client::connect("")?;
    /// let registration = client.register("/demo/time", |interest| {
    ///     (interest.name.len() == 2).then(|| Reply::new("noon"))
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of [`Client::register_with`].
    pub fn register(
        &self,
        prefix: impl AsName,
        handler: impl FnMut(&Interest) -> Option<Reply> + Send + 'static,
    ) -> Result<Registration, Error> {
        self.register_with(prefix, &RegisterOptions::default(), handler)
    }

    /// As [`Client::register`], with options.
    ///
    /// # Errors
    /// [`Error::Usage`]: the prefix or the key does not fit. [`Error::File`]: the keys cannot be
    /// read. [`Error::Rejected`]: the forwarder does not let this program answer for the prefix.
    /// [`Error::NoForwarder`] and [`Error::TimedOut`]: it does not answer.
    pub fn register_with(
        &self,
        prefix: impl AsName,
        options: &RegisterOptions,
        handler: impl FnMut(&Interest) -> Option<Reply> + Send + 'static,
    ) -> Result<Registration, Error> {
        Registration::start(
            &self.settings,
            prefix.as_name()?,
            options,
            Handler::Now(Box::new(handler)),
        )
    }

    /// As [`Client::register_with`], for replies that take time: the handler returns at once, and
    /// passes the [`Responder`] on to where the reply is made, such as another thread. At most 4096
    /// Interests wait for their replies; more are dropped.
    ///
    /// # Errors
    /// Those of [`Client::register_with`].
    pub fn register_deferred(
        &self,
        prefix: impl AsName,
        options: &RegisterOptions,
        handler: impl FnMut(&Interest, Responder) + Send + 'static,
    ) -> Result<Registration, Error> {
        let handler = Handler::Later(Box::new(handler));
        Registration::start(&self.settings, prefix.as_name()?, options, handler)
    }

    /// Sends one Interest, and returns the verified Data packet that answers it. The Interest is
    /// not repeated: if it is lost, the call fails with [`Error::TimedOut`].
    ///
    /// ```no_run
    /// use client::{Client, Interest};
    ///
    /// # fn main() -> Result<(), client::Error> {
    /// # let client = Client::connect("")?;
    /// let data = client.express(&Interest::new("/demo/time")?.fresh())?;
    /// println!("{}: {} bytes", data.name, data.content.len());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::TimedOut`]: no answer in its lifetime. [`Error::NotFound`]: the Interest was
    /// returned. [`Error::NotVerified`]: the answer is rejected by the rules of trust.
    /// [`Error::Usage`]: no packet takes the Interest. [`Error::NoForwarder`]: the connection is
    /// lost.
    pub fn express(&self, interest: &Interest) -> Result<Data, Error> {
        express::express(&self.settings, interest, &self.settings.policy, &Cancel::new())
    }

    /// As [`Client::express`], with other rules of trust than those of the client.
    ///
    /// # Errors
    /// As for [`Client::express`], or the anchors cannot be read.
    pub fn express_with(&self, interest: &Interest, trust: &Trust) -> Result<Data, Error> {
        express::express(&self.settings, interest, &trust.policy()?, &Cancel::new())
    }

    /// As [`Client::express`], or [`Client::express_with`] if there are other rules of trust, until
    /// `cancel` is cancelled.
    ///
    /// # Errors
    /// Theirs, or [`Error::Cancelled`].
    pub fn express_until(
        &self,
        interest: &Interest,
        trust: Option<&Trust>,
        cancel: &Cancel,
    ) -> Result<Data, Error> {
        let given = trust.map(Trust::policy).transpose()?;
        let policy = given.as_ref().unwrap_or(&self.settings.policy);
        express::express(&self.settings, interest, policy, cancel)
    }

    /// Joins a group as `member`, until the [`Group`] is dropped: a program that publishes for the
    /// other members, and learns of all that they publish. Members need no server. The member's key
    /// has to be for names under `member`, and the trust anchors of the client say which members
    /// are accepted; [`Trust::OwnKeys`] accepts the member's own key and keys that it certifies.
    ///
    /// Each start of a member has a second of its own, so this takes up to a second, or longer if
    /// the member has joined many times just before.
    ///
    /// ```no_run
    /// use client::{Client, JoinOptions, Trust};
    /// use std::time::Duration;
    ///
    /// # fn main() -> Result<(), client::Error> {
    /// let client = Client::builder().trust(Trust::anchors(["group.cert"])).connect()?;
    /// let group = client.join("/example/lab", "/example/lab/alice", &JoinOptions::default())?;
    /// group.publish("the lamp is on")?;
    /// while let Some(publication) = group.next(Duration::from_secs(10))? {
    ///     println!("{} {}: {:?}", publication.member, publication.seq, publication.content);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Usage`]: a name, an option, the key or the trust does not fit. [`Error::File`]: the
    /// keys cannot be read. [`Error::Rejected`]: the forwarder does not let this program register
    /// the group. [`Error::NoForwarder`] and [`Error::TimedOut`]: it does not answer.
    pub fn join(
        &self,
        group: impl AsName,
        member: impl AsName,
        options: &JoinOptions,
    ) -> Result<Group, Error> {
        Group::join(&self.settings, group.as_name()?, member.as_name()?, options)
    }
}

/// The settings of a new client: see [`Client::builder`].
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder {
    address: String,
    control: String,
    trust: Trust,
    key: Option<String>,
    lifetime: Duration,
    patience: Duration,
}

impl Default for Builder {
    fn default() -> Builder {
        Builder {
            address: String::new(),
            control: schemes::defaults::CONTROLLER.to_owned(),
            trust: Trust::default(),
            key: None,
            lifetime: Duration::from_nanos(FetchConfig::LIFETIME.0),
            patience: Duration::from_nanos(FetchConfig::PATIENCE.0),
        }
    }
}

impl Builder {
    /// The address of the forwarder: see [`Client::connect`].
    pub fn forwarder(self, address: impl Into<String>) -> Builder {
        Builder { address: address.into(), ..self }
    }

    /// The congestion-control scheme of fetches, by its name in `weir schemes`. By default, that of
    /// `weir get`.
    pub fn control(self, scheme: impl Into<String>) -> Builder {
        Builder { control: scheme.into(), ..self }
    }

    /// The signatures that are accepted; [`Trust::OwnKeys`] by default.
    pub fn trust(self, trust: Trust) -> Builder {
        Builder { trust, ..self }
    }

    /// The name of the key, or of its identity, that signs this client's publications. By default
    /// the user's default key signs names under its identity, and other names have a digest.
    pub fn key(self, name: impl Into<String>) -> Builder {
        Builder { key: Some(name.into()), ..self }
    }

    /// The lifetime of the Interests of a fetch, from a millisecond up to an hour; 4 s by default.
    pub fn lifetime(self, lifetime: Duration) -> Builder {
        Builder { lifetime, ..self }
    }

    /// A fetch fails after this time without progress, and discovery after 8 s, if that is
    /// shorter; 30 s by default.
    pub fn patience(self, patience: Duration) -> Builder {
        Builder { patience, ..self }
    }

    /// Checks the settings, and connects to the forwarder. Over UDP a missing forwarder is not
    /// detected.
    ///
    /// # Errors
    /// [`Error::Usage`]: a setting is wrong. [`Error::File`]: anchors or keys cannot be read.
    /// [`Error::NotVerified`]: an anchor is not valid at present. [`Error::NoForwarder`]: no
    /// forwarder is at the address.
    pub fn connect(self) -> Result<Client, Error> {
        let given = Some(self.address.as_str()).filter(|address| !address.is_empty());
        let control: Choice = self.control.parse()?;
        // A scheme without a controller fails here, not at the first fetch.
        control.controller()?;
        let range = Duration::from_millis(1)..=Duration::from_secs(3600);
        if !range.contains(&self.lifetime) {
            let text = format!("a lifetime of {:?} is not within 1 ms and 1 h", self.lifetime);
            return Err(Error::Usage(text));
        }
        let settings = Settings {
            address: Address::find(given)?,
            control,
            policy: self.trust.policy()?,
            key: self.key.map(|key| key.as_name()).transpose()?,
            lifetime: self.lifetime,
            patience: self.patience,
        };
        settings.open(&Unstopped)?;
        Ok(Client { settings: Arc::new(settings) })
    }
}
