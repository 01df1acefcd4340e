//! Prints the functions, and the files that they are in, that an Interest passes from the driver's
//! call to the queue of the face that it leaves by, and Data on its way back: what a reader of the
//! forwarder goes through.
//!
//! ```text
//! CARGO_PROFILE_DEV_OPT_LEVEL=0 cargo run --package forwarder --example path
//! ```
//!
//! Without optimisation no function becomes part of another, and the call stack has all of them.

use control::{Action, Strategy, StrategyCx, Time};
use forwarder::{FaceConfig, Forwarder, ForwarderConfig, PacketEvent, Step, Wire};
use packet::{DataBuf, InterestBuf, Name};
use std::backtrace::Backtrace;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// Sends to the first next hop.
struct First;

impl Strategy for First {
    fn on_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        if let Some(hop) = s.next_hops.first() {
            s.act(Action::Forward(hop.face));
        }
    }
}

/// The functions of the forwarder on the stack, the outermost first.
fn functions(stack: &Backtrace) -> Vec<String> {
    let text = stack.to_string();
    let names = text.lines().filter_map(|line| line.split_once(": ").map(|(_, name)| name.trim()));
    let own = names.filter(|name| name.contains("forwarder::") && !name.contains("closure"));
    let mut all: Vec<String> = own.map(str::to_owned).collect();
    all.reverse();
    all
}

/// The module of a function: `<a::b::C as d>::e`, `a::b::C::e` and `a::b::e` are in `a::b`.
fn module(function: &str) -> String {
    let path = function.trim_start_matches('<').split([' ', '<', '>']).next().unwrap_or_default();
    let lower = path.split("::").take_while(|part| part.starts_with(|c: char| c.is_lowercase()));
    let parts: Vec<&str> = lower.collect();
    let is_method = path.split("::").any(|part| part.starts_with(|c: char| c.is_uppercase()));
    let modules = if is_method { &parts[..] } else { &parts[..parts.len().saturating_sub(1)] };
    modules.join("::")
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut forwarder = Forwarder::new(ForwarderConfig::new(Box::new(First)));
    let now = Time::ZERO;
    let (down, up) = (
        forwarder.add_face(now, FaceConfig::default()),
        forwarder.add_face(now, FaceConfig::default()),
    );
    let name: Name = "/film/seg=1".parse()?;
    forwarder.add_route(up, name.as_ref(), 0)?;
    let stacks = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&stacks);
    forwarder.set_packet_tap(Some(Box::new(move |_, event: &PacketEvent<'_>| {
        if event.step == Step::Queued
            && let Ok(mut seen) = seen.lock()
        {
            seen.push(functions(&Backtrace::force_capture()));
        }
    })));
    let mut interest = InterestBuf::new(name.clone());
    interest.nonce = Some(1);
    forwarder.receive(now, down, Wire::Borrowed(&interest.encode()));
    forwarder.receive(now, up, Wire::Borrowed(&DataBuf::new(name, b"x".to_vec()).encode_digest()));
    let stacks = stacks.lock().map_err(|_| "a tap has failed")?;
    let mut out = io::stdout().lock();
    for (what, stack) in ["Interest", "Data"].iter().zip(stacks.iter()) {
        let files: BTreeSet<String> = stack.iter().map(|function| module(function)).collect();
        writeln!(out, "{what}: {} functions in {} files", stack.len(), files.len())?;
        for function in stack {
            writeln!(out, "    {function}")?;
        }
    }
    Ok(())
}
