//! Interfaces with Ethernet faces.

use super::*;

#[test]
fn interfaces_are_listed_once_each() {
    assert_eq!(good("").listen.ether, [] as [String; 0]);
    assert_eq!(good("[listen]\nether = \"off\"").listen.ether, [] as [String; 0]);
    assert_eq!(good("[listen]\nether = \"eth0\"").listen.ether, ["eth0"]);
    let two = good("[listen]\nether = [\"eth0\", \"eth0.5\"]");
    assert_eq!(two.listen.ether, ["eth0", "eth0.5"]);
    for (value, why) in [
        ("[\"eth0\", \"eth0\"]", "`eth0` is listed twice"),
        ("\"\"", "1 to 15 bytes"),
        ("\"an-interface-of-20\"", "1 to 15 bytes"),
        ("\"eth 0\"", "no slash, colon or space"),
    ] {
        let found = wrong(&format!("[listen]\nether = {value}"));
        assert!(found.len() == 1 && found[0].contains(why), "{value}: {found:?}");
    }
}

#[test]
fn a_face_over_ethernet_has_an_interface() {
    let face = |uri: &str, rest: &str| format!("[[face]]\nuri = \"{uri}\"\n{rest}");
    for uri in ["ether://[08:00:27:01:01:01]", "ether://[01:00:5e:00:17:aa]"] {
        let config = good(&face(uri, "interface = \"eth0\""));
        let [made] = &config.faces[..] else { panic!("{:?}", config.faces) };
        assert_eq!((made.uri.to_string(), made.interface.as_deref()), (uri.into(), Some("eth0")));
        assert_eq!(made.place(), format!("{uri}%eth0"));
        let found = wrong(&face(uri, ""));
        assert!(found.len() == 1 && found[0].contains("needs an `interface`"), "{found:?}");
    }
    for (uri, why) in [
        ("dev://eth0", "is an interface of this host"),
        ("ether://[00:00:00:00:00:00]", "no station has the address"),
    ] {
        let found = wrong(&face(uri, "interface = \"eth0\""));
        assert!(found.len() == 1 && found[0].contains(why), "{uri}: {found:?}");
    }
}

#[test]
fn the_same_station_on_two_links_is_two_places() {
    let face = |interface: &str| {
        format!("[[face]]\nuri = \"ether://[08:00:27:1:1:1]\"\ninterface = \"{interface}\"\n")
    };
    assert_eq!(good(&[face("eth0"), face("eth1")].concat()).faces.len(), 2);
    let found = wrong(&[face("eth0"), face("eth0")].concat());
    assert!(found.len() == 1 && found[0].contains("lead to the same place"), "{found:?}");
}
