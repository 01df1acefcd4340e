"""Common code of end-to-end tests and benchmarks: namespaces, child processes, the weir
program."""
