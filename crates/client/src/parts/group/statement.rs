//! Publications that their member no longer keeps, and its signed statement about them.
//!
//! The statement is a Data packet in place of such a publication. It has the ContentType Nack, as
//! answers of other NDN producers without content. Its Content is `seq=LOW`: the member keeps no
//! publication before LOW. A statement never becomes wrong, so repeating one does no harm. One
//! signature serves all those publications: the packet of another number has the statement in it.

use packet::{Bytes, Component, ContentType, Data, DataBuf, Name, NameRef};
use security::Signer;
use sync::{Stream, wire};

/// The time for which caches may answer with it. Another member may have the publication as
/// history.
const FRESHNESS_MS: u64 = 10_000;

/// The statement of a stream's member that it keeps no publication before `low`, which is at least
/// 2: the packet of the last number before it.
pub fn signed(stream: &Stream, group: &Name, low: u64, signer: &Signer) -> Bytes {
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

/// The answer to an Interest for this name, with the statement; `None` if the statement is not
/// about that name.
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
