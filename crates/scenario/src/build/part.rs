//! Parts of schemes.

use schemes::{Choice, ChoiceError};
use std::sync::Arc;

/// A part that can be built again and again.
pub(super) fn part<T: ?Sized + 'static>(
    choice: &Choice,
    build: fn(&Choice) -> Result<Box<T>, ChoiceError>,
) -> Result<sim::Make<T>, ChoiceError> {
    build(choice)?;
    let choice = choice.clone();
    Ok(Arc::new(move || match build(&choice) {
        Ok(part) => part,
        Err(error) => unreachable!("it was built a moment ago: {error}"),
    }))
}
