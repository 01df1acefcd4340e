//! Publications that their member no longer keeps, and its signed statement about them.
//!
//! The statement is a Data packet in place of such a publication. It has the ContentType Nack, as
//! answers of other NDN producers without content. Its Content is `seq=LOW`: the member keeps no
//! publication before LOW. A statement never becomes wrong, so repeating one does no harm. One
//! signature serves all those publications: the packet of another number has the statement in it.

use super::Participant;
use super::trust::Verdict;
use control::Time;
use packet::{Bytes, Component, ContentType, Data, DataBuf, Name, NameRef};
use security::Signer;
use sync::{Stream, wire};

/// How long caches may answer with it. Another member may have the publication as history.
const FRESHNESS_MS: u64 = 10_000;

/// The statement of a stream's member that it keeps no publication before `low`, which is at least
/// 2: the packet of the last number before it.
pub fn statement(stream: &Stream, group: &Name, low: u64, signer: &Signer) -> Bytes {
    let name = wire::publication(stream, group, low - 1);
    let content = Name::new().with(&Component::sequence(low));
    let mut out = Vec::new();
    signer.encode(&packet(name, Bytes::copy_from_slice(content.as_bytes())), &mut out);
    out.into()
}

fn packet(name: Name, content: Bytes) -> DataBuf {
    DataBuf {
        content_type: ContentType::NACK,
        freshness_ms: Some(FRESHNESS_MS),
        ..DataBuf::new(name, content)
    }
}

/// The answer to an Interest for this name, with the statement; `None` if it says nothing about
/// that name.
pub fn answer(statement: &Bytes, name: NameRef<'_>) -> Option<Bytes> {
    let data = Data::decode(statement).ok()?;
    if data.name() == name {
        return Some(statement.clone());
    }
    let seq = name.last()?.as_sequence()?;
    let is_meant = name.parent() == data.name().parent() && (1..low(&data)?).contains(&seq);
    let whole = is_meant.then(|| packet(name.to_name(), statement.clone()).encode_digest())?;
    (whole.len() <= packet::MAX_PACKET).then_some(whole)
}

/// The statement in a packet of another number; `None` for other packets.
pub fn unpacked<'a>(data: &Data<'a>) -> Option<Data<'a>> {
    let is_nack = data.content_type() == ContentType::NACK;
    let inner = Data::decode(is_nack.then(|| data.content())?).ok()?;
    let is_meant =
        inner.content_type() == ContentType::NACK && inner.name().parent() == data.name().parent();
    is_meant.then_some(inner)
}

/// The first number that the stream's member may still keep, by a statement; `None` for other
/// packets. The caller verifies that the member has signed it.
pub fn low(data: &Data<'_>) -> Option<u64> {
    if data.content_type() != ContentType::NACK {
        return None;
    }
    let content = NameRef::decode(data.content()).ok().filter(|content| content.len() == 1)?;
    let low = content.last()?.as_sequence()?;
    let own = data.name().last()?.as_sequence()?;
    (own < low).then_some(low)
}

impl Participant {
    /// Takes a verified answer without content in place of a publication. A member speaks for the
    /// streams under its identity, whatever else its key may sign.
    pub(super) fn gone(&mut self, now: Time, wanted: Name, data: &Data<'_>, key: &Name) {
        let meant = wire::parse_publication(wanted.as_ref(), &self.group);
        let signer = wire::identity(key);
        let is_meant = data.name().parent() == wanted.as_ref().parent();
        let Some((stream, seq)) = meant
            .filter(|(stream, _)| is_meant && stream.name.as_ref().starts_with(signer.as_ref()))
        else {
            let why = format!("{key} does not speak about {wanted}");
            return self.count_wrong(now, wanted, why);
        };
        match low(data) {
            // Of another program: it does not have this one, and says nothing about others.
            None if data.name() == wanted.as_ref() => self.ask_gone(now, &wanted),
            Some(low) if seq < low => {
                let asked = self.streams.gone(&stream, low);
                for seq in &asked {
                    self.asker.stop(&wire::publication(&stream, &self.group, *seq));
                }
                self.wanting.insert(stream);
                if !asked.contains(&seq) {
                    // It was known, and asked for again: a wrong packet came from elsewhere, or
                    // the search is repeated.
                    self.ask_gone(now, &wanted);
                }
            }
            _ => {
                let why = format!("{wanted}: the statement in its place is about earlier ones");
                self.count_wrong(now, wanted, why);
            }
        }
    }

    /// Asks for a publication that its member keeps no longer. Without room for it, it counts as
    /// one that could not be fetched, so that later ones do not wait for it.
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
            self.kept.state_gone(low, || statement(own, &self.group, low, &self.signer));
        }
    }
}
