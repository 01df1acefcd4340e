use super::*;

fn matches(patterns: &[&str], names: &[&str]) -> bool {
    let patterns: Vec<Pattern> = patterns.iter().map(|text| text.parse().unwrap()).collect();
    let names: Vec<Name> = names.iter().map(|uri| uri.parse().unwrap()).collect();
    let mut captures = Captures::default();
    patterns.iter().zip(&names).all(|(p, n)| p.matches(n.as_ref(), &mut captures))
}

#[test]
fn parts_stand_for_components() {
    for (pattern, name, expected) in [
        ("/", "/", true),
        ("/", "/a", false),
        ("/a/b", "/a/b", true),
        ("/a/b", "/a/B", false),
        ("/a/b", "/a/b/c", false),
        ("/a/{x}", "/a/anything", true),
        ("/a/{x}", "/a", false),
        ("/a/{}/c", "/a/b/c", true),
        ("/a/{...}", "/a", true),
        ("/a/{...}", "/a/b/c", true),
        ("/a/{...}/z", "/a/z", true),
        ("/a/{...}/z", "/a/b/c/z", true),
        ("/a/{...}/z", "/a/b/c/y", false),
        ("/a/{...}/z", "/z", false),
        ("/32=metadata/v=3", "/32=metadata/v=3", true),
        ("/32=metadata", "/metadata", false),
        ("/a%7Bb", "/a%7Bb", true),
    ] {
        assert_eq!(matches(&[pattern], &[name]), expected, "{pattern} and {name}");
    }
}

#[test]
fn the_same_word_stands_for_the_same() {
    assert!(matches(&["/{a}/{a}"], &["/x/x"]));
    assert!(!matches(&["/{a}/{a}"], &["/x/y"]));
    assert!(matches(&["/{}/{}"], &["/x/y"]));
    assert!(matches(&["/blog/{a}/{p...}", "/blog/{a}"], &["/blog/ann/1/2", "/blog/ann"]));
    assert!(!matches(&["/blog/{a}/{p...}", "/blog/{a}"], &["/blog/ann/1/2", "/blog/bob"]));
    assert!(matches(&["/{p...}/x", "/{p...}/y"], &["/1/2/x", "/1/2/y"]));
    assert!(!matches(&["/{p...}/x", "/{p...}/y"], &["/1/2/x", "/12/y"]));
    // A word for one component and for several is the same if the components are.
    assert!(matches(&["/{a}", "/{a...}"], &["/x", "/x"]));
}

#[test]
fn invalid_patterns_are_rejected() {
    let error = |text: &str| text.parse::<Pattern>().unwrap_err();
    assert_eq!(error("a/b"), PatternError::NoSlash("a/b".into()));
    assert_eq!(error("/{...}/a/{b...}"), PatternError::TwoMany("/{...}/a/{b...}".into()));
    for part in ["{a", "a}", "{a b}", "x{a}", "{a.}", "%G0", "..", "70000=x"] {
        assert_eq!(error(&format!("/a/{part}")), PatternError::Part(part.into()), "{part}");
    }
}

#[test]
fn words_are_listed_and_the_text_is_kept() {
    let pattern: Pattern = "/a/{of-one_1}/{}/{many...}".parse().unwrap();
    assert_eq!(pattern.words().collect::<Vec<_>>(), ["of-one_1", "many"]);
    assert_eq!(pattern.to_string(), "/a/{of-one_1}/{}/{many...}");
    assert_eq!("/{...}".parse::<Pattern>().unwrap().words().count(), 0);
}
