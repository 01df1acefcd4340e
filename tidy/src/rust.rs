//! Rust's syntax, as the rules need it.

use std::str::FromStr;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, ItemFn, ItemImpl, ItemMod, ItemUse, LitStr, Path, UseTree, Visibility};

/// A function in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The line of the word `fn`.
    pub first_line: usize,
    /// The line of the closing brace.
    pub last_line: usize,
}

/// Every function with a body, including those inside macro calls: tokens are read, so that
/// functions inside `proptest!` are found too. Empty for a text that is not Rust (the compiler
/// reports it).
pub fn functions(text: &str) -> Vec<Function> {
    let mut found = Vec::new();
    if let Ok(tokens) = TokenStream::from_str(text) {
        collect_functions(tokens, &mut found);
    }
    found
}

fn collect_functions(tokens: TokenStream, found: &mut Vec<Function>) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, pair) in trees.windows(2).enumerate() {
        let [TokenTree::Ident(keyword), TokenTree::Ident(name)] = pair else { continue };
        if keyword != "fn" {
            continue;
        }
        if let Some(last_line) = body_end(trees.get(at..).unwrap_or_default()) {
            let first_line = keyword.span().start().line;
            found.push(Function { name: name.to_string(), first_line, last_line });
        }
    }
    for tree in trees {
        if let TokenTree::Group(group) = tree {
            collect_functions(group.stream(), found);
        }
    }
}

/// The line where the body ends; `None` for a declaration that ends in a semicolon.
fn body_end(trees: &[TokenTree]) -> Option<usize> {
    trees.iter().find_map(|tree| match tree {
        TokenTree::Punct(mark) if mark.as_char() == ';' => Some(None),
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
            Some(Some(group.span_close().end().line))
        }
        _ => None,
    })?
}

/// The lines with one of these words as an identifier, with the token after it.
pub fn identifiers(text: &str, mut seen: impl FnMut(usize, &str, Option<&TokenTree>)) {
    fn walk(tokens: TokenStream, seen: &mut impl FnMut(usize, &str, Option<&TokenTree>)) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, tree) in trees.iter().enumerate() {
            match tree {
                TokenTree::Ident(ident) => {
                    seen(ident.span().start().line, &ident.to_string(), trees.get(at + 1));
                }
                TokenTree::Group(group) => walk(group.stream(), seen),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
    if let Ok(tokens) = TokenStream::from_str(text) {
        walk(tokens, &mut seen);
    }
}

/// A used or imported path: `std::collections::BTreeMap`, and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedPath {
    /// The path's parts with `::` between them; a glob import ends in `*`.
    pub path: String,
    /// Its line.
    pub line: usize,
    /// `true` in test code.
    pub in_test: bool,
}

/// Every path that the file imports or names, outside macro calls.
pub fn used_paths(text: &str) -> Vec<UsedPath> {
    let mut paths = Paths { found: Vec::new(), in_test: false };
    if let Ok(file) = syn::parse_file(text) {
        paths.visit_file(&file);
    }
    paths.found
}

/// Every string outside tests, with its line; documentation is not one.
pub fn strings(text: &str, mut seen: impl FnMut(usize, &str)) {
    let Ok(file) = syn::parse_file(text) else { return };
    let mut strings = Strings { found: Vec::new() };
    strings.visit_file(&file);
    strings.found.iter().for_each(|(line, text)| seen(*line, text));
}

struct Strings {
    found: Vec<(usize, String)>,
}

impl Strings {
    fn tokens(&mut self, tokens: TokenStream) {
        for tree in tokens {
            match tree {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Literal(literal) => {
                    if let Ok(text) = syn::parse_str::<LitStr>(&literal.to_string()) {
                        self.found.push((literal.span().start().line, text.value()));
                    }
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Strings {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if !attribute.path().is_ident("doc") {
            visit::visit_attribute(self, attribute);
        }
        if let syn::Meta::List(list) = &attribute.meta {
            self.tokens(list.tokens.clone());
        }
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.tokens(item.tokens.clone());
    }

    fn visit_lit_str(&mut self, text: &'ast LitStr) {
        self.found.push((text.span().start().line, text.value()));
    }
}

/// Returns `true` for the attributes `#[cfg(test)]` or `#[test]`.
pub fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && attribute.parse_args::<Path>().is_ok_and(|what| what.is_ident("test"))
    })
}

struct Paths {
    found: Vec<UsedPath>,
    in_test: bool,
}

impl Paths {
    fn inside(&mut self, attributes: &[Attribute], visit: impl FnOnce(&mut Self)) {
        let outer = self.in_test;
        self.in_test |= is_test(attributes);
        visit(self);
        self.in_test = outer;
    }

    fn import(&mut self, prefix: &str, tree: &UseTree) {
        let (name, rest) = match tree {
            UseTree::Path(path) => (&path.ident, Some(&*path.tree)),
            UseTree::Name(name) => (&name.ident, None),
            UseTree::Rename(rename) => (&rename.ident, None),
            UseTree::Glob(glob) => {
                let line = glob.star_token.spans[0].start().line;
                return self.push(format!("{prefix}*"), line);
            }
            UseTree::Group(group) => {
                return group.items.iter().for_each(|item| self.import(prefix, item));
            }
        };
        match rest {
            Some(rest) => self.import(&format!("{prefix}{name}::"), rest),
            None if name == "self" => {
                let path = prefix.trim_end_matches(':').to_owned();
                self.push(path, name.span().start().line);
            }
            None => self.push(format!("{prefix}{name}"), name.span().start().line),
        }
    }

    fn push(&mut self, path: String, line: usize) {
        self.found.push(UsedPath { path, line, in_test: self.in_test });
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        self.inside(&item.attrs, |me| visit::visit_item_mod(me, item));
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.inside(&item.attrs, |me| visit::visit_item_fn(me, item));
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        self.inside(&item.attrs, |me| visit::visit_item_impl(me, item));
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.inside(&item.attrs, |me| me.import("", &item.tree));
    }

    /// `pub(super)` names a module, and uses nothing of it.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_path(&mut self, path: &'ast Path) {
        let parts: Vec<String> =
            path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if let Some(first) = path.segments.first() {
            self.push(parts.join("::"), first.ident.span().start().line);
        }
        visit::visit_path(self, path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_measured_from_fn_to_closing_brace() {
        let text = "trait T {\n    fn declared(&self);\n}\nfn one() {\n    two()\n}\n\
                    proptest! {\n    fn wrapped(x in 0..9) {\n    }\n}\n";
        let expected = [("one", 4, 6), ("wrapped", 8, 9)].map(|(name, first_line, last_line)| {
            Function { name: name.to_owned(), first_line, last_line }
        });
        assert_eq!(functions(text), expected);
    }

    #[test]
    fn a_type_of_function_is_not_a_function() {
        assert_eq!(functions("type F = fn(u8) -> u8;\nstruct S {}\n"), []);
    }

    #[test]
    fn imports_are_flattened() {
        let text = "use std::collections::{BTreeMap, self as c, hash_map::*};\n";
        let paths: Vec<String> = used_paths(text).into_iter().map(|used| used.path).collect();
        let expected =
            ["std::collections::BTreeMap", "std::collections", "std::collections::hash_map::*"];
        assert_eq!(paths, expected);
    }

    #[test]
    fn test_code_is_distinguished() {
        let text = "fn a() { std::fs::read(p) }\n\
                    #[cfg(test)]\nmod tests { fn b() { std::fs::read(p) } }\n";
        let seen: Vec<(usize, bool)> = used_paths(text)
            .into_iter()
            .filter(|used| used.path == "std::fs::read")
            .map(|used| (used.line, used.in_test))
            .collect();
        assert_eq!(seen, [(1, false), (3, true)]);
    }
}
