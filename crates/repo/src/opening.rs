//! Opening a store by its address.

use crate::address::Address;
use crate::error::StoreError;
use crate::store::Store;
use std::path::Path;

/// Opens the store at an address. The index of one in a bucket is kept in a folder below `cache`.
///
/// # Errors
/// As for [`Store::open`], or the bucket cannot be read.
pub fn open(address: &Address, cache: &Path) -> Result<Store, StoreError> {
    match address {
        Address::Folder(folder) => Store::open(folder),
        #[cfg(feature = "s3")]
        Address::Bucket(bucket) => crate::bucket::open(bucket, cache, false),
        #[cfg(not(feature = "s3"))]
        Address::Bucket(bucket) => without(bucket, cache),
    }
}

/// Opens the store at an address. A missing store is made.
///
/// # Errors
/// As for [`Store::create`], or the bucket cannot be read or written.
pub fn create(address: &Address, cache: &Path) -> Result<Store, StoreError> {
    match address {
        Address::Folder(folder) => Store::create(folder),
        #[cfg(feature = "s3")]
        Address::Bucket(bucket) => crate::bucket::open(bucket, cache, true),
        #[cfg(not(feature = "s3"))]
        Address::Bucket(bucket) => without(bucket, cache),
    }
}

#[cfg(not(feature = "s3"))]
fn without(at: &crate::address::BucketAddress, _cache: &Path) -> Result<Store, StoreError> {
    Err(StoreError::NoBuckets(at.to_string()))
}
