//! The schema and the properties of a file.

use crate::parquet_file::table::Column;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::Type;
use scenario::result::Kind;
use std::sync::Arc;

/// The schema of these columns.
pub fn schema(columns: &[Column]) -> Result<Arc<Type>, ParquetError> {
    let fields = columns.iter().map(|column| {
        let (physical, logical) = match column.kind {
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Count => (Physical::INT64, None),
            Kind::Number => (Physical::DOUBLE, None),
            Kind::Switch => (Physical::BOOLEAN, None),
        };
        let repetition = if column.optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        Type::primitive_type_builder(&column.name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .build()
            .map(Arc::new)
    });
    let fields = fields.collect::<Result<Vec<_>, _>>()?;
    Type::group_type_builder("weir").with_fields(fields).build().map(Arc::new)
}

/// Snappy, which every reader knows and which costs little.
pub fn properties() -> Arc<WriterProperties> {
    let version = concat!("weir ", env!("CARGO_PKG_VERSION")).to_owned();
    let properties =
        WriterProperties::builder().set_created_by(version).set_compression(Compression::SNAPPY);
    Arc::new(properties.build())
}
