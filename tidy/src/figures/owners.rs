//! Structs that change themselves, and the visibility of their fields.

use super::{absolute, is_above};
use crate::rust::is_test;
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::{self, Visit};
use syn::{
    FnArg, ImplItem, ItemFn, ItemImpl, ItemMod, ItemStruct, ItemUse, Receiver, ReceiverKind, Type,
    TypeReference, UseTree, Visibility,
};

/// A struct, and how many of its fields have each visibility.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// The struct's name.
    pub name: String,
    /// Visible in the struct's module only.
    pub private: usize,
    /// `pub(crate)`, `pub(super)` or `pub(in …)`; or `pub` in a struct that is seen no further.
    pub restricted: usize,
    /// `pub`.
    pub public: usize,
}

/// The declarations of one file outside its tests.
#[derive(Default)]
pub(super) struct Declarations {
    structs: Vec<Fields>,
    /// Types with a method that takes `&mut self`, as their `impl` names them.
    changed: Vec<String>,
    /// The paths of imported names.
    imports: BTreeMap<String, String>,
    /// Modules in files of their own that are compiled for tests only.
    test_modules: Vec<String>,
}

/// The structs of a crate with a method that takes `&mut self`, inherent or of a trait. The files
/// come with their modules' paths.
pub(super) fn owners(files: &[(String, Declarations)]) -> Vec<Fields> {
    let tests: Vec<String> = files
        .iter()
        .flat_map(|(module, file)| file.test_modules.iter().map(move |name| join(module, name)))
        .collect();
    let is_tested = |module: &str| !tests.iter().any(|test| is_within(test, module));
    let files: Vec<&(String, Declarations)> =
        files.iter().filter(|(module, _)| is_tested(module)).collect();
    let mut found: BTreeMap<(&str, &str), &Fields> = BTreeMap::new();
    for (module, file) in &files {
        for name in &file.changed {
            for (place, fields) in named(&files, module, file, name) {
                found.insert((place, fields.name.as_str()), fields);
            }
        }
    }
    found.into_values().cloned().collect()
}

/// The structs with private fields, by module and name. Only their modules and those below can add
/// to them.
pub(super) fn hidden(files: &[(String, Declarations)]) -> BTreeSet<(&str, &str)> {
    files
        .iter()
        .flat_map(|(module, file)| file.structs.iter().map(move |one| (module.as_str(), one)))
        .filter(|(_, one)| one.private > 0)
        .map(|(module, one)| (module, one.name.as_str()))
        .collect()
}

/// The structs that `path` may mean in this module, with their modules: the module's own, or those
/// at or below the place that it is imported from, for a module above may export the name again.
fn named<'a>(
    files: &[&'a (String, Declarations)],
    module: &str,
    file: &Declarations,
    path: &str,
) -> Vec<(&'a str, &'a Fields)> {
    let name = path.rsplit("::").next().unwrap_or(path);
    let path = file.imports.get(path).map_or(path, String::as_str);
    let original = path.rsplit("::").next().unwrap_or(path);
    let all: Vec<(&str, &Fields)> = files
        .iter()
        .flat_map(|(place, file)| file.structs.iter().map(move |one| (place.as_str(), one)))
        .filter(|(_, one)| one.name == name || one.name == original)
        .collect();
    let own: Vec<_> = all.iter().filter(|(place, _)| *place == module).copied().collect();
    if !own.is_empty() {
        return own;
    }
    let above = module.rsplit_once("::").map_or("", |(above, _)| above);
    let origin = absolute(module, path)
        .map(|path| path.rsplit_once("::").map_or(String::new(), |(origin, _)| origin.to_owned()));
    let origin = origin.unwrap_or_else(|| above.to_owned());
    let near: Vec<_> = all.iter().filter(|(place, _)| is_within(&origin, place)).copied().collect();
    if near.is_empty() { all } else { near }
}

fn is_within(outer: &str, module: &str) -> bool {
    outer == module || is_above(outer, module)
}

fn join(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

impl Declarations {
    fn import(&mut self, prefix: &str, tree: &UseTree) {
        match tree {
            UseTree::Path(path) => self.import(&format!("{prefix}{}::", path.ident), &path.tree),
            UseTree::Name(name) => {
                self.imports.insert(name.ident.to_string(), format!("{prefix}{}", name.ident));
            }
            UseTree::Rename(of) => {
                self.imports.insert(of.rename.to_string(), format!("{prefix}{}", of.ident));
            }
            UseTree::Group(group) => group.items.iter().for_each(|item| self.import(prefix, item)),
            UseTree::Glob(_) => {}
        }
    }
}

impl<'ast> Visit<'ast> for Declarations {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        match (is_test(&item.attrs), &item.content) {
            (true, None) => self.test_modules.push(item.ident.to_string()),
            (true, Some(_)) => {}
            (false, _) => visit::visit_item_mod(self, item),
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if !is_test(&item.attrs) {
            self.import("", &item.tree);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        if is_test(&item.attrs) {
            return;
        }
        let mut fields = Fields { name: item.ident.to_string(), ..Fields::default() };
        let is_exported = matches!(item.vis, Visibility::Public(_));
        for field in item.fields.iter().filter(|field| !is_test(&field.attrs)) {
            match &field.vis {
                // Of a struct that is seen in a part of the crate only, so is the field.
                Visibility::Public(_) if !is_exported => fields.restricted += 1,
                Visibility::Public(_) => fields.public += 1,
                Visibility::Restricted(_) => fields.restricted += 1,
                Visibility::Inherited => fields.private += 1,
            }
        }
        self.structs.push(fields);
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        if is_test(&item.attrs) {
            return;
        }
        if let Type::Path(of) = &*item.self_ty
            && item.items.iter().any(changes)
        {
            let parts: Vec<String> =
                of.path.segments.iter().map(|part| part.ident.to_string()).collect();
            self.changed.push(parts.join("::"));
        }
        visit::visit_item_impl(self, item);
    }
}

/// Returns `true` for a method that takes `&mut self`.
fn changes(item: &ImplItem) -> bool {
    let ImplItem::Fn(method) = item else { return false };
    match method.sig.inputs.first() {
        Some(FnArg::Receiver(receiver)) => !is_test(&method.attrs) && is_exclusive(receiver),
        Some(FnArg::Typed(_)) | None => false,
    }
}

fn is_exclusive(receiver: &Receiver) -> bool {
    match &receiver.kind {
        ReceiverKind::Reference(_, _, exclusive) => exclusive.is_some(),
        ReceiverKind::Typed(_, of) => {
            let mut references = References::default();
            references.visit_type(of);
            references.are_exclusive
        }
        _ => false,
    }
}

/// The references in a receiver's type: `self: Pin<&mut Self>`.
#[derive(Default)]
struct References {
    are_exclusive: bool,
}

impl Visit<'_> for References {
    fn visit_type_reference(&mut self, of: &TypeReference) {
        self.are_exclusive |= of.mutability.is_some();
    }
}

#[cfg(test)]
mod tests {
    use crate::Repository;
    use crate::figures::{Figures, figures};

    const METHOD: &str = "impl S { fn m(&mut self) {} }\n";

    fn of(files: &[(&str, &str)]) -> Figures {
        let paths: Vec<String> =
            files.iter().map(|(path, _)| format!("crates/a/src/{path}")).collect();
        let files: Vec<(&str, &str)> =
            paths.iter().zip(files).map(|(path, (_, text))| (path.as_str(), *text)).collect();
        figures(&Repository::of(&files)).remove(0)
    }

    fn reached(files: &[(&str, &str)]) -> Vec<(String, usize)> {
        let reached = of(files).reached_owners.into_iter();
        reached.map(|fields| (fields.name, fields.restricted)).collect()
    }

    fn is_reached(text: &str) -> bool {
        let text = format!("struct S {{ pub(super) a: u8, b: u8 }}\n{text}");
        !reached(&[("lib.rs", &text)]).is_empty()
    }

    #[test]
    fn every_restricted_field_of_a_struct_that_changes_itself_is_counted() {
        let text = "struct S { pub(crate) a: u8, pub(super) b: u8, pub(in crate::x) c: u8, d: u8 }";
        assert_eq!(reached(&[("lib.rs", &format!("{text}\n{METHOD}"))]), [("S".to_owned(), 3)]);
        let tuple = format!("struct S(pub(crate) u8, u8);\n{METHOD}");
        assert_eq!(reached(&[("lib.rs", &tuple)]), [("S".to_owned(), 1)]);
    }

    #[test]
    fn a_public_field_is_seen_as_far_as_its_struct() {
        let with = |visibility: &str| {
            let text = format!("{visibility} struct S {{ pub a: u8, b: u8 }}\n{METHOD}");
            reached(&[("lib.rs", &text)]).len()
        };
        assert_eq!(["", "pub(super)", "pub(crate)"].map(with), [1; 3]);
        assert_eq!(with("pub"), 0);
    }

    #[test]
    fn methods_of_traits_count_and_every_way_to_write_the_receiver() {
        assert!(is_reached("impl Iterator for S { fn next(&mut self) -> Option<u8> { None } }"));
        assert!(is_reached("impl<'a> S { fn m(&'a mut self) {} }"));
        assert!(is_reached("impl S { fn m(self: &mut Self) {} }"));
        assert!(is_reached("impl S { fn m(self: Pin<&mut Self>) {} }"));
    }

    #[test]
    fn a_model_has_visible_fields() {
        assert!(!is_reached("impl S { fn new() -> S { S {} } fn m(&self) {} fn n(self) {} }"));
        assert!(!is_reached("impl S { fn m(mut self: Box<Self>) {} fn n(mut self) {} }"));
        assert!(!is_reached("fn m(s: &mut S) {}"));
        assert!(!is_reached("impl S { #[cfg(test)] fn m(&mut self) {} }"));
        assert!(!is_reached(
            "#[cfg(test)]\nmod tests { use super::*; impl S { fn m(&mut self) {} } }"
        ));
    }

    #[test]
    fn tests_own_what_they_like() {
        let text = format!("pub struct S {{ pub(crate) a: u8 }}\n{METHOD}");
        assert_eq!(reached(&[("lib.rs", "mod b;"), ("b.rs", &text)]).len(), 1);
        assert_eq!(reached(&[("lib.rs", "#[cfg(test)]\nmod b;"), ("b.rs", &text)]), []);
        assert_eq!(reached(&[("lib.rs", "#[cfg(test)]\nmod b;"), ("b/c.rs", &text)]), []);
        let field = format!("struct S {{ #[cfg(test)] pub(crate) a: u8 }}\n{METHOD}");
        assert_eq!(reached(&[("lib.rs", &field)]), []);
    }

    #[test]
    fn structs_of_one_name_are_told_apart() {
        let record = "pub struct S { pub(crate) a: u8 }\n";
        let owner = format!("pub struct S {{ a: u8 }}\n{METHOD}");
        assert_eq!(reached(&[("b.rs", record), ("c.rs", &owner)]), []);
        // The methods are in another file than the struct.
        let import = format!("use crate::b::S;\n{METHOD}");
        let private = "pub struct S { a: u8 }\n";
        let changed =
            |b: &str, c: &str| reached(&[("b/inner.rs", b), ("c.rs", c), ("d.rs", &import)]).len();
        assert_eq!((changed(record, private), changed(private, record)), (1, 0));
        let glob = format!("use super::*;\n{METHOD}");
        assert_eq!(reached(&[("b.rs", record), ("b/c.rs", &glob)]).len(), 1);
        let renamed = "use crate::b::S as T;\nimpl T { fn m(&mut self) {} }\n";
        assert_eq!(reached(&[("b.rs", record), ("c.rs", renamed)]).len(), 1);
    }

    #[test]
    fn private_and_public_fields_in_one_struct_are_mixed() {
        let mixed = |fields: &str| {
            let text = format!("pub struct S {{ {fields} }}\n{METHOD}");
            of(&[("lib.rs", &text)]).mixed_owners.len()
        };
        assert_eq!(mixed("pub a: u8, b: u8"), 1);
        assert_eq!(mixed("pub a: u8, pub b: u8"), 0);
        assert_eq!(mixed("a: u8, b: u8"), 0);
    }
}
