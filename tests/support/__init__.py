"""What end-to-end tests and benchmarks share: namespaces, child processes, the weir program."""
