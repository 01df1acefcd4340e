//! Figures of each crate's code, counted in the same way before and after a change.

mod imports;
mod owners;

pub use imports::{Need, imports};
pub use owners::Fields;

use crate::rust::is_test;
use crate::{Repository, SourceFile};
use owners::Declarations;
use std::collections::{BTreeMap, BTreeSet};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Expr, FnArg, ItemFn, ItemImpl, ItemMod, ItemStruct, Local, Macro, Signature, Type,
};

/// A larger struct is hard to hold in mind.
const MOST_FIELDS: usize = 15;
/// A type with methods in more files has no place of its own.
const MOST_FILES: usize = 3;

/// The figures of one crate. All except `tests` exclude test code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// The crate's folder in `crates/`.
    pub name: String,
    /// Lines that are neither empty nor a comment.
    pub code: usize,
    /// Lines of comments and documentation.
    pub comments: usize,
    /// Lines of tests, benchmarks and examples that are not empty.
    pub tests: usize,
    /// Structs with more than 15 fields, and how many each has.
    pub large_structs: Vec<(String, usize)>,
    /// Types with methods of their own in more than three files, and in how many.
    pub scattered_types: Vec<(String, usize)>,
    /// Structs with a method that takes `&mut self` and with fields that are visible to a part of
    /// the crate.
    pub reached_owners: Vec<Fields>,
    /// Structs with such a method, private fields and public ones.
    pub mixed_owners: Vec<Fields>,
    /// Parameters of functions that are tuples.
    pub tuple_parameters: usize,
    /// Closures that are bound to a name by `let`.
    pub bound_closures: usize,
    /// Groups of modules that import each other, directly or by others.
    pub cycles: Vec<Vec<String>>,
    /// Pairs of a module and one above it whose items it needs.
    pub upward_imports: usize,
    /// The needed items of modules above that could be in a module below. Structs with private
    /// fields could not: only code below their module sees these fields. An item that a macro makes
    /// is where the macro is called.
    pub shared_above: Vec<Need>,
}

impl Figures {
    /// Bound closures in a thousand lines of code.
    pub fn closures_per_thousand(&self) -> f64 {
        1000.0 * self.bound_closures as f64 / self.code.max(1) as f64
    }
}

/// Counts every crate in `crates/`, in the order of their names.
pub fn figures(repository: &Repository) -> Vec<Figures> {
    let mut crates: BTreeMap<&str, Vec<(&SourceFile, &str)>> = BTreeMap::new();
    for (file, text) in repository.texts(&["rs"]) {
        if let Some(name) = file.crate_name() {
            crates.entry(name).or_default().push((file, text));
        }
    }
    crates.into_iter().map(|(name, files)| count(name, &files)).collect()
}

fn count(name: &str, files: &[(&SourceFile, &str)]) -> Figures {
    let mut figures = Figures { name: name.to_owned(), ..Figures::default() };
    let mut methods: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let mut declarations = Vec::new();
    let root = format!("crates/{name}/src/");
    for (file, text) in files {
        if file.is_test() {
            figures.tests += text.lines().filter(|line| !line.trim().is_empty()).count();
            continue;
        }
        let mut items = Items::default();
        if let Ok(parsed) = syn::parse_file(text) {
            items.visit_file(&parsed);
            if let Some(path) = file.path.strip_prefix(&root) {
                let mut of = Declarations::default();
                of.visit_file(&parsed);
                declarations.push((module(path), of));
            }
        }
        count_lines(text, &items.tests, &mut figures);
        figures.tuple_parameters += items.tuple_parameters;
        figures.bound_closures += items.bound_closures;
        figures.large_structs.extend(items.large_structs);
        for name in items.types_with_methods {
            methods.entry(name).or_default().insert(&file.path);
        }
    }
    let scattered = methods.into_iter().map(|(name, files)| (name, files.len()));
    figures.scattered_types = scattered.filter(|(_, files)| *files > MOST_FILES).collect();
    let owners = owners::owners(&declarations);
    let is_mixed = |of: &&Fields| of.private > 0 && of.public > 0;
    figures.mixed_owners = owners.iter().filter(is_mixed).cloned().collect();
    figures.reached_owners = owners.into_iter().filter(|of| of.restricted > 0).collect();
    let needs = imports::needs(name, files);
    let upward: Vec<&Need> = needs.iter().filter(|need| is_above(&need.to, &need.from)).collect();
    let pairs: BTreeSet<_> = upward.iter().map(|need| (&need.from, &need.to)).collect();
    figures.upward_imports = pairs.len();
    let hidden = owners::hidden(&declarations);
    let is_hidden = |need: &Need| {
        need.name.as_ref().is_some_and(|name| hidden.contains(&(need.to.as_str(), name.as_str())))
    };
    let shared = upward.into_iter().filter(|need| !need.is_made && !is_hidden(need));
    figures.shared_above = shared.cloned().collect();
    figures.cycles = cycles(&needs.into_iter().map(|need| (need.from, need.to)).collect());
    figures
}

/// `tests` are the first and last lines of test code.
fn count_lines(text: &str, tests: &[(usize, usize)], figures: &mut Figures) {
    for (at, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let in_test = tests.iter().any(|(first, last)| (*first..=*last).contains(&(at + 1)));
        match line {
            "" => {}
            _ if in_test => figures.tests += 1,
            _ if line.starts_with("//") => figures.comments += 1,
            _ => figures.code += 1,
        }
    }
}

/// The items of one file outside its tests, and the lines of the tests.
#[derive(Default)]
struct Items {
    tests: Vec<(usize, usize)>,
    large_structs: Vec<(String, usize)>,
    types_with_methods: Vec<String>,
    tuple_parameters: usize,
    bound_closures: usize,
}

impl Items {
    fn count_fields(&mut self, item: &ItemStruct) {
        if item.fields.len() > MOST_FIELDS {
            self.large_structs.push((item.ident.to_string(), item.fields.len()));
        }
    }

    /// Returns `true` for a test, after recording it.
    fn skips(&mut self, attributes: &[Attribute], item: &impl Spanned) -> bool {
        let skipped = is_test(attributes);
        if skipped {
            self.tests.push((item.span().start().line, item.span().end().line));
        }
        skipped
    }
}

impl<'ast> Visit<'ast> for Items {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !self.skips(&item.attrs, item) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        if !self.skips(&item.attrs, item) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        if self.skips(&item.attrs, item) {
            return;
        }
        let has_methods = item.items.iter().any(|item| matches!(item, syn::ImplItem::Fn(_)));
        if let (None, true, Type::Path(of)) = (&item.trait_, has_methods, &*item.self_ty)
            && let Some(last) = of.path.segments.last()
        {
            self.types_with_methods.push(last.ident.to_string());
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        self.count_fields(item);
        visit::visit_item_struct(self, item);
    }

    /// A macro may take a struct as it is written and derive more from it.
    fn visit_macro(&mut self, item: &'ast Macro) {
        if let Ok(item) = item.parse_body::<ItemStruct>() {
            self.count_fields(&item);
        }
    }

    fn visit_signature(&mut self, signature: &'ast Signature) {
        let is_tuple = |input: &&FnArg| match input {
            FnArg::Typed(typed) => matches!(&*typed.ty, Type::Tuple(of) if !of.elems.is_empty()),
            FnArg::Receiver(_) => false,
        };
        self.tuple_parameters += signature.inputs.iter().filter(is_tuple).count();
        visit::visit_signature(self, signature);
    }

    fn visit_local(&mut self, local: &'ast Local) {
        let value = local.init.as_ref().map(|init| &*init.expr);
        self.bound_closures += usize::from(matches!(value, Some(Expr::Closure(_))));
        visit::visit_local(self, local);
    }
}

/// The module of a file below `src/`; the crate's own has an empty name.
fn module(path: &str) -> String {
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let path = path.strip_suffix("/mod").unwrap_or(path);
    if matches!(path, "lib" | "main") { String::new() } else { path.replace('/', "::") }
}

/// The path from the crate's root; `None` if it begins in another crate or with a local name.
fn absolute(module: &str, path: &str) -> Option<String> {
    let mut here: Vec<&str> = module.split("::").filter(|part| !part.is_empty()).collect();
    let mut parts = path.split("::").peekable();
    match parts.next()? {
        "crate" => here.clear(),
        "self" => {}
        "super" => {
            here.pop();
            while parts.next_if_eq(&"super").is_some() {
                here.pop();
            }
        }
        _ => return None,
    }
    here.extend(parts);
    Some(here.join("::"))
}

fn is_above(outer: &str, inner: &str) -> bool {
    outer.is_empty() || inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with("::"))
}

/// The groups of modules each of which reaches all others of its group.
fn cycles(imports: &BTreeSet<(String, String)>) -> Vec<Vec<String>> {
    let modules: BTreeSet<&String> = imports.iter().flat_map(|(from, to)| [from, to]).collect();
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        modules.iter().map(|module| (*module, reach(imports, module))).collect();
    let mut groups = BTreeSet::new();
    for module in modules {
        let back = |other: &&&String| reached[**other].contains(module);
        let group: Vec<String> =
            reached[module].iter().filter(back).map(|m| (*m).clone()).collect();
        if group.len() > 1 {
            groups.insert(group);
        }
    }
    groups.into_iter().collect()
}

fn reach<'a>(imports: &'a BTreeSet<(String, String)>, from: &'a String) -> BTreeSet<&'a String> {
    let (mut found, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(module) = open.pop() {
        for (_, to) in imports.iter().filter(|(from, _)| from == module) {
            if found.insert(to) {
                open.push(to);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> Figures {
        figures(&Repository::of(files)).remove(0)
    }

    #[test]
    fn lines_are_code_comments_or_tests() {
        let text = "//! A file.\n\nfn a() {}\n\n#[cfg(test)]\nmod tests {\n\n    fn b() {}\n}\n";
        let one = of(&[("crates/a/src/lib.rs", text), ("crates/a/tests/b.rs", "fn c() {}\n\n")]);
        assert_eq!((one.code, one.comments, one.tests), (1, 1, 5));
    }

    #[test]
    fn structs_parameters_closures_and_scattered_types_are_counted() {
        let fields: String = (0..16).map(|n| format!("f{n}: u8, ")).collect();
        let first = format!("struct Large {{ {fields} }}\nstruct Small {{ a: u8 }}\n");
        let method = "impl Large { fn m(&self, pair: (u8, u8)) { let f = |n: u8| n; f(pair.0); } }";
        let one = of(&[
            ("crates/a/src/lib.rs", &first),
            ("crates/a/src/b.rs", method),
            ("crates/a/src/c.rs", method),
            ("crates/a/src/d.rs", method),
            ("crates/a/src/e.rs", method),
        ]);
        assert_eq!(one.large_structs, [("Large".to_owned(), 16)]);
        let in_a_macro = format!("record! {{ {} }}", first.lines().next().unwrap());
        let one_more = of(&[("crates/a/src/lib.rs", &in_a_macro)]);
        assert_eq!(one_more.large_structs, [("Large".to_owned(), 16)]);
        assert_eq!(one.scattered_types, [("Large".to_owned(), 4)]);
        assert_eq!((one.tuple_parameters, one.bound_closures), (4, 4));
    }

    #[test]
    fn cycles_and_upward_imports_are_found() {
        let one = of(&[
            ("crates/a/src/lib.rs", "mod b;\nmod c;\nuse b::B;\n"),
            ("crates/a/src/b.rs", "mod inner;\nuse crate::c::C;\nuse self::inner::I;\n"),
            ("crates/a/src/b/inner.rs", "use super::B;\n"),
            ("crates/a/src/c.rs", "use std::fmt;\n"),
        ]);
        assert_eq!(one.cycles, [["b".to_owned(), "b::inner".to_owned()]]);
        assert_eq!(one.upward_imports, 1);
    }

    #[test]
    fn only_structs_with_private_fields_are_no_shared_items() {
        let child = "use super::{E, F, MOST, P, Q, f};\nimpl P {}\nfn g() { super::h() }\n";
        let parent = "mod c;\npub struct P { a: u8 }\npub struct F { pub a: u8 }\npub enum E {}\n\
                      const MOST: u8 = 1;\nfn f() {}\nfn h() {}\npub struct Q(u8);\n";
        let files = [("crates/a/src/b.rs", parent), ("crates/a/src/b/c.rs", child)];
        let shared = of(&files).shared_above;
        let names: Vec<&str> = shared.iter().filter_map(|need| need.name.as_deref()).collect();
        assert_eq!(names, ["E", "F", "MOST", "f", "h"]);
        assert!(shared.iter().all(|need| (&*need.from, &*need.to) == ("b::c", "b")));
        // The parent exports an item again that another child declares.
        let exported = [("crates/a/src/b.rs", "mod c;\nmod d;\npub use d::E;\n")];
        let children = [
            ("crates/a/src/b/c.rs", "use super::E;\n"),
            ("crates/a/src/b/d.rs", "pub enum E {}\n"),
        ];
        assert_eq!(of(&[&exported[..], &children].concat()).shared_above, []);
        // The macro declares modules, too, so it has to be called there.
        let made = [
            ("crates/a/src/lib.rs", "mod b;\ncontrol::registry! { aimd, bbr }\n"),
            ("crates/a/src/b.rs", "use crate::SCHEMES;\n"),
        ];
        assert_eq!((of(&made).upward_imports, of(&made).shared_above), (1, Vec::new()));
    }
}
