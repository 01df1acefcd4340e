//! `weir status`

use crate::cli::StatusArgs;
use crate::exit::{Failure, Kind};
use crate::output;
use control::{Duration, Size};
use net::client::{Address, Connection};
use packet::Name;
use serde_json::Value;

/// The dataset with everything that the forwarder counts.
const COUNTERS: &str = "/localhost/weir/counters";

/// Shows what the forwarder is doing.
pub fn run(args: &StatusArgs) -> Result<(), Failure> {
    let mut connection = Connection::open(Address::find(args.forwarder.socket.as_deref())?)?;
    let counters = counters(&mut connection)?;
    if args.json {
        output::json(&counters);
    } else {
        table(&counters);
    }
    Ok(())
}

/// Asks a Weir forwarder for all its counters.
pub fn counters(connection: &mut Connection) -> Result<Value, Failure> {
    let name: Name = COUNTERS.parse().map_err(|error| Failure::new(Kind::Failed, error))?;
    let octets = connection.dataset(&name)?;
    serde_json::from_slice(&octets).map_err(|error| {
        Failure::new(Kind::Failed, format!("the forwarder's counters are malformed: {error}"))
    })
}

fn number(value: &Value, path: &str) -> u64 {
    value.pointer(path).and_then(Value::as_u64).unwrap_or(0)
}

fn table(counters: &Value) {
    let n = |path| number(counters, path);
    let uptime = Duration::from_millis(n("/uptime_ms"));
    output::result(&format!("up {uptime}, {} routes, {} pending", n("/fib"), n("/pit/entries")));
    let (hits, misses) = (n("/content_store/hits"), n("/content_store/misses"));
    output::result(&format!(
        "content store {} of {}, {} packets, {hits} hits, {misses} misses",
        Size(n("/content_store/bytes")),
        Size(n("/content_store/capacity")),
        n("/content_store/entries"),
    ));
    dropped(counters);
    output::result("");
    output::result(
        "face  in: Interests       Data      Bytes  out: Interests       Data      Bytes  queue",
    );
    for face in counters.get("faces").and_then(Value::as_array).into_iter().flatten() {
        let n = |path| number(face, path);
        output::result(&format!(
            "{:>4} {:>14} {:>10} {:>10} {:>15} {:>10} {:>10} {:>6}  {}",
            n("/id"),
            n("/received/interests"),
            n("/received/data"),
            Size(n("/received/bytes")).to_string(),
            n("/sent/interests"),
            n("/sent/data"),
            Size(n("/sent/bytes")).to_string(),
            n("/queue/packets"),
            face.get("uri").and_then(Value::as_str).unwrap_or_default(),
        ));
    }
}

/// Drops by reason, those that happened.
fn dropped(counters: &Value) {
    let drops = counters.get("drops").and_then(Value::as_object);
    let happened: Vec<_> = drops
        .into_iter()
        .flatten()
        .filter_map(|(reason, n)| n.as_u64().filter(|n| *n > 0).map(|n| format!("{n} {reason}")))
        .collect();
    if !happened.is_empty() {
        output::result(&format!("dropped: {}", happened.join(", ")));
    }
}
