mod ethernet;
mod rejected;

use super::*;
use crate::management::authority::{MODULES, Origin};
use crate::uri::FaceUri;
use control::{Duration, LossModel, Rate, Ratio, Size};
use document::Queue;
use forwarder::RateIn;
use forwarder::tables::ContentStoreConfig;
use forwarder::tables::{Admission, PitConfig, PolicyKind};
use schemes::Choice;

fn good(text: &str) -> Config {
    parse(text, "weir.toml").unwrap_or_else(|e| panic!("{e}"))
}

/// The mistakes of a text, each as `line:column: message`.
fn wrong(text: &str) -> Vec<String> {
    match parse(text, "weir.toml") {
        Err(ConfigError::Mistakes(found)) => {
            found.iter().map(|m| format!("{}:{}: {}", m.line, m.column, m.message)).collect()
        }
        other => panic!("no mistake in {text}: {other:?}"),
    }
}

#[test]
fn an_empty_file_is_all_defaults() {
    let config = good("");
    let any = ["0.0.0.0:6363".parse().unwrap(), "[::]:6363".parse().unwrap()];
    assert_eq!(config.listen.udp, any);
    assert_eq!(config.listen.tcp, any);
    assert_eq!(config.listen.optional, [true, true]);
    // Pages of any server could connect, so this is off by default.
    assert_eq!(config.listen.websocket, []);
    assert_eq!(config.listen.unix.as_deref(), Some(Path::new("/run/nfd/nfd.sock")));
    assert_eq!(config.content_store, ContentStoreConfig::default());
    assert_eq!(PitConfig::from(config.forwarder.pit), PitConfig::default());
    let strategy = Choice::named("best-route").unwrap().strategy().unwrap();
    let forwarder::ForwarderConfig { routes, dead_nonces, max_lifetime, transit, .. } =
        forwarder::ForwarderConfig::new(strategy);
    let limits = config.forwarder;
    assert_eq!((limits.routes, limits.dead_nonces), (routes, dead_nonces));
    assert_eq!((limits.max_lifetime, limits.transit), (max_lifetime, transit));
    assert_eq!(config.daemon.log, "info");
    assert_eq!(config.daemon.seed, None);
    assert!(config.application.link.nacks && config.faces.is_empty());
}

#[test]
fn a_full_file_is_understood() {
    let config = good(
        r#"
        [daemon]
        log = "debug,net=trace"
        log_format = "json"
        seed = 7
        [listen]
        udp = ["127.0.0.1:7000", "[::1]:7000"]
        tcp = "off"
        unix = "off"
        [[face]]
        uri = "udp4://192.0.2.1"
        name = "upstream"
        mtu = 1400
        rate = "40 Mbit/s"
        queue = "150 kB"
        delay = "5 ms"
        loss = "1 %"
        marker = { scheme = "codel", target = "15 ms" }
        nacks = false
        [[face]]
        uri = "tcp6://[2001:db8::1]:99"
        marker = "codel:target=20 ms"
        [[route]]
        prefix = "/a/b"
        face = "upstream"
        cost = 10
        [[route]]
        prefix = "/"
        face = "tcp://[2001:db8::1]:99"
        [content_store]
        capacity = "1 GB"
        policy = "random"
        admission = "20 %"
        [[strategy]]
        prefix = "/a"
        strategy = "multicast"
        "#,
    );
    assert_eq!(config.daemon.log_format, LogFormat::Json);
    assert_eq!(config.daemon.seed, Some(7));
    assert_eq!((config.listen.udp.len(), config.listen.tcp.len()), (2, 0));
    assert_eq!(config.listen.unix, None);
    let [first, second] = &config.faces[..] else { panic!("two faces") };
    assert_eq!(first.uri, "udp4://192.0.2.1:6363".parse::<FaceUri>().unwrap());
    assert_eq!(first.link.rate, Some(Rate::from_mbps(40)));
    assert_eq!(first.link.queue, Some(Queue::Size(Size(150_000))));
    assert_eq!(first.link.emulation.delay, Duration::from_millis(5));
    assert_eq!(first.link.emulation.loss, LossModel::Random(0.01));
    let target = |face: &Face| face.link.parts.marker.as_ref().unwrap().params().time("target");
    assert_eq!(target(first), Duration::from_millis(15));
    assert_eq!(target(second), Duration::from_millis(20));
    assert!(!first.link.nacks && second.link.nacks);
    let routes: Vec<_> = config.routes.iter().map(|r| (r.face, r.cost)).collect();
    assert_eq!(routes, [(0, 10), (1, 0)]);
    assert_eq!(config.content_store.policy, PolicyKind::Random);
    assert_eq!(config.content_store.admission, Admission::Probability(Ratio::new(0.2).unwrap()));
    assert_eq!(config.strategies[0].choice.scheme().name, "multicast");
}

#[test]
#[cfg(not(feature = "websocket"))]
fn a_listener_that_is_not_built_in_is_a_mistake() {
    assert_eq!(good("[listen]\nwebsocket = \"off\"").listen.websocket, []);
    let found = wrong("[listen]\nwebsocket = 9696");
    let is_expected =
        |text: &String| text.contains("2:13: `websocket`: this program is built without");
    assert!(found.len() == 1 && is_expected(&found[0]), "{found:?}");
}

#[test]
#[cfg(feature = "websocket")]
fn pages_of_listed_origins_may_connect() {
    let config = good("[listen]\nwebsocket = 9696\nwebsocket_origins = \"https://a.example\"");
    let any = ["0.0.0.0:9696".parse().unwrap(), "[::]:9696".parse().unwrap()];
    assert_eq!(config.listen.websocket, any);
    assert_eq!(config.listen.origins, Origins::Listed(vec!["https://a.example".to_owned()]));
    for origin in ["a.example", "https://", "https://a.example/"] {
        let found = wrong(&format!("[listen]\nwebsocket_origins = [\"{origin}\"]"));
        let expected = format!("`{origin}` is not an origin such as `https://app.example`");
        assert!(found.len() == 1 && found[0].ends_with(&expected), "{found:?}");
    }
}

#[test]
fn one_limit_on_memory_bounds_what_has_no_bound_of_its_own() {
    let config = good("[daemon]\nmemory = \"32 MB\"");
    // 10 MB are the process's own, and an eighth of the other 22 is lost to holes.
    let shared = 19_250_000;
    let tables = &config.forwarder;
    let bounds = (tables.memory, config.content_store.capacity, tables.pit.memory);
    assert_eq!(bounds, (Some(shared), shared, shared));
    assert_eq!(tables.pit.per_face, shared / 2 / 512 / 4);
    assert!((10_000..60_000).contains(&tables.dead_nonces), "{}", tables.dead_nonces);
    assert_eq!(config.listen.receive_buffer, Size(1_000_000));
    let given = good(
        "[daemon]\nmemory = \"32 MB\"\n[content_store]\ncapacity = \"5 MB\"\n\
         [forwarder]\npending_memory = \"1 MB\"\npending_per_face = 7\ndead_nonces = 9\n\
         [listen]\nreceive_buffer = \"2 MB\"\n[application]\nqueue = \"1 MB\"",
    );
    let tables = &given.forwarder;
    let bounds = (tables.memory, given.content_store.capacity, tables.pit.memory);
    assert_eq!(bounds, (Some(shared), 5_000_000, 1_000_000));
    assert_eq!((tables.pit.per_face, tables.dead_nonces), (7, 9));
    assert_eq!(given.listen.receive_buffer, Size(2_000_000));
    let unlimited = good("[daemon]\nmemory = \"unlimited\"");
    assert_eq!(unlimited.forwarder.memory, None, "without it nothing is counted");
    good("[daemon]\nmemory = \"32 MB\"\n[[face]]\nuri = \"unix:///x\"\nqueue = \"20 packets\"");
    // Without a known host, a limit beyond any host is still a limit.
    assert_eq!(good("[daemon]\nmemory = \"1000 TB\"").forwarder.dead_nonces, 1 << 20);
}

#[test]
fn without_a_limit_in_the_file_it_is_a_share_of_the_hosts_memory() {
    let within = |text: &str, host: Option<u64>| {
        let mut config = good(text);
        config.share_host(host);
        config
    };
    const MB: u64 = 1_000_000;
    let limit = |text: &str, host| within(text, host).daemon.memory;
    for text in ["", "[daemon]\nmemory = \"auto\""] {
        assert_eq!(limit(text, Some(1000 * MB)), Some(Size(250 * MB)));
        assert_eq!(limit(text, Some(64_000 * MB)), Some(Size(2000 * MB)));
        assert_eq!(limit(text, Some(20 * MB)), Some(Size(16 * MB)), "less is too little");
        assert_eq!(limit(text, None), Some(Size(256 * MB)));
    }
    for (text, expected) in [("unlimited", None), ("32 MB", Some(Size(32 * MB)))] {
        let text = format!("[daemon]\nmemory = \"{text}\"");
        assert_eq!(limit(&text, Some(1000 * MB)), expected);
    }
    // The store does not swell, and single bounds stay what they are on hosts that have the memory.
    let (large, usual) = (within("", Some(8000 * MB)), good(""));
    assert_eq!(large.forwarder.memory, Some((2000 - 10) * MB as usize / 8 * 7));
    assert_eq!(large.content_store, usual.content_store);
    assert_eq!((large.forwarder.pit, &large.listen), (usual.forwarder.pit, &usual.listen));
    assert_eq!(large.forwarder.dead_nonces, usual.forwarder.dead_nonces);
    let small = within("", Some(200 * MB));
    assert_eq!(small.forwarder.memory, Some(35 * MB as usize));
    assert_eq!(small.listen.receive_buffer, Size(50 * MB / 32));
    assert!(small.forwarder.dead_nonces < usual.forwarder.dead_nonces);
    // A larger store adds to the limit.
    let more = limit("[content_store]\ncapacity = \"1067108864 B\"", Some(4000 * MB));
    assert_eq!(more, Some(Size((1000 + 1000) * MB + 1000 * MB / 7)));
    // So does a larger table of nonces, or it would leave no room for routes.
    let with_nonces = within("[forwarder]\ndead_nonces = 20000000", Some(8000 * MB));
    let table = forwarder::tables::DeadNonces::new(
        forwarder::tables::dead_nonces::DEFAULT_LIFETIME,
        20_000_000,
    );
    assert!(with_nonces.forwarder.memory > Some(table.most_memory() + 1500 * MB as usize));
    let given = "[forwarder]\npending_per_face = 200000\ndead_nonces = 500000\n\
                 [listen]\nreceive_buffer = \"8 MB\"";
    let given = within(given, Some(200 * MB));
    assert_eq!((given.forwarder.pit.per_face, given.forwarder.dead_nonces), (200_000, 500_000));
    assert_eq!(given.listen.receive_buffer, Size(8 * MB));
}

#[test]
fn an_emulated_link_has_a_window_only_if_it_is_given() {
    let window = |more: &str| {
        good(&format!("[[face]]\nuri = \"udp4://192.0.2.1:6363\"\n{more}\n")).faces[0].link.window
    };
    assert_eq!(window(""), Size(128 << 10));
    assert_eq!(window("rate = \"8 Mbit/s\""), Size(128 << 10), "a real link's");
    for emulated in ["delay = \"5 ms\"", "jitter = \"1 ms\"", "loss = \"1 %\""] {
        assert_eq!(window(emulated), Size(0), "{emulated}");
        assert_eq!(window(&format!("{emulated}\nwindow = \"64 KiB\"")), Size(64 << 10));
    }
}

#[test]
fn a_scheme_for_the_whole_daemon_fills_what_names_none() {
    let config = good(
        "[daemon]\nscheme = \"pcon:c=0.03\"\n[on_demand]\nmarker = \"red\"\n\
         [[face]]\nuri = \"udp4://192.0.2.1:6363\"\nrate_in = \"7 Mbit/s\"",
    );
    let marker = |link: &LinkOptions| link.parts.marker.as_ref().map(|c| c.scheme().name);
    assert_eq!(marker(&config.on_demand.link), Some("red"), "its own");
    assert_eq!(marker(&config.faces[0].link), Some("pcon"));
    assert_eq!(config.faces[0].link.rate_in, Some(RateIn::Known(Rate::from_mbps(7))));
    assert_eq!(marker(&config.application.link), None, "applications are no links");
    let root = &config.strategies[0];
    assert_eq!((root.prefix.len(), root.choice.to_string()), (0, "pcon:c=0.03".to_owned()));
    let own =
        good("[daemon]\nscheme = \"pcon\"\n[[strategy]]\nprefix = \"/\"\nstrategy = \"multicast\"");
    assert_eq!(own.strategies.len(), 1, "the root has its own");
}

#[test]
fn faces_of_a_known_incoming_rate_offer_it_unless_they_name_a_part() {
    let config = good(
        "[[face]]\nuri = \"udp4://192.0.2.1:6363\"\nrate_in = \"7 Mbit/s\"\n\
         [[face]]\nuri = \"udp4://192.0.2.2:6363\"\nrate_in = \"7 Mbit/s\"\nmarker = \"red\"\n\
         [[face]]\nuri = \"udp4://192.0.2.4:6363\"\nrate = \"7 Mbit/s\"\n\
         [[face]]\nuri = \"udp4://192.0.2.3:6363\"",
    );
    let parts = |link: &LinkOptions| {
        let name = |part: &Option<Choice>| part.as_ref().map(|choice| choice.scheme().name);
        (name(&link.parts.marker), name(&link.parts.shaper), name(&link.parts.stamper))
    };
    let found: Vec<_> = config.faces.iter().map(|face| parts(&face.link)).collect();
    let (sluice, none) = (Some("sluice"), None);
    let without = (none, none, none);
    assert_eq!(found, [(none, sluice, sluice), (Some("red"), none, none), without, without]);
    assert_eq!(parts(&config.on_demand.link), (none, none, none));
    let config = good("[daemon]\nscheme = \"drop-tail\"\n[on_demand]\nrate_in = \"7 Mbit/s\"");
    assert_eq!(parts(&config.on_demand.link), (Some("drop-tail"), none, none));
}

#[test]
fn a_scheme_for_the_whole_link_gives_its_parts() {
    let config = good("[on_demand]\nscheme = \"codel\"");
    let parts = &config.on_demand.link.parts;
    assert!(parts.marker.is_some() && parts.shaper.is_none());
}

#[test]
fn every_mistake_has_its_place_the_text_and_the_way_out() {
    for (text, at, expected) in [
        ("a = ", "1:5", &["not TOML"][..]),
        ("daemon = 1", "1:10", &["is a section, not the number 1"]),
        ("[damon]\n", "1:2", &["`damon`", "did you mean `daemon`?", "`listen`"]),
        ("[daemon]\nlgo = \"info\"", "2:1", &["`lgo`", "did you mean `log`?"]),
        ("[daemon]\nlog = 3", "2:7", &["text in quotes", "the number 3"]),
        ("[daemon]\nlog = \"net=loud\"", "2:7", &["`loud`", "`info`"]),
        ("[daemon]\nlog_format = \"jsn\"", "2:14", &["`jsn`", "did you mean `json`?"]),
        ("[daemon]\nseed = -1", "2:8", &["whole number from 0", "-1"]),
        ("[daemon]\nnice = 20", "2:8", &["-20 to 19", "the number 20"]),
        ("[[daemon]]", "1:1", &["`[daemon]`"]),
        ("[face]\nuri = \"unix:///x\"", "1:1", &["`[[face]]`"]),
        ("[[face]]\nname = \"x\"", "1:1", &["needs a field `uri`"]),
        ("[[face]]\nuri = \"192.0.2.1\"", "2:7", &["`192.0.2.1`", "udp4://192.0.2.1:6363"]),
        (
            "[[face]]\nuri = \"udp4://192.0.2.1\"\nrate = \"40 Mbits\"",
            "3:8",
            &["`40 Mbits`", "unit is unknown", "\"40 Mbit/s\""],
        ),
        ("[on_demand]\nrate = 40", "2:8", &["text in quotes", "the number 40", "write it like"]),
        ("[on_demand]\nrate = \"0 bit/s\"", "2:8", &["lets nothing pass"]),
        ("[on_demand]\nloss = \"101 %\"", "2:8", &["101 %", "between 0 and 100"]),
        ("[on_demand]\nloss = 2", "2:8", &["between 0 and 100"]),
        ("[on_demand]\nloss = { to_bad = 0.1 }", "2:8", &["it needs `to_good`"]),
        ("[on_demand]\nloss = { to_worse = 0.1 }", "2:10", &["no field `to_worse`", "to_bad"]),
        ("[on_demand]\nnacks = \"yes\"", "2:9", &["`true` or `false`"]),
        ("[on_demand]\nmtu = 100", "2:7", &["576 to 65507"]),
        ("[on_demand]\nmarker = \"codle\"", "2:10", &["`codle`", "did you mean `codel`?"]),
        ("[on_demand]\nmarker = \"cubic\"", "2:10", &["`cubic` has no marker", "`codel`"]),
        ("[on_demand]\nscheme = \"cubic\"", "2:10", &["no part for links"]),
        ("[daemon]\nscheme = \"cubic\"", "2:10", &["`cubic` has no part for links"]),
        ("[listen]\ntcp = [[6363]]", "2:7", &["a list of lists"]),
        ("[on_demand]\nmarker = { target = \"5 ms\" }", "2:10", &["scheme's name"]),
        (
            "[on_demand]\nmarker = { scheme = \"codel\", target = \"5 parsecs\" }",
            "2:39",
            &["`target`", "5 parsecs", "unit is unknown"],
        ),
        ("[listen]\nudp = \"localhost\"", "2:7", &["`localhost`", "192.0.2.1:6363"]),
        ("[listen]\nudp = 70000", "2:7", &["`70000` is not a port"]),
        ("[listen]\nunix = \"nfd.sock\"", "2:8", &["`nfd.sock`", "absolute path"]),
        ("[content_store]\npolicy = \"lur\"", "2:10", &["did you mean `lru`?", "`fifo`"]),
        ("[content_store]\ncapacity = \"many\"", "2:12", &["`many`", "64 MiB"]),
        ("[content_store]\nadmission = \"some\"", "2:13", &["`some`", "`all`", "`none`", "`lcd`"]),
        (
            "[[strategy]]\nprefix = \"/\"\nstrategy = \"codel\"",
            "3:12",
            &["no strategy", "multicast"],
        ),
        ("[[route]]\nprefix = \"/a\"\nface = \"up\"", "3:8", &["no face `up`", "none"]),
    ] {
        is_wrong(text, at, expected);
    }
}

/// The text has one mistake, at this place, and its message has these words.
fn is_wrong(text: &str, at: &str, expected: &[&str]) {
    let found = wrong(text);
    let first = &found[0];
    assert!(first.starts_with(&format!("{at}: ")), "{text}: {found:?}");
    for words in expected {
        assert!(first.contains(words), "{text}: {first} lacks {words}");
    }
    assert_eq!(found.len(), 1, "{text}: {found:?}");
}

#[test]
fn bounds_that_contradict_each_other_are_mistakes() {
    for (text, at, expected) in [
        ("[daemon]\nmemory = \"4 MB\"", "2:10", &["4.00 MB is too little", "16.0 MB or more"][..]),
        ("[daemon]\nmemory = 32", "2:10", &["text in quotes", "the number 32"]),
        (
            "[daemon]\nmemory = \"32 MB\"\n[content_store]\ncapacity = \"64 MB\"",
            "4:12",
            &["`capacity`", "64.0 MB", "32.0 MB that `memory`", "19.2 MB", "leave it out"],
        ),
        (
            "[daemon]\nmemory = \"32 MB\"\n[forwarder]\npending_memory = \"22 MB\"",
            "4:18",
            &["`pending_memory`", "give less"],
        ),
        (
            "[daemon]\nmemory = \"32 MB\"\n[forwarder]\ndead_nonces = 10000000",
            "4:15",
            &["`dead_nonces`", "give less"],
        ),
        (
            "[daemon]\nmemory = \"32 MB\"\n[[face]]\nuri = \"unix:///x\"\nqueue = \"30 MB\"",
            "5:9",
            &["`queue`", "30.0 MB"],
        ),
    ] {
        is_wrong(text, at, expected);
    }
}

#[test]
fn a_route_names_the_nearest_face() {
    let found = wrong(
        "[[face]]\nuri = \"udp4://192.0.2.1\"\nname = \"upstream\"\n\
         [[route]]\nprefix = \"/%\"\nface = \"upsteam\"",
    );
    assert!(found[0].starts_with("5:10: `prefix`: `/%` is not a name"), "{found:?}");
    assert!(found[1].contains("did you mean `upstream`?"), "{found:?}");
}

#[test]
fn two_faces_of_one_name_are_a_mistake() {
    is_wrong(
        "[[face]]\nuri = \"udp4://192.0.2.1\"\nname = \"a\"\n\
         [[face]]\nuri = \"udp4://192.0.2.2\"\nname = \"a\"",
        "4:1",
        &["there are two faces `a`"],
    );
}

#[test]
fn all_mistakes_are_found_at_once_and_shown_with_their_line() {
    let text = "[daemon]\nnice = 99\n[content_store]\ncapacity = 5\n";
    assert_eq!(wrong(text).len(), 2);
    let shown = parse(text, "etc/weir.toml").unwrap_err().to_string();
    assert!(shown.contains("etc/weir.toml:2:8: `nice`"), "{shown}");
    assert!(shown.contains("    4 | capacity = 5\n      |            ^"), "{shown}");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = load(Path::new("/nonexistent/weir.toml"), None).unwrap_err().to_string();
    assert!(error.contains("/nonexistent/weir.toml") && error.contains("No such file"), "{error}");
}

#[test]
fn authorize_sections_are_read() {
    let config = good(
        "[[authorize]]\ncommands = [\"rib\", \"faces\"]\nprefix = \"/a\"\n\
         [[authorize]]\nfrom = \"remote\"\nkey = \"op.cert\"\nskew = \"5 s\"",
    );
    let [here, there] = &config.authorize[..] else { panic!("{:?}", config.authorize) };
    assert_eq!(
        (here.from, &here.modules[..]),
        (Origin::Local, &["rib", "faces"].map(str::to_owned)[..])
    );
    assert_eq!((here.prefix.to_string(), &here.key), ("/a".to_owned(), &None));
    assert_eq!((there.from, &there.modules[..]), (Origin::Remote, &["rib".to_owned()][..]));
    assert_eq!(there.key.as_deref(), Some(Path::new("op.cert")));
    assert_eq!((here.skew, there.skew), (Duration::from_secs(120), Duration::from_secs(5)));
    let all = &good("[[authorize]]").authorize[0];
    assert_eq!(all.modules, MODULES);
    assert!(all.user.is_empty() && all.group.is_empty());
    let some = &good("[[authorize]]\nuser = [\"alice\", \"1001\"]\ngroup = \"ndn\"").authorize[0];
    let texts = |texts: &[&str]| texts.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>();
    assert_eq!((&some.user, &some.group), (&texts(&["alice", "1001"]), &texts(&["ndn"])));
    for (text, why) in [
        ("from = \"remote\"", "peers may command only with a `key` or `trust`"),
        ("key = \"k\"\ntrust = \"t\"", "a section has a `key` or `trust`"),
        ("from = \"remote\"\nkey = \"k\"\ncommands = \"faces\"", "peers may command only `rib`"),
        ("from = \"remote\"\nkey = \"k\"\nuser = \"alice\"", "the user of a peer is not known"),
        ("commands = \"face\"", "faces"),
        ("commands = [1]", "text"),
    ] {
        let found = wrong(&format!("[[authorize]]\n{text}"));
        assert!(found.len() == 1 && found[0].contains(why), "{text}: {found:?}");
    }
}

#[test]
fn announcement_and_hub_sections_are_read() {
    let config = good("[announcements]\naccept = \"trusted\"\ntrust = \"t\"");
    let trust = Some(Path::new("t").to_owned());
    assert_eq!(
        config.announcements,
        Announcements { accept: Accept::Trusted, trust: trust.clone() }
    );
    let config = good("[announcements]\ntrust = \"t\"");
    assert_eq!(config.announcements, Announcements { accept: Accept::Off, trust });
    for (text, why) in [
        ("accept = \"any\"\ntrust = \"t\"", "the signatures are verified"),
        ("accept = \"trusted\"", "`trusted` needs `trust`"),
    ] {
        let found = wrong(&format!("[announcements]\n{text}"));
        assert!(found.len() == 1 && found[0].contains(why), "{text}: {found:?}");
    }
    let by_trust = &good("[[authorize]]\nfrom = \"remote\"\ntrust = \"t\"").authorize[0];
    assert_eq!((by_trust.trust.as_deref(), &by_trust.key), (Some(Path::new("t")), &None));
    assert!(good("").routable.is_empty());
    let routable = good("[hub]\nprefixes = [\"/a\", \"/b/c\"]").routable;
    assert_eq!(routable.iter().map(ToString::to_string).collect::<Vec<_>>(), ["/a", "/b/c"]);
    assert_eq!(good("[hub]\nprefixes = \"/a\"").routable.len(), 1);
    assert!(wrong("[hub]\nprefixes = \"a%\"")[0].contains("a%"));
}

#[test]
fn links_to_the_socket_are_paths() {
    let links = |text: &str| good(&format!("[listen]\nunix_links = {text}")).listen.unix_links;
    assert_eq!(links("\"/run/nfd.sock\""), [Path::new("/run/nfd.sock")]);
    assert_eq!(links("[\"/a\", \"/b\"]"), [Path::new("/a"), Path::new("/b")]);
    let found = wrong("[listen]\nunix_links = [\"a\"]");
    assert!(found[0].contains("`a` is not an absolute path"), "{found:?}");
}

#[test]
fn the_unix_socket_has_a_mode_and_a_group() {
    let listen = good("[listen]\nunix_mode = \"600\"\nunix_group = \"ndn\"").listen;
    assert_eq!((listen.unix_mode, listen.unix_group.as_deref()), (Some(0o600), Some("ndn")));
    let listen = good("").listen;
    assert_eq!((listen.unix_mode, listen.unix_group), (None, None));
    for text in ["rw", "1660", "8", ""] {
        let found = wrong(&format!("[listen]\nunix_mode = \"{text}\""));
        assert!(found.len() == 1 && found[0].contains("octal digits"), "{text}: {found:?}");
    }
}

#[test]
fn a_section_that_lets_every_program_command_is_warned_of() {
    let warnings = |text: &str| good(text).warnings();
    let all = &warnings("[[authorize]]")[..];
    let [one] = all else { panic!("{all:?}") };
    assert!(one.contains("every program of this host send all commands"), "{one}");
    let some = &warnings("[[authorize]]\nuser = \"a\"\n[[authorize]]\ncommands = \"rib\"")[..];
    let [one] = some else { panic!("{some:?}") };
    assert!(one.contains("number 2") && one.contains("the commands of rib;"), "{one}");
    for named in [
        "",
        "[[authorize]]\nuser = \"alice\"",
        "[[authorize]]\ngroup = \"ndn\"",
        "[[authorize]]\nkey = \"k\"",
        "[[authorize]]\ntrust = \"t\"",
        "[[authorize]]\nfrom = \"remote\"\nkey = \"k\"",
    ] {
        assert!(warnings(named).is_empty(), "{named}");
    }
}
