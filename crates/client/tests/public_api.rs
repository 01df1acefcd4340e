//! The public interface of this crate, as a committed list: `api.txt`.
//!
//! A line that is gone or different breaks programs, and needs another version of the crate: below
//! 1.0 another minor version, then another major one. New lines only need to be committed. The list
//! comes from the source by syn, since a list from rustdoc needs a compiler that is not the stable
//! one, and cargo-semver-checks builds two versions of the crate and of all that it depends on.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use quote::ToTokens;
use std::collections::BTreeSet;
use std::path::Path;
use syn::{Fields, ImplItem, Item, TraitItem, UseTree, Visibility};

const FILE: &str = "api.txt";

/// The names that `lib.rs` exports, with those of other crates as lines of their own.
fn exported(tree: &UseTree, path: &str, names: &mut BTreeSet<String>, lines: &mut Vec<String>) {
    match tree {
        UseTree::Path(inner) => {
            let path = format!("{path}{}::", inner.ident);
            exported(&inner.tree, &path, names, lines);
        }
        UseTree::Group(group) => {
            group.items.iter().for_each(|tree| exported(tree, path, names, lines));
        }
        UseTree::Name(name) => {
            names.insert(name.ident.to_string());
            if path == "packet::" {
                lines.push(format!("pub use {path}{}", name.ident));
            }
        }
        UseTree::Rename(_) | UseTree::Glob(_) => panic!("lib.rs exports names one by one"),
    }
}

/// Tokens in one line, without the spaces that `quote` puts between all of them.
fn line(tokens: impl ToTokens) -> String {
    let text = tokens.to_token_stream().to_string();
    let tight = ["::", "<", ">", "(", ")", "[", "]", ",", "&", ";", ":", "?", "'", "!"];
    tight.iter().fold(text, |text, sign| match *sign {
        "," | ":" | ">" => text.replace(&format!(" {sign}"), sign),
        ")" | "]" | ";" | "?" | "!" => text.replace(&format!(" {sign}"), sign),
        "&" | "'" => text.replace(&format!("{sign} "), sign),
        _ => text.replace(&format!(" {sign}"), sign).replace(&format!("{sign} "), sign),
    })
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// The derived traits and whether it is non-exhaustive.
fn attributes(attributes: &[syn::Attribute]) -> String {
    let shown = attributes.iter().filter(|attribute| {
        let path = attribute.path();
        ["derive", "non_exhaustive", "must_use"].iter().any(|name| path.is_ident(name))
    });
    shown.map(|attribute| format!("{} ", line(&attribute.meta))).collect()
}

fn fields(of: &str, fields: &Fields, lines: &mut Vec<String>) {
    for field in fields.iter().filter(|field| is_public(&field.vis)) {
        let name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
        lines.push(format!("{of}::{name}: {}", line(&field.ty)));
    }
}

fn item(item: &Item, names: &BTreeSet<String>, lines: &mut Vec<String>) {
    match item {
        Item::Struct(one) if names.contains(&one.ident.to_string()) => {
            lines.push(format!("{}pub struct {}", attributes(&one.attrs), one.ident));
            fields(&one.ident.to_string(), &one.fields, lines);
        }
        Item::Enum(one) if names.contains(&one.ident.to_string()) => {
            lines.push(format!("{}pub enum {}", attributes(&one.attrs), one.ident));
            for variant in &one.variants {
                let fields = line(&variant.fields);
                lines.push(format!("{}::{}{fields}", one.ident, variant.ident));
            }
        }
        Item::Trait(one) if names.contains(&one.ident.to_string()) => {
            lines.push(format!("pub trait {}", one.ident));
            for inner in &one.items {
                if let TraitItem::Fn(function) = inner {
                    lines.push(format!("{}::{}", one.ident, line(&function.sig)));
                }
            }
        }
        Item::Fn(one) if is_public(&one.vis) && names.contains(&one.sig.ident.to_string()) => {
            lines.push(format!("pub {}", line(&one.sig)));
        }
        Item::Impl(one) => {
            let of = line(&one.self_ty);
            let owner = of.split('<').next().unwrap_or_default();
            let of_trait = one.trait_.as_ref().map(|(path, _)| line(path));
            if !names.contains(owner) && !of_trait.as_ref().is_some_and(|t| names.contains(t)) {
                return;
            }
            if let Some(of_trait) = of_trait {
                lines.push(format!("impl {of_trait} for {of}"));
                return;
            }
            for inner in &one.items {
                if let ImplItem::Fn(function) = inner
                    && is_public(&function.vis)
                {
                    lines.push(format!("{of}::{}", line(&function.sig)));
                }
            }
        }
        _ => {}
    }
}

/// The list as the source has it.
fn listed(root: &Path) -> Vec<String> {
    let parse = |file: &Path| syn::parse_file(&std::fs::read_to_string(file).unwrap()).unwrap();
    let library = parse(&root.join("src/lib.rs"));
    let (mut names, mut lines) = (BTreeSet::new(), Vec::new());
    for item in &library.items {
        if let Item::Use(one) = item {
            exported(&one.tree, "", &mut names, &mut lines);
        }
    }
    let entries = std::fs::read_dir(root.join("src")).unwrap();
    let files = entries.map(|entry| entry.unwrap().path());
    for file in files.filter(|path| path.extension().is_some_and(|kind| kind == "rs")) {
        parse(&file).items.iter().for_each(|one| item(one, &names, &mut lines));
    }
    lines.sort();
    lines.dedup();
    lines
}

/// The part of a version that changes when programs break.
fn series(version: &str) -> Vec<&str> {
    let parts: Vec<&str> = version.split('.').collect();
    if parts[0] == "0" { parts[..2].to_vec() } else { parts[..1].to_vec() }
}

#[test]
fn the_public_interface_is_the_committed_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let committed = std::fs::read_to_string(root.join(FILE)).unwrap_or_default();
    let mut before = committed.lines();
    let version = before.next().and_then(|first| first.strip_prefix("client "));
    let before: Vec<&str> = before.collect();
    let now = listed(root);
    let gone: Vec<_> = before.iter().filter(|line| !now.iter().any(|new| new == *line)).collect();
    let own = env!("CARGO_PKG_VERSION");
    let is_same_series = version.is_some_and(|version| series(version) == series(own));
    assert!(
        gone.is_empty() || !is_same_series,
        "programs break without {gone:#?}: keep it, or raise the version {own}"
    );
    if std::env::var_os("WEIR_REGENERATE").is_some() {
        let text = format!("client {own}\n{}\n", now.join("\n"));
        std::fs::write(root.join(FILE), text).unwrap();
        return;
    }
    assert!(
        before == now && version == Some(own),
        "the public interface has more than {FILE}, or another version: \
         WEIR_REGENERATE=1 cargo test --package client --test public_api"
    );
}
