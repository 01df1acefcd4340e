//! Links the targets of state machines with callbacks that do nothing (`src/callbacks.rs`).

/// Targets whose executions take long enough for the engine's record of comparisons to matter.
const TARGETS: [&str; 4] = ["fetch_receive", "forwarder_receive", "hostile_link", "manage"];

const CALLBACKS: [&str; 10] = [
    "cmp1",
    "cmp2",
    "cmp4",
    "cmp8",
    "const_cmp1",
    "const_cmp2",
    "const_cmp4",
    "const_cmp8",
    "switch",
    "pc_indir",
];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for target in TARGETS {
        for callback in CALLBACKS {
            let symbol = format!("__sanitizer_cov_trace_{callback}");
            println!("cargo:rustc-link-arg-bin={target}=-Wl,--wrap={symbol}");
        }
    }
}
