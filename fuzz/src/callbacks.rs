//! Callbacks that instrumented code calls at each comparison, `match` and indirect call, and that
//! do nothing. Some targets are linked with them in place of the engine's (`build.rs`): it would
//! note the operands to write them into inputs. Inputs of state machines are choices, not magic
//! values, and the record of some ten thousand comparisons takes as long as they do.
//!
//! The exported names are the only unsafe part: the linker resolves them for the compiler's calls,
//! whose operands have these types, and nothing is done with them.

macro_rules! callbacks {
    ($($name:ident($($operand:ty),*);)*) => {
        $(
            #[doc(hidden)]
            #[unsafe(no_mangle)]
            pub extern "C" fn $name($(_: $operand),*) {}
        )*
    };
}

callbacks! {
    __wrap___sanitizer_cov_trace_cmp1(u8, u8);
    __wrap___sanitizer_cov_trace_cmp2(u16, u16);
    __wrap___sanitizer_cov_trace_cmp4(u32, u32);
    __wrap___sanitizer_cov_trace_cmp8(u64, u64);
    __wrap___sanitizer_cov_trace_const_cmp1(u8, u8);
    __wrap___sanitizer_cov_trace_const_cmp2(u16, u16);
    __wrap___sanitizer_cov_trace_const_cmp4(u32, u32);
    __wrap___sanitizer_cov_trace_const_cmp8(u64, u64);
    __wrap___sanitizer_cov_trace_switch(u64, *const u64);
    __wrap___sanitizer_cov_trace_pc_indir(usize);
}
