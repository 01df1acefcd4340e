//! Ethernet frames of NDN: packet(7) sockets, on Linux.
//!
//! Each interface has one socket that receives: it is bound to the interface and to NDN's
//! EtherType, and the daemon finds the face by the addresses in the frame. Each face has a socket
//! of its own that only sends, so that the kernel reports for each face when it takes more.

use super::progress::Progress;
use super::sending::{SendError, SendFrames};
use super::udp::UdpOptions;
use crate::batch::Batch;
use crate::framing::MAX_FRAME;
pub use crate::interface::link::Changes;
use crate::interface::link::{self, Link};
use crate::mac::Mac;
use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use nix::sys::socket::{LinkAddr, MsgFlags, MultiHeaders, bind, recvmmsg, setsockopt};
use nix::{libc, setsockopt_impl, sockopt_impl};
use packet::tlv;
use rustix::io::Errno;
use rustix::net::{MMsgHdr, SendAncillaryBuffer, SendFlags, sendmmsg};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex, PoisonError};

/// NDN's EtherType (IEEE 802 Numbers of IANA).
const ETHERTYPE: u16 = 0x8624;

/// Bytes of an Ethernet header: destination, source, EtherType.
const HEADER: usize = 14;

/// The least MTU of a face, as the configuration has it.
const LEAST_MTU: usize = 576;

/// Frames of one system call.
const AT_ONCE: usize = 64;

/// The fewest bytes that a frame counts against the budget of a turn, as for UDP.
const LEAST: usize = 256;

/// Bytes kept of a received frame: more than the longest that a link of NDN needs.
const SLOT: usize = HEADER + MAX_FRAME;

sockopt_impl!(
    /// Receives the frames of a group while the socket lives.
    AddMembership,
    SetOnly,
    libc::SOL_PACKET,
    libc::PACKET_ADD_MEMBERSHIP,
    libc::packet_mreq
);

/// An interface with Ethernet faces, in the state at its opening.
#[derive(Clone, Copy, Debug)]
pub struct Device {
    link: Link,
    address: Mac,
    /// For bind(2).
    bound: LinkAddr,
}

impl Device {
    /// The interface of this name.
    ///
    /// # Errors
    /// The interface does not exist, is down, or is not an Ethernet interface.
    pub fn find(name: &str) -> io::Result<Device> {
        let (link, address) = Device::state(name)?;
        let index = link.index() as usize;
        let mut all = nix::ifaddrs::getifaddrs()?.filter_map(|one| one.address);
        let bound =
            all.find_map(|one| one.as_link_addr().copied().filter(|a| a.ifindex() == index));
        // The interface was removed between the two system calls.
        let Some(bound) = bound else { return unusable(name, "is not there any more") };
        Ok(Device { link, address, bound })
    }

    /// The same interface in its present state, so that its sockets can stay. `None` if the name is
    /// that of another interface now, or if the address has changed. It lists no other interfaces:
    /// that takes long on a host of many, whose changes are reported one by one.
    ///
    /// # Errors
    /// As for [`Device::find`].
    pub fn renewed(&self, name: &str) -> io::Result<Option<Device>> {
        let (link, address) = Device::state(name)?;
        let is_same = (link.index(), address) == (self.link.index(), self.address);
        Ok(is_same.then_some(Device { link, ..*self }))
    }

    fn state(name: &str) -> io::Result<(Link, Mac)> {
        let Some(link) = link::of(name)? else {
            return unusable(name, "is not there; `ip link` lists those of this host");
        };
        let Some(address) = link.address() else {
            return unusable(name, "is not an Ethernet interface");
        };
        if !link.is_up() {
            return unusable(name, "is down");
        }
        if link.mtu() < LEAST_MTU {
            let mtu = link.mtu();
            return unusable(name, &format!("takes {mtu} bytes a frame; NDN needs {LEAST_MTU}"));
        }
        Ok((link, address))
    }

    /// The most bytes that a frame carries behind its header.
    #[must_use]
    pub fn mtu(&self) -> usize {
        self.link.mtu()
    }

    /// A packet socket on this interface. With the EtherType 0 it receives nothing.
    fn socket(&self, ethertype: u16) -> io::Result<Socket> {
        let socket = open(ethertype)?;
        socket.set_nonblocking(true)?;
        bind(socket.as_raw_fd(), &self.bound)?;
        Ok(socket)
    }
}

fn unusable<T>(name: &str, why: &str) -> io::Result<T> {
    Err(io::Error::other(format!("the interface `{name}` {why}")))
}

fn open(ethertype: u16) -> io::Result<Socket> {
    let protocol = Protocol::from(i32::from(ethertype.to_be()));
    Socket::new(Domain::PACKET, Type::RAW, Some(protocol)).map_err(|error| {
        let kind = error.kind();
        match error.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::PERM) => io::Error::new(kind, NO_CAPABILITY),
            Some(Errno::AFNOSUPPORT) => io::Error::new(kind, NO_FAMILY),
            _ => error,
        }
    })
}

/// The help where packet sockets are not permitted (packet(7)).
const NO_CAPABILITY: &str = "Ethernet faces need the capability CAP_NET_RAW: run the daemon as \
                             root, or write AmbientCapabilities=CAP_NET_RAW and \
                             CapabilityBoundingSet=CAP_NET_RAW into its unit of systemd";

/// The same where the kernel or a filter of system calls has none.
const NO_FAMILY: &str = "Ethernet faces need packet sockets, which are not available here: add \
                         AF_PACKET to RestrictAddressFamilies= in the unit of systemd, if it is \
                         there";

/// Checks that this process may have Ethernet faces.
///
/// # Errors
/// It may not, and how it may.
pub fn permitted() -> io::Result<()> {
    open(0).map(drop)
}

/// A received frame of NDN.
#[derive(Clone, Copy, Debug)]
pub struct Received<'a> {
    /// The sender's address.
    pub from: Mac,
    /// The group that it was sent to; `None`: to this station.
    pub group: Option<Mac>,
    /// The packet's frame, without header and padding.
    pub frame: &'a [u8],
}

/// Buffers for one system call that receives, shared by all interfaces; empty until the first.
#[derive(Debug, Default)]
pub struct FrameBuffers {
    bytes: Vec<u8>,
}

/// The socket that receives the frames of an interface.
#[derive(Debug)]
pub struct Receiver {
    socket: Socket,
    index: usize,
    own: Mac,
    mtu: usize,
}

impl Receiver {
    /// Frames to the interface's own address, and to the groups that [`Sender`]s on it join.
    ///
    /// # Errors
    /// CAP_NET_RAW is missing, or the system's.
    pub fn open(
        device: &Device,
        options: UdpOptions,
        registry: &Registry,
        token: Token,
    ) -> io::Result<Receiver> {
        let socket = device.socket(ETHERTYPE)?;
        super::udp::size_receive_buffer(&socket, options)?;
        registry.register(&mut SourceFd(&socket.as_raw_fd()), token, Interest::READABLE)?;
        let index = device.link.index() as usize;
        Ok(Receiver { socket, index, own: device.address, mtu: device.mtu() })
    }

    /// Follows the interface's MTU.
    pub fn set_mtu(&mut self, mtu: usize) {
        self.mtu = mtu;
    }

    /// Receives until the socket is empty or `budget` bytes have arrived. `each` gets every frame
    /// that may be one of NDN's.
    ///
    /// # Errors
    /// The system's; the interface may be down.
    pub fn receive(
        &self,
        buffers: &mut FrameBuffers,
        budget: usize,
        mut each: impl FnMut(Received<'_>),
    ) -> io::Result<Progress> {
        buffers.bytes.resize(AT_ONCE * SLOT, 0);
        let mut taken = 0;
        while taken < budget {
            let arrived = match self.receive_some(&mut buffers.bytes) {
                Ok(arrived) => arrived,
                Err(nix::Error::EAGAIN) => return Ok(Progress::Blocked),
                Err(nix::Error::EINTR) => continue,
                Err(error) => return Err(error.into()),
            };
            for ((length, address), slot) in arrived.iter().zip(buffers.bytes.chunks(SLOT)) {
                taken += (*length).max(LEAST);
                let bytes = slot.get(..*length).unwrap_or_default();
                if let Some(frame) = address.and_then(|address| self.check(&address, bytes)) {
                    each(frame);
                }
            }
            // A call that did not fill its slots found the socket empty.
            if arrived.len() < AT_ONCE {
                return Ok(Progress::Blocked);
            }
        }
        Ok(Progress::More)
    }

    /// Receives frames into slots of this buffer. Returns for each its length, and its address if
    /// it came whole.
    fn receive_some(&self, buffer: &mut [u8]) -> nix::Result<Vec<(usize, Option<LinkAddr>)>> {
        let mut slots: Vec<[IoSliceMut<'_>; 1]> =
            buffer.chunks_mut(SLOT).map(|slot| [IoSliceMut::new(slot)]).collect();
        let mut headers = MultiHeaders::<LinkAddr>::preallocate(AT_ONCE, None);
        let fd = self.socket.as_raw_fd();
        let all = recvmmsg(fd, &mut headers, slots.iter_mut(), MsgFlags::empty(), None)?;
        let came = all.map(|one| {
            let whole = !one.flags.contains(MsgFlags::MSG_TRUNC);
            (one.bytes, one.address.filter(|_| whole))
        });
        Ok(came.collect())
    }

    /// A frame that belongs to this interface and can have come from another station.
    ///
    /// The kernel takes the tag off a frame of a VLAN, and passes it to the sockets of the parent
    /// interface as well: with the number of the VLAN's interface, or as another host's if the host
    /// has no such interface.
    fn check<'a>(&self, address: &LinkAddr, bytes: &'a [u8]) -> Option<Received<'a>> {
        let is_here = matches!(
            address.pkttype(),
            libc::PACKET_HOST | libc::PACKET_BROADCAST | libc::PACKET_MULTICAST
        );
        if !is_here || address.ifindex() != self.index {
            return None;
        }
        read(bytes, self.own, self.mtu)
    }
}

/// Reads an Ethernet frame for a station with the address `own`. Padding behind the packet is left
/// out. `None`: it is too short or too long, is not NDN's, or has an address that no other station
/// has.
fn read(bytes: &[u8], own: Mac, mtu: usize) -> Option<Received<'_>> {
    let (header, content) = bytes.split_at_checked(HEADER)?;
    let (to, header) = header.split_first_chunk()?;
    let (from, ethertype) = header.split_first_chunk()?;
    let (to, from) = (Mac::new(*to), Mac::new(*from));
    let is_ndn = ethertype == ETHERTYPE.to_be_bytes();
    let is_for_us = to == own || to.is_group();
    if !is_ndn || !is_for_us || !from.is_station() || from == own || content.len() > mtu {
        return None;
    }
    let length = tlv::frame_len(content, MAX_FRAME).ok()??;
    let frame = content.get(..length)?;
    Some(Received { from, group: Some(to).filter(|to| to.is_group()), frame })
}

/// Sockets of faces that have ended, for later faces to stations of the same interface. The kernel
/// takes more than 10 ms to close a packet socket: it waits until no processor uses it
/// (`synchronize_net` in `packet_release`). Forged frames would stop the daemon with short faces.
#[derive(Clone, Debug, Default)]
pub struct SpareSockets(Arc<Spare>);

#[derive(Debug, Default)]
struct Spare(Mutex<Vec<Arc<Socket>>>);

impl SpareSockets {
    fn take(&self) -> Option<Arc<Socket>> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn keep(&self, socket: Arc<Socket>) {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).push(socket);
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        let sockets = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        let sockets = std::mem::take(sockets);
        if !sockets.is_empty() {
            // Without a thread the sockets are closed here.
            let closer = std::thread::Builder::new().name("close-ether".into());
            let _ = closer.spawn(move || drop(sockets));
        }
    }
}

/// A socket that sends frames to one station or group.
#[derive(Debug)]
pub struct Sender {
    socket: Arc<Socket>,
    header: [u8; HEADER],
    interface: String,
    /// Gets the socket at the end. `None` for a group: closing the socket ends the membership.
    spare: Option<SpareSockets>,
}

impl Sender {
    /// Frames from this interface to a station, or to a group, which is joined.
    ///
    /// # Errors
    /// CAP_NET_RAW is missing, or the system's.
    pub fn open(
        device: &Device,
        interface: &str,
        to: Mac,
        spare: &SpareSockets,
    ) -> io::Result<Sender> {
        if to == device.address {
            let why = format!("[{to}] is the address of `{interface}` itself");
            return Err(io::Error::other(why));
        }
        let spare = Some(spare).filter(|_| !to.is_group()).cloned();
        let socket = match spare.as_ref().and_then(SpareSockets::take) {
            Some(socket) => socket,
            None => Arc::new(device.socket(0)?),
        };
        if to.is_group() {
            let mut address = [0; 8];
            address[..6].copy_from_slice(&to.bytes());
            let membership = libc::packet_mreq {
                mr_ifindex: device.link.index() as i32,
                mr_type: libc::PACKET_MR_MULTICAST as u16,
                mr_alen: 6,
                mr_address: address,
            };
            setsockopt(&*socket, AddMembership, &membership)?;
        }
        let mut header = [0; HEADER];
        header[..6].copy_from_slice(&to.bytes());
        header[6..12].copy_from_slice(&device.address.bytes());
        header[12..].copy_from_slice(&ETHERTYPE.to_be_bytes());
        Ok(Sender { socket, header, interface: interface.to_owned(), spare })
    }

    /// Has `registry` report when the kernel takes more.
    ///
    /// # Errors
    /// The system's.
    pub fn register(&self, registry: &Registry, token: Token) -> io::Result<()> {
        let fd = self.socket.as_raw_fd();
        match registry.register(&mut SourceFd(&fd), token, Interest::WRITABLE) {
            // The socket of an earlier face is still watched.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                registry.reregister(&mut SourceFd(&fd), token, Interest::WRITABLE)
            }
            registered => registered,
        }
    }

    /// Sends these frames, at most [`AT_ONCE`]; returns the number that the kernel took.
    fn send_some(&self, frames: &[&[u8]]) -> rustix::io::Result<usize> {
        let parts: Vec<_> =
            frames.iter().map(|f| [IoSlice::new(&self.header), IoSlice::new(f)]).collect();
        let mut controls: Vec<_> = frames.iter().map(|_| SendAncillaryBuffer::default()).collect();
        let mut messages: Vec<_> = parts
            .iter()
            .zip(&mut controls)
            .map(|(parts, control)| MMsgHdr::new(parts, control))
            .collect();
        sendmmsg(&*self.socket, &mut messages, SendFlags::empty())
    }

    fn classify(&self, error: Errno, longest: usize) -> SendError {
        if error == Errno::MSGSIZE
            && let Ok(Some(link)) = link::of(&self.interface)
            && (LEAST_MTU..longest).contains(&link.mtu())
        {
            return SendError::TooLong { payload: link.mtu() };
        }
        SendError::Lost(error.kind())
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        if let Some(spare) = &self.spare {
            spare.keep(Arc::clone(&self.socket));
        }
    }
}

impl SendFrames for Sender {
    fn send(&mut self, batch: &mut Batch) -> Result<Progress, SendError> {
        let (bytes, segment) = batch.frames();
        let frames: Vec<&[u8]> = bytes.chunks(segment).collect();
        let (mut rest, mut sent, mut outcome) = (frames.as_slice(), 0, Ok(Progress::Done));
        while !rest.is_empty() {
            let count = match self.send_some(&rest[..rest.len().min(AT_ONCE)]) {
                Ok(count) => count,
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => {
                    batch.sent(sent);
                    return Ok(Progress::Blocked);
                }
                // The error is the first frame's.
                Err(error) => {
                    outcome = Err(self.classify(error, rest[0].len()));
                    1
                }
            };
            let (gone, left) = rest.split_at(count.clamp(1, rest.len()));
            sent += gone.iter().map(|frame| frame.len()).sum::<usize>();
            rest = left;
        }
        batch.clear();
        outcome
    }

    fn max_segments(&self) -> usize {
        AT_ONCE
    }

    fn has_given_up(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
