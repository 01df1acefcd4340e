module weir/tests/interop/clients

go 1.23.0

require github.com/named-data/ndnd v1.5.2

// As ndnd itself has it; what a module replaces counts only where it is the main one.
replace github.com/quic-go/webtransport-go v0.8.0 => github.com/zjkmxy/webtransport-go-patch v0.8.1

// What is built of it, for scripts/need.
// program github.com/named-data/ndnd/cmd/ndnd
