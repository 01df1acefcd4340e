//! The schema of a file: sections and fields with form, default and meaning. One list serves
//! reading, checking and the manual.

/// The form of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Any text.
    Text,
    /// A file's path.
    Path,
    /// A whole number in a range.
    Number(i64, i64),
    /// `true` or `false`.
    Switch,
    /// A size with its unit.
    Size,
    /// A rate with its unit.
    Rate,
    /// A span of time with its unit.
    Duration,
    /// A share.
    Ratio,
    /// One of these words.
    Word(&'static [&'static str]),
    /// The given text.
    As(&'static str),
    /// An NDN name.
    Name,
    /// A scheme that has this part, with parameters or without.
    Part(&'static str),
}

/// A field of a section.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its form.
    pub form: Form,
    /// Its default as it would stand in the file; empty if there is none.
    pub default: &'static str,
    /// It must be given.
    pub required: bool,
    /// Its effect.
    pub help: &'static str,
}

/// A field, or several that sections share.
#[derive(Clone, Copy, Debug)]
pub enum Item {
    /// One field.
    Field(Field),
    /// The fields of a group.
    Group(&'static [Item]),
}

/// A section of the file.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Its name.
    pub name: &'static str,
    /// It may stand more than once (`[[name]]`).
    pub repeated: bool,
    /// Its subject.
    pub help: &'static str,
    /// Its fields, some in groups.
    pub fields: &'static [Item],
}

impl Section {
    /// All fields, in the order of the manual.
    pub fn fields(&self) -> impl Iterator<Item = &'static Field> + Clone + use<> {
        fn collect(items: &'static [Item], found: &mut Vec<&'static Field>) {
            for item in items {
                match item {
                    Item::Field(field) => found.push(field),
                    Item::Group(group) => collect(group, found),
                }
            }
        }
        let mut found = Vec::new();
        collect(self.fields, &mut found);
        found.into_iter()
    }

    /// The field with this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields().find(|f| f.name == name)
    }
}

/// A field that may be left out.
#[must_use]
pub const fn field(
    name: &'static str,
    form: Form,
    default: &'static str,
    help: &'static str,
) -> Item {
    Item::Field(Field { name, form, default, required: false, help })
}
