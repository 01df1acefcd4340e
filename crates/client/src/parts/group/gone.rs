//! Publications that their member no longer keeps.

use super::Participant;
use super::statement;
use super::trust::Verdict;
use control::Time;
use packet::{Data, Name, NameRef};
use sync::wire;

impl Participant {
    /// Takes a verified answer without content in place of a publication. A member makes statements
    /// about the streams under its identity only, even if its key may sign other names.
    pub(super) fn gone(&mut self, now: Time, wanted: Name, data: &Data<'_>, key: &Name) {
        let meant = wire::parse_publication(wanted.as_ref(), &self.group);
        let signer = wire::identity(key);
        let is_meant = data.name().parent() == wanted.as_ref().parent();
        let Some((stream, seq)) = meant
            .filter(|(stream, _)| is_meant && stream.name.as_ref().starts_with(signer.as_ref()))
        else {
            let why = format!("{key} may not make a statement about {wanted}");
            return self.count_wrong(now, wanted, why);
        };
        match statement::low(data) {
            // Of another program: it does not have this one, and may have others.
            None if data.name() == wanted.as_ref() => self.ask_gone(now, &wanted),
            Some(low) if seq < low => {
                let asked = self.streams.gone(&stream, low);
                for seq in &asked {
                    self.asker.stop(&wire::publication(&stream, &self.group, *seq));
                }
                self.wanting.insert(stream);
                if !asked.contains(&seq) {
                    // It was known, and requested again: a wrong packet came from elsewhere, or the
                    // search is repeated.
                    self.ask_gone(now, &wanted);
                }
            }
            _ => {
                let why = format!("{wanted}: the statement in its place is about earlier ones");
                self.count_wrong(now, wanted, why);
            }
        }
    }

    /// Requests a publication that its member no longer keeps. If no request has room, it counts
    /// as missing, so that later ones do not wait for it.
    pub(super) fn ask_gone(&mut self, now: Time, wanted: &Name) {
        if !self.asker.ask_gone(now, wanted.clone()) {
            self.absent(wanted);
        }
    }

    fn count_wrong(&mut self, now: Time, wanted: Name, why: String) {
        if let Verdict::Wrong { why, times } = self.trust.wrong(&wanted, why) {
            self.wrong(now, wanted, why, times);
        }
    }

    /// Signs the statement that answers an Interest for an own publication that is gone.
    pub(super) fn state_gone(&self, name: NameRef<'_>) {
        let own = self.member.own();
        let low = self.member.seq() + 1 - self.kept.own() as u64;
        if let Some((stream, seq)) = wire::parse_publication(name, &self.group)
            && stream == *own
            && (1..low).contains(&seq)
        {
            self.kept.state_gone(low, || statement::signed(own, &self.group, low, &self.signer));
        }
    }
}
