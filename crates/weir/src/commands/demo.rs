//! `weir demo`: a real file through three forwarders, twice.
//!
//! ```text
//! consumer 1 --\
//!               A ==UDP== B ==UDP== C --- producer
//! consumer 2 --/
//! ```
//!
//! The demonstration runs the program itself: three `weir daemon`, one `weir put`, two `weir get`,
//! in a temporary directory, over loopback. The faces make the links slow, so that the progress is
//! visible and a cache helps.

mod network;

use crate::cli::DemoArgs;
use crate::exit::{Failure, Kind};
use crate::output::{self, Column, Table};
use control::{Duration, Rate, Size};
pub use network::is_child;
use network::{Link, Network};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::io::Read;
use std::path::Path;

const NAME: &str = "/demo/file";
const IDENTITY: &str = "/demo";

/// The least duration of the first transfer, if the file is not small.
const SECONDS: u64 = 3;
/// Rates that a link can have, in Mbit/s.
const RATES: [u64; 6] = [10, 20, 50, 100, 200, 500];
const DELAY: Duration = Duration::from_millis(5);

/// The result of the demonstration.
#[derive(JsonSchema, Serialize)]
pub struct Summary {
    /// The file.
    file: String,
    /// Its size in bytes.
    bytes: u64,
    /// The rate of the links in Mbit/s.
    link_mbps: f64,
    /// The delay of the links in ms, each way.
    link_delay_ms: f64,
    /// The name of the key that signed, or null.
    key: Option<String>,
    /// The transfers.
    transfers: Vec<Transfer>,
}

/// A transfer.
#[derive(JsonSchema, Serialize)]
pub struct Transfer {
    /// The number of the consumer, from 1.
    consumer: u32,
    /// Content over the duration, in Mbit/s.
    goodput_mbps: f64,
    /// Seconds from the first Interest to the last byte.
    duration_s: f64,
    /// The copy has the SHA-256 of the file.
    sha256_matches: bool,
    /// Data from the content store of A.
    from_cache: u64,
    /// Data that C sent towards A.
    from_producer: u64,
}

/// Runs the demonstration.
pub fn run(args: &DemoArgs) -> Result<(), Failure> {
    let file = match &args.file {
        Some(file) => file.clone(),
        None => std::env::current_exe().map_err(|error| {
            Failure::new(Kind::Failed, format!("cannot find this program's own file: {error}"))
                .then("name a file to send")
        })?,
    };
    let quiet = args.quiet || args.json;
    let (digest, bytes) = sha256(&file)?;
    let link = link(bytes);
    if !quiet {
        output::note(&format!(
            "three forwarders over UDP, with links of {} and {} each way:\n\n    \
             consumers -- A ===== B ===== C -- producer\n",
            link.rate, link.delay
        ));
    }
    let mut network = Network::start(&link, cache(bytes))?;
    if !quiet {
        let shown = short(&file).display();
        output::note(&format!("C: publishing {shown} ({}) as {NAME}", Size(bytes)));
    }
    network.publish(NAME, &file, IDENTITY)?;

    let mut key = None;
    let mut transfers = Vec::new();
    for consumer in 1..=2 {
        if !quiet {
            output::note(&format!("A: consumer {consumer} fetches it"));
        }
        let (transfer, signer) = fetch(&mut network, consumer, &digest, quiet)?;
        transfers.push(transfer);
        key = signer;
    }
    let file = file.display().to_string();
    let link_mbps = link.rate.0 as f64 / 1e6;
    let link_delay_ms = link.delay.as_secs_f64() * 1e3;
    let summary = Summary { file, bytes, link_mbps, link_delay_ms, key, transfers };
    if args.json {
        return output::json(&summary);
    }
    if quiet { Ok(()) } else { table(&summary) }
}

/// The path as one would type it here.
fn short(path: &Path) -> &Path {
    let here = std::env::current_dir().ok();
    here.and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path)
}

/// The fastest link over which the file takes a few seconds; its queue holds 50 ms.
fn link(bytes: u64) -> Link {
    let fitting = bytes.saturating_mul(8) / SECONDS / 1_000_000;
    let mbps = RATES.into_iter().rev().find(|rate| *rate <= fitting).unwrap_or(RATES[0]);
    let rate = Rate::from_mbps(mbps);
    Link { rate, delay: DELAY, queue: rate.size_in(Duration::from_millis(50)) }
}

/// Room for the whole file and its other packets, if it is not too large.
fn cache(bytes: u64) -> Size {
    Size((bytes.saturating_mul(3) / 2).clamp(64 << 20, 1 << 30))
}

fn fetch(
    network: &mut Network,
    consumer: u32,
    digest: &[u8; 32],
    quiet: bool,
) -> Result<(Transfer, Option<String>), Failure> {
    let before = (network.hits()?, network.producer_sent()?);
    let path = network.path(&format!("copy-{consumer}"));
    let summary = network.fetch(NAME, &path, IDENTITY, quiet)?;
    if sha256(&path)?.0 != *digest {
        return Err(Failure::new(Kind::NotVerified, "the copy is not what was published"));
    }
    let transfer = Transfer {
        consumer,
        goodput_mbps: float(&summary, "goodput_mbps"),
        duration_s: float(&summary, "duration_s"),
        sha256_matches: true,
        from_cache: network.hits()?.saturating_sub(before.0),
        from_producer: network.producer_sent()?.saturating_sub(before.1),
    };
    Ok((transfer, summary.get("key").and_then(Value::as_str).map(str::to_owned)))
}

fn float(summary: &Value, key: &str) -> f64 {
    summary.get(key).and_then(Value::as_f64).unwrap_or(0.0)
}

fn table(summary: &Summary) -> Result<(), Failure> {
    let heads =
        ["consumer", "goodput (Mbit/s)", "time (s)", "Data from A's cache", "Data over the links"];
    let mut table = Table::new(heads.map(|head| Column::right(head, 0)).to_vec());
    for row in &summary.transfers {
        table.row(vec![
            row.consumer.to_string(),
            three_digits(row.goodput_mbps),
            three_digits(row.duration_s),
            row.from_cache.to_string(),
            row.from_producer.to_string(),
        ]);
    }
    output::result("")?;
    let width = output::width(std::io::stdout());
    table.lines(width).iter().try_for_each(|line| output::result(line))?;
    output::result("")?;
    let key = summary.key.as_deref().unwrap_or("nobody");
    output::wrapped(&format!("both copies are whole: SHA-256 equal, signed by {key}"))?;
    let Some([_, second]) = summary.transfers.first_chunk::<2>() else { return Ok(()) };
    output::wrapped(&match (second.from_cache, second.from_producer) {
        (_, 0) => {
            "the second came from A's cache alone: nothing crossed the links again".to_owned()
        }
        // The producer's answer about its newest version is fresh only for a while.
        (_, 1) => "the second came from A's cache; only its newest version was asked for \
                   again, at the producer"
            .to_owned(),
        (0, _) => {
            "A's cache has no room for so large a file: it crossed the links again".to_owned()
        }
        (_, n) if n <= 1 + transport::head::MOST => format!(
            "the second came from A's cache; the producer sent only the number of its newest \
             version, and {} of its first segments, which are asked for at the same time",
            n - 1
        ),
        (_, n) => format!("the second came from A's cache, but for {n} Data that it no longer had"),
    })
}

/// Three significant digits, not beyond four decimals.
fn three_digits(value: f64) -> String {
    let decimals = 2 - value.max(1e-9).log10().floor() as i32;
    format!("{value:.*}", decimals.clamp(0, 4) as usize)
}

/// The digest and the size of a file.
fn sha256(path: &Path) -> Result<([u8; 32], u64), Failure> {
    hashed(path).map_err(|error| {
        Failure::new(Kind::File, format!("cannot read {}: {error}", path.display()))
            .then("name a file that can be read")
    })
}

fn hashed(path: &Path) -> std::io::Result<([u8; 32], u64)> {
    let mut file = File::open(path)?;
    let (mut digest, mut size, mut buffer) = (Sha256::new(), 0, vec![0; 1 << 20]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok((digest.finalize().into(), size)),
            n => {
                digest.update(&buffer[..n]);
                size += n as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_as_fast_as_leaves_something_to_see() {
        let mbps = |bytes| link(bytes).rate.0 / 1_000_000;
        // 25 MB are 200 Mbit: 66 Mbit/s would take three seconds.
        assert_eq!(mbps(25_000_000), 50);
        // 75 MB are 600 Mbit: 200 Mbit/s take three seconds.
        assert_eq!(mbps(75_000_000), 200);
        assert_eq!((mbps(0), mbps(1_000), mbps(u64::MAX)), (10, 10, 500));
        // 50 Mbit/s for 50 ms are 2.5 Mbit.
        assert_eq!(link(25_000_000).queue, Size(312_500));
    }

    #[test]
    fn the_cache_has_bounds() {
        assert_eq!((cache(0), cache(u64::MAX)), (Size(64 << 20), Size(1 << 30)));
        assert!(cache(100_000_000) > Size(110_000_000));
    }

    #[test]
    fn numbers_have_three_digits() {
        let shown = [0.0512, 4.164, 47.66, 613.2, 6443.0].map(three_digits);
        assert_eq!(shown, ["0.0512", "4.16", "47.7", "613", "6443"]);
    }
}
