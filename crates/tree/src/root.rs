//! The root of a tree: the content of its signed object.

use crate::entry::{PageRef, required, types};
use crate::error::TreeError;
use packet::Fault;
use packet::tlv::{self, Reader};

/// The supported format.
const FORMAT: u64 = 1;

/// The content of the object `<name>/32=tree/v=…`, which the publisher signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Root {
    /// The number of components of the tree's own name. Pages and files are named below it. It is
    /// less than the number of components of `<name>` if that is a directory within a tree.
    pub base: u16,
    /// The permissions of the folder.
    pub mode: u16,
    /// The time of its last modification, in nanoseconds since 1970.
    pub modified: u64,
    /// Its page.
    pub page: PageRef,
}

impl Root {
    /// Appends the content.
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        tlv::put_nni_tlv(out, types::FORMAT, FORMAT);
        tlv::put_nni_tlv(out, types::BASE, u64::from(self.base));
        tlv::put_nni_tlv(out, types::MODE, u64::from(self.mode));
        tlv::put_nni_tlv(out, types::MODIFIED, self.modified);
        self.page.encode_into(out);
    }

    /// Decodes the content of the object of `<name>`, which has `components` components.
    ///
    /// # Errors
    /// It is not the root of a tree, or has another format.
    pub fn decode(content: &[u8], components: usize) -> Result<Root, TreeError> {
        let mut reader = Reader::new(content);
        let format = required(&mut reader, types::FORMAT)?.nni()?;
        if format != FORMAT {
            return Err(TreeError::Format(format));
        }
        let base = required(&mut reader, types::BASE)?.nni()?;
        let mode = required(&mut reader, types::MODE)?.nni()?;
        let modified = required(&mut reader, types::MODIFIED)?.nni()?;
        let page = PageRef::decode(&mut reader)?;
        reader.finish()?;
        let base = u16::try_from(base).ok().filter(|base| usize::from(*base) <= components);
        let base = base.ok_or(Fault::BadValue(types::BASE))?;
        let mode = u16::try_from(mode).ok().filter(|mode| *mode <= 0o7777);
        let mode = mode.ok_or(Fault::BadValue(types::MODE))?;
        Ok(Root { base, mode, modified, page })
    }
}
