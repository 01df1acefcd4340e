//! Values of fields that have a form of their own.

use crate::interface;
use crate::mac::Mac;
use crate::management::authority::MODULES;
use crate::uri::{self, FaceUri};
use control::{Rate, Size};
use document::{DeValue, Value, listed, shown, text, valid_words};
use forwarder::RateIn;
use ipnet::IpNet;
use packet::Name;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use toml::Spanned;

/// A level, or `tracing` directives.
pub(super) fn log(value: &DeValue<'_>) -> Result<String, String> {
    let given = text(value)?;
    crate::directives::filter(given)
        .map_err(|e| format!("{e}; try `info`, or `info,net::management=debug`"))?;
    Ok(given.to_owned())
}

/// An absolute path, or `"off"`.
pub(super) fn socket(value: &DeValue<'_>) -> Result<Option<PathBuf>, String> {
    match text(value)? {
        "off" => Ok(None),
        path if path.starts_with('/') => {
            uri::check_socket(path).map_err(|why| format!("`{path}`: {why}"))?;
            Ok(Some(PathBuf::from(path)))
        }
        other => Err(format!("`{other}` is not an absolute path, nor `off`")),
    }
}

/// Permissions in octal digits, as chmod(1) takes them.
pub(super) fn mode(value: &DeValue<'_>) -> Result<u32, String> {
    let given = text(value)?;
    match u32::from_str_radix(given, 8) {
        Ok(mode) if mode <= 0o777 => Ok(mode),
        _ => Err(format!("`{given}` is not a mode of octal digits such as `660`")),
    }
}

/// The name of a network interface, a list of them, or `"off"`.
pub(super) fn interfaces(value: &DeValue<'_>) -> Result<Vec<String>, String> {
    if let DeValue::String(word) = value
        && word == "off"
    {
        return Ok(Vec::new());
    }
    let names = listed(value, |name| match interface::check_name(name) {
        Ok(()) => Ok(name.to_owned()),
        Err(why) => Err(format!("`{name}`: {why}")),
    })?;
    match names.iter().enumerate().find(|(place, name)| names[..*place].contains(name)) {
        Some((_, twice)) => Err(format!("`{twice}` is listed twice; leave one out")),
        None => Ok(names),
    }
}

/// An absolute path, or a list of them.
pub(super) fn paths(value: &DeValue<'_>) -> Result<Vec<PathBuf>, String> {
    listed(value, |path| match path.starts_with('/') {
        true if path.contains('\0') => Err(format!("`{path}`: a path has no NUL in it")),
        true => Ok(PathBuf::from(path)),
        false => Err(format!("`{path}` is not an absolute path")),
    })
}

/// Origins as browsers write them, or `"any"`.
pub(super) fn origins(value: &DeValue<'_>) -> Result<Origins, String> {
    if let DeValue::String(word) = value
        && word == "any"
    {
        return Ok(Origins::Any);
    }
    let listed = listed(value, |origin| {
        let host = origin.split_once("://").map(|(_, host)| host);
        match host.is_some_and(|host| !host.is_empty() && !host.contains('/')) {
            true => Ok(origin.to_owned()),
            false => Err(format!("`{origin}` is not an origin such as `https://app.example`")),
        }
    })?;
    Ok(Origins::Listed(listed))
}

/// A port, an address with port, a list of these, or `"off"`.
pub(super) fn addresses(value: &DeValue<'_>) -> Result<Vec<SocketAddr>, String> {
    let addresses = each_address(value)?;
    // Port 0 is another one each time.
    let mut fixed = addresses.iter().enumerate().filter(|(_, address)| address.port() != 0);
    match fixed.find(|(place, address)| addresses[..*place].contains(address)) {
        Some((_, twice)) => Err(format!("{twice} is listed twice; leave one out")),
        None => Ok(addresses),
    }
}

fn each_address(value: &DeValue<'_>) -> Result<Vec<SocketAddr>, String> {
    const VALID: &str = "a port, \"192.0.2.1:6363\", \"[2001:db8::1]:6363\", a list, or \"off\"";
    match value {
        DeValue::Array(list) => {
            let each = list.iter().map(|v| match Spanned::get_ref(v) {
                DeValue::Array(_) => Err("a list of lists is no list of addresses".to_owned()),
                one => each_address(one),
            });
            Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
        }
        DeValue::String(s) if s == "off" => Ok(Vec::new()),
        DeValue::String(s) => s
            .parse()
            .map(|address| vec![address])
            .map_err(|_| format!("`{s}` is not an address with its port; it takes {VALID}")),
        DeValue::Integer(n) => match u16::from_str_radix(n.as_str(), n.radix()) {
            Ok(port) => Ok(vec![
                SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)),
                SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)),
            ]),
            Err(_) => Err(format!("`{}` is not a port (0 to 65535)", n.as_str())),
        },
        other => Err(format!("it takes {VALID}, not {}", shown(other))),
    }
}

/// As [`addresses`], in a program with WebSocket.
pub(super) fn websockets(value: &DeValue<'_>) -> Result<Vec<SocketAddr>, String> {
    let addresses = addresses(value)?;
    if !addresses.is_empty() && !cfg!(feature = "websocket") {
        return Err(
            "this program is built without WebSocket; write \"off\", or run `weir daemon`, \
             which has it"
                .to_owned(),
        );
    }
    Ok(addresses)
}

/// The origins (RFC 6454) of pages that may connect by WebSocket, besides those of this host. A
/// browser connects for any page, so the forwarder has to check: it gives access to the
/// applications of this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origins {
    /// Whatever the browser shows.
    Any,
    /// `https://app.example`, `http://192.0.2.1:8080`, as browsers write them.
    Listed(Vec<String>),
}

impl Origins {
    /// True if a page of this origin may connect.
    #[must_use]
    pub fn allow(&self, origin: &str) -> bool {
        match self {
            Origins::Any => true,
            Origins::Listed(list) => {
                list.iter().any(|listed| listed.eq_ignore_ascii_case(origin)) || is_here(origin)
            }
        }
    }
}

/// True if an origin is a server on this host, by a name or an address that cannot be elsewhere.
fn is_here(origin: &str) -> bool {
    let Some((_, host)) = origin.split_once("://") else { return false };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// Addresses over UDP that need no proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exempt {
    /// Loopback needs none, and networks that this host has addresses in have a rate of their own.
    pub local: bool,
    /// Addresses in these need none.
    pub networks: Vec<IpNet>,
}

/// Networks, and perhaps `"local"`.
pub(super) fn exempt(value: &DeValue<'_>) -> Result<Exempt, String> {
    let networks = listed(value, |given| {
        if given == "local" {
            return Ok(None);
        }
        let network = match given.parse::<IpNet>() {
            Ok(network) => Ok(network),
            Err(_) => given.parse::<IpAddr>().map(IpNet::from),
        };
        network.map(|net| Some(net.trunc())).map_err(|_| {
            format!("`{given}` is not a network such as `192.0.2.0/24`, an address, nor `local`")
        })
    })?;
    let local = networks.iter().any(Option::is_none);
    Ok(Exempt { local, networks: networks.into_iter().flatten().collect() })
}

/// A face URI.
pub(super) fn uri(value: &DeValue<'_>) -> Result<FaceUri, String> {
    let uri = text(value)?.parse::<FaceUri>().map_err(|error| error.to_string())?;
    match &uri {
        FaceUri::Device(_) => {
            return Err(format!(
                "{uri} is an interface of this host; give the station or group at the other end, \
                 like ether://[{}], and the name as `interface`",
                Mac::NDN
            ));
        }
        FaceUri::Ether(address) if !address.is_station() && !address.is_group() => {
            return Err(format!("no station has the address {address}"));
        }
        _ => {}
    }
    match uri.address() {
        Some(ip) if ip.is_unspecified() || ip == IpAddr::V4(Ipv4Addr::BROADCAST) => {
            Err(format!("no host has the address {ip}"))
        }
        _ => Ok(uri),
    }
}

/// The bytes that a frame takes besides its own.
pub(super) fn overhead(value: &DeValue<'_>) -> Result<Size, String> {
    match Size::read(value)? {
        size if size > MOST_OVERHEAD => {
            Err(format!("{size} is too much for each frame; give at most {MOST_OVERHEAD}"))
        }
        size => Ok(size),
    }
}

/// More than the headers of all tunnels together.
const MOST_OVERHEAD: Size = Size(10_000);

/// A rate at which something passes.
pub(super) fn rate(value: &DeValue<'_>) -> Result<Rate, String> {
    match Rate::read(value)? {
        Rate(0) => Err("a rate of zero lets nothing pass".to_owned()),
        rate => Ok(rate),
    }
}

/// An incoming rate, or `"measured"`.
pub(super) fn rate_in(value: &DeValue<'_>) -> Result<RateIn, String> {
    match value {
        DeValue::String(word) if word == "measured" => Ok(RateIn::Measured),
        _ => rate(value).map(RateIn::Known),
    }
}

/// A limit of memory: none for `unlimited`, nor for `auto` at first.
pub(super) fn memory(value: &DeValue<'_>) -> Result<Option<Size>, String> {
    match text(value)? {
        "auto" | "unlimited" => Ok(None),
        size => size
            .parse()
            .map(Some)
            .map_err(|e| format!("{e}; a size such as `32 MB`, `auto` or `unlimited`")),
    }
}

/// A size in bytes of this host's memory.
pub(super) fn bytes(value: &DeValue<'_>) -> Result<usize, String> {
    usize::try_from(Size::read(value)?.0).map_err(|_| "it is too large".to_owned())
}

/// Texts, or one.
pub(super) fn texts(value: &DeValue<'_>) -> Result<Vec<String>, String> {
    listed(value, |text| Ok(text.to_owned()))
}

/// Names, or one.
pub(super) fn names(value: &DeValue<'_>) -> Result<Vec<Name>, String> {
    listed(value, |text| text.parse().map_err(|e| format!("`{text}`: {e}")))
}

/// A name that adds little to the packets that contain it: a forged sender of a small packet could
/// direct much larger ones to a victim.
pub(super) fn short_name(value: &DeValue<'_>) -> Result<Name, String> {
    const MOST: usize = 200;
    match Name::read(value)? {
        name if name.encoded_len() > MOST => {
            Err(format!("it has {} bytes; give at most {MOST}", name.encoded_len()))
        }
        name => Ok(name),
    }
}

/// Modules of the management protocol, or one.
pub(super) fn modules(value: &DeValue<'_>) -> Result<Vec<String>, String> {
    listed(value, |word| match MODULES.contains(&word) {
        true => Ok(word.to_owned()),
        false => Err(valid_words(word, MODULES)),
    })
}
