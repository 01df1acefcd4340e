//! Two members of a group publish for each other, over a forwarder in this process. Both have the
//! key of the group's name:
//!
//!     weir key new /example/lab
//!     cargo run --package client --example group /example/lab

use client::{Embedded, JoinOptions};
use std::error::Error;
use std::io::{Write, stdout};
use std::time::Duration;

fn main() -> Result<(), Box<dyn Error>> {
    let group = std::env::args().nth(1).ok_or("give the name of a group, and of a key")?;
    let forwarder = Embedded::start()?;
    let client = forwarder.client()?;
    let options = JoinOptions::default().key(group.as_str());
    let join = |member: &str| client.join(group.as_str(), format!("{group}/{member}"), &options);
    let (alice, bob) = (join("alice")?, join("bob")?);
    alice.publish("hello")?;
    bob.publish("good morning")?;
    for member in [&alice, &bob] {
        if let Some(publication) = member.next(Duration::from_secs(10))? {
            let text = String::from_utf8_lossy(&publication.content);
            writeln!(stdout(), "{} got from {}: {text}", member.member(), publication.member)?;
        }
    }
    Ok(())
}
