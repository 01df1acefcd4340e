//! The state of a network interface as a link: address, MTU, up or down. From the kernel, by
//! rtnetlink(7).

use crate::mac::Mac;
use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::{Errno, Result};
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use std::io;

/// Message types and flags of linux/netlink.h and linux/rtnetlink.h.
const ERROR: u16 = 2;
const NEW_LINK: u16 = 16;
const GET_LINK: u16 = 18;
const REQUEST: u16 = 1;
/// `RTMGRP_LINK`.
const LINKS: u32 = 1;
/// Attributes of linux/if_link.h.
const ADDRESS: u16 = 1;
const NAME: u16 = 3;
const MTU: u16 = 4;
/// Bytes of `struct nlmsghdr`, of `struct ifinfomsg`, and of `struct rtattr`.
const HEADER: usize = 16;
const INFO: usize = 16;
const ATTRIBUTE: usize = 4;
/// Where `struct ifinfomsg` has kind, number and flags.
const KIND: usize = HEADER + 2;
const INDEX: usize = HEADER + 4;
const FLAGS: usize = HEADER + 8;
/// `ARPHRD_ETHER` of linux/if_arp.h.
const ETHERNET: u16 = 1;
/// `IFF_UP` and `IFF_RUNNING` of linux/if.h: an administrator has set it up, and it has a carrier.
const RUNNING: u32 = 0x1 | 0x40;

/// An interface's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    index: u32,
    address: Option<Mac>,
    mtu: usize,
    is_up: bool,
}

impl Link {
    /// Its number.
    #[must_use]
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Its Ethernet address; `None` if it is of another kind, such as loopback.
    #[must_use]
    pub fn address(&self) -> Option<Mac> {
        self.address
    }

    /// The most bytes that a frame carries behind its header.
    #[must_use]
    pub fn mtu(&self) -> usize {
        self.mtu
    }

    /// True if it is switched on and connected.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.is_up
    }
}

/// The state of the interface of this name; `None` if the host has none.
///
/// # Errors
/// The system's.
pub fn of(name: &str) -> Result<Option<Link>> {
    let socket = socket()?;
    rustix::net::send(&socket, &question(name), SendFlags::empty())?;
    // The kernel has answered when it has taken the question. With its statistics an answer has
    // about 1.5 kB.
    let mut answer = vec![0; 32_768];
    let (length, _) = rustix::net::recv(&socket, answer.as_mut_slice(), RecvFlags::empty())?;
    read(answer.get(..length).unwrap_or_default())
}

fn socket() -> Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None)
}

/// `struct nlmsghdr`, `struct ifinfomsg`, and the name as an attribute, padded to four bytes.
fn question(name: &str) -> Vec<u8> {
    let attribute = ATTRIBUTE + name.len() + 1;
    let length = HEADER + INFO + attribute.next_multiple_of(4);
    let mut message = Vec::with_capacity(length);
    message.extend((length as u32).to_ne_bytes());
    message.extend(GET_LINK.to_ne_bytes());
    message.extend(REQUEST.to_ne_bytes());
    message.extend([0; 8]);
    message.extend([0; INFO]);
    message.extend((attribute as u16).to_ne_bytes());
    message.extend(NAME.to_ne_bytes());
    message.extend(name.as_bytes());
    message.resize(length, 0);
    message
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// The content of an answer.
fn read(answer: &[u8]) -> Result<Option<Link>> {
    match half(answer, 4) {
        Some(NEW_LINK) => link(answer).map(Some).ok_or(Errno::PROTO),
        Some(ERROR) => {
            // The error is negative.
            let error = word(answer, HEADER).ok_or(Errno::PROTO)?.wrapping_neg();
            match i32::try_from(error).map(Errno::from_raw_os_error) {
                Ok(Errno::NODEV) => Ok(None),
                Ok(error) => Err(error),
                Err(_) => Err(Errno::PROTO),
            }
        }
        _ => Err(Errno::PROTO),
    }
}

fn link(answer: &[u8]) -> Option<Link> {
    let is_ethernet = half(answer, KIND)? == ETHERNET;
    let is_up = word(answer, FLAGS)? & RUNNING == RUNNING;
    let mut link = Link { index: word(answer, INDEX)?, address: None, mtu: 0, is_up };
    let mut at = HEADER + INFO;
    while let (Some(length), Some(kind)) = (half(answer, at), half(answer, at + 2)) {
        let length = usize::from(length);
        // No shorter than its own header, so that the loop ends.
        let value = answer.get(at + ATTRIBUTE..at + length)?;
        match kind {
            ADDRESS if is_ethernet => link.address = value.try_into().ok().map(Mac::new),
            MTU => link.mtu = word(value, 0)? as usize,
            _ => {}
        }
        at += length.next_multiple_of(4);
    }
    Some(link)
}

/// Reports that some interface of the host has changed.
#[derive(Debug)]
pub struct Changes {
    socket: OwnedFd,
}

impl Changes {
    /// Changes from now on.
    ///
    /// # Errors
    /// The system's.
    pub fn watch(registry: &Registry, token: Token) -> io::Result<Changes> {
        let socket = socket()?;
        rustix::net::bind(&socket, &SocketAddrNetlink::new(0, LINKS))?;
        registry.register(&mut SourceFd(&socket.as_raw_fd()), token, Interest::READABLE)?;
        Ok(Changes { socket })
    }

    /// Forgets the reported changes; true if there were any. The reports themselves are not read:
    /// where there are many, the kernel leaves some out.
    pub fn take(&mut self) -> bool {
        let (mut scratch, mut any) = ([0; 64], false);
        loop {
            match rustix::net::recv(&self.socket, scratch.as_mut_slice(), RecvFlags::empty()) {
                Err(Errno::AGAIN) => return any,
                // Some were left out.
                Ok(_) | Err(Errno::NOBUFS | Errno::INTR) => any = true,
                Err(error) => {
                    tracing::warn!(%error, "cannot watch the network interfaces");
                    return any;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_up_and_no_ethernet() {
        let link = of("lo").unwrap().unwrap();
        assert_eq!((link.index(), link.address()), (1, None));
        assert!(link.mtu() >= 1500);
    }

    #[test]
    fn an_interface_that_is_not_there_is_none() {
        assert_eq!(of("nosuch0"), Ok(None));
        let poll = mio::Poll::new().unwrap();
        assert!(!Changes::watch(poll.registry(), Token(0)).unwrap().take());
    }

    #[test]
    fn an_answer_is_read_and_a_damaged_one_is_an_error() {
        let mut answer = vec![0; HEADER + INFO];
        answer[4..6].copy_from_slice(&NEW_LINK.to_ne_bytes());
        answer[KIND..KIND + 2].copy_from_slice(&ETHERNET.to_ne_bytes());
        answer[INDEX..INDEX + 4].copy_from_slice(&7u32.to_ne_bytes());
        answer[FLAGS..FLAGS + 4].copy_from_slice(&0x1043u32.to_ne_bytes());
        let mut attribute = |kind: u16, value: &[u8]| {
            answer.extend(((ATTRIBUTE + value.len()) as u16).to_ne_bytes());
            answer.extend(kind.to_ne_bytes());
            answer.extend(value);
            answer.resize(answer.len().next_multiple_of(4), 0);
        };
        attribute(ADDRESS, &[2, 0, 0, 0, 0, 9]);
        attribute(MTU, &9000u32.to_ne_bytes());
        let address = Some(Mac::new([2, 0, 0, 0, 0, 9]));
        let wanted = Link { index: 7, address, mtu: 9000, is_up: true };
        assert_eq!(read(&answer), Ok(Some(wanted)));
        // Without a carrier.
        answer[FLAGS] = 0x03;
        assert!(!read(&answer).unwrap().unwrap().is_up());
        // An attribute of no length.
        answer[HEADER + INFO] = 0;
        answer[HEADER + INFO + 1] = 0;
        assert_eq!(read(&answer), Err(Errno::PROTO));
        assert_eq!(read(&answer[..20]), Err(Errno::PROTO));
        assert_eq!(read(&[]), Err(Errno::PROTO));
    }
}
