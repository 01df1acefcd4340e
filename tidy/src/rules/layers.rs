//! The permitted dependencies between the crates.

use toml::{Table, Value};

use super::CORE;
use crate::{Finding, Repository, SourceFile};

/// Each crate and its permitted dependencies. `schemes` and `forwarder` do not depend on each
/// other: drivers connect them by name.
pub(super) const ARROWS: &[(&str, &[&str])] = &[
    ("packet", &[]),
    ("security", &["packet"]),
    ("control", &["packet"]),
    ("schemes", &["packet", "control"]),
    ("forwarder", &["packet", "control"]),
    ("transport", &["packet", "security", "control"]),
    ("tree", &["packet", "security"]),
    ("repo", &["packet", "security", "control", "transport"]),
    ("sync", &["packet", "security", "control"]),
    ("onnx", &["control", "schemes"]),
    ("document-derive", &[]),
    ("document", &["packet", "control", "schemes", "forwarder", "onnx", "document-derive"]),
    ("net", &["packet", "security", "control", "schemes", "forwarder", "document"]),
    ("router", &["net"]),
    ("record", &["control", "forwarder", "transport"]),
    ("sim", &["packet", "security", "control", "forwarder", "transport", "record"]),
    ("scenario", &["packet", "control", "schemes", "forwarder", "document", "record", "sim"]),
    ("report", &["control", "scenario"]),
    ("study", &["control", "document", "scenario", "report"]),
    ("swarm", &["control", "schemes", "record", "scenario"]),
    ("arena", &["control", "schemes", "scenario", "report", "study", "swarm"]),
    (
        "client",
        &[
            "packet",
            "security",
            "control",
            "schemes",
            "transport",
            "tree",
            "sync",
            "net",
            "scenario",
        ],
    ),
    (
        "testbed",
        &["packet", "control", "schemes", "forwarder", "transport", "net", "record", "scenario"],
    ),
    ("capi", &["client"]),
    ("python", &["packet", "control", "schemes", "document", "client", "scenario", "report"]),
    (
        "weir",
        &[
            "packet",
            "security",
            "control",
            "schemes",
            "transport",
            "net",
            "client",
            "router",
            "scenario",
            "report",
            "study",
            "swarm",
            "arena",
            "testbed",
            "tree",
            "repo",
            "onnx",
            "sync",
        ],
    ),
];

/// Libraries with a runtime, a socket, a clock or random numbers of their own.
const NOT_IN_CORE: &[&str] = &[
    "async-std",
    "futures",
    "futures-util",
    "getrandom",
    "mio",
    "quinn-udp",
    "rand",
    "rustix",
    "signal-hook",
    "smol",
    "socket2",
    "tokio",
];

/// Dependencies follow the arrows, every arrow is used, and the core has no runtime.
pub fn layers(repository: &Repository) -> Vec<Finding> {
    let manifests = repository.files.iter().filter(|file| {
        file.crate_name().is_some()
            && file.path.matches('/').count() == 2
            && file.path.ends_with("/Cargo.toml")
    });
    manifests.flat_map(judge).collect()
}

fn judge(file: &SourceFile) -> Vec<Finding> {
    let name = file.crate_name().unwrap_or_default();
    let Some(manifest) = file.text().and_then(|text| text.parse::<Table>().ok()) else {
        return vec![file.finding(0, "not a TOML file: fix it")];
    };
    let Some((_, allowed)) = ARROWS.iter().find(|(from, _)| *from == name) else {
        let advice = "say in tidy/src/rules/layers.rs what it may depend on";
        return vec![
            file.finding(0, format!("crate `{name}` has no place in the layers: {advice}")),
        ];
    };
    let dependencies = dependencies(&manifest);
    let unused = allowed.iter().filter(|grant| !dependencies.iter().any(|name| name == *grant));
    let mut found: Vec<Finding> = unused
        .map(|grant| {
            let advice = "take it out of tidy/src/rules/layers.rs";
            file.finding(0, format!("`{name}` does not use `{grant}`, which it may: {advice}"))
        })
        .collect();
    for dependency in dependencies {
        let is_ours = ARROWS.iter().any(|(to, _)| *to == dependency);
        if is_ours && !allowed.contains(&dependency.as_str()) {
            let advice = "move what is shared down, or let a driver hand it in";
            found.push(file.finding(0, format!("`{name}` must not know `{dependency}`: {advice}")));
        }
        if CORE.contains(&name) && NOT_IN_CORE.contains(&dependency.as_str()) {
            let advice = "the core does no input or output; a driver hands in what it needs";
            found.push(file.finding(0, format!("`{name}` must not use `{dependency}`: {advice}")));
        }
    }
    found
}

/// The dependencies of the crate on any platform, except those of its tests.
fn dependencies(manifest: &Table) -> Vec<String> {
    let kinds = ["dependencies", "build-dependencies"];
    let of = |table: &Table| -> Vec<String> {
        let tables = kinds.iter().filter_map(|kind| table.get(*kind)?.as_table());
        tables.flatten().map(|(name, spec)| real_name(name, spec)).collect()
    };
    let targets = manifest.get("target").and_then(Value::as_table);
    let by_target = targets.into_iter().flatten().filter_map(|(_, table)| table.as_table());
    by_target.fold(of(manifest), |mut all, table| {
        all.extend(of(table));
        all
    })
}

/// The package's name, also where the manifest gives the dependency another one.
fn real_name(name: &str, spec: &Value) -> String {
    spec.get("package").and_then(Value::as_str).unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of findings, without those about unused grants.
    fn check(name: &str, manifest: &str) -> usize {
        let path = format!("crates/{name}/Cargo.toml");
        let found = layers(&Repository::of(&[(&path, manifest)]));
        found.iter().filter(|finding| !finding.message.contains("does not use")).count()
    }

    #[test]
    fn a_grant_that_is_not_used_is_found() {
        let manifest = "[dependencies]\npacket.workspace = true\n";
        let found = layers(&Repository::of(&[("crates/schemes/Cargo.toml", manifest)]));
        assert!(found[0].message.contains("`schemes` does not use `control`"), "{found:?}");
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn an_arrow_the_wrong_way_is_found() {
        assert_eq!(check("schemes", "[dependencies]\ncontrol.workspace = true\n"), 0);
        assert_eq!(check("schemes", "[dependencies]\nforwarder.workspace = true\n"), 1);
        assert_eq!(check("forwarder", "[dependencies]\nschemes.workspace = true\n"), 1);
        assert_eq!(check("packet", "[dependencies]\nx = { package = \"schemes\" }\n"), 1);
    }

    #[test]
    fn a_runtime_in_the_core_is_found() {
        let manifest = "[target.'cfg(unix)'.dependencies]\nmio = \"1\"\n";
        assert_eq!(check("forwarder", manifest), 1);
        assert_eq!(check("net", manifest), 0);
    }

    #[test]
    fn dev_dependencies_are_not_checked() {
        assert_eq!(check("forwarder", "[dev-dependencies]\nschemes.workspace = true\n"), 0);
    }

    #[test]
    fn a_crate_without_a_place_is_found() {
        assert_eq!(check("misc", "[package]\nname = \"weir-misc\"\n"), 1);
    }
}
