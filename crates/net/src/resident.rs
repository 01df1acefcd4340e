//! The resident memory of the process.

/// Bytes of memory that the process takes now; `None` if the system does not report it.
#[must_use]
pub fn resident() -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        let sizes = std::fs::read_to_string("/proc/self/statm").ok()?;
        let pages: u64 = sizes.split_ascii_whitespace().nth(1)?.parse().ok()?;
        Some(pages * rustix::param::page_size() as u64)
    }
    #[cfg(not(target_os = "linux"))]
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::resident;

    #[test]
    fn touched_memory_is_counted() {
        // Other tests of this process may let go of theirs meanwhile.
        let touched = vec![1u8; 64 << 20];
        let now = resident().unwrap();
        assert!(now >= 60 << 20, "{now} with {} touched", touched.len());
    }
}
