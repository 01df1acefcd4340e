//! Room for one more application where there are as many as may be.

use super::Daemon;
use super::face::{Face, MadeBy};
use crate::management::authority::Account;
use forwarder::{FaceId, Scope};

/// The programs of one other user may take this part of the places for applications.
const OF_ONE_USER: usize = 4;

impl Daemon {
    /// Whether there is room for one more application of this user, perhaps because a connection
    /// goes that never sent a packet. Neither one program that opens connections nor one user may
    /// lock out the others: the programs of each user other than root and the daemon's own take at
    /// most a quarter of the places, and all of these together three quarters.
    pub(super) fn has_room_for_application(&mut self, account: Option<Account>) -> bool {
        let memory = Face::keeps(false);
        let has_room = |daemon: &mut Daemon| {
            daemon.faces.applications < daemon.settings.application.max
                && daemon.forwarder.has_room_for_face(Scope::Local, memory)
                && daemon.user_has_room(account)
        };
        if has_room(self) {
            return true;
        }
        let all = self.user_has_room(account);
        let Some(silent) = self.oldest_silent_application(account.filter(|_| !all)) else {
            return false;
        };
        self.close(silent, "it never sent a packet, and makes room for another application");
        has_room(self)
    }

    /// Whether the programs of this user are within their part of the places.
    fn user_has_room(&self, account: Option<Account>) -> bool {
        let own = rustix::process::geteuid().as_raw();
        let is_owner = |uid: u32| uid == own || uid == 0;
        let Some(Account { uid, .. }) = account.filter(|account| !is_owner(account.uid)) else {
            return true;
        };
        let most = self.settings.application.max;
        let (mut of_user, mut of_others) = (0, 0);
        for account in self.applications().filter_map(Face::account) {
            of_user += usize::from(account.uid == uid);
            of_others += usize::from(!is_owner(account.uid));
        }
        of_user < (most / OF_ONE_USER).max(1) && of_others < (most - most / OF_ONE_USER).max(1)
    }

    fn applications(&self) -> impl Iterator<Item = &Face> {
        self.faces.iter().filter(|face| face.made_by == MadeBy::Application)
    }

    /// The oldest connection of an application, of this user's if one is given, that has not sent a
    /// whole frame. A program that has just connected sends within moments, and is younger than
    /// those that never do.
    fn oldest_silent_application(&self, of: Option<Account>) -> Option<FaceId> {
        let sent = |id| self.forwarder.counters(id).is_some_and(|c| c.received.frames > 0);
        let is_of = |face: &Face| match of {
            Some(of) => face.account().is_some_and(|account| account.uid == of.uid),
            None => true,
        };
        // Faces are listed by their numbers, which rise.
        self.applications().find(|face| is_of(face) && !sent(face.id)).map(|face| face.id)
    }
}
