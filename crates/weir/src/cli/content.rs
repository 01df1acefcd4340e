//! The commands that publish and fetch content.

use super::shared::{ForwarderArgs, OutputArgs};
use clap::Args;
use control::{Rate, Size};
use net::uri::{DEFAULT_PORT, FaceUri};
use packet::Name;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

/// `weir put`
#[derive(Args)]
pub struct PutArgs {
    /// The name. With a slash at its end, or for several files, each is published below it under
    /// its own file name.
    pub name: Place,
    /// The files and folders; `-` is standard input. A folder is published as a tree.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Bytes of content in a segment of a file, such as "4 kB". The default is 8 kB, or fewer if
    /// the name is long.
    #[arg(long, value_name = "SIZE")]
    pub segment_size: Option<Size>,
    /// Also sign each segment of a file, for programs that do not support Weir's signed manifests.
    #[arg(long)]
    pub sign_segments: bool,
    #[command(flatten)]
    pub serving: ServingArgs,
    #[command(flatten)]
    pub filter: FilterArgs,
    #[command(flatten)]
    pub reach: ReachArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `weir share`
#[derive(Args)]
pub struct ShareArgs {
    /// The name of the tree.
    pub name: Name,
    /// The folder.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    #[command(flatten)]
    pub serving: ServingArgs,
    #[command(flatten)]
    pub filter: FilterArgs,
    #[command(flatten)]
    pub reach: ReachArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Where the forwarder is, or which peers one in this process has.
#[derive(Args, Clone)]
pub struct ReachArgs {
    #[command(flatten)]
    pub forwarder: ForwarderArgs,
    /// Run a forwarder in this process and connect it to this one: a host, an address, or a URI
    /// such as tcp://192.0.2.7; may be repeated. A daemon of this host is not used then. Without
    /// it, and without a daemon, the forwarder in this process looks for peers on the local
    /// network.
    #[arg(long, value_name = "HOST[:PORT]", value_parser = peer, conflicts_with = "socket")]
    pub peer: Vec<FaceUri>,
}

/// A peer: UDP, unless the text says otherwise.
fn peer(text: &str) -> Result<FaceUri, String> {
    let uri = match (text.contains("://"), text.parse::<std::net::Ipv6Addr>()) {
        (true, _) => text.to_owned(),
        (false, Ok(address)) if address.is_unicast_link_local() => {
            return Err(format!("it needs its interface; write it like udp6://[{address}%eth0]"));
        }
        (false, Ok(address)) => format!("udp://[{address}]"),
        (false, Err(_)) => format!("udp://{text}"),
    };
    let why = match uri.parse::<FaceUri>() {
        Ok(FaceUri::Unix(_)) => "--socket is for the sockets of this host".to_owned(),
        Ok(FaceUri::Ether(_) | FaceUri::Device(_)) => {
            "Ethernet needs a daemon; see `weir face create`".to_owned()
        }
        Ok(uri) if uri.is_group() => "a peer is a single host".to_owned(),
        Ok(uri) => return Ok(uri),
        Err(error) => error.why,
    };
    Err(format!("{why}; write it like router.example, 192.0.2.7:6363 or tcp://192.0.2.7"))
}

/// How something is served.
#[derive(Args)]
pub struct ServingArgs {
    /// Sign with this key, by key or identity name. The default is the default key if the name is
    /// under its identity, otherwise a digest, which detects corruption only.
    #[arg(long, value_name = "KEY")]
    pub sign: Option<Name>,
    /// Stop when no Interest has arrived for this long, after the first answer.
    #[arg(long, value_name = "DURATION")]
    pub linger: Option<control::Duration>,
    /// Send no faster than this, such as "50 Mbit/s".
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub limit_rate: Option<Rate>,
    /// Run a forwarder in this process, and listen for UDP at this address only: an IP address,
    /// with or without a port. The default without a daemon is all addresses, and port 6363 if it
    /// is free.
    #[arg(long, value_name = "ADDRESS[:PORT]", value_parser = listen, conflicts_with = "socket")]
    pub listen: Option<SocketAddr>,
}

/// An address to listen at.
pub fn listen(text: &str) -> Result<SocketAddr, &'static str> {
    let address = text.parse::<IpAddr>().map(|ip| SocketAddr::new(ip, DEFAULT_PORT));
    let form = "write an IP address, such as 192.0.2.7, [2001:db8::7]:6363 or 0.0.0.0";
    let address = address.or_else(|_| text.parse()).map_err(|_| form)?;
    match address.ip().is_multicast() {
        true => Err("a group is not the address of a host; write one of this host's, or 0.0.0.0"),
        false => Ok(address),
    }
}

/// The choice of files of a tree.
#[derive(Args, Clone, Debug, Default)]
pub struct FilterArgs {
    /// Take files that match this pattern, such as '*.jpg', also if --exclude matches; may be
    /// repeated. Without --exclude, only these. It does not re-include anything below an excluded
    /// folder.
    #[arg(long, value_name = "GLOB")]
    pub include: Vec<String>,
    /// Leave out files and folders that match this pattern; may be repeated. A pattern with a slash
    /// is compared with the path in the tree, another one with the name alone.
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,
}

/// A name, or the place below it: with a slash at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The name.
    pub name: Name,
    /// A slash follows it.
    pub below: bool,
}

impl std::str::FromStr for Place {
    type Err = <Name as std::str::FromStr>::Err;

    fn from_str(text: &str) -> Result<Place, Self::Err> {
        let name: Name = text.parse()?;
        // The slash of the empty name is all there is of it.
        let below = text.ends_with('/') && !name.is_empty();
        Ok(Place { name, below })
    }
}

/// How something is fetched.
#[derive(Args, Clone)]
pub struct TransferArgs {
    /// The congestion-control scheme of the consumer. It may follow a startup, as in
    /// `packet-pair+cubic`, and have parameters, as in `cubic:beta=0.8`.
    #[arg(long, default_value = schemes::defaults::CONTROLLER, value_name = "SCHEME")]
    pub control: String,
    /// A parameter of the scheme; may be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// The number of segments per Interest, from 1 to 256. The default is the scheme's number;
    /// forwarders without range support get one Interest per segment.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub range: Option<u16>,
    /// Accept only content signed by this key or by one that it certifies: the file of a
    /// certificate or of a shared key, or a name in the key chain; may be repeated. Or a file of
    /// trust rules.
    #[arg(long, value_name = "KEY")]
    pub trust: Vec<String>,
    /// Fail when no new data has arrived for this long.
    #[arg(long, default_value = "30 s", value_name = "DURATION")]
    pub patience: control::Duration,
    /// The lifetime of Interests.
    #[arg(long, value_name = "DURATION", value_parser = lifetime)]
    pub lifetime: Option<control::Duration>,
}

/// `weir get`
#[derive(Args)]
pub struct GetArgs {
    /// The name, with or without a version. With a slash at its end it is a tree.
    pub name: Place,
    /// The folder for the files of a tree. The default is a folder in this directory, named as the
    /// last component of the name.
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// The output file; `-` is standard output. The default is a file in this directory, named as
    /// the last component of the name.
    #[arg(long = "output", short, value_name = "FILE")]
    pub output_file: Option<PathBuf>,
    /// Remove files from the folder that are not in the tree.
    #[arg(long)]
    pub delete: bool,
    /// Compare the content of files that have the size and time of those in the tree.
    #[arg(long)]
    pub checksum: bool,
    /// Allow a downgrade: accept an older version of the tree than the folder has.
    #[arg(long)]
    pub older: bool,
    #[command(flatten)]
    pub filter: FilterArgs,
    /// Fetch no faster than this, such as "50 Mbit/s".
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub limit_rate: Option<Rate>,
    #[command(flatten)]
    pub transfer: TransferArgs,
    /// Write the progress of the transfer to this file, as lines of JSON.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// The interval between lines of that file.
    #[arg(
        long, default_value = "20 ms", value_name = "DURATION", value_parser = interval,
        requires = "record"
    )]
    pub record_every: control::Duration,
    #[command(flatten)]
    pub reach: ReachArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `weir ls`
#[derive(Args)]
pub struct LsArgs {
    /// The name of a tree, or of a folder in it.
    pub name: Name,
    /// Show permissions, sizes and times.
    #[arg(long, short)]
    pub long: bool,
    /// Also list the folders in it.
    #[arg(long, short = 'R')]
    pub recursive: bool,
    #[command(flatten)]
    pub transfer: TransferArgs,
    #[command(flatten)]
    pub reach: ReachArgs,
    /// Print one JSON object per entry and line.
    #[arg(long)]
    pub json: bool,
    /// Print only errors and the list.
    #[arg(long, short)]
    pub quiet: bool,
}

/// `weir cat`
#[derive(Args)]
pub struct CatArgs {
    /// The name, with or without a version.
    pub name: Name,
    #[command(flatten)]
    pub transfer: TransferArgs,
    #[command(flatten)]
    pub reach: ReachArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `weir mount`
#[derive(Args)]
pub struct MountArgs {
    /// The name of a tree or of an object, with or without a version. With a slash at its end it is
    /// a tree. The version is that of the time of mounting.
    pub name: Place,
    /// The folder to mount on. It must exist; its own files are hidden while the content is
    /// mounted.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// The maximum number of bytes of content that are kept on the disk. It is removed when the
    /// command ends.
    #[arg(long, default_value = "1 GB", value_name = "SIZE", value_parser = cache)]
    pub cache: Size,
    /// The folder for this content. The default is /var/tmp.
    #[arg(long, value_name = "DIR")]
    pub cache_dir: Option<PathBuf>,
    #[command(flatten)]
    pub transfer: TransferArgs,
    #[command(flatten)]
    pub reach: ReachArgs,
    /// Print one JSON object when the content is mounted.
    #[arg(long)]
    pub json: bool,
    /// Print only errors that end the command.
    #[arg(long, short)]
    pub quiet: bool,
}

/// The size of a cache, of at least 16 MB.
fn cache(text: &str) -> Result<Size, String> {
    let size: Size = text.parse().map_err(|why| format!("{why}"))?;
    if size < Size(16_000_000) {
        return Err("a cache this small leaves no room to read ahead; try \"16 MB\"".to_owned());
    }
    Ok(size)
}

/// A lifetime of at least a millisecond.
pub fn lifetime(text: &str) -> Result<control::Duration, String> {
    let lifetime: control::Duration = text.parse().map_err(|why| format!("{why}"))?;
    // Packets carry whole milliseconds.
    if lifetime < control::Duration::from_millis(1) {
        return Err("a lifetime of less than 1 ms is too short; try \"4 s\"".to_owned());
    }
    Ok(lifetime)
}

/// A rate above zero.
pub fn rate(text: &str) -> Result<Rate, String> {
    let rate: Rate = text.parse().map_err(|why| format!("{why}"))?;
    if rate.0 == 0 {
        return Err("a rate of zero lets nothing pass; leave it out for no limit".to_owned());
    }
    Ok(rate)
}

/// An interval of at least a millisecond.
pub fn interval(text: &str) -> Result<control::Duration, String> {
    let interval: control::Duration = text.parse().map_err(|why| format!("{why}"))?;
    if interval < control::Duration::from_millis(1) {
        return Err("an interval of less than 1 ms is too short; try \"1 s\"".to_owned());
    }
    Ok(interval)
}

#[cfg(test)]
mod tests {
    use super::peer;
    use crate::cli::{Cli, Command};
    use clap::Parser;

    #[test]
    fn peers_and_listeners_have_ports_of_their_own_or_the_usual_one() {
        for (text, uri) in [
            ("router.example", "udp://router.example:6363"),
            ("192.0.2.7:7000", "udp4://192.0.2.7:7000"),
            ("2001:db8::7", "udp6://[2001:db8::7]:6363"),
            ("[2001:db8::7]:7000", "udp6://[2001:db8::7]:7000"),
            ("tcp4://192.0.2.7", "tcp4://192.0.2.7:6363"),
        ] {
            assert_eq!(peer(text).unwrap().to_string(), uri);
        }
        for (text, address) in [("::1", "[::1]:6363"), ("192.0.2.7:0", "192.0.2.7:0")] {
            let args = ["weir", "share", "/a", ".", "--listen", text];
            let Command::Share(share) = Cli::try_parse_from(args).unwrap().command else {
                panic!("another command")
            };
            assert_eq!(share.serving.listen, Some(address.parse().unwrap()));
        }
    }

    #[test]
    fn options_that_would_have_no_effect_are_rejected() {
        let parses = |line: &str| Cli::try_parse_from(line.split_whitespace()).is_ok();
        assert!(parses("weir ping /x --timeout 1s --interval 1s"));
        assert!(parses("weir ping /x --serve --size 5B"));
        // A missing option that conflicts with one that is there is not missed.
        for options in ["--size 5B", "--size 5B --timeout 1s", "--sign /k --stored"] {
            assert!(!parses(&format!("weir ping /x {options}")), "{options}");
        }
        assert!(parses("weir get /x --record file --record-every 1ms"));
        for options in ["--record-every 1s", "--record file --record-every 0s"] {
            assert!(!parses(&format!("weir get /x {options}")), "{options}");
        }
    }
}
