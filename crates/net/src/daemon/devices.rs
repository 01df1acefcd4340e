//! The network interfaces that have Ethernet faces or a listener for them.

use super::address::{DeviceId, Station};
use super::error::DaemonError;
use crate::mac::Mac;
use crate::socket::Progress;
use crate::socket::ether::{
    Changes, Device, FrameBuffers, Received, Receiver, Sender, SpareSockets, permitted,
};
use crate::socket::udp::UdpOptions;
use crate::uri::FaceUri;
use control::{Duration, Time};
use mio::{Registry, Token};
use std::collections::BTreeMap;
use std::io;

/// The token of all interfaces: one of them has frames, or has changed.
pub(super) const TOKEN: Token = Token(4);

/// An interface that could not be opened is tried again after this time, though nothing is reported
/// of it: the process may have been out of descriptors.
const RETRY: Duration = Duration::from_secs(10);

/// An interface that is up, and its sockets.
#[derive(Debug)]
struct Open {
    device: Device,
    receiver: Receiver,
    spare: SpareSockets,
}

/// An interface that the configuration or a command names.
#[derive(Debug)]
struct Named {
    name: String,
    /// Unknown stations get faces.
    listens: bool,
    /// It was down when it was last looked at, and no [`Change::Up`] has followed.
    was_down: bool,
    open: Option<Open>,
}

/// A change of an interface.
#[derive(Debug)]
pub(super) enum Change {
    Up,
    Down(String),
    Mtu(usize),
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Devices {
    all: BTreeMap<DeviceId, Named>,
    numbers: u32,
    changes: Option<Changes>,
    buffers: FrameBuffers,
    /// When those that could not be opened are tried again.
    retry: Option<Time>,
}

impl Devices {
    /// When an interface that could not be opened is tried again.
    pub fn next_attempt(&self) -> Option<Time> {
        self.retry
    }

    /// The interface of this name.
    pub fn id(&mut self, name: &str) -> DeviceId {
        let known = self.all.iter().find(|(_, named)| named.name == name).map(|(id, _)| *id);
        known.unwrap_or_else(|| {
            self.numbers += 1;
            let id = DeviceId(self.numbers);
            self.all.insert(
                id,
                Named { name: name.to_owned(), listens: false, was_down: false, open: None },
            );
            id
        })
    }

    /// The URI of an interface.
    pub fn uri(&self, id: DeviceId) -> String {
        let name = self.all.get(&id).map(|named| named.name.clone());
        FaceUri::Device(name.unwrap_or_default()).to_string()
    }

    /// Forgets the interfaces that are not used, unless unknown stations may come in by them.
    pub fn retain(&mut self, is_used: impl Fn(DeviceId) -> bool) {
        self.all.retain(|id, named| named.listens || is_used(*id));
    }

    /// Lets unknown stations get faces on these interfaces, and on no others. Returns the
    /// interfaces on which they cannot, and why. One that is down or missing may come.
    pub fn listen(
        &mut self,
        wanted: &[String],
        options: UdpOptions,
        registry: &Registry,
    ) -> Vec<DaemonError> {
        let ids: Vec<_> = wanted.iter().map(|name| self.id(name)).collect();
        let mut failed = Vec::new();
        for (id, named) in &mut self.all {
            named.listens = ids.contains(id);
        }
        for id in ids {
            let uri = self.uri(id);
            if let Err(source) = permitted() {
                failed.push(DaemonError::Ether { uri, source });
            } else if let Err(error) = self.open(id, options, registry) {
                tracing::warn!(uri, %error, "no Ethernet frames arrive until the interface is up");
                self.retry = Some(Time::ZERO);
            }
        }
        failed
    }

    /// The URIs of the interfaces by which unknown stations may come in.
    pub fn listening(&self) -> impl Iterator<Item = String> {
        let listening = self.all.values().filter(|named| named.listens);
        listening.map(|named| FaceUri::Device(named.name.clone()).to_string())
    }

    /// The MTU of a station's link, if its interface is up.
    pub fn mtu(&self, station: Option<Station>) -> Option<usize> {
        Some(self.all.get(&station?.device)?.open.as_ref()?.device.mtu())
    }

    /// True if unknown stations get faces on it.
    pub fn listens(&self, id: DeviceId) -> bool {
        self.all.get(&id).is_some_and(|named| named.listens)
    }

    /// Opens an interface, if it is not open.
    fn open(
        &mut self,
        id: DeviceId,
        options: UdpOptions,
        registry: &Registry,
    ) -> io::Result<(&str, &Open)> {
        if self.changes.is_none() {
            self.changes = Some(Changes::watch(registry, TOKEN)?);
        }
        let named = self.all.get_mut(&id).ok_or(io::ErrorKind::NotFound)?;
        if named.open.is_none() {
            let opened = Device::find(&named.name).and_then(|device| {
                let receiver = Receiver::open(&device, options, registry, TOKEN)?;
                Ok(Open { device, receiver, spare: SpareSockets::default() })
            });
            named.was_down |= opened.is_err();
            named.open = Some(opened?);
        }
        let open = named.open.as_ref().ok_or(io::ErrorKind::NotFound)?;
        Ok((&named.name, open))
    }

    /// A socket that sends to a station or group on an interface, and the interface's MTU.
    ///
    /// # Errors
    /// The interface is down or missing, or the system's.
    pub fn sender(
        &mut self,
        id: DeviceId,
        to: Mac,
        options: UdpOptions,
        registry: &Registry,
    ) -> io::Result<(Sender, usize)> {
        let (name, Open { device, spare, .. }) = self.open(id, options, registry)?;
        let sender = Sender::open(device, name, to, spare)?;
        Ok((sender, device.mtu()))
    }

    /// The interfaces that have changed since the last call, if any change was reported or `now` is
    /// when another attempt is due.
    pub fn changed(
        &mut self,
        options: UdpOptions,
        registry: &Registry,
        now: Time,
    ) -> Vec<(DeviceId, Change)> {
        let is_reported = self.changes.as_mut().is_some_and(Changes::take);
        let is_due = self.retry.take_if(|at| *at <= now).is_some();
        if !is_reported && !is_due {
            return Vec::new();
        }
        let mut changes = Vec::new();
        let ids: Vec<_> = self.all.keys().copied().collect();
        for id in ids {
            changes.extend(self.compare(id, now).map(|change| (id, change)));
            // A face may have opened it before.
            match self.open(id, options, registry) {
                Ok(_) => {
                    let named = self.all.get_mut(&id);
                    let is_new = named.is_some_and(|named| std::mem::take(&mut named.was_down));
                    changes.extend(is_new.then_some((id, Change::Up)));
                }
                Err(error) => {
                    tracing::debug!(interface = self.uri(id), %error, "cannot be opened");
                    self.retry = Some(now + RETRY);
                }
            }
        }
        changes
    }

    /// Compares an open interface with its present state. If the system does not report the state,
    /// as in a process without free descriptors, the interface stays open until a later attempt.
    fn compare(&mut self, id: DeviceId, now: Time) -> Option<Change> {
        let named = self.all.get_mut(&id)?;
        let open = named.open.as_mut()?;
        let why = match open.device.renewed(&named.name) {
            Ok(Some(found)) => {
                let (before, mtu) = (open.device.mtu(), found.mtu());
                open.device = found;
                open.receiver.set_mtu(mtu);
                return (mtu != before).then_some(Change::Mtu(mtu));
            }
            Ok(None) => format!("the interface `{}` was replaced by another one", named.name),
            Err(error) if error.raw_os_error().is_some() => {
                tracing::debug!(interface = named.name, %error, "cannot be examined");
                self.retry = Some(now + RETRY);
                return None;
            }
            Err(error) => error.to_string(),
        };
        (named.open, named.was_down) = (None, true);
        Some(Change::Down(why))
    }

    /// Receives at most `budget` bytes of frames from each interface; true if there is more. `each`
    /// gets every frame.
    pub fn receive(&mut self, budget: usize, mut each: impl FnMut(DeviceId, Received<'_>)) -> bool {
        let Devices { all, buffers, .. } = self;
        let mut more = false;
        for (id, named) in all {
            let Some(open) = &named.open else { continue };
            match open.receiver.receive(buffers, budget, |frame| each(*id, frame)) {
                Ok(progress) => more |= progress == Progress::More,
                // It goes down: that is reported by another socket.
                Err(error) => tracing::debug!(interface = named.name, %error, "cannot receive"),
            }
        }
        more
    }
}
