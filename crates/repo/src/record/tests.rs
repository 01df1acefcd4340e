#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use super::*;
use crate::entry::Body;
use packet::Bytes;

fn steps() -> Vec<Step> {
    let packet = Body::Packet(Bytes::from_static(b"packet"));
    let entry = Entry { name: "/a/packet".parse().unwrap(), version: 0, body: packet };
    let top = Top { added: 5, bytes: 6, ..Top::default() };
    vec![
        Step::Arrived { digest: [7; 32], upload: u64::MAX },
        Step::Unverified,
        Step::Top { entry: Box::new(entry.clone()), top },
        Step::Member(Box::new(entry)),
        Step::Removed { name: "/b".parse().unwrap(), version: 9 },
    ]
}

fn written() -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, 77).unwrap();
    steps().iter().for_each(|step| writer.write(step).unwrap());
    writer.end().unwrap();
    out
}

fn read(bytes: &[u8]) -> Result<(u64, Vec<Step>), Unreadable> {
    let (mut reader, nonce) = Steps::new(bytes)?;
    let mut found = Vec::new();
    while let Some(step) = reader.step()? {
        found.push(step);
    }
    Ok((nonce, found))
}

#[test]
fn changes_are_read_as_they_were_written() {
    assert_eq!(read(&written()).unwrap(), (77, steps()));
}

#[test]
fn no_damaged_change_is_read() {
    let whole = written();
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        assert!(matches!(read(&changed), Err(Unreadable::Damaged(_))), "byte {at}");
        assert!(matches!(read(&whole[..at]), Err(Unreadable::Damaged(_))), "{at} bytes");
    }
    let longer = [&whole[..], b"x"].concat();
    assert!(matches!(read(&longer), Err(Unreadable::Damaged(_))));
}

#[test]
fn a_newer_change_is_not_read() {
    let step = seal(encode(&Step::Begin { format: KNOWN + 1, nonce: 1 }));
    let len = (step.len() as u32).to_be_bytes();
    let newer = [&len[..], &step].concat();
    assert!(matches!(read(&newer), Err(Unreadable::Newer(2))));
}
