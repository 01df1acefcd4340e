//! Every section and field of the configuration file: name, form, default, meaning.

mod permissions;

use document::LOSS_FORM;
use document::parts::{LINK_PARTS, STORE_RULES};
use document::schema::{Field, Form, Section, field, required};
use permissions::{ANNOUNCEMENTS, AUTHORIZE, HUB, METRICS};

/// Fields of every kind of link.
const LINK: &[Field] = &[
    field(
        "mtu",
        Form::Number(576, 65_507),
        "",
        "Largest UDP payload in bytes; longer packets are sent as NDNLPv2 fragments. Without it: \
         what the route's MTU allows, at most 1472 over IPv4 and 1452 over IPv6 (no fragments on \
         loopback addresses). It is lowered when the path turns out to be narrower.",
    ),
    field(
        "rate",
        Form::Rate,
        "",
        "Pace what the face sends to this rate. Without it the kernel's back-pressure decides.",
    ),
    field(
        "rate_in",
        Form::Rate,
        "",
        "What the link brings in a second, for schemes that go by it; it paces nothing. Without \
         it: `rate`; without that, what the face was seen to send at while it had a queue.",
    ),
    field(
        "overhead",
        Form::Size,
        "",
        "Bytes that a frame takes on the link besides itself, counted against `rate`. Without it: \
         those of the IP and UDP headers.",
    ),
    field(
        "queue",
        Form::As("size or `\"100 packets\"`"),
        "",
        "Bound of the face's queue. Without it: the forwarder's own.",
    ),
    field("delay", Form::Duration, "\"0 ms\"", "Emulated one-way delay of what the face sends."),
    field(
        "jitter",
        Form::Duration,
        "\"0 ms\"",
        "Emulated jitter: frames are delayed by up to this much more, evenly distributed, and keep \
         their order.",
    ),
    field(
        "loss",
        Form::As(LOSS_FORM),
        "\"0 %\"",
        "Emulated loss: share of frames that vanish before they are sent; as a table, the four \
         probabilities of the Gilbert-Elliott model: of changing the state after a frame, and of \
         loss in each state (`good` is 0 and `bad` is 1 unless given).",
    ),
    field(
        "reliability",
        Form::Switch,
        "false",
        "Keep what is sent over UDP until the peer acknowledges it, and send what is lost again \
         (NDNLPv2 link reliability, as NFD has it). The peer needs it too.",
    ),
    field(
        "window",
        Form::Size,
        "\"128 KiB\"",
        "What a UDP peer's receive buffer is asked to hold at most, each frame counted with the \
         832 bytes that Linux adds to it; it is kept to where the peer acknowledges, as Weir \
         does, and in time. The default fits Linux's default buffer. `\"0 B\"` is no bound, \
         and no acknowledgement; so it is unless it is given beside `delay`, `jitter` or `loss`: \
         what is on an emulated link is in no buffer.",
    ),
    field("nacks", Form::Switch, "true", "Send network Nacks over the face."),
    field(
        "local",
        Form::Switch,
        "false",
        "Treat UDP and WebSockets from this host as local, so that its applications may register \
         prefixes; only loopback addresses count.",
    ),
];

const DAEMON: Section = Section {
    name: "daemon",
    repeated: false,
    help: "The process.",
    fields: &[&[
        field(
            "log",
            Form::Text,
            "\"info\"",
            "What is logged to standard error: `off`, `error`, `warn`, `info`, `debug`, `trace`; \
             others for parts of the program behind it, as in `info,net::management=debug`.",
        ),
        field("log_format", Form::Word(&["text", "json"]), "\"text\"", "Form of log lines."),
        field(
            "log_limit",
            Form::Number(0, 1_000_000),
            "20",
            "The most log lines of one kind in a second, as of faces that come and go; how many \
             more there were is written a second later. Levels `debug` and `trace` have no bound; \
             0: none at all.",
        ),
        field(
            "seed",
            Form::Number(0, i64::MAX),
            "",
            "Seed of all random streams, for runs that shall repeat. Without it: drawn anew at \
             each start.",
        ),
        field(
            "nice",
            Form::Number(-20, 19),
            "0",
            "Scheduling priority, as in nice(1). Negative values need privileges; they help to \
             empty receive buffers in time on a busy host.",
        ),
        field(
            "scheme",
            Form::Part("marker, shaper, stamper or strategy"),
            "",
            "A scheme as a whole: every face to a peer that names no scheme for a part has this \
             one's, and the root its strategy, if it has the part. What consumers do is theirs to \
             choose: `weir get --control`.",
        ),
        field(
            "drain",
            Form::Duration,
            "\"500 ms\"",
            "How long a stop may take to send what is queued.",
        ),
        field(
            "memory",
            Form::As("size, `\"auto\"` or `\"unlimited\"`"),
            "\"auto\"",
            "The most memory that the process takes, everything counted, at least `\"16 MB\"`. \
             Content store, pending Interests, queues, routes and what faces keep share it: the \
             store gives way to the others, and what then finds no room is refused and counted. \
             Bounds of single parts hold besides. `auto`: a quarter of the host's memory or of \
             the control group's, at most 2 GB, and what `capacity` and `pending_memory` ask for \
             beyond their defaults. `unlimited`: only the bounds of single parts, and no fair \
             shares: one peer can fill the table of pending Interests for everybody.",
        ),
    ]],
};

const LISTEN: Section = Section {
    name: "listen",
    repeated: false,
    help: "Where peers and applications may connect. An empty list or `\"off\"` closes a listener.",
    fields: &[&[
        field(
            "udp",
            Form::As("addresses"),
            "6363",
            "UDP addresses; a bare port means all addresses.",
        ),
        field(
            "tcp",
            Form::As("addresses"),
            "6363",
            "TCP addresses; a bare port means all addresses.",
        ),
        field(
            "websocket",
            Form::As("addresses"),
            "\"off\"",
            "Addresses for WebSockets (RFC 6455), by which programs in browsers attach; NFD's port \
             is 9696. TLS is for a proxy in front of it.",
        ),
        field(
            "websocket_origins",
            Form::As("origins"),
            "[]",
            "Of which origins pages may connect, besides those of servers on this host: \
             `[\"https://app.example\"]`, or `\"any\"`. Programs that are no pages say no origin, \
             and may.",
        ),
        field(
            "unix",
            Form::Path,
            "\"/run/nfd/nfd.sock\"",
            "Unix socket for local applications, or `\"off\"`. Its folder is made if it is \
             missing. Programs may connect as `unix_mode` and `unix_group` say.",
        ),
        field(
            "unix_mode",
            Form::Text,
            "",
            "Permissions of the Unix socket's file, in octal digits: `\"660\"`. Without it: 660, \
             but 666 if root runs the daemon, `unix_group` is not given and the host has no group \
             `ndn`: then every program of the host may connect.",
        ),
        field(
            "unix_group",
            Form::Text,
            "",
            "Group of the Unix socket's file, by name or number. Without it: `ndn` if root runs \
             the daemon and the host has that group, else the group of the daemon's user.",
        ),
        field(
            "unix_links",
            Form::As("paths"),
            "",
            "A path, or a list of them, at which symbolic links to the Unix socket are made for \
             clients that look elsewhere, such as `[\"/run/nfd.sock\", \"/var/run/nfd.sock\", \
             \"/run/ndn/nfd.sock\"]`. They go when the daemon ends.",
        ),
        field(
            "receive_buffer",
            Form::Size,
            "\"8 MB\"",
            "Receive buffer asked for on UDP sockets; the kernel grants at most \
             `net.core.rmem_max`. Smaller with `memory` under `[daemon]`.",
        ),
        field(
            "force_receive_buffer",
            Form::Switch,
            "false",
            "Exceed `net.core.rmem_max` (SO_RCVBUFFORCE; needs CAP_NET_ADMIN).",
        ),
    ]],
};

const ON_DEMAND: Section = Section {
    name: "on_demand",
    repeated: false,
    help: "Faces that come about when a peer sends over UDP or connects over TCP.",
    fields: &[
        &[
            field(
                "max",
                Form::Number(0, 10_000),
                "256",
                "The most such faces at a time over UDP, and as many over TCP and WebSocket; \
                 besides, commands may make as many. Where there are as many, an idle face makes \
                 room for a new peer: first one over UDP whose address is not proved.",
            ),
            field(
                "max_per_address",
                Form::Number(1, 10_000),
                "64",
                "The most such faces of either kind to one address (of IPv6, to one /64, but on a \
                 network that this host has an address in). Programs on loopback have half of \
                 `max` instead.",
            ),
            field(
                "max_per_subnet",
                Form::Number(1, 10_000),
                "128",
                "The same for a subnet: a /24 of IPv4, a /56 of IPv6. It does not hold for \
                 networks that this host has an address in.",
            ),
            field(
                "idle",
                Form::Duration,
                "\"10 min\"",
                "A UDP face over which nothing came for so long is removed; where there are `max` \
                 faces, a connection, too, if another peer comes.",
            ),
            field(
                "unproved_idle",
                Form::Duration,
                "\"30 s\"",
                "The same for a UDP face without routes to an address that has not \
                 [proved](wire.md#proof-of-an-address) that it receives what is sent to it. The \
                 peer's next datagram makes a new face.",
            ),
            field(
                "unproved_rate",
                Form::Rate,
                "\"100 Mbit/s\"",
                "The most that is sent to an unproved address (of IPv6, to a /64), IP headers \
                 included; what is beyond it is dropped and counted as `unproved-limit`. Bursts \
                 may be of 200 ms. Datagrams with a forged sender can bring a victim no more than \
                 this.",
            ),
            field(
                "unproved_subnet_rate",
                Form::Rate,
                "\"200 Mbit/s\"",
                "The most that is sent to all unproved addresses of a subnet (/24 or /56).",
            ),
            field(
                "unproved_total_rate",
                Form::Rate,
                "\"500 Mbit/s\"",
                "The most that is sent to all unproved addresses together.",
            ),
            field(
                "unproved_exempt",
                Form::As("networks, or `\"local\"`"),
                "[\"local\"]",
                "Networks whose addresses count as proved, such as `[\"local\", \
                 \"192.0.2.0/24\"]`. `local` is loopback, and the networks that this host has an \
                 address in up to `unproved_local_rate`. Peers of other projects that fetch at \
                 higher rates belong here, or into a `[[face]]`.",
            ),
            field(
                "unproved_local_rate",
                Form::Rate,
                "\"400 Mbit/s\"",
                "With `local` in `unproved_exempt`: the most that goes to an unproved address in a \
                 network of this host; five times as much goes to all.",
            ),
        ],
        LINK,
        LINK_PARTS,
    ],
};

const APPLICATION: Section = Section {
    name: "application",
    repeated: false,
    help: "Faces of local applications, over the Unix socket. `mtu` and `local` mean nothing here.",
    fields: &[
        &[
            field(
                "max",
                Form::Number(1, 10_000),
                "1024",
                "The most such faces at a time. Where there are as many, the oldest connection \
                 that never sent a packet makes room for another.",
            ),
            field(
                "routes",
                Form::Number(0, 1_000_000),
                "10000",
                "The most routes that may be registered for one face, an application's or another; \
                 from so many prefixes on it gets no next hop by `fib/add-nexthop`, either.",
            ),
        ],
        LINK,
        LINK_PARTS,
    ],
};

const FACE: Section = Section {
    name: "face",
    repeated: true,
    help: "A face that exists from the start. UDP faces send from the port that the daemon listens \
           on, so that two daemons which name each other share one face at each end. TCP and Unix \
           faces are connected again when they break. The URI may be that of a multicast group, \
           `udp4://224.0.23.170` or `udp6://[ff02::1234]`, both with the port 56363: all members on \
           one interface are at the other end then, and no Nacks are sent.",
    fields: &[
        &[
            required("uri", Form::As("face URI"), "Where it leads."),
            field("name", Form::Text, "", "Its name in routes. Without it: the URI."),
            field(
                "interface",
                Form::Text,
                "",
                "The network interface of a face to a multicast group. The URI of a group of IPv6 \
                 may have it behind a `%` instead.",
            ),
        ],
        LINK,
        LINK_PARTS,
    ],
};

const ROUTE: Section = Section {
    name: "route",
    repeated: true,
    help: "A route that exists from the start.",
    fields: &[&[
        required("prefix", Form::Name, "Names below it are asked for over the face."),
        required("face", Form::Text, "Name or URI of a `[[face]]`."),
        field("cost", Form::Number(0, i64::MAX), "0", "The smaller, the more preferred."),
    ]],
};

const CONTENT_STORE: Section = Section {
    name: "content_store",
    repeated: false,
    help: "The cache of Data packets.",
    fields: &[
        &[
            field(
                "capacity",
                Form::Size,
                "\"64 MiB\"",
                "Bound of its memory, everything counted; `\"0 B\"` switches it off. With a size \
                 as `memory` under `[daemon]` and without this field: what others do not need of \
                 that.",
            ),
            field(
                "packets",
                Form::Number(0, i64::MAX),
                "",
                "The most packets in it, whatever their sizes. Without it: as many as `capacity` \
                 takes.",
            ),
            field(
                "no_cache",
                Form::As("name, or list of names"),
                "",
                "Data below these names are never kept. How soon an answer comes shows a \
                 neighbour whether the store had it, and so what others have asked for.",
            ),
        ],
        STORE_RULES,
    ],
};

const FORWARDER: Section = Section {
    name: "forwarder",
    repeated: false,
    help: "Bounds of the forwarder's tables.",
    fields: &[&[
        field(
            "pending_interests",
            Form::Number(1, 100_000_000),
            "1048576",
            "The most pending Interests; further ones are refused.",
        ),
        field(
            "pending_per_face",
            Form::Number(1, 100_000_000),
            "262144",
            "The most pending Interests that came in by one face; fewer with `memory` under \
             `[daemon]`.",
        ),
        field(
            "pending_memory",
            Form::Size,
            "\"512 MiB\"",
            "The most memory that pending Interests may take. With a size as `memory` under \
             `[daemon]` and without this field: half of what is shared.",
        ),
        field("routes", Form::Number(1, 100_000_000), "1048576", "The most prefixes with routes."),
        field(
            "max_lifetime",
            Form::Duration,
            "\"2 min\"",
            "The longest Interest lifetime that is honoured; longer ones are cut to it.",
        ),
        field(
            "dead_nonces",
            Form::Number(0, 100_000_000),
            "1048576",
            "The most nonces remembered after their Interest is gone, against loops; fewer with \
             `memory` under `[daemon]`.",
        ),
    ]],
};

const STRATEGY: Section = Section {
    name: "strategy",
    repeated: true,
    help: "The forwarding strategy for the names below a prefix. The root has `best-route` unless \
           something else is said. Commands may choose for others until 1000 prefixes have one.",
    fields: &[&[
        required("prefix", Form::Name, "The names it is for."),
        required(
            "strategy",
            Form::Part("strategy"),
            "A scheme that has a strategy, or the strategy's name in the NFD management protocol: \
             `\"/localhost/nfd/strategy/asf/v=5/probing-interval~30000\"`.",
        ),
    ]],
};

/// All sections, in the order of the manual.
pub const SECTIONS: &[Section] = &[
    DAEMON,
    LISTEN,
    METRICS,
    ON_DEMAND,
    APPLICATION,
    FACE,
    ROUTE,
    CONTENT_STORE,
    FORWARDER,
    STRATEGY,
    ANNOUNCEMENTS,
    AUTHORIZE,
    HUB,
];
