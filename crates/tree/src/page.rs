//! Pages: the entries of a directory, or the parts of a large one.

use crate::entry::{Entry, PageRef, Totals, required, types};
use crate::error::TreeError;
use crate::name::FileName;
use packet::Fault;
use packet::tlv::{self, Reader};

/// A part of a directory that does not fit into one page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The name of its first entry.
    pub first: FileName,
    /// Its page.
    pub page: PageRef,
}

/// The content of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Page {
    /// Entries, in ascending order of their names.
    Entries(Vec<Entry>),
    /// Parts of the directory, two or more, in ascending order.
    Parts(Vec<Part>),
}

impl Page {
    /// Decodes and checks a page by itself: names, their order, and the sums.
    ///
    /// # Errors
    /// The content is not a page, or one of its entries is not allowed.
    pub fn decode(content: &[u8]) -> Result<Page, TreeError> {
        let mut reader = Reader::new(content);
        let (mut entries, mut parts) = (Vec::new(), Vec::new());
        while let Some(element) = reader.next_element()? {
            if let Some(entry) = Entry::decode(element)? {
                entries.push(entry);
            } else if element.typ == types::PART {
                parts.push(Part::decode(element.value)?);
            } else if element.is_critical() {
                return Err(Fault::Critical(element.typ).into());
            }
        }
        let mixed = !entries.is_empty() && !parts.is_empty();
        if mixed || parts.len() == 1 {
            return Err(Fault::Critical(types::PART).into());
        }
        ascending(entries.iter().map(|entry| &entry.name))?;
        ascending(parts.iter().map(|part| &part.first))?;
        Ok(if parts.is_empty() { Page::Entries(entries) } else { Page::Parts(parts) })
    }

    /// Appends the content of the page.
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        match self {
            Page::Entries(entries) => entries.iter().for_each(|entry| entry.encode_into(out)),
            Page::Parts(parts) => parts.iter().for_each(|part| part.encode_into(out)),
        }
    }

    /// The totals of the page and everything below; `None` if they exceed 64 bits.
    #[must_use]
    pub fn totals(&self) -> Option<Totals> {
        let mut sum = Totals::default();
        match self {
            Page::Entries(entries) => {
                for entry in entries {
                    sum = sum.plus(entry.totals()?)?;
                }
            }
            Page::Parts(parts) => {
                for part in parts {
                    sum = sum.plus(part.page.totals)?;
                }
            }
        }
        Some(sum)
    }

    /// The first and the last name in the page.
    #[must_use]
    pub fn ends(&self) -> Option<(&FileName, &FileName)> {
        match self {
            Page::Entries(entries) => Some((&entries.first()?.name, &entries.last()?.name)),
            Page::Parts(parts) => Some((&parts.first()?.first, &parts.last()?.first)),
        }
    }
}

impl Part {
    pub(crate) fn encode_into(&self, out: &mut Vec<u8>) {
        let mut value = Vec::with_capacity(128);
        tlv::put_tlv(&mut value, types::NAME, self.first.as_bytes());
        self.page.encode_into(&mut value);
        tlv::put_tlv(out, types::PART, &value);
    }

    fn decode(value: &[u8]) -> Result<Part, TreeError> {
        let mut reader = Reader::new(value);
        let first = FileName::new(required(&mut reader, types::NAME)?.value)?;
        let page = PageRef::decode(&mut reader)?;
        reader.finish()?;
        if page.totals.entries == 0 {
            return Err(Fault::BadValue(types::ENTRIES).into());
        }
        Ok(Part { first, page })
    }
}

fn ascending<'a>(mut names: impl Iterator<Item = &'a FileName>) -> Result<(), TreeError> {
    let Some(mut before) = names.next() else { return Ok(()) };
    for name in names {
        if name <= before {
            return Err(TreeError::Order(name.to_string()));
        }
        before = name;
    }
    Ok(())
}
