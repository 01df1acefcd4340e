use super::*;

const GET: Method = Method::GET;

/// The status that a request gets from a gateway which is connected to at 192.0.2.7; 200 if it is
/// let pass. `target` and then fields of the head.
fn status(method: &Method, target: &str, fields: &[(&str, &str)]) -> u16 {
    let guard = Guard::new(
        &["gateway.example".to_owned(), "2001:db8::7".to_owned()],
        &["https://Player.example:443/".to_owned(), "http://player.example:8000".to_owned()],
    );
    admit(&guard.unwrap(), method, target, Version::HTTP_11, fields).map_or_else(
        |rejection| {
            let parts = rejection.text.matches(';').count();
            assert!(parts >= 1, "it says what to do: {}", rejection.text);
            rejection.status.as_u16()
        },
        |_| 200,
    )
}

fn admit(
    guard: &Guard,
    method: &Method,
    target: &str,
    version: Version,
    fields: &[(&str, &str)],
) -> Result<Option<HeaderValue>, Rejection> {
    let mut headers = HeaderMap::new();
    for (field, value) in fields {
        headers.append(field.parse::<HeaderName>().unwrap(), value.parse().unwrap());
    }
    let (uri, local) = (target.parse().unwrap(), "192.0.2.7".parse().unwrap());
    guard.admit(&Head { method, uri: &uri, version, headers: &headers, local })
}

#[test]
fn a_request_is_for_a_host_that_the_gateway_is() {
    let of = |host| status(&GET, "/a", &[("host", host)]);
    for own in [
        "localhost",
        "LocalHost:8080",
        "127.0.0.1",
        "127.8.9.1:80",
        "[::1]:8080",
        "[::ffff:127.0.0.1]",
        "192.0.2.7:8080",
        "Gateway.example:1",
        "[2001:db8::7]:8080",
        "localhost:",
    ] {
        assert_eq!(of(own), 200, "{own}");
    }
    for other in [
        "attacker.example",
        "localhost.attacker.example",
        "127.0.0.1.attacker.example",
        "127.1",
        "2130706433",
        "0x7f.1",
        "localhost.",
        "0.0.0.0",
        "[::]",
        "192.0.2.8",
        "sub.gateway.example",
    ] {
        assert_eq!(of(other), 421, "{other}");
    }
    for malformed in [
        "",
        ":80",
        "a b",
        "localhost:x",
        "localhost:+80",
        "localhost:65536",
        "u@localhost",
        "localhost/",
        "[::1",
        "::1",
    ] {
        assert_eq!(of(malformed), 400, "{malformed}");
    }
}

#[test]
fn there_is_one_host_and_that_of_the_target_counts() {
    assert_eq!(status(&GET, "/a", &[]), 400);
    assert_eq!(status(&GET, "/a", &[("host", "localhost"), ("host", "localhost")]), 400);
    let (here, there) = (("host", "localhost"), ("host", "attacker.example"));
    assert_eq!(status(&GET, "http://localhost/a", &[there]), 200);
    assert_eq!(status(&GET, "http://attacker.example/a", &[here]), 421);
    assert_eq!(status(&GET, "http://u@localhost/a", &[here]), 400);
    assert_eq!(status(&GET, "http://localhost/a", &[]), 400);
    let old = |fields| admit(&Guard::default(), &GET, "/a", Version::HTTP_10, fields).is_ok();
    assert!(old(&[]), "HTTP/1.0 knows no Host");
    assert!(!old(&[there]));
}

#[test]
fn only_a_click_leads_here_from_another_site() {
    let host = ("host", "localhost:8080");
    let of = |method: &Method, site, mode, dest| {
        let (mode, dest) = (("sec-fetch-mode", mode), ("sec-fetch-dest", dest));
        status(method, "/a", &[host, ("sec-fetch-site", site), mode, dest])
    };
    for site in ["none", "same-origin"] {
        assert_eq!(of(&GET, site, "no-cors", "video"), 200, "{site}");
        assert_eq!(of(&Method::HEAD, site, "cors", "empty"), 200, "{site}");
    }
    for site in ["cross-site", "same-site", "", "other"] {
        assert_eq!(of(&GET, site, "navigate", "document"), 200, "{site}");
        for (mode, dest) in [
            ("no-cors", "image"),
            ("no-cors", "script"),
            ("no-cors", "video"),
            ("navigate", "iframe"),
            ("navigate", "object"),
            ("cors", "document"),
            ("", ""),
        ] {
            assert_eq!(of(&GET, site, mode, dest), 403, "{site} {mode} {dest}");
        }
        assert_eq!(of(&Method::POST, site, "navigate", "document"), 403);
        assert_eq!(of(&Method::HEAD, site, "navigate", "document"), 403);
    }
    let site = |value| ("sec-fetch-site", value);
    assert_eq!(status(&GET, "/a", &[host, site("none"), site("cross-site")]), 403);
    assert_eq!(status(&GET, "/a", &[host]), 200, "a program is no page");
}

#[test]
fn pages_of_origins_that_are_allowed_may_ask() {
    let host = ("host", "localhost:8080");
    let of = |origin| status(&GET, "/a", &[host, ("origin", origin), ("sec-fetch-site", "none")]);
    for own in ["http://localhost:8080", "https://localhost:8080"] {
        assert_eq!(of(own), 200, "{own}");
    }
    for other in [
        "null",
        "",
        "http://localhost",
        "http://localhost:8081",
        "http://127.0.0.1:8080",
        "http://player.example",
        "http://localhost:8080.attacker.example",
        "file://",
    ] {
        assert_eq!(of(other), 403, "{other}");
    }
    let cross = ("sec-fetch-site", "cross-site");
    for allowed in ["https://player.example", "http://player.example:8000"] {
        assert_eq!(status(&GET, "/a", &[host, ("origin", allowed), cross]), 200, "{allowed}");
    }
    let own = ("origin", "http://localhost:8080");
    assert_eq!(status(&GET, "/a", &[host, own, cross]), 403, "they contradict each other");
    assert_eq!(status(&GET, "/a", &[host, own, own]), 400);
    assert_eq!(status(&GET, "/a", &[("host", "localhost"), ("origin", "http://localhost")]), 200);
    assert_eq!(
        status(&GET, "/a", &[("host", "localhost:80"), ("origin", "http://localhost")]),
        200
    );
}

#[test]
fn the_answer_names_the_origin_that_may_read_it() {
    let guard = Guard::new(&[], &["http://player.example".to_owned()]).unwrap();
    let admit =
        |fields: &[(&str, &str)]| admit(&guard, &GET, "/a", Version::HTTP_11, fields).unwrap();
    let host = ("host", "localhost");
    assert_eq!(
        admit(&[host, ("origin", "http://player.example")]).unwrap(),
        "http://player.example"
    );
    assert_eq!(admit(&[host]), None);
    assert_eq!(admit(&[host, ("origin", "http://localhost")]), None);
}

#[test]
fn invalid_hosts_and_origins_are_reported() {
    for host in ["", "a:80", "http://a", "a/b", "u@a", "a b"] {
        let error = Guard::new(&[host.to_owned()], &[]).unwrap_err();
        assert!(error.starts_with("--host ") && error.contains("; write"), "{error}");
    }
    for origin in ["", "null", "a", "://a", "http://", "http://a/b", "http://u@a", "*"] {
        let error = Guard::new(&[], &[origin.to_owned()]).unwrap_err();
        assert!(error.starts_with("--origin ") && error.contains("; write"), "{error}");
    }
}

#[test]
fn metrics_are_for_collectors_and_not_for_pages() {
    let of = |listen: &str, host: &str, more: &[(&str, &str)]| {
        let guard = Guard::of_metrics(listen.parse().unwrap(), "router.example.net");
        let fields = [&[("host", host)], more].concat();
        match admit(&guard, &GET, "/metrics", Version::HTTP_11, &fields) {
            Ok(_) => 200,
            Err(rejection) => {
                assert!(!rejection.text.contains("gateway") && rejection.text.contains(';'));
                rejection.status.as_u16()
            }
        }
    };
    for host in ["localhost:9363", "127.0.0.1:9363", "[::1]", "192.0.2.7:9363"] {
        assert_eq!(of("127.0.0.1", host, &[]), 200, "{host}");
    }
    for host in ["attacker.example:9363", "router.example.net", "router", "192.0.2.8"] {
        assert_eq!(of("127.0.0.1", host, &[]), 421, "{host}");
        assert_eq!(of("::1", host, &[]), 421, "{host}");
    }
    for listen in ["0.0.0.0", "::", "192.0.2.7"] {
        for host in
            ["localhost", "203.0.113.9:80", "[2001:db8::9]", "Router", "router.example.net:1"]
        {
            assert_eq!(of(listen, host, &[]), 200, "{listen} {host}");
        }
        for host in ["attacker.example", "router.attacker.example", "example.net"] {
            assert_eq!(of(listen, host, &[]), 421, "{listen} {host}");
        }
    }
    let here = "127.0.0.1:9363";
    assert_eq!(of("127.0.0.1", here, &[("origin", "http://attacker.example")]), 403);
    assert_eq!(of("127.0.0.1", here, &[("sec-fetch-site", "cross-site")]), 403);
}

#[test]
fn the_documentation_is_for_its_own_address_and_pages() {
    let of = |fields: &[(&str, &str)]| match admit(
        &Guard::of_docs(),
        &GET,
        "/",
        Version::HTTP_11,
        fields,
    ) {
        Ok(_) => 200,
        Err(rejection) => {
            assert!(!rejection.text.contains("gateway") && rejection.text.contains(';'));
            rejection.status.as_u16()
        }
    };
    let here = ("host", "127.0.0.1:8090");
    for host in ["localhost:8090", "127.0.0.1:8090", "[::1]", "192.0.2.7:8090"] {
        assert_eq!(of(&[("host", host)]), 200, "{host}");
    }
    assert_eq!(of(&[("host", "attacker.example:8090")]), 421);
    assert_eq!(of(&[]), 400);
    assert_eq!(of(&[here, ("sec-fetch-site", "same-origin")]), 200);
    assert_eq!(of(&[here, ("sec-fetch-site", "cross-site")]), 403);
    assert_eq!(of(&[here, ("origin", "http://attacker.example")]), 403);
}

#[test]
fn a_rejection_repeats_a_part_and_no_control_characters() {
    let host = "x".repeat(9000);
    let text = |fields: &[(&str, &str)]| {
        let guard = Guard::default();
        admit(&guard, &GET, "/a", Version::HTTP_11, fields).unwrap_err().text
    };
    assert!(text(&[("host", &host)]).len() < 1000);
    let mut headers = HeaderMap::new();
    headers.insert(HOST, HeaderValue::from_static("localhost"));
    let origin = format!("\u{9b}31mRED\u{9d}\u{202e}{host}");
    headers.insert(ORIGIN, HeaderValue::from_bytes(origin.as_bytes()).unwrap());
    let (uri, local) = (Uri::from_static("/a"), "192.0.2.7".parse().unwrap());
    let version = Version::HTTP_11;
    let head = Head { method: &GET, uri: &uri, version, headers: &headers, local };
    let error = Guard::default().admit(&head).unwrap_err().text;
    assert!(error.contains(r"a page of \u{9b}31mRED\u{9d}\u{202e}xxx"), "{error}");
    assert!(error.len() < 500, "{error}");
    let several = text(&[("host", "localhost"), ("origin", "a"), ("origin", "b")]);
    assert_eq!(several, "the request has several Origin headers; send one, or none");
}

#[test]
fn http_2_has_its_authority_in_the_target() {
    let guard = Guard::new(&[], &[]).unwrap();
    let of = |target, fields: &[(&str, &str)]| {
        let admitted = admit(&guard, &GET, target, Version::HTTP_2, fields);
        admitted.map_or_else(|rejection| rejection.status.as_u16(), |_| 200)
    };
    assert_eq!(of("http://localhost:8080/a", &[]), 200);
    assert_eq!(of("https://localhost/a", &[("host", "LOCALHOST")]), 200);
    assert_eq!(of("http://localhost/a", &[("host", "attacker.example")]), 400);
    assert_eq!(of("http://localhost/a", &[("host", "localhost"), ("host", "localhost")]), 400);
    assert_eq!(of("http://attacker.example/a", &[]), 421);
    assert_eq!(of("/a", &[]), 400, "neither of the two");
    assert_eq!(of("/a", &[("host", "localhost")]), 200);
    assert_eq!(of("http://localhost/a", &[("origin", "http://attacker.example")]), 403);
}
