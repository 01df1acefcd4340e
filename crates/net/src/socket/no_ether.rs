//! Ethernet faces need packet(7) sockets, which only Linux has.

use super::progress::Progress;
use super::sending::{SendError, SendFrames};
use super::udp::UdpOptions;
use crate::batch::Batch;
use crate::mac::Mac;
use mio::{Registry, Token};
use std::convert::Infallible;
use std::io;

/// An interface with Ethernet faces, which does not exist here.
#[derive(Clone, Copy, Debug)]
pub struct Device(Infallible);

impl Device {
    /// The interface of this name.
    ///
    /// # Errors
    /// Always.
    pub fn find(_: &str) -> io::Result<Device> {
        permitted().and_then(|()| Err(io::ErrorKind::Unsupported.into()))
    }

    /// The same interface in its present state.
    ///
    /// # Errors
    /// Never: there is no device.
    pub fn renewed(&self, _: &str) -> io::Result<Option<Device>> {
        match self.0 {}
    }

    /// The most bytes that a frame carries behind its header.
    #[must_use]
    pub fn mtu(&self) -> usize {
        match self.0 {}
    }
}

/// Checks that this process may have Ethernet faces.
///
/// # Errors
/// Always.
pub fn permitted() -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "Ethernet faces need Linux"))
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

/// Buffers that all interfaces share.
#[derive(Debug, Default)]
pub struct FrameBuffers;

/// The socket that receives the frames of an interface.
#[derive(Debug)]
pub struct Receiver(Infallible);

impl Receiver {
    /// Frames to the interface's own address, and to joined groups.
    ///
    /// # Errors
    /// Never: there is no device.
    pub fn open(device: &Device, _: UdpOptions, _: &Registry, _: Token) -> io::Result<Receiver> {
        match device.0 {}
    }

    /// Follows the interface's MTU.
    pub fn set_mtu(&mut self, _: usize) {
        match self.0 {}
    }

    /// Receives until the socket is empty or a number of bytes have arrived.
    ///
    /// # Errors
    /// Never: there is no socket.
    pub fn receive(
        &self,
        _: &mut FrameBuffers,
        _: usize,
        _: impl FnMut(Received<'_>),
    ) -> io::Result<Progress> {
        match self.0 {}
    }
}

/// Sockets of faces that have ended: none.
#[derive(Clone, Debug, Default)]
pub struct SpareSockets;

/// A socket that sends frames to one station or group.
#[derive(Debug)]
pub struct Sender(Infallible);

impl Sender {
    /// Frames from this interface to a station, or to a group, which is joined.
    ///
    /// # Errors
    /// Never: there is no device.
    pub fn open(device: &Device, _: &str, _: Mac, _: &SpareSockets) -> io::Result<Sender> {
        match device.0 {}
    }

    /// Has `registry` report when the kernel takes more.
    ///
    /// # Errors
    /// Never: there is no socket.
    pub fn register(&self, _: &Registry, _: Token) -> io::Result<()> {
        match self.0 {}
    }
}

impl SendFrames for Sender {
    fn send(&mut self, _: &mut Batch) -> Result<Progress, SendError> {
        match self.0 {}
    }

    fn max_segments(&self) -> usize {
        match self.0 {}
    }

    fn has_given_up(&self) -> bool {
        match self.0 {}
    }
}

/// Reports that some interface of the host has changed.
#[derive(Debug)]
pub struct Changes(Infallible);

impl Changes {
    /// Changes from now on.
    ///
    /// # Errors
    /// Always.
    pub fn watch(_: &Registry, _: Token) -> io::Result<Changes> {
        permitted().and_then(|()| Err(io::ErrorKind::Unsupported.into()))
    }

    /// Forgets the reported changes; true if there were any.
    pub fn take(&mut self) -> bool {
        match self.0 {}
    }
}
