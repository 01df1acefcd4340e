//! Whoever knows one scheme's file knows them all.

use syn::spanned::Spanned;
use syn::{Item, Type};

use crate::{Finding, Repository, SourceFile, rust};

/// The sections of a scheme's file, in their order, and what shows that one begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Section {
    Scheme,
    Parameters,
    Options,
    Consumer,
    Router,
    Tests,
}

impl Section {
    fn describe(self) -> &'static str {
        match self {
            Self::Scheme => "the constant `SCHEME`",
            Self::Parameters => "the parameter table",
            Self::Options => "the header options",
            Self::Consumer => "the consumer's part",
            Self::Router => "the router's part",
            Self::Tests => "the tests",
        }
    }
}

/// The traits whose implementation is a part of a scheme.
const PARTS: &[(&str, Section)] = &[
    ("HopOption", Section::Options),
    ("Controller", Section::Consumer),
    ("WindowLaw", Section::Consumer),
    ("Marker", Section::Router),
    ("Shaper", Section::Router),
    ("Stamper", Section::Router),
    ("Strategy", Section::Router),
];

/// Words one of which shows that the header says where the scheme was published.
const SOURCES: &[&str] = &["doi", "RFC", "http", "arXiv", "ICN", "Internet-Draft", "not published"];

/// Every scheme's file opens with its paper and keeps its sections in the same order.
pub fn scheme_order(repository: &Repository) -> Vec<Finding> {
    let mut found = Vec::new();
    for (file, text) in repository.texts(&["rs"]).filter(|(file, _)| is_scheme(&file.path)) {
        found.extend(header(file, text));
        found.extend(order(file, text));
    }
    found
}

/// A file directly in the folder of schemes, but for the list of them.
fn is_scheme(path: &str) -> bool {
    path.strip_prefix("crates/schemes/src/")
        .is_some_and(|name| !name.contains('/') && name != "lib.rs")
}

fn header(file: &SourceFile, text: &str) -> Option<Finding> {
    let mut header = text.lines().take_while(|line| line.starts_with("//!"));
    let names_source = header.any(|line| SOURCES.iter().any(|source| line.contains(source)));
    (!names_source).then(|| {
        let advice = "say in `//!` what it follows (DOI, RFC, address), or `not published`";
        file.finding(1, format!("the header names no source: {advice}"))
    })
}

fn order(file: &SourceFile, text: &str) -> Vec<Finding> {
    let Ok(parsed) = syn::parse_file(text) else { return Vec::new() };
    let sections: Vec<(Section, usize)> = parsed
        .items
        .iter()
        .filter_map(|item| Some((section(item)?, item.span().start().line)))
        .collect();
    let mut found = Vec::new();
    if !sections.iter().any(|(section, _)| *section == Section::Scheme) {
        found.push(file.finding(0, "no constant `SCHEME`: a scheme's file says what it offers"));
    }
    for pair in sections.windows(2) {
        let [(before, _), (after, line)] = pair else { continue };
        if after < before {
            let (late, early) = (after.describe(), before.describe());
            found.push(file.finding(*line, format!("{late} stands after {early}: move it up")));
        }
    }
    found
}

/// The section that an item begins or continues; `None` where it may stand anywhere.
fn section(item: &Item) -> Option<Section> {
    match item {
        Item::Const(item) if item.ident == "SCHEME" => Some(Section::Scheme),
        Item::Static(item) if item.ident == "SCHEME" => Some(Section::Scheme),
        Item::Const(item) if is_parameter_table(&item.ty) => Some(Section::Parameters),
        Item::Static(item) if is_parameter_table(&item.ty) => Some(Section::Parameters),
        Item::Impl(item) if !rust::is_test(&item.attrs) => {
            let name = &item.trait_.as_ref()?.0.segments.last()?.ident;
            PARTS.iter().find(|(part, _)| name == part).map(|(_, section)| *section)
        }
        Item::Mod(item) if rust::is_test(&item.attrs) => Some(Section::Tests),
        _ => None,
    }
}

/// `&[ParamSpec]`, `&'static [ParamSpec]` or `[ParamSpec; N]`.
fn is_parameter_table(of: &Type) -> bool {
    match of {
        Type::Reference(reference) => is_parameter_table(&reference.elem),
        Type::Slice(slice) => is_parameter_table(&slice.elem),
        Type::Array(array) => is_parameter_table(&array.elem),
        Type::Path(path) => {
            path.path.segments.last().is_some_and(|segment| segment.ident == "ParamSpec")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "//! CUBIC (RFC 9438).\n\
        pub const SCHEME: Scheme = Scheme {};\n\
        const PARAMS: &[ParamSpec] = &[];\n\
        struct Cubic;\n\
        impl WindowLaw for Cubic {}\n\
        impl Marker for Cubic {}\n\
        #[cfg(test)]\nmod tests {}\n";

    fn check(text: &str) -> Vec<Finding> {
        scheme_order(&Repository::of(&[("crates/schemes/src/cubic.rs", text)]))
    }

    #[test]
    fn the_agreed_order_passes() {
        assert_eq!(check(GOOD), []);
    }

    #[test]
    fn parts_out_of_order_are_found() {
        let turned = GOOD.replace("WindowLaw", "Shaper").replace("Marker", "Controller");
        let found = check(&turned);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].line, 6);
        let table_first = "//! RFC 9438\nconst P: [ParamSpec; 0] = [];\npub const SCHEME: S = S;\n";
        assert_eq!(check(table_first).len(), 1);
    }

    #[test]
    fn a_file_without_source_or_scheme_is_found() {
        assert_eq!(check("//! Cubic.\npub const SCHEME: S = S;\n").len(), 1);
        assert_eq!(check("//! RFC 9438\nstruct Cubic;\n").len(), 1);
    }

    #[test]
    fn the_list_and_files_under_a_scheme_are_left_alone() {
        let files = [("crates/schemes/src/lib.rs", ""), ("crates/schemes/src/cubic/tests.rs", "")];
        assert_eq!(scheme_order(&Repository::of(&files)), []);
    }
}
