"""The forwarder alone, in memory: the benchmarks of its own crate."""

import subprocess

from support import weir


def measure(_):
    """Run them; they print their own tables."""
    if not (weir.ROOT / "crates/forwarder/benches").exists():
        print("\nThe forwarder alone: crates/forwarder has no benchmarks in this tree")
        return
    print("\nThe forwarder alone, in memory", flush=True)
    argv = ["cargo", "bench", "--quiet", "--package", "forwarder", "--bench", "*"]
    subprocess.run(argv, cwd=weir.ROOT, stdin=subprocess.DEVNULL, check=True)
