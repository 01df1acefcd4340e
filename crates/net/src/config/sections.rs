//! From the parsed file to the configuration, section by section.

use super::error::ConfigError;
use super::memory;
use super::model::{
    Application, Config, Daemon, Face, ForwarderLimits, LinkOptions, Listen, LogFormat, OnDemand,
    Origins, Route, Strategy, Unproved,
};
use super::permissions;
use super::schema::SECTIONS;
use crate::emulate::Emulation;
use crate::uri::FaceUri;
use control::{Duration, Size};
use document::parts;
use document::{Document, Queue, Section, listed, name, shown, spoken, text, valid_words};
use forwarder::tables::{Admission, PolicyKind};
use forwarder::tables::{ContentStoreConfig, PitConfig};
use ipnet::IpNet;
use schemes::Choice;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Reads all sections of the text.
pub(super) fn read(text: &str, file: &str) -> Result<Config, ConfigError> {
    let doc = Document::new(file, text);
    let config = doc.table(SECTIONS).and_then(|table| sections(&doc, &table));
    let mistakes = doc.finish();
    match config {
        Some(config) if mistakes.is_empty() => Ok(config),
        _ => Err(ConfigError::Mistakes(mistakes)),
    }
}

fn sections<'d>(doc: &'d Document<'d>, table: &'d DeTable<'d>) -> Option<Config> {
    let single = |name| Section::single(doc, SECTIONS, table, name);
    let whole = parts::whole(&single("daemon")?);
    let faces: Vec<Section<'_>> = Section::repeated(doc, SECTIONS, table, "face");
    let (at, read): (Vec<_>, Vec<_>) =
        faces.iter().filter_map(|s| Some((s.at.clone(), face(s)?))).unzip();
    let known = read.len() == faces.len();
    let mut names = BTreeSet::new();
    for (face, at) in read.iter().zip(&at) {
        let name = face_name(face);
        if !names.insert(name.clone()) {
            doc.mistake(at.clone(), format!("there are two faces `{name}`"));
        }
    }
    let faces_by_text = by_text(&read);
    let routes: Vec<_> = Section::repeated(doc, SECTIONS, table, "route")
        .iter()
        .filter_map(|s| route(s, &faces_by_text, &names, known))
        .collect();
    let strategies =
        Section::repeated(doc, SECTIONS, table, "strategy").iter().filter_map(strategy).collect();
    let rules = Section::repeated(doc, SECTIONS, table, "authorize");
    let mut config = Config {
        daemon: daemon(&single("daemon")?)?,
        listen: listen(&single("listen")?)?,
        metrics: single("metrics")?.get("listen", addresses)?,
        on_demand: on_demand(&single("on_demand")?)?,
        application: application(&single("application")?)?,
        faces: read,
        routes,
        content_store: content_store(&single("content_store")?)?,
        no_cache: permissions::names(&single("content_store")?, "no_cache")?,
        announcements: permissions::announcements(&single("announcements")?),
        forwarder: forwarder(&single("forwarder")?)?,
        strategies,
        authorize: rules.iter().filter_map(permissions::authorize).collect(),
        routable: permissions::routable(&single("hub")?)?,
    };
    if let Some(whole) = whole {
        everywhere(&mut config, whole);
    }
    let defaults = [single("on_demand")?, single("application")?];
    memory::share(
        &mut config,
        &memory::Sections {
            daemon: &single("daemon")?,
            listen: &single("listen")?,
            content_store: &single("content_store")?,
            forwarder: &single("forwarder")?,
            links: defaults.iter().chain(&faces).collect(),
        },
    );
    Some(config)
}

/// The scheme of the whole daemon, where no other one is named.
fn everywhere(config: &mut Config, whole: Choice) {
    config.on_demand.link.parts.fill(&whole);
    config.faces.iter_mut().for_each(|face| face.link.parts.fill(&whole));
    let root = config.strategies.iter().any(|strategy| strategy.prefix.is_empty());
    if !root && whole.strategy().is_ok() {
        config.strategies.insert(0, Strategy { prefix: packet::Name::new(), choice: whole });
    }
}

fn daemon(s: &Section<'_>) -> Option<Daemon> {
    let log = s.get("log", |v| {
        let given = text(v)?;
        crate::daemon::log::filter(given)
            .map_err(|e| format!("{e}; try `info`, or `info,net::management=debug`"))?;
        Ok(given.to_owned())
    })?;
    Some(Daemon {
        log,
        log_format: [LogFormat::Text, LogFormat::Json][s.word("log_format").min(1)],
        log_limit: u32::try_from(s.count("log_limit")).unwrap_or(u32::MAX),
        seed: s.number("seed").and_then(|n| u64::try_from(n).ok()),
        nice: s.number("nice").and_then(|n| i32::try_from(n).ok()).unwrap_or(0),
        drain: s.quantity("drain")?,
        memory: memory::limit(s)?,
        shares_host: None,
    })
}

fn listen(s: &Section<'_>) -> Option<Listen> {
    Some(Listen {
        udp: s.get("udp", addresses)?,
        tcp: s.get("tcp", addresses)?,
        websocket: s.get("websocket", websockets)?,
        origins: s.get("websocket_origins", origins)?,
        unix: s.get("unix", |v| match text(v)? {
            "off" => Ok(None),
            path if path.starts_with('/') => Ok(Some(PathBuf::from(path))),
            other => Err(format!("`{other}` is not an absolute path, nor `off`")),
        })?,
        unix_mode: s.get("unix_mode", mode),
        unix_group: s.get("unix_group", |v| text(v).map(str::to_owned)),
        unix_links: s.get("unix_links", paths).unwrap_or_default(),
        optional: ["udp", "tcp"].map(|f| s.given(f).is_none()),
        receive_buffer: s.quantity("receive_buffer")?,
        force_receive_buffer: s.switch("force_receive_buffer"),
    })
}

/// Permissions in octal digits, as chmod(1) takes them.
fn mode(value: &DeValue<'_>) -> Result<u32, String> {
    let given = text(value)?;
    match u32::from_str_radix(given, 8) {
        Ok(mode) if mode <= 0o777 => Ok(mode),
        _ => Err(format!("`{given}` is not a mode of octal digits such as `660`")),
    }
}

/// An absolute path, or a list of them.
fn paths(value: &DeValue<'_>) -> Result<Vec<PathBuf>, String> {
    listed(value, |path| match path.starts_with('/') {
        true => Ok(PathBuf::from(path)),
        false => Err(format!("`{path}` is not an absolute path")),
    })
}

/// Origins as browsers write them, or `"any"`.
fn origins(value: &DeValue<'_>) -> Result<Origins, String> {
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
fn addresses(value: &DeValue<'_>) -> Result<Vec<SocketAddr>, String> {
    const VALID: &str = "a port, \"192.0.2.1:6363\", \"[2001:db8::1]:6363\", a list, or \"off\"";
    match value {
        DeValue::Array(list) => {
            let each = list.iter().map(|v| addresses(Spanned::get_ref(v)));
            Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
        }
        DeValue::String(s) if s == "off" => Ok(Vec::new()),
        DeValue::String(s) => s
            .parse()
            .map(|address| vec![address])
            .map_err(|_| format!("`{s}` is not an address with its port; it takes {VALID}")),
        DeValue::Integer(n) => match n.as_str().parse::<u16>() {
            Ok(port) => Ok(vec![
                SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)),
                SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)),
            ]),
            Err(_) => Err(format!("`{}` is not a port (0 to 65535)", n.as_str())),
        },
        other => Err(format!("it takes {VALID}, not {}", shown(other))),
    }
}

/// The same for WebSockets, in a program that has them.
fn websockets(value: &DeValue<'_>) -> Result<Vec<SocketAddr>, String> {
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

fn on_demand(s: &Section<'_>) -> Option<OnDemand> {
    let (exempt_local, exempt) = s.get("unproved_exempt", exempt)?;
    Some(OnDemand {
        max: s.count("max"),
        max_per_address: s.count("max_per_address"),
        max_per_subnet: s.count("max_per_subnet"),
        idle: s.quantity("idle")?,
        unproved: Unproved {
            idle: s.quantity("unproved_idle")?,
            rate: s.quantity("unproved_rate")?,
            subnet_rate: s.quantity("unproved_subnet_rate")?,
            total_rate: s.quantity("unproved_total_rate")?,
            local_rate: s.quantity("unproved_local_rate")?,
            exempt_local,
            exempt,
        },
        link: link(s),
    })
}

/// Networks, and whether `"local"` is among them.
fn exempt(value: &DeValue<'_>) -> Result<(bool, Vec<IpNet>), String> {
    let networks = listed(value, |given| {
        if given == "local" {
            return Ok(None);
        }
        let address = || given.parse::<IpAddr>().map(IpNet::from);
        let network = given.parse::<IpNet>().or_else(|_| address());
        network.map(|net| Some(net.trunc())).map_err(|_| {
            format!("`{given}` is not a network such as `192.0.2.0/24`, an address, nor `local`")
        })
    })?;
    let local = networks.iter().any(Option::is_none);
    Ok((local, networks.into_iter().flatten().collect()))
}

fn application(s: &Section<'_>) -> Option<Application> {
    Some(Application { max: s.count("max"), routes: s.count("routes"), link: link(s) })
}

fn link(s: &Section<'_>) -> LinkOptions {
    let emulation = Emulation {
        delay: s.quantity::<Duration>("delay").unwrap_or_default(),
        jitter: s.quantity::<Duration>("jitter").unwrap_or_default(),
        loss: document::loss(s).unwrap_or_default(),
    };
    // What is on an emulated link is in no socket's buffer: nothing has to be held back for it.
    let bounded = emulation.is_none() || s.given("window").is_some();
    LinkOptions {
        mtu: s.number("mtu").and_then(|n| usize::try_from(n).ok()),
        rate: s.get("rate", |v| {
            let rate: control::Rate = text(v)?.parse().map_err(|e| format!("{e}"))?;
            (rate.0 > 0).then_some(rate).ok_or_else(|| "a rate of zero lets nothing pass".into())
        }),
        rate_in: s
            .get("rate_in", |v| text(v)?.parse::<control::Rate>().map_err(|e| format!("{e}"))),
        overhead: s.quantity("overhead"),
        queue: s.get("queue", Queue::read),
        emulation,
        parts: parts::link_parts(s),
        reliability: s.switch("reliability"),
        window: s.quantity("window").filter(|_| bounded).unwrap_or_default(),
        nacks: s.switch("nacks"),
        local: s.switch("local"),
    }
}

fn face(s: &Section<'_>) -> Option<Face> {
    let uri = s.get("uri", |v| text(v)?.parse::<FaceUri>().map_err(|e| e.to_string()));
    let name = s.get("name", |v| text(v).map(str::to_owned));
    let (given, link) = (s.get("interface", |v| text(v).map(str::to_owned)), link(s));
    let (uri, interface) = (uri?, given);
    let own = uri.zone().map(str::to_owned);
    let at = || s.place(if interface.is_some() { "interface" } else { "uri" });
    match (uri.is_group(), &interface, &own) {
        (true, None, None) => {
            s.doc.mistake(at(), "a multicast group needs an `interface`".to_owned());
            None
        }
        (true, Some(given), Some(own)) if given != own => {
            let why = format!("the URI names the interface `{own}` and this another one");
            s.doc.mistake(at(), why);
            None
        }
        (false, Some(_), _) => {
            let why = "only a multicast group has an `interface`";
            s.doc.mistake(at(), why.to_owned());
            None
        }
        (is_group, ..) => {
            let interface = interface.or(own).filter(|_| is_group);
            Some(Face { uri, name, interface, link })
        }
    }
}

/// Its name; one group may be on several interfaces.
fn face_name(face: &Face) -> String {
    face.name.clone().unwrap_or_else(|| face.place())
}

/// The first face of each text that routes may call it by: its name, its place, its URI.
fn by_text(faces: &[Face]) -> BTreeMap<String, usize> {
    let mut all = BTreeMap::new();
    for (i, face) in faces.iter().enumerate() {
        let texts = [face.name.clone(), Some(face.place()), Some(face.uri.to_string())];
        for text in texts.into_iter().flatten() {
            all.entry(text).or_insert(i);
        }
    }
    all
}

fn route(
    s: &Section<'_>,
    faces: &BTreeMap<String, usize>,
    names: &BTreeSet<String>,
    all_known: bool,
) -> Option<Route> {
    let prefix = s.get("prefix", name);
    let cost = s.number("cost").and_then(|n| u64::try_from(n).ok());
    let wanted = s.get("face", |v| text(v).map(str::to_owned))?;
    // A URI may be written in several forms.
    let uri = wanted.parse::<FaceUri>().ok().map(|uri| uri.to_string());
    let face = [Some(&wanted), uri.as_ref()].into_iter().flatten();
    let face = face.filter_map(|text| faces.get(text)).min().copied();
    // A face that has a mistake of its own is not there; its routes are not to blame.
    if face.is_none() && all_known {
        let valid = valid_words(&wanted, names.iter().map(String::as_str));
        s.doc.mistake(s.place("face"), format!("there is no face `{wanted}`; {valid}"));
    }
    Some(Route { prefix: prefix?, face: face?, cost: cost? })
}

fn content_store(s: &Section<'_>) -> Option<ContentStoreConfig> {
    let policies = PolicyKind::ALL;
    Some(ContentStoreConfig {
        capacity: size(s, "capacity")?,
        packets: s.number("packets").map_or(usize::MAX, |n| n as usize),
        policy: policies[s.word("policy").min(policies.len() - 1)],
        admission: s.get("admission", |v| spoken(v, &Admission::WORDS))?,
    })
}

/// A size in bytes of this host's memory.
fn size(s: &Section<'_>, name: &str) -> Option<usize> {
    s.quantity::<Size>(name).and_then(|size| usize::try_from(size.0).ok())
}

fn forwarder(s: &Section<'_>) -> Option<ForwarderLimits> {
    Some(ForwarderLimits {
        memory: usize::MAX,
        pit: PitConfig {
            entries: s.count("pending_interests"),
            per_face: s.count("pending_per_face"),
            memory: size(s, "pending_memory")?,
        },
        routes: s.count("routes"),
        max_lifetime: s.quantity("max_lifetime")?,
        dead_nonces: s.count("dead_nonces"),
    })
}

fn strategy(s: &Section<'_>) -> Option<Strategy> {
    let prefix = s.get("prefix", name);
    let choice = parts::strategy(s);
    Some(Strategy { prefix: prefix?, choice: choice? })
}
