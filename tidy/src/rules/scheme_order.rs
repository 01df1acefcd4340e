//! All files of schemes have the same order.

use syn::spanned::Spanned;
use syn::{Item, Type};

use crate::{Finding, Repository, SourceFile, rust};

/// The sections of a scheme's file in their order, each with its mark.
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

/// Every scheme's file opens with its paper and keeps its sections in the same order.
pub fn scheme_order(repository: &Repository) -> Vec<Finding> {
    let mut found = Vec::new();
    for (file, text) in repository.texts(&["rs"]).filter(|(file, _)| is_candidate(&file.path)) {
        let Ok(parsed) = syn::parse_file(text) else { continue };
        let sections = sections(&parsed);
        // The other files in the folder choose and describe schemes, and have no `SCHEME`.
        if sections.iter().any(|(section, _)| *section == Section::Scheme) {
            found.extend(header(file, text));
            found.extend(order(file, &sections));
        }
    }
    found
}

/// A file directly in the folder of schemes.
fn is_candidate(path: &str) -> bool {
    path.strip_prefix("crates/schemes/src/").is_some_and(|name| !name.contains('/'))
}

fn header(file: &SourceFile, text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    if !text.starts_with("//! ") {
        let advice =
            "begin with `//!`: what it does, what it follows section by section, deviations";
        found.push(file.finding(1, format!("no header: {advice}")));
    }
    if !text.contains("\n    paper: ") {
        let advice = "give `SCHEME` a `paper`: authors, title, place, year, or `No publication`";
        found.push(file.finding(0, format!("names no source: {advice}")));
    }
    found
}

fn sections(parsed: &syn::File) -> Vec<(Section, usize)> {
    let places = parsed.items.iter().map(|item| (section(item), item.span().start().line));
    places.filter_map(|(section, line)| Some((section?, line))).collect()
}

fn order(file: &SourceFile, sections: &[(Section, usize)]) -> Vec<Finding> {
    let mut found = Vec::new();
    for pair in sections.windows(2) {
        let [(before, _), (after, line)] = pair else { continue };
        if after < before {
            let (late, early) = (after.describe(), before.describe());
            found.push(file.finding(*line, format!("{late} stands after {early}: move it up")));
        }
    }
    found
}

/// The section that an item begins or continues; `None` for an item that may be anywhere.
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
        // `mod tests;` only declares that the tests have their own file.
        Item::Mod(item) if rust::is_test(&item.attrs) && item.content.is_some() => {
            Some(Section::Tests)
        }
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

    const GOOD: &str = "//! CUBIC.\n\
        #[cfg(test)]\nmod tests;\n\
        pub const SCHEME: Scheme = Scheme {\n    paper: \"RFC 9438\",\n};\n\
        const PARAMS: &[ParamSpec] = &[];\n\
        struct Cubic;\n\
        impl WindowLaw for Cubic {}\n\
        impl Marker for Cubic {}\n\
        #[cfg(test)]\nmod more_tests {}\n";

    fn lines(text: &str) -> Vec<usize> {
        let found = scheme_order(&Repository::of(&[("crates/schemes/src/cubic.rs", text)]));
        found.into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn the_agreed_order_passes() {
        assert_eq!(lines(GOOD), []);
    }

    #[test]
    fn parts_out_of_order_are_found() {
        let turned = GOOD.replace("WindowLaw", "Shaper").replace("Marker", "Controller");
        assert_eq!(lines(&turned), [10]);
        let table_last = format!("{GOOD}const MORE: [ParamSpec; 0] = [];\n");
        assert_eq!(lines(&table_last), [13]);
    }

    #[test]
    fn a_file_without_header_or_source_is_found() {
        assert_eq!(lines(&GOOD.replace("//! CUBIC.\n", "\n")), [1]);
        assert_eq!(lines(&GOOD.replace("paper", "note")), [0]);
    }

    #[test]
    fn shared_scheme_files_are_exempt() {
        assert_eq!(lines("impl Marker for Shared {}\nimpl Controller for Shared {}\n"), []);
        let files = [("crates/schemes/src/cubic/tests.rs", "pub const SCHEME: S = S;")];
        assert_eq!(scheme_order(&Repository::of(&files)), []);
    }
}
