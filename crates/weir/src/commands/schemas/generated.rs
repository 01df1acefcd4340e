//! Schemas from types.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};

/// The generator of the schema of a type, as it is written.
fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().for_serialize().into_generator()
}

/// The schema of a type.
pub fn of<T: JsonSchema>() -> Schema {
    generator().into_root_schema_for::<T>()
}
