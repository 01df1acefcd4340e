//! One face's socket, and what is between it and the forwarder.

mod facts;
mod link;
mod marked;
mod sending;

use super::address::{Address, DeviceId, Source};
use super::crowd::Transport;
use crate::config::{LinkOptions, OnDemand};
use crate::emulate::DelayLine;
use crate::framing::MAX_FRAME;
use crate::management::authority::Account;
use crate::management::orders::{Change, Rejected};
use crate::management::{FaceInfo, Persistency};
use crate::socket::Progress;
use crate::socket::udp::ReceiveBuffers;
use control::{Duration, Time};
pub(super) use facts::{About, MadeBy, Peer, Target};
use facts::{Absence, Mtu, Retry};
use forwarder::tables::memory;
use forwarder::{Allowance, FaceId, Forwarder, Wire};
pub(super) use link::Link;
use marked::Marked;
use mio::{Registry, Token};
use schemes::Choice;
use sending::{Frames, Sending};
use std::cell::OnceCell;
use std::io;
use std::net::{IpAddr, SocketAddr};

/// The first and the longest wait before a broken face is connected again.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Buffers that all faces share.
#[derive(Debug)]
pub(super) struct Buffers {
    pub datagrams: ReceiveBuffers,
    pub stream: Vec<u8>,
    pub packet: Vec<u8>,
    /// Faces collect the frames that they send here, unless frames wait in their own buffer.
    pub out: Vec<u8>,
}

/// A datagram that came to a socket that is not its sender's.
#[derive(Debug)]
pub(super) struct FirstDatagram {
    pub peer: SocketAddr,
    pub reached: Option<IpAddr>,
    pub datagram: Vec<u8>,
}

/// A face as the daemon sees it.
#[derive(Debug)]
pub(super) struct Face {
    id: FaceId,
    about: About,
    marking: Marked,
    link: Link,
    /// The other end, to connect again.
    target: Option<Target>,
    mtu: Mtu,
    delay: Option<DelayLine>,
    /// The kernel accepts no more; readiness will be reported.
    blocked: bool,
    /// The face is in a list of readable ones.
    readable: bool,
    peer: Peer,
    absence: Absence,
    /// Frames that were lost before they reached the network.
    lost: u64,
    retry: Retry,
    /// See [`Face::account`].
    account: OnceCell<Option<Account>>,
}

impl Face {
    /// A face of a peer or an application that has connected or sent a packet.
    pub fn accepted(id: FaceId, about: About, link: Link, peer: Peer) -> Face {
        Face::new(id, about, link, peer)
    }

    /// A face to `target`, not connected yet.
    pub fn outgoing(id: FaceId, about: About, target: Target, now: Time) -> Face {
        let target = target.kept(about.persistency);
        Face { target, ..Face::new(id, about, Link::Down { retry: now }, Peer::default()) }
    }

    fn new(id: FaceId, about: About, link: Link, peer: Peer) -> Face {
        Face {
            id,
            about,
            marking: Marked::default(),
            link,
            target: None,
            mtu: Mtu::default(),
            delay: None,
            blocked: false,
            readable: false,
            peer,
            absence: Absence::default(),
            lost: 0,
            retry: Retry { was_down: false, wait: FIRST_WAIT },
            account: OnceCell::new(),
        }
    }

    /// Adopts the options of its link. `mtu`: of a face over UDP or Ethernet; `None` for a stream.
    /// `delay`: the emulated link, if the options ask for one.
    pub fn set_options(
        &mut self,
        link: &LinkOptions,
        mtu: Option<usize>,
        delay: Option<DelayLine>,
    ) {
        self.marking = Marked::of(link, mtu.is_some());
        self.mtu = Mtu { fixed: link.mtu, current: mtu };
        self.delay = delay;
    }

    /// Keeps a marker until a command switches marking on.
    pub fn keep_marker(&mut self, marker: Choice) {
        self.marking.keep(marker);
    }

    /// Its number.
    pub fn id(&self) -> FaceId {
        self.id
    }

    /// Its ends and its creator.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// The other end, to connect again.
    pub fn target(&self) -> Option<&Target> {
        self.target.as_ref()
    }

    /// The facts about its peer.
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Its flags, in the management protocol's terms.
    pub fn flags(&self) -> u64 {
        self.marking.flags()
    }

    /// The longest frame, of a face over UDP or Ethernet.
    pub fn mtu(&self) -> Option<usize> {
        self.mtu.current
    }

    /// True if frames pass an emulated link.
    pub fn is_emulated(&self) -> bool {
        self.delay.is_some()
    }

    /// True if it is broken or not yet connected.
    pub fn is_down(&self) -> bool {
        matches!(self.link, Link::Down { .. })
    }

    /// True while the kernel accepts no more.
    pub fn is_blocked(&self) -> bool {
        self.blocked
    }

    /// The kernel reports that it is readable. True if it was not readable before.
    pub fn mark_readable(&mut self) -> bool {
        !std::mem::replace(&mut self.readable, true)
    }

    /// The kernel reports that it is writable. True if it was blocked before.
    pub fn mark_writable(&mut self) -> bool {
        std::mem::take(&mut self.blocked)
    }

    /// Has the poll report what its socket is ready for.
    ///
    /// # Errors
    /// The system's.
    pub fn watch(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        self.link.watch(registry, token)
    }

    /// See [`Link::is_connected`].
    ///
    /// # Errors
    /// The reason why it never will be connected.
    pub fn is_connected(&mut self) -> Result<bool, String> {
        self.link.is_connected()
    }

    /// Takes the socket that was made for it.
    pub fn connect(&mut self, link: Link, local_uri: String, now: Time) {
        self.link = link;
        self.blocked = false;
        self.peer.last_received = now;
        self.about.local_uri = local_uri;
    }

    /// Changes when it ends. `target` is where it is to be connected again, if it is.
    pub fn set_persistency(&mut self, persistency: Persistency, target: Option<Target>) {
        self.about.persistency = persistency;
        self.target = target.and_then(|target| target.kept(persistency));
    }

    /// Lets programs use the fields of the local link protocol over it, or not.
    pub fn set_local_fields(&mut self, forwarder: &mut Forwarder, on: bool) {
        self.marking.set_local_fields(on);
        forwarder.set_local_fields(self.id, on);
    }

    /// Bounds what may be sent to an address that may be forged.
    pub fn set_allowance(&mut self, forwarder: &mut Forwarder, allowance: Allowance) {
        self.peer.unproved = allowance != Allowance::Unlimited;
        forwarder.set_allowance(self.id, allowance);
    }

    /// The user whose program is at the other end, if it is on this host and the kernel says so.
    /// The kernel is asked once: of many connections the answer takes long.
    pub fn account(&self) -> Option<Account> {
        *self.account.get_or_init(|| match &self.link {
            Link::Stream(stream) if self.about.local => stream.account(),
            _ => None,
        })
    }

    /// Records that it is up. True if the face-down event has been sent: an event is due.
    pub fn came_up(&mut self) -> bool {
        std::mem::take(&mut self.retry.was_down)
    }

    /// Records that it is down. True the first time: an event is due.
    pub fn went_down(&mut self) -> bool {
        !std::mem::replace(&mut self.retry.was_down, true)
    }

    /// Changes how its queue is managed as a command asks.
    ///
    /// # Errors
    /// Its marker takes no such parameters; nothing is changed then.
    pub fn change_marking(
        &mut self,
        forwarder: &mut Forwarder,
        change: &Change,
    ) -> Result<(), Rejected> {
        if self.marking.change(change)? {
            forwarder.set_marker(self.id, self.marking.active());
        }
        Ok(())
    }

    pub fn info(&self) -> FaceInfo {
        let emulated = self.delay.as_ref().map(DelayLine::counters).unwrap_or_default();
        FaceInfo {
            id: self.id,
            name: self.about.name.clone(),
            uri: self.about.uri.clone(),
            local_uri: self.about.local_uri.clone(),
            local: self.about.local,
            persistency: self.about.persistency,
            is_group: self.is_group(),
            flags: self.marking.flags(),
            marking: self.marking.parameters(),
            expires: None,
            mtu: self.mtu.current,
            up: !self.is_down(),
            lost: self.lost + emulated.lost + emulated.overflowed,
        }
    }

    /// Takes what has come, at most `budget` bytes.
    ///
    /// # Errors
    /// The face is of no more use, and why.
    pub fn receive(
        &mut self,
        forwarder: &mut Forwarder,
        buffers: &mut Buffers,
        first_datagrams: &mut Vec<FirstDatagram>,
        now: Time,
        budget: usize,
    ) -> Result<Progress, String> {
        let (id, mut any) = (self.id, false);
        let progress = match &mut self.link {
            // An interface has one socket for all its faces' frames.
            Link::Down { .. } | Link::Ether(..) => Progress::Blocked,
            Link::Stream(stream) => stream
                .receive(&mut buffers.stream, budget, |frame| {
                    any = true;
                    forwarder.receive(now, id, Wire::Borrowed(frame));
                })
                .map_err(|e| e.to_string())?,
            Link::WebSocket(socket) => socket
                .receive(budget, |packet| {
                    any = true;
                    forwarder.receive(now, id, Wire::Borrowed(packet));
                })
                .map_err(|e| e.to_string())?,
            Link::Udp(udp, _) => {
                let (own, is_group) = (udp.peer(), udp.is_group());
                udp.receive(&mut buffers.datagrams, budget, |datagram, peer, reached| {
                    if is_group || own == Some(peer) {
                        any = true;
                        let member = Address::Udp(peer).member();
                        let sender = if is_group { member } else { Default::default() };
                        forwarder.receive_from(now, id, sender, Wire::Borrowed(datagram));
                    } else {
                        // It came between the socket's binding and its connecting.
                        first_datagrams.push(FirstDatagram {
                            peer,
                            reached,
                            datagram: datagram.to_vec(),
                        });
                    }
                })
                .map_err(|e| e.to_string())?
            }
        };
        if any {
            self.note_activity(forwarder, now);
            self.retry.wait = FIRST_WAIT;
        }
        if progress == Progress::Closed {
            return Err("the other end closed it".to_owned());
        }
        self.readable = progress == Progress::More;
        Ok(progress)
    }

    /// Something came from the peer.
    pub fn note_activity(&mut self, forwarder: &mut Forwarder, now: Time) {
        self.peer.last_received = now;
        if self.absence.end() {
            forwarder.set_allowance(self.id, Allowance::Unlimited);
        }
    }

    /// Records the network's report that nothing receives at the other end, and pauses sending. The
    /// pause doubles with each report until a frame arrives.
    pub fn mark_unreachable(&mut self, forwarder: &mut Forwarder, now: Time) {
        self.absence.extend(now);
        forwarder.set_allowance(self.id, Allowance::Unreachable);
    }

    /// Nothing is sent for a while.
    pub fn is_away(&self) -> bool {
        self.absence.is_on()
    }

    /// Sends again, if it is time to.
    pub fn try_again(&mut self, forwarder: &mut Forwarder, now: Time) {
        if self.absence.take_over(now) {
            forwarder.set_allowance(self.id, Allowance::Unlimited);
        }
    }

    /// True if the network has reported, since the last call, that nothing receives at the address
    /// of an on-demand face. A configured or commanded face stays: its peer may be starting.
    pub fn take_unreachable(&mut self) -> bool {
        match &mut self.link {
            Link::Udp(udp, _) => udp.take_unreachable() && self.is_idle_on_demand(),
            _ => false,
        }
    }

    /// True if it leads to a multicast group.
    pub fn is_group(&self) -> bool {
        matches!(self.target, Some(Target::Group(..)))
            || self.about.station.is_some_and(|station| station.address.is_group())
    }

    /// Follows the MTU of its interface, if it is over Ethernet: frames are no longer than the
    /// fixed MTU and the interface's.
    pub fn set_device_mtu(&mut self, forwarder: &mut Forwarder, mtu: usize) {
        let fixed = self.mtu.fixed.unwrap_or(MAX_FRAME);
        self.set_mtu(forwarder, fixed.min(mtu));
    }

    /// Sets the longest payload of its path, unless its MTU is fixed.
    pub fn set_path_mtu(&mut self, forwarder: &mut Forwarder, payload: usize) {
        self.set_mtu(forwarder, self.mtu.fixed.unwrap_or(payload));
    }

    /// Fixes its MTU, within that of its interface.
    pub fn fix_mtu(&mut self, forwarder: &mut Forwarder, mtu: usize, device_mtu: usize) {
        self.mtu.fixed = Some(mtu);
        self.set_mtu(forwarder, mtu.min(device_mtu));
    }

    fn set_mtu(&mut self, forwarder: &mut Forwarder, mtu: usize) {
        self.mtu.current = Some(mtu);
        forwarder.set_mtu(self.id, Some(mtu));
    }

    /// The kind under which on-demand faces are counted.
    pub fn transport(&self) -> Transport {
        match self.link {
            Link::Udp(..) => Transport::Datagrams,
            Link::Ether(..) => Transport::Frames,
            _ => Transport::Connections,
        }
    }

    /// True if it leads to an address that may be forged. The address of a peer with routes is
    /// known: a signed command registered them.
    pub fn is_unproved(&self, forwarder: &Forwarder) -> bool {
        // Every host of a link can send from any address of Ethernet.
        let is_trusted =
            self.peer.is_neighbour && matches!(self.peer.source, Some(Source::Internet(_)));
        let may_be_forged = self.peer.unproved && !is_trusted;
        may_be_forged && !forwarder.is_proved(self.id) && forwarder.fib().routes_of(self.id) == 0
    }

    /// How long nothing may come over it.
    pub fn idle_limit(&self, forwarder: &Forwarder, settings: &OnDemand) -> Duration {
        match self.is_unproved(forwarder) {
            true => settings.unproved.idle.min(settings.idle),
            false => settings.idle,
        }
    }

    /// Bytes of memory that a face takes here without traffic: itself, its addresses, its places in
    /// lists and, for a stream, an incomplete frame. `is_framed`: over UDP or Ethernet.
    pub const fn base_memory(is_framed: bool) -> usize {
        let frame = if is_framed { 0 } else { MAX_FRAME };
        memory::block(size_of::<Face>()) + 1024 + frame
    }

    /// Bytes of memory that it takes, what waits to be sent included.
    pub fn memory(&self) -> usize {
        let is_framed = self.link.is_framed();
        let delayed = self.delay.as_ref().map_or(0, DelayLine::memory);
        Face::base_memory(is_framed) + self.link.memory() + delayed
    }

    /// Sends what the forwarder has for the face, at most about `budget` bytes.
    ///
    /// # Errors
    /// The face is of no more use, and why.
    pub fn send(
        &mut self,
        forwarder: &mut Forwarder,
        buffers: &mut Buffers,
        now: Time,
        budget: usize,
    ) -> Result<Progress, String> {
        let Buffers { packet, out, .. } = buffers;
        self.link.borrow(out);
        let progress = self.send_with(forwarder, packet, now, budget);
        let counts = forwarder.counts_memory();
        let tight = counts && !forwarder.has_ample_memory();
        self.link.return_buffer(out, tight);
        if counts {
            forwarder.set_outside(self.id, self.memory());
        }
        progress
    }

    fn send_with(
        &mut self,
        forwarder: &mut Forwarder,
        scratch: &mut Vec<u8>,
        now: Time,
        budget: usize,
    ) -> Result<Progress, String> {
        let id = self.id;
        if let Some(line) = &mut self.delay {
            scratch.clear();
            while let Some(sent) = forwarder.poll_transmit(now, id, scratch) {
                let left = forwarder.last_byte_at(now, id);
                let lost = line.push(left, scratch, sent.segment);
                if lost.frames > 0 {
                    forwarder.refund(id, lost.bytes, lost.frames);
                }
                scratch.clear();
            }
        }
        let mut frames = Frames::new(forwarder, self.delay.as_mut(), id, now);
        let mut narrower = None;
        let progress = match &mut self.link {
            link if !link.is_up() => {
                scratch.clear();
                while let Some(segment) = frames.next(scratch) {
                    self.lost += scratch.len().div_ceil(segment.unwrap_or(usize::MAX)) as u64;
                    scratch.clear();
                }
                Progress::Done
            }
            Link::Stream(stream) => {
                stream.send(budget, |out| frames.next(out).is_some()).map_err(|e| e.to_string())?
            }
            Link::WebSocket(socket) => socket
                .send(budget, scratch, |out| frames.next(out).is_some())
                .map_err(|e| e.to_string())?,
            Link::Udp(udp, batch) => {
                let mut sender = Sending::new(udp, batch, &mut self.lost);
                let progress = sender.run(budget, &mut frames);
                narrower = sender.payload();
                progress
            }
            Link::Ether(socket, batch) => {
                let mut sender = Sending::new(socket, batch, &mut self.lost);
                let progress = sender.run(budget, &mut frames);
                narrower = sender.payload();
                progress
            }
            Link::Down { .. } => Progress::Done,
        };
        if let Some(payload) = narrower {
            tracing::info!(face = %id, payload, "the path carries only shorter datagrams");
            self.set_mtu(forwarder, payload);
        }
        self.blocked = progress == Progress::Blocked;
        Ok(progress)
    }

    /// True if it begins at an interface.
    pub fn begins_at(&self, device: DeviceId) -> bool {
        self.about.station.is_some_and(|at| at.device == device)
    }

    /// A face over UDP or Ethernet that a peer brought about: it has no end but silence.
    pub fn is_idle_on_demand(&self) -> bool {
        self.about.persistency == Persistency::OnDemand && self.link.is_framed()
    }

    /// When a broken face is to be connected again.
    pub fn retry(&self) -> Option<Time> {
        match self.link {
            Link::Down { retry } if self.target.is_some() => Some(retry),
            _ => None,
        }
    }

    /// When the emulated link has something due.
    pub fn next_due(&self) -> Option<Time> {
        if self.blocked { None } else { self.delay.as_ref()?.next_deadline() }
    }

    /// True if nothing waits between the forwarder and the kernel.
    pub fn is_flushed(&self) -> bool {
        !self.link.has_unsent()
            && self.delay.as_ref().is_none_or(|line| line.next_deadline().is_none())
    }

    /// The socket is gone: it is connected again after a while.
    pub fn down(&mut self, now: Time) {
        let retry = now + self.retry.wait;
        self.retry.wait = Duration((self.retry.wait.0 * 2).min(LONGEST_WAIT.0));
        self.link = Link::Down { retry };
        self.account = OnceCell::new();
        self.blocked = false;
        self.readable = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forwarder::{FaceConfig, ForwarderConfig};
    use schemes::Choice;

    #[test]
    fn a_report_that_nothing_receives_holds_for_longer_each_time_until_something_comes() {
        let strategy = Choice::named("best-route").unwrap().strategy().unwrap();
        let mut forwarder = Forwarder::new(ForwarderConfig::new(strategy));
        let id = forwarder.add_face(Time(0), FaceConfig::default());
        let about = About::new(MadeBy::Peer, "udp4://192.0.2.1:6363".to_owned());
        let target = Target::Udp("192.0.2.1:6363".parse().unwrap());
        let mut face = Face::outgoing(id, about, target, Time::ZERO);
        let mut reported = Time::ZERO;
        for seconds in [1, 2, 4, 8, 16, 32, 64, 64] {
            face.mark_unreachable(&mut forwarder, reported);
            let until = reported + Duration::from_secs(seconds);
            face.try_again(&mut forwarder, Time(until.0 - 1));
            assert_eq!(forwarder.allowance(id), Allowance::Unreachable, "{seconds}");
            face.try_again(&mut forwarder, until);
            assert_eq!(forwarder.allowance(id), Allowance::Unlimited, "{seconds}");
            reported = until;
        }
        face.mark_unreachable(&mut forwarder, reported);
        face.note_activity(&mut forwarder, reported);
        assert_eq!(forwarder.allowance(id), Allowance::Unlimited);
        face.mark_unreachable(&mut forwarder, reported);
        face.try_again(&mut forwarder, reported + Duration::from_secs(1));
        assert_eq!(forwarder.allowance(id), Allowance::Unlimited, "its allowance is new");
    }
}
