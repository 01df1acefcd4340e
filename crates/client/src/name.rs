//! Names as arguments.

use crate::error::Error;
use packet::Name;

/// A name, or its text, as an argument.
pub trait AsName {
    /// The name.
    ///
    /// # Errors
    /// [`Error::Usage`]: the text is not a name, such as `/demo/file`.
    fn as_name(&self) -> Result<Name, Error>;
}

impl AsName for Name {
    fn as_name(&self) -> Result<Name, Error> {
        Ok(self.clone())
    }
}

impl AsName for str {
    fn as_name(&self) -> Result<Name, Error> {
        self.parse().map_err(|why: packet::UriError| Error::Usage(why.to_string()))
    }
}

impl AsName for String {
    fn as_name(&self) -> Result<Name, Error> {
        self.as_str().as_name()
    }
}

impl<T: AsName + ?Sized> AsName for &T {
    fn as_name(&self) -> Result<Name, Error> {
        (**self).as_name()
    }
}
