//! The imports between the modules of a crate: whose items the code of each module needs.
//!
//! A path is followed through `mod child;` and through `use` to the module that declares the item.
//! So a child that reaches its sibling by a name that their parent imports needs the sibling, and a
//! parent that only exports a child's item again does not need the child.

use super::{is_above, module};
use crate::SourceFile;
use crate::rust::is_test;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemFn, ItemImpl, ItemMod, ItemUse, Macro, Path, UseTree, Visibility};

/// More modules than any name is imported through; ends a circle of imports.
const MOST_STEPS: usize = 16;

/// An item that the code of a module needs of another module. The crate's root has an empty name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Need {
    /// The importing module.
    pub from: String,
    /// The module that declares the item.
    pub to: String,
    /// The item as its module names it; `None` if the whole module is imported.
    pub name: Option<String>,
    /// A macro makes it: the text of its module does not declare it.
    pub is_made: bool,
}

/// Pairs of importing and imported module in the crate `name`, each once.
pub fn imports(name: &str, files: &[(&SourceFile, &str)]) -> BTreeSet<(String, String)> {
    needs(name, files).into_iter().map(|need| (need.from, need.to)).collect()
}

/// The imported items of the crate `name`, each once for each importing module.
pub fn needs(name: &str, files: &[(&SourceFile, &str)]) -> BTreeSet<Need> {
    let modules = Modules::read(name, files);
    let mut all = BTreeSet::new();
    for (from, code) in &modules.0 {
        let mut needed: Vec<Owned> =
            code.paths.iter().filter_map(|path| modules.owner(from, path)).collect();
        for import in &code.imports {
            needed.extend(modules.needed(from, code, import));
        }
        let needed = needed.into_iter().filter(|one| one.module != *from);
        all.extend(needed.map(|one| modules.need(from, one)));
    }
    all
}

/// The code of every module of a crate, outside tests.
struct Modules(BTreeMap<String, Code>);

/// The end of a path.
enum Place {
    Module(String),
    /// An item of a module, or something inside it.
    Item(Owned),
}

/// An item and the module that declares it. Without a name, the module itself.
struct Owned {
    module: String,
    name: Option<String>,
}

impl Place {
    fn item(module: String, name: &str) -> Self {
        Self::Item(Owned { module, name: Some(name.to_owned()) })
    }
}

impl Modules {
    fn read(name: &str, files: &[(&SourceFile, &str)]) -> Self {
        let root = format!("crates/{name}/src/");
        let mut all = BTreeMap::from([(String::new(), Code::default())]);
        for (file, text) in files.iter().filter(|(file, _)| !file.is_test()) {
            if let Some(path) = file.path.strip_prefix(&root)
                && let Ok(parsed) = syn::parse_file(text)
            {
                // The crate's root may have two files, `lib.rs` and `main.rs`.
                all.entry(module(path)).or_default().visit_file(&parsed);
            }
        }
        // A module is known by its file, whatever declares it.
        let names: Vec<String> = all.keys().filter(|name| !name.is_empty()).cloned().collect();
        for name in names {
            if let Some(parent) = all.get_mut(&above(&name)) {
                let last = name.rsplit("::").next().unwrap_or_default();
                parent.children.insert(last.to_owned());
            }
        }
        let tests: Vec<String> = all
            .iter()
            .flat_map(|(module, code)| code.test_modules.iter().map(|name| join(module, name)))
            .collect();
        all.retain(|module, _| !tests.iter().any(|test| module == test || is_above(test, module)));
        Self(all)
    }

    fn need(&self, from: &str, of: Owned) -> Need {
        let Owned { module, name } = of;
        let is_declared = |name: &String| self.0.get(&module).is_some_and(|it| it.declares(name));
        let is_made = name.as_ref().is_some_and(|name| !is_declared(name));
        Need { from: from.to_owned(), to: module, name, is_made }
    }

    /// The modules whose items an import brings in for the module's own code.
    fn needed(&self, from: &str, code: &Code, import: &Import) -> Vec<Owned> {
        let Some(name) = &import.name else {
            let Some(Place::Module(to)) = self.find(from, &import.path, MOST_STEPS) else {
                return Vec::new();
            };
            let names = code.names.iter().filter(|name| !code.declares(name));
            return names.filter_map(|name| self.item(&to, name, MOST_STEPS)).collect();
        };
        let is_named = code.names.contains(name);
        let owner = match self.find(from, &import.path, MOST_STEPS) {
            // An item that is exported again for others is needed only if it is used here, too.
            Some(Place::Item(to)) if import.exported && !is_named && is_above(from, &to.module) => {
                None
            }
            Some(Place::Item(to)) => Some(to),
            // The paths that go on in a module have their own owners.
            Some(Place::Module(module)) => {
                Some(Owned { module, name: None }).filter(|_| !import.exported && !is_named)
            }
            None => None,
        };
        owner.into_iter().collect()
    }

    /// The module that declares the item at the end of the path. `None` if the path ends in another
    /// crate or in a module, or begins with a name of the file's own.
    fn owner(&self, from: &str, path: &[String]) -> Option<Owned> {
        match self.find(from, path, MOST_STEPS)? {
            Place::Item(owned) => Some(owned),
            Place::Module(_) => None,
        }
    }

    /// The owner of what a glob import of `module` brings in as `name`.
    fn item(&self, module: &str, name: &str, steps: usize) -> Option<Owned> {
        let code = self.0.get(module)?;
        let path = [name.to_owned()];
        if code.declares(name) || code.imports.iter().any(|one| one.name.as_deref() == Some(name)) {
            return match self.walk(module.to_owned(), &path, steps)? {
                Place::Item(owned) => Some(owned),
                Place::Module(_) => None,
            };
        }
        None
    }

    fn find(&self, from: &str, path: &[String], steps: usize) -> Option<Place> {
        let (first, rest) = path.split_first()?;
        let code = self.0.get(from)?;
        match first.as_str() {
            "crate" => self.walk(String::new(), rest, steps),
            "self" => self.walk(from.to_owned(), rest, steps),
            "super" => self.walk(above(from), rest, steps),
            child if code.children.contains(child) => self.walk(join(from, child), rest, steps),
            name => {
                let import = code.imports.iter().find(|one| one.name.as_deref() == Some(name))?;
                self.follow(from, import, rest, steps)
            }
        }
    }

    /// Follows a path that goes on inside `module`.
    fn walk(&self, module: String, path: &[String], steps: usize) -> Option<Place> {
        let Some((first, rest)) = path.split_first() else { return Some(Place::Module(module)) };
        if first == "super" {
            return self.walk(above(&module), rest, steps);
        }
        let Some(code) = self.0.get(&module) else { return Some(Place::item(module, first)) };
        // A function and a module may have the same name.
        if code.declares(first) && (rest.is_empty() || !code.children.contains(first)) {
            return Some(Place::item(module, first));
        }
        if code.children.contains(first) {
            return self.walk(join(&module, first), rest, steps);
        }
        if let Some(import) = code.imports.iter().find(|one| one.name.as_ref() == Some(first)) {
            return self.follow(&module, import, rest, steps);
        }
        let globs = code.imports.iter().filter(|one| one.name.is_none());
        for glob in globs {
            if let Some(Place::Module(to)) = self.find(&module, &glob.path, steps.checked_sub(1)?)
                && to != module
                && self.item(&to, first, steps - 1).is_some()
            {
                return self.walk(to, path, steps - 1);
            }
        }
        Some(Place::item(module, first))
    }

    fn follow(&self, from: &str, import: &Import, rest: &[String], steps: usize) -> Option<Place> {
        let path: Vec<String> = import.path.iter().chain(rest).cloned().collect();
        self.find(from, &path, steps.checked_sub(1)?)
    }
}

/// A name that a `use` brings in.
struct Import {
    path: Vec<String>,
    /// `None` for a glob.
    name: Option<String>,
    /// Other modules can use it too.
    exported: bool,
}

/// The declarations and paths of one module.
#[derive(Default)]
struct Code {
    /// The modules in files of their own.
    children: BTreeSet<String>,
    test_modules: BTreeSet<String>,
    declared: BTreeSet<String>,
    imports: Vec<Import>,
    /// Paths of more than one part, outside imports.
    paths: BTreeSet<Vec<String>>,
    /// The first parts of all paths.
    names: BTreeSet<String>,
    /// The number of modules of this file around the visited item.
    depth: usize,
}

impl Code {
    fn declares(&self, name: &str) -> bool {
        self.declared.contains(name)
    }

    fn import(&mut self, prefix: &[String], tree: &UseTree, exported: bool) {
        let (part, name) = match tree {
            UseTree::Path(path) => {
                let prefix = [prefix, &[path.ident.to_string()]].concat();
                return self.import(&prefix, &path.tree, exported);
            }
            UseTree::Group(group) => {
                return group.items.iter().for_each(|one| self.import(prefix, one, exported));
            }
            UseTree::Name(name) => (Some(&name.ident), Some(&name.ident)),
            UseTree::Rename(rename) => (Some(&rename.ident), Some(&rename.rename)),
            UseTree::Glob(_) => (None, None),
        };
        let mut path = prefix.to_vec();
        path.extend(part.filter(|part| *part != "self").map(ToString::to_string));
        let name = match name {
            Some(name) if name == "self" => path.last().cloned(),
            name => name.map(ToString::to_string),
        };
        self.imports.push(Import { path: self.outside(path), name, exported });
    }

    fn path(&mut self, parts: Vec<String>) {
        let parts = self.outside(parts);
        self.names.extend(parts.first().cloned());
        if parts.len() > 1 {
            self.paths.insert(parts);
        }
    }

    /// The path as the file's own module would write it.
    fn outside(&self, parts: Vec<String>) -> Vec<String> {
        let up = parts.iter().take_while(|part| *part == "super").count().min(self.depth);
        let mut outer: Vec<String> = parts.into_iter().skip(up).collect();
        if up > 0 && outer.first().is_none_or(|first| first != "super") {
            outer.insert(0, "self".to_owned());
        }
        outer
    }

    /// Reads the paths of a macro's tokens, and the items that it declares.
    fn tokens(&mut self, tokens: TokenStream, declares: bool) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while let Some(tree) = trees.get(at) {
            at += 1;
            match tree {
                TokenTree::Group(group) => self.tokens(group.stream(), false),
                TokenTree::Ident(first) if at < 2 || !is_mark(&trees, at - 2, '.') => {
                    let mut parts = vec![first.to_string()];
                    while is_mark(&trees, at, ':')
                        && is_mark(&trees, at + 1, ':')
                        && let Some(TokenTree::Ident(part)) = trees.get(at + 2)
                    {
                        parts.push(part.to_string());
                        at += 3;
                    }
                    if let (true, Some(TokenTree::Ident(name))) = (declares, trees.get(at))
                        && matches!(first.to_string().as_str(), "struct" | "enum" | "fn" | "type")
                    {
                        self.declared.insert(name.to_string());
                    }
                    self.path(parts);
                }
                _ => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Code {
    fn visit_item(&mut self, item: &'ast Item) {
        let name = match item {
            Item::Const(item) => Some(&item.ident),
            Item::Enum(item) => Some(&item.ident),
            Item::Fn(item) => Some(&item.sig.ident),
            Item::Macro(item) => item.ident.as_ref(),
            Item::Mod(item) => item.content.as_ref().map(|_| &item.ident),
            Item::Static(item) => Some(&item.ident),
            Item::Struct(item) => Some(&item.ident),
            Item::Trait(item) => Some(&item.ident),
            Item::Type(item) => Some(&item.ident),
            Item::Union(item) => Some(&item.ident),
            _ => None,
        };
        if self.depth == 0 {
            self.declared.extend(name.map(ToString::to_string));
        }
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        let name = item.ident.to_string();
        match (is_test(&item.attrs), &item.content) {
            (true, None) => drop(self.test_modules.insert(name)),
            (true, Some(_)) => {}
            (false, None) => drop(self.children.insert(name)),
            (false, Some(_)) => {
                self.depth += 1;
                visit::visit_item_mod(self, item);
                self.depth -= 1;
            }
        }
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        if !is_test(&item.attrs) {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if !is_test(&item.attrs) {
            let exported = !matches!(item.vis, Visibility::Inherited);
            self.import(&[], &item.tree, exported);
        }
    }

    /// `pub(super)` names a module, and uses nothing of it.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let syn::Meta::List(list) = &attribute.meta {
            self.tokens(list.tokens.clone(), false);
        }
    }

    fn visit_macro(&mut self, item: &'ast Macro) {
        self.visit_path(&item.path);
        self.tokens(item.tokens.clone(), self.depth == 0);
    }

    fn visit_path(&mut self, path: &'ast Path) {
        self.path(path.segments.iter().map(|part| part.ident.to_string()).collect());
        visit::visit_path(self, path);
    }
}

fn is_mark(trees: &[TokenTree], at: usize, mark: char) -> bool {
    matches!(trees.get(at), Some(TokenTree::Punct(one)) if one.as_char() == mark)
}

/// The module around this one; the crate's root for the root itself.
fn above(module: &str) -> String {
    module.rsplit_once("::").map_or_else(String::new, |(outer, _)| outer.to_owned())
}

fn join(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Repository;

    /// The imports between the modules of these files in `src/`, as `importing -> imported`.
    fn of(files: &[(&str, &str)]) -> Vec<String> {
        let paths: Vec<String> =
            files.iter().map(|(path, _)| format!("crates/a/src/{path}")).collect();
        let texts: Vec<(&str, &str)> =
            paths.iter().zip(files).map(|(path, (_, text))| (path.as_str(), *text)).collect();
        let repository = Repository::of(&texts);
        let files: Vec<(&SourceFile, &str)> = repository.texts(&["rs"]).collect();
        imports("a", &files).iter().map(|(from, to)| format!("{from} -> {to}")).collect()
    }

    #[test]
    fn a_parent_imports_its_child_by_the_name_of_its_module() {
        let child = ("b/c.rs", "use super::B;\npub struct C;\npub fn f() {}\n");
        for parent in [
            "mod c;\nuse c::C;\npub struct B(C);\n",
            "mod c;\npub struct B(c::C);\n",
            "mod c;\npub struct B;\nfn g() { c::f() }\n",
            "mod c;\npub struct B;\nfn g() { assert_eq!((), c::f()) }\n",
            "mod c;\npub struct B { #[field(with = c::f)] f: u8 }\n",
            "mod c;\nuse c::{self};\npub struct B;\nfn g() { c::f() }\n",
            "mod c;\nuse self::c as d;\npub struct B;\nfn g() { d::f() }\n",
            "mod c;\nuse c::*;\npub struct B(C);\n",
        ] {
            assert_eq!(of(&[("b.rs", parent), child]), ["b -> b::c", "b::c -> b"], "{parent}");
        }
    }

    #[test]
    fn a_parent_may_name_its_child_without_needing_it() {
        let child = ("b/c.rs", "use super::B;\nimpl B { fn f(&self) {} }\npub struct C;\n");
        for parent in [
            "mod c;\npub struct B;\nfn g(b: &B) { b.f() }\n",
            "mod c;\npub use c::C;\npub struct B;\n",
            "mod c;\npub(crate) use self::c::{C as D};\npub struct B;\n",
            "mod c;\npub use c::*;\npub struct B;\n",
            "mod c;\npub struct B;\nfn g(c: u8) -> u8 { c }\n",
            "mod c;\npub struct B;\n#[cfg(test)]\nmod tests { use super::c::C; }\n",
        ] {
            assert_eq!(of(&[("b.rs", parent), child]), ["b::c -> b"], "{parent}");
        }
    }

    #[test]
    fn an_exported_name_that_the_parent_uses_is_an_import() {
        let child = ("b/c.rs", "use super::B;\npub struct C;\n");
        for parent in [
            "mod c;\npub use c::C;\npub struct B(C);\n",
            "mod c;\npub use c::*;\npub struct B(C);\n",
            "mod c;\npub use c::C;\npub struct B;\nfn g() { drop(vec![C]) }\n",
        ] {
            assert_eq!(of(&[("b.rs", parent), child]), ["b -> b::c", "b::c -> b"], "{parent}");
        }
    }

    #[test]
    fn a_name_leads_to_the_module_that_declares_it() {
        let files = |first: &'static str| {
            of(&[
                ("lib.rs", "mod b;\n"),
                ("b.rs", "mod c;\nmod d;\npub use d::D;\npub use d::*;\npub use d as e;\n"),
                ("b/c.rs", first),
                ("b/d.rs", "pub struct D;\npub struct F;\npub use packet::Name;\n"),
            ])
        };
        for path in
            ["super::D", "crate::b::D", "super::d::D", "super::F", "super::e::F", "super::*"]
        {
            let text = format!("use {path};\nfn g(d: D, f: F) {{}}\n");
            assert_eq!(files(text.leak()), ["b::c -> b::d"], "{path}");
        }
        // It is of another crate.
        assert_eq!(files("use super::d::Name;\n"), [""; 0]);
    }

    #[test]
    fn a_function_may_have_the_name_of_a_module() {
        let found = of(&[
            ("b.rs", "mod c;\nmod d;\npub fn c() {}\n"),
            ("b/c.rs", "pub struct C;\n"),
            ("b/d.rs", "use super::c::C;\n"),
        ]);
        assert_eq!(found, ["b::d -> b::c"]);
        let found = of(&[
            ("b.rs", "mod c;\nmod d;\npub fn c() {}\n"),
            ("b/c.rs", "pub struct C;\n"),
            ("b/d.rs", "use super::c;\n"),
        ]);
        assert_eq!(found, ["b::d -> b"]);
    }

    #[test]
    fn modules_inside_a_file_belong_to_it() {
        let found = of(&[
            ("b.rs", "mod c;\nmod inner { use super::c::C; use super::super::E; }\nstruct B;\n"),
            ("b/c.rs", "pub struct C;\nmod inner { use super::C; }\n"),
            ("lib.rs", "mod b;\npub struct E;\n"),
        ]);
        assert_eq!(found, ["b -> ", "b -> b::c"]);
    }

    #[test]
    fn modules_of_tests_are_left_out() {
        let found = of(&[
            ("b.rs", "#[cfg(test)]\nmod helpers;\npub struct B;\n"),
            ("b/helpers.rs", "use super::B;\n"),
        ]);
        assert_eq!(found, [""; 0]);
    }

    #[test]
    fn names_that_import_each_other_end() {
        let found = of(&[
            ("lib.rs", "mod b;\nmod c;\n"),
            ("b.rs", "pub use crate::c::X;\n"),
            ("c.rs", "pub use crate::b::X;\nfn f() { crate::b::X::new() }\n"),
        ]);
        assert_eq!(found, [""; 0]);
        let found = of(&[
            ("b.rs", "mod c;\nmod d;\npub use c::*;\n"),
            ("b/c.rs", "pub use super::X;\npub use super::*;\n"),
            ("b/d.rs", "use super::X;\nuse super::c::Y;\n"),
        ]);
        assert_eq!(found, ["b::c -> b", "b::d -> b", "b::d -> b::c"]);
    }
}
