//! `[metrics]`

use document::schema::{Form, Section, field};

pub(super) const METRICS: Section = Section {
    name: "metrics",
    repeated: false,
    help: "What the daemon counts, for Prometheus: `GET /metrics` by HTTP.",
    fields: &[&[field(
        "listen",
        Form::As("addresses"),
        "\"off\"",
        "TCP addresses, `\"127.0.0.1:9363\"` for instance; a bare port means all addresses, and \
         whoever reaches them may look. Web pages of other servers are refused: the `Host` of a \
         request has to be the address or `localhost`; of an address that is not on loopback, any \
         IP address or this host's name. [The names](counters.md#metrics) are listed.",
    )]],
};
