//! Sections that say whom the daemon obeys and believes, and what it tells.

use document::schema::{Form, Section, field};

pub(super) const AUTHORIZE: Section = Section {
    name: "authorize",
    repeated: true,
    help: "Lets programs send management commands. Without any such section, programs of the \
           daemon's own user and of root may do everything, and peers nothing. Programs of other \
           users, and those of which the user is not known (by UDP and WebSocket), may then \
           register prefixes for themselves: not `/`, nor names that an application of another \
           user has registered. With a section, each command needs one that allows it. What is \
           refused is answered with 403 and logged with the reason.",
    fields: &[&[
        field(
            "from",
            Form::Word(&["local", "remote"]),
            "\"local\"",
            "Applications of this host, or peers, who command under `/localhop/nfd` and only \
             `rib`, with a `key` or `trust`.",
        ),
        field(
            "commands",
            Form::As("modules"),
            "",
            "`\"rib\"`, `\"fib\"`, `\"faces\"`, `\"cs\"`, `\"strategy-choice\"`, or a list of \
             these. Without it: all of them; of peers, `\"rib\"`.",
        ),
        field("prefix", Form::Name, "\"/\"", "Only what is about names below it."),
        field(
            "user",
            Form::As("name, or list of names"),
            "",
            "Only programs of these users, by name or number. The kernel says who is at the other \
             end of a Unix socket or of a TCP connection within this host. Without it and without \
             `group`: of all users.",
        ),
        field(
            "group",
            Form::As("name, or list of names"),
            "",
            "Only programs of these groups' users, by name or number; with `user`, of either.",
        ),
        field(
            "key",
            Form::Path,
            "",
            "File with the certificate of the key that has to sign, as `weir key new` prints it. \
             Without it and without `trust`: any signature will do, a digest included.",
        ),
        field(
            "trust",
            Form::Path,
            "",
            "In the place of `key`: file of [trust rules](trust.md), or of a certificate whose \
             key vouches for others. A chain of certificates has to lead from the command's key \
             to an anchor; they are fetched, also from whoever sent the command.",
        ),
        field(
            "skew",
            Form::Duration,
            "\"2 min\"",
            "How far the time of a signature may be from this host's. Each command is accepted \
             once. A key's commands must also be signed one after the other.",
        ),
    ]],
};

pub(super) const ANNOUNCEMENTS: Section = Section {
    name: "announcements",
    repeated: false,
    help: "Routes by prefix announcements: those that the strategy `self-learning` hears of, and \
           those of the command `rib/announce`, which makes routes for whoever may command `rib`.",
    fields: &[&[
        field(
            "accept",
            Form::Word(&["off", "any", "trusted"]),
            "\"off\"",
            "What strategies hear of. `any`: an announcement makes a route to the face that it \
             came by, for ten minutes at most; only a digest is verified, no key's signature, so \
             this is for links whose nodes trust each other. `trusted`: the same if `trust` lets \
             its signer. `off`: none does, and `self-learning` asks everybody each time.",
        ),
        field(
            "trust",
            Form::Path,
            "",
            "File of [trust rules](trust.md), or of a certificate, that says who may sign \
             announcements, commanded ones included; `data` are their names, \
             `/<prefix>/32=PA/<version>/<segment>`. Certificates are fetched. Without it a \
             commanded announcement may be signed by anybody, as with NFD's `trust-anchor any`.",
        ),
    ]],
};

pub(super) const HUB: Section = Section {
    name: "hub",
    repeated: false,
    help: "What hosts are told that look for a way into the network, as by ndn-autoconfig.",
    fields: &[&[field(
        "prefixes",
        Form::As("name, or list of names"),
        "",
        "Prefixes by which the network finds what is behind this host. Whoever asks for \
         `/localhop/nfd/rib/routable-prefixes`, a peer or an application, is answered with them.",
    )]],
};

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
