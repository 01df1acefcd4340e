//! Values and sections that were accepted although no operator can mean them.

use super::*;

#[test]
fn sizes_beyond_the_hosts_memory_are_mistakes() {
    const HOST: u64 = 1_000_000_000;
    let found = |text: &str| match read::read(text, "weir.toml", Some(HOST)) {
        Ok(_) => Vec::new(),
        Err(ConfigError::Mistakes(found)) => {
            found.iter().map(|m| format!("{}:{}: {}", m.line, m.column, m.message)).collect()
        }
        Err(other) => panic!("{other}"),
    };
    for (text, at) in [
        ("[daemon]\nmemory = \"99 TB\"", "2:10: `memory`: 99.0 TB"),
        ("[daemon]\nmemory = \"1000000001 B\"", "2:10: `memory`: 1.00 GB"),
        ("[content_store]\ncapacity = \"99 TB\"", "2:12: `capacity`: 99.0 TB"),
        ("[forwarder]\npending_memory = \"99 TB\"", "2:18: `pending_memory`: 99.0 TB"),
        ("[forwarder]\ndead_nonces = 100000000", "2:15: `dead_nonces`: "),
        ("[listen]\nreceive_buffer = \"99 TB\"", "2:18: `receive_buffer`: 99.0 TB"),
        ("[on_demand]\nqueue = \"99 TB\"", "2:9: `queue`: 99.0 TB"),
        ("[[face]]\nuri = \"unix:///x\"\nqueue = \"99 TB\"", "3:9: `queue`: 99.0 TB"),
        (
            "[daemon]\nmemory = \"unlimited\"\n[content_store]\ncapacity = \"2 GB\"",
            "4:12: `capacity`: 2.00 GB",
        ),
    ] {
        let found = found(text);
        let [one] = &found[..] else { panic!("{text}: {found:?}") };
        assert!(one.starts_with(at), "{text}: {one}");
        assert!(one.contains("more than the 1.00 GB of memory that this host"), "{one}");
    }
    for text in [
        "[daemon]\nmemory = \"1 GB\"",
        "[daemon]\nmemory = \"unlimited\"",
        "[content_store]\ncapacity = \"1 GB\"\n[on_demand]\nqueue = \"5 packets\"",
    ] {
        assert_eq!(found(text), [] as [String; 0], "{text}");
    }
    // One mistake has one message, with a unit that is unknown or a size that is too large.
    assert_eq!(found("[daemon]\nmemory = \"99 XB\"").len(), 1);
    let sum = "[content_store]\ncapacity = \"1 GB\"\n[forwarder]\npending_memory = \"1 GB\"";
    let mut config = good(sum);
    config.share_host(Some(HOST));
    assert_eq!(config.daemon.memory, Some(Size(HOST)), "the sum of parts is bounded, too");
}

#[test]
fn two_faces_to_one_place_are_a_mistake_however_it_is_written() {
    for (first, second) in [
        ("udp4://192.0.2.1", "udp4://192.0.2.1"),
        ("udp4://192.0.2.1", "udp://192.0.2.1:6363"),
        ("tcp://router.example:6363", "tcp://Router.EXAMPLE"),
        ("udp6://[2001:db8::1]", "udp://[2001:DB8:0:0::1]:6363"),
        ("unix:///run/other.sock", "unix:///run//./other.sock"),
        ("udp6://[ff02::1234%eth0]", "udp6://[ff02::1234%25eth0]:56363"),
    ] {
        let faces = format!("[[face]]\nuri = \"{first}\"\n\n[[face]]\nuri = \"{second}\"");
        let names = [&format!("`{first}` (line 1)")[..], &format!("`{second}` (line 4)")];
        is_wrong(&faces, "5:7", &[names[0], names[1], "lead to the same place"]);
        // Names of their own do not make them two.
        let faces = format!(
            "[[face]]\nname = \"a\"\nuri = \"{first}\"\n\
             [[face]]\nname = \"b\"\nuri = \"{second}\""
        );
        is_wrong(&faces, "6:7", &["the faces `a` (line 1) and `b` (line 4)"]);
    }
    // One group on two interfaces, two carriers, two ports.
    good(
        "[[face]]\nuri = \"udp4://224.0.23.170\"\ninterface = \"eth0\"\n\
         [[face]]\nuri = \"udp4://224.0.23.170\"\ninterface = \"eth1\"\n\
         [[face]]\nuri = \"udp4://192.0.2.1\"\n[[face]]\nuri = \"tcp4://192.0.2.1\"\n\
         [[face]]\nuri = \"udp4://192.0.2.1:6364\"",
    );
}

#[test]
fn a_socket_has_a_path_that_the_system_takes() {
    for (field, at) in [("[listen]\nunix = \"", "2:8"), ("[[face]]\nuri = \"unix://", "2:7")] {
        good(&format!("{field}/{}\"", "x".repeat(106)));
        is_wrong(&format!("{field}/{}\"", "x".repeat(107)), at, &["at most 107 bytes"]);
    }
}

#[test]
fn a_value_of_any_length_is_shown_in_part() {
    let name = "/a".repeat(1_000_000);
    let text = format!("[[route]]\nprefix = \"{name}\"\nface = \"x\"");
    let shown = parse(&text, "weir.toml").unwrap_err().to_string();
    assert!(shown.contains("weir.toml:2:10: ") && shown.len() < 3000, "{}", shown.len());
}

#[test]
fn settings_with_which_nothing_works_are_mistakes() {
    for (text, at, expected) in [
        ("[listen]\nudp = [7000, \"0.0.0.0:7000\"]", "2:7", &["0.0.0.0:7000 is listed twice"][..]),
        ("[listen]\nunix = \"/a\\u0000b\"", "2:8", &["no NUL"]),
        ("[listen]\nunix_links = \"/a\\u0000b\"", "2:14", &["no NUL"]),
        ("[[face]]\nuri = \"unix:///a\\u0000b\"", "2:7", &["no NUL"]),
        ("[[face]]\nuri = \"udp4://0.0.0.0\"", "2:7", &["no host has the address 0.0.0.0"]),
        ("[[face]]\nuri = \"udp6://[::]\"", "2:7", &["no host has the address ::"]),
        ("[[face]]\nuri = \"tcp://255.255.255.255\"", "2:7", &["no host has the address"]),
        ("[on_demand]\noverhead = \"18 TB\"", "2:12", &["too much for each frame"]),
        ("[on_demand]\nidle = \"0 s\"", "2:8", &["too short", "1 ms"]),
        ("[on_demand]\nunproved_idle = \"0 s\"", "2:17", &["too short"]),
        ("[forwarder]\nmax_lifetime = \"10 us\"", "2:16", &["10.0 us is too short"]),
        (&format!("[traceroute]\nname = \"/{}\"", "a".repeat(200)), "2:8", &["at most 200"]),
        (
            "[[strategy]]\nprefix = \"/a\"\nstrategy = \"multicast\"\n\
             [[strategy]]\nprefix = \"/a\"\nstrategy = \"best-route\"",
            "5:10",
            &["line 1 has a strategy for /a, too"],
        ),
        (
            "[[face]]\nuri = \"unix:///x\"\nname = \"x\"\n\
             [[route]]\nprefix = \"/a\"\nface = \"x\"\n\
             [[route]]\nprefix = \"/a\"\nface = \"unix:///x\"\ncost = 3",
            "8:10",
            &["line 4 has a route for /a to this face, too"],
        ),
    ] {
        is_wrong(text, at, expected);
    }
}
