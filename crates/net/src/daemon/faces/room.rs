//! Room for one more face where there are as many as may be.

use crate::config::OnDemand;
use crate::daemon::address::{Group, Source, groups};
use crate::daemon::crowd::Transport;
use crate::daemon::face::{Face, MadeBy};
use crate::daemon::table::FaceTable;
use crate::daemon::unproved::Unproved;
use crate::management::authority::Account;
use control::Time;
use forwarder::{FaceId, Forwarder, Scope};
use ipnet::{IpNet, Ipv4Net};
use std::net::Ipv4Addr;

/// All addresses of this host that are not on a network (RFC 1122, section 3.2.1.3).
const LOOPBACK: IpNet = IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(127, 0, 0, 0), 8));

/// The programs of one other user may take this part of the places for applications.
const OF_ONE_USER: usize = 4;

/// The decision on a new face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    Free,
    /// If this face goes.
    After(FaceId),
    None,
}

/// A peer that needs a face.
#[derive(Clone, Copy, Debug)]
pub(super) struct Newcomer {
    pub source: Source,
    pub scope: Scope,
    pub transport: Transport,
    /// Bytes of memory that its face takes.
    pub bytes: usize,
}

/// Decides on a face of one more peer. An idle face may have to go for it.
pub(super) fn for_peer(
    newcomer: &Newcomer,
    table: &FaceTable,
    unproved: &mut Unproved,
    settings: &OnDemand,
    forwarder: &mut Forwarder,
    now: Time,
) -> Room {
    let Newcomer { source, scope, transport, bytes } = *newcomer;
    let crowd = table.crowd();
    let [host, subnet] = groups(source);
    let has_many = crowd.within(transport, host) >= settings.max_per_address;
    let has_many_near = crowd.within(transport, subnet) >= settings.max_per_subnet;
    let group = match source {
        // Programs of this host leave half of the places to others, unless they make room as
        // unknown peers do.
        Source::Internet(address) if address.is_loopback() => {
            let most = settings.max.div_ceil(2);
            let is_full = crowd.of(transport) >= most
                && table.local(transport) >= most
                && Unproved::exempts(source, &settings.unproved);
            let own = if address.is_ipv4() { LOOPBACK } else { address.into() };
            is_full.then_some(Group::Net(own))
        }
        // All hosts of a link share the prefix that stands for one host elsewhere.
        Source::Internet(address)
            if has_many && address.is_ipv6() && unproved.is_local(now, source) =>
        {
            let is_full = table.to(source, transport) >= settings.max_per_address;
            is_full.then(|| Group::Net(address.into()))
        }
        _ if has_many => Some(host),
        _ if has_many_near && !unproved.is_local(now, source) => Some(subnet),
        _ => None,
    };
    let has_memory = forwarder.has_room_for_face(scope, bytes);
    if group.is_none() && crowd.of(transport) < settings.max && has_memory {
        return Room::Free;
    }
    let mut idle = table.dispensable(now, transport, group, forwarder, settings);
    // Memory is shared by all kinds, their places are not.
    if idle.is_none() && group.is_none() && !has_memory {
        let mut others = Transport::ALL.into_iter().filter(|other| *other != transport);
        idle = others.find_map(|other| table.dispensable(now, other, None, forwarder, settings));
    }
    idle.map_or(Room::None, Room::After)
}

/// Decides on one more application of this user. A connection that never sent a packet may have to
/// go for it. Neither one program that opens connections nor one user may lock out the others: the
/// programs of each user other than root and the daemon's own take at most a quarter of the `most`
/// places, and all of these together three quarters.
pub(super) fn for_application(
    account: Option<Account>,
    table: &FaceTable,
    most: usize,
    forwarder: &mut Forwarder,
) -> Room {
    let user_has_room = user_has_room(account, table, most);
    let has_memory = forwarder.has_room_for_face(Scope::Local, Face::base_memory(false));
    if table.applications() < most && has_memory && user_has_room {
        return Room::Free;
    }
    let of = account.filter(|_| !user_has_room);
    oldest_silent_application(of, table, forwarder).map_or(Room::None, Room::After)
}

/// True if the programs of this user are within their part of the places.
fn user_has_room(account: Option<Account>, table: &FaceTable, most: usize) -> bool {
    let owners = [0, rustix::process::geteuid().as_raw()];
    let Some(Account { uid, .. }) = account.filter(|account| !owners.contains(&account.uid)) else {
        return true;
    };
    let (mut of_user, mut of_others) = (0, 0);
    for account in applications(table).filter_map(Face::account) {
        of_user += usize::from(account.uid == uid);
        of_others += usize::from(!owners.contains(&account.uid));
    }
    of_user < (most / OF_ONE_USER).max(1) && of_others < (most - most / OF_ONE_USER).max(1)
}

fn applications(table: &FaceTable) -> impl Iterator<Item = &Face> {
    table.iter().filter(|face| face.about().made_by == MadeBy::Application)
}

/// The oldest connection of an application, of this user's if one is given, that has not sent a
/// whole frame. A program that has just connected sends within moments, and is younger than those
/// that never do.
fn oldest_silent_application(
    of: Option<Account>,
    table: &FaceTable,
    forwarder: &Forwarder,
) -> Option<FaceId> {
    // Faces are listed by their numbers, which rise.
    let mut silent = applications(table).filter(|face| {
        forwarder.counters(face.id()).is_none_or(|counters| counters.received.frames == 0)
    });
    let oldest = match of {
        Some(Account { uid, .. }) => {
            silent.find(|face| face.account().is_some_and(|account| account.uid == uid))
        }
        None => silent.next(),
    };
    oldest.map(Face::id)
}
