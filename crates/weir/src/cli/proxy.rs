//! The arguments of `weir proxy`.

use super::content::{ReachArgs, listen, rate};
use super::shared::OutputArgs;
use clap::Args;
use control::{Duration, Rate, Size};
use packet::Name;
use std::net::SocketAddr;
use std::num::NonZeroU16;
use std::path::PathBuf;

/// `weir proxy`
#[derive(Args)]
pub struct ProxyArgs {
    /// A name, and the HTTP or HTTPS URL below which its files are, such as
    /// /example/hub=https://hub.example/files/
    #[arg(required = true, value_name = "NAME=URL")]
    pub origin: Vec<String>,
    /// Also follow redirects to this host if it has a public address; an IP address is always
    /// followed; may be repeated.
    #[arg(long, value_name = "HOST[:PORT]")]
    pub redirect: Vec<String>,
    /// Send the headers in this file, one per line, to the origins, but not to other hosts that
    /// they redirect to.
    #[arg(long, value_name = "FILE")]
    pub headers: Option<PathBuf>,
    /// Answer from memory for at most this long before the origin is asked for changes again. A
    /// shorter limit of the origin applies, but at least one second.
    #[arg(long, default_value = "10 s", value_name = "DURATION")]
    pub fresh: Duration,
    /// The time limit for each step of an origin: to connect, to begin an answer, and to send more
    /// of it, at 1000 bytes per second or more.
    #[arg(long, default_value = "5 s", value_name = "DURATION", value_parser = timeout)]
    pub origin_timeout: Duration,
    /// The maximum number of concurrent requests to each origin.
    #[arg(long, default_value = "8", value_name = "N", value_parser = requests)]
    pub requests: NonZeroU16,
    /// The folder of the cache, a file that is deleted when the program ends. The default is the
    /// folder for temporary files.
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// The maximum size of the cache; at least 66 MB. The most recently used
    /// blocks stay.
    #[arg(long, default_value = "1 GB", value_name = "SIZE", value_parser = cache_size)]
    pub cache_size: Size,
    /// Sign with this key, by key or identity name. The default is the default key if all names are
    /// under its identity, otherwise a digest, which detects corruption only.
    #[arg(long, value_name = "KEY")]
    pub sign: Option<Name>,
    /// Send no faster than this, such as "50 Mbit/s".
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub limit_rate: Option<Rate>,
    /// Run a forwarder in this process, and listen for UDP at this address only: an IP address,
    /// with or without a port. The default without a daemon is all addresses, and port 6363 if it
    /// is free.
    #[arg(long, value_name = "ADDRESS[:PORT]", value_parser = listen, conflicts_with = "socket")]
    pub listen: Option<SocketAddr>,
    #[command(flatten)]
    pub reach: ReachArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

fn requests(text: &str) -> Result<NonZeroU16, &'static str> {
    let number = text.parse::<NonZeroU16>().ok().filter(|number| number.get() <= 256);
    number.ok_or("write a number from 1 to 256, such as 8")
}

/// A time that an origin can keep.
fn timeout(text: &str) -> Result<Duration, String> {
    let timeout: Duration = text.parse().map_err(|why| format!("{why}"))?;
    if timeout < Duration::from_millis(1) {
        return Err("no origin answers in less than 1 ms; try \"10 s\"".to_owned());
    }
    Ok(timeout)
}

/// The size of a cache that has room for a block of each transfer.
fn cache_size(text: &str) -> Result<Size, String> {
    const LEAST: Size = Size(65_536_000);
    let size: Size = text.parse().map_err(|why| format!("{why}"))?;
    if size < LEAST {
        return Err("the transfers of a proxy need a cache of 66 MB; try \"66 MB\"".to_owned());
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_has_some_time() {
        assert_eq!(timeout("1 ms"), Ok(Duration::from_millis(1)));
        for wrong in ["0", "0 s", "999 us", "-1 s", "soon"] {
            assert!(timeout(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_cache_that_is_too_small_is_rejected() {
        assert_eq!(cache_size("66 MB"), Ok(Size(66_000_000)));
        for small in ["1 B", "1B", "64 MB", "0 B"] {
            assert!(cache_size(small).unwrap_err().contains("66 MB"), "{small}");
        }
    }
}
