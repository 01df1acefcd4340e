# Generated from the tables of the scenario file by tests/python/reference.py.
"""A class for each section of a scenario, with its fields as arguments."""

from datetime import timedelta
from os import PathLike
from typing import Any, Literal, TypeAlias

# A text with its unit, or a number in bytes, in bit/s, in seconds.
Size: TypeAlias = str | int
Rate: TypeAlias = str | float
Time: TypeAlias = str | float | timedelta
# The name of a scheme with its parameters, a table of them, or a class.
Scheme: TypeAlias = str | dict[str, Any] | type | Any


class Scenario(dict[str, Any]):
    """The whole run."""

    section: Literal["scenario"]

    def __init__(
        self,
        *,
        name: str | None = None,
        question: str | None = None,
        duration: Time,
        seed: int | None = None,
        routing: Literal["delay", "hops", "metric", "listed"] | None = None,
        paths: int | None = None,
        scheme: Scheme | None = None,
        strategy: Scheme | None = None,
    ) -> None:
        """name: Its name in results. Without it: the file's.
        question: The question that it answers: the heading of its report.
        duration: Simulated time at which the run ends.
        seed: Seed of all random numbers; equal seeds give equal results, byte for byte.
        routing: Routes from every node to every producer along the path of the smallest
            delay, of the fewest hops or of the smallest sum of the links' metrics; or
            only those of the `[[route]]` sections, which are otherwise added to the
            computed ones.
        paths: Paths from each consumer to each producer of its content; more than one
            for strategies that use several next hops. [Routes](routes.md) says which.
        scheme: A scheme as a whole: every consumer, link and node that names no scheme
            for a part has this one's, if it has the part.
        strategy: The forwarding strategy of nodes that name none."""


class Topology(dict[str, Any]):
    """Nodes and links that a generator makes or a file holds. `line`, `ring` and `star` name their
    nodes `n0`, `n1`, …, the hub of a star being `n0`. `grid` has `rows` times `columns` nodes
    `n0_0`, `n0_1`, … by row and column. `tree` has the root `n0` and numbers level by level.
    `dumbbell` joins consumers `c0`, … over routers `left` and `right` to producers `p0`, ….
    `parking-lot` is a line of routers `r0`, … with a consumer `c` and a producer `p` at its
    ends, and for each of its links a consumer `c0`, … before and a producer `p0`, … behind it.
    `waxman` and `barabasi-albert` draw networks of nodes `n0`, `n1`, ….
    [Topologies](topologies.md) describes them, and the file formats."""

    section: Literal["topology"]

    def __init__(
        self,
        *,
        generator: Literal["line", "ring", "star", "dumbbell", "parking-lot", "tree", "grid", "waxman", "barabasi-albert"] | None = None,
        size: int | None = None,
        rows: int | None = None,
        columns: int | None = None,
        depth: int | None = None,
        branches: int | None = None,
        drawn_from: int | None = None,
        alpha: str | float | None = None,
        beta: str | float | None = None,
        across: Time | None = None,
        attach: int | None = None,
        file: Any | None = None,
        format: Literal["graphml", "fnss", "rocketfuel-cch", "rocketfuel-latencies", "rocketfuel-weights", "ndnsim", "mini-ndn"] | None = None,
        latencies: Any | None = None,
        signal_speed: str | float | None = None,
        rate: Rate | None = None,
        delay: Time | None = None,
        metric: Any | None = None,
        queue: Any | None = None,
        loss: Any | None = None,
        jitter: Time | None = None,
        reorder: str | float | None = None,
        reorder_by: Time | None = None,
        duplicate: str | float | None = None,
        corrupt: str | float | None = None,
        reliability: bool | None = None,
        measured: bool | None = None,
        scheme: Scheme | None = None,
        marker: Scheme | None = None,
        shaper: Scheme | None = None,
        stamper: Scheme | None = None,
        access: Any | None = None,
    ) -> None:
        """generator: The shape; or else a `file`.
        size: Nodes of a line, ring, star or drawn network; pairs of a dumbbell; links
            in the row of a parking lot.
        rows: Rows of a grid.
        columns: Columns of a grid.
        depth: Levels of a tree below its root.
        branches: Children of each node of a tree.
        drawn_from: The seed of a drawn network; the run's own seed does not change it.
        alpha: How far links of `waxman` reach, as a share of the largest distance.
        beta: How many links `waxman` makes.
        across: Propagation delay over one side of the square of `waxman`: links have
            delays by their lengths. Without it: all have `delay`.
        attach: Links that each new node of `barabasi-albert` brings.
        file: A file that holds the network. If it does not give a link's rate, delay or
            queue, the fields of this section apply.
        format: The format of the file. `.graphml`, `.cch` and `.conf` are known by
            their endings.
        latencies: The file with the delays for `rocketfuel-weights`.
        signal_speed: Share of the speed of light at which signals travel, where a file
            has places or lengths but no delays.
        rate: Rate at which bytes are sent. Required of a link.
        delay: Propagation delay.
        metric: Its cost with `routing = "metric"`; counted in thousandths.
        queue: Bound of the queue of Data at the sending end; Interests and Nacks have
            one of their own with the same bound. In BDP: the rate times the longest
            round-trip time, without queueing, of a consumer or workload whose path
            crosses the link; at least one packet.
        loss: Share of frames that are lost (Bernoulli); as a table, the four
            probabilities of the Gilbert-Elliott model: of changing the state after a
            frame, and of loss in each state (`good` is 0 and `bad` is 1 unless given).
        jitter: Every frame takes up to this much longer, evenly distributed; frames
            keep their order.
        reorder: Share of frames that are overtaken by later ones.
        reorder_by: How long these frames are held back.
        duplicate: Share of frames that arrive twice.
        corrupt: Share of frames of which a byte is changed.
        reliability: The ends acknowledge frames and send lost ones again (NDNLPv2 link
            reliability); it applies to both ends if either direction sets it.
        measured: The receiving end does not know `rate`; parts of a scheme on its face
            use a measured rate.
        scheme: A scheme all of whose link parts work on the face.
        marker: The scheme that manages the face's queue.
        shaper: The scheme that shapes the face's Interests.
        stamper: The scheme that stamps hop-by-hop options.
        access: The properties of the links of consumers and producers, if they differ
            (dumbbell, parking lot)."""


class Node(dict[str, Any]):
    """A forwarder, or several with equal settings. The name of a generated node adds settings to
    it."""

    section: Literal["node"]

    def __init__(
        self,
        *,
        name: Any,
        content_store: Any | None = None,
        policy: Literal["lru", "lfu", "fifo", "random"] | None = None,
        admission: Any | None = None,
        strategy: Scheme | None = None,
        memory: Size | None = None,
        cpu: str | float | None = None,
    ) -> None:
        """name: Its name; of several, theirs.
        content_store: Bound of the content store: its total memory; Data packets; or
            Data packets as a share of the segments of all content. `"0 B"` switches it
            off.
        policy: The replacement policy of a full store.
        admission: The Data that it admits: `"all"` (leave copy everywhere, `"lce"`),
            `"none"`, or a share: each Data with this probability. By the position
            behind the answering node, if the neighbours do so too: `"lcd"` (leave copy
            down), `"mcd"` (move copy down), `"edge"` (the last store on the way),
            `"probcache"` (`"probcache:window=10,power=false"`), `"age"` (age-based:
            `"age:base=10 s,factor=2,most=5 min"`).
        strategy: Its forwarding strategy.
        memory: The total memory limit of its daemon: `memory` of the daemon's
            configuration, at least `"16 MB"`. For `weir testbed`; the simulator does
            not look at it.
        cpu: The share of one processor that all programs of the node have together,
            such as `"10 %"`. For `weir testbed`; the simulator's nodes take no time."""


class Link(dict[str, Any]):
    """A link between two nodes, with equal properties in both directions unless `back` is given."""

    section: Literal["link"]

    def __init__(
        self,
        *,
        between: Any,
        rate: Rate | None = None,
        delay: Time | None = None,
        metric: Any | None = None,
        queue: Any | None = None,
        loss: Any | None = None,
        jitter: Time | None = None,
        reorder: str | float | None = None,
        reorder_by: Time | None = None,
        duplicate: str | float | None = None,
        corrupt: str | float | None = None,
        reliability: bool | None = None,
        measured: bool | None = None,
        scheme: Scheme | None = None,
        marker: Scheme | None = None,
        shaper: Scheme | None = None,
        stamper: Scheme | None = None,
        back: Any | None = None,
    ) -> None:
        """between: Its ends.
        rate: Rate at which bytes are sent. Required of a link.
        delay: Propagation delay.
        metric: Its cost with `routing = "metric"`; counted in thousandths.
        queue: Bound of the queue of Data at the sending end; Interests and Nacks have
            one of their own with the same bound. In BDP: the rate times the longest
            round-trip time, without queueing, of a consumer or workload whose path
            crosses the link; at least one packet.
        loss: Share of frames that are lost (Bernoulli); as a table, the four
            probabilities of the Gilbert-Elliott model: of changing the state after a
            frame, and of loss in each state (`good` is 0 and `bad` is 1 unless given).
        jitter: Every frame takes up to this much longer, evenly distributed; frames
            keep their order.
        reorder: Share of frames that are overtaken by later ones.
        reorder_by: How long these frames are held back.
        duplicate: Share of frames that arrive twice.
        corrupt: Share of frames of which a byte is changed.
        reliability: The ends acknowledge frames and send lost ones again (NDNLPv2 link
            reliability); it applies to both ends if either direction sets it.
        measured: The receiving end does not know `rate`; parts of a scheme on its face
            use a measured rate.
        scheme: A scheme all of whose link parts work on the face.
        marker: The scheme that manages the face's queue.
        shaper: The scheme that shapes the face's Interests.
        stamper: The scheme that stamps hop-by-hop options.
        back: The properties of the direction from the second end to the first, if they
            differ: `back = { rate = "1 Mbit/s" }`."""


class Content(dict[str, Any]):
    """A named object, made from its name: it takes no memory, whatever its size. Or, with
    `objects`, a catalogue of objects below the name; or, with `video`, a video."""

    section: Literal["content"]

    def __init__(
        self,
        *,
        name: str,
        at: Any,
        size: Any | None = None,
        segment: Size | None = None,
        objects: Any | None = None,
        placement: Literal["replicated", "objects", "segments"] | None = None,
        together: int | None = None,
        video: Any | None = None,
        signing: Literal["manifest", "digest", "none"] | None = None,
        service_time: Time | None = None,
        service_queue: int | None = None,
        production: Literal["on-demand", "in-order"] | None = None,
        slow_time: Time | None = None,
        slow_segment: int | None = None,
    ) -> None:
        """name: Its name; it must not be the prefix of another one's.
        at: Its producer, or producers.
        size: Bytes of content, of each object if there are several; required except for
            a video. Sizes may be drawn: `{ distribution = "uniform", least = "10 kB",
            most = "1 MB" }`, `{ distribution = "exponential", mean = … }`, `{
            distribution = "pareto", least = …, most = …, shape = 1.2 }`, `{
            distribution = "lognormal", median = …, sigma = 1 }`. A list gives objects
            of several classes, which have results of their own: `[{ class = "mice",
            share = "99 %", size = "50 kB" }, { class = "elephants", share = "1 %", size
            = "10 MB" }]`.
        segment: Bytes of content in a segment.
        objects: A catalogue of this many objects, called `name/0`, `name/1`, … by rank:
            the most popular first. `"unlimited"`: a new one for every request.
            `"listed"`: those that the traces of workloads name.
        placement: The distribution among several producers. `replicated`: each has
            everything, and routes lead to the nearest. `objects`, `segments`: each
            object, or each segment, is at one random producer; every node has a route
            of its own to it, where it needs one.
        together: With `placement = "segments"`: the number of consecutive segments at
            one producer, such as the chunks of schemes with several per Interest.
        video: It is a video: `{ ladder = ["300 kbit/s", "1 Mbit/s"], segment = "2 s",
            length = "60 s" }`. Each `segment` of it is an object of its own in every
            quality of the `ladder`, `name/quality/number`.
        signing: `manifest`: a signed list of all segments' digests, as `weir put` makes
            it; the whole object is hashed on the first request. `digest`: a digest in
            each segment, and no list. `none`: nothing is hashed, as in other
            simulators.
        service_time: The time that a producer needs for each answer, of any size; it
            serves requests one after the other. Each producer of the content has its
            own queue.
        service_queue: How many Interests wait at a producer with a `service_time` while
            one is being answered; Interests that find the queue full are dropped.
        production: `on-demand`: a producer makes the segment that an Interest asks for.
            `in-order`: it makes segments in order and sends each at once, as CCNx's
            `ccnsendchunks`: ten after the latest Interest that reaches it, then one a
            second. Segments that no Interest waits for go into the content store of its
            node, and are lost if it has none: no segment is made twice. One object with
            `signing = "none"` or `"digest"`; `service_time` is the time for each.
        slow_time: With `production = "in-order"`: how long the segment `slow_segment`
            takes, where that is not the `service_time`. `"0 ms"`: there is no such
            segment.
        slow_segment: The number of the segment that takes `slow_time`."""


class Consumer(dict[str, Any]):
    """A consumer: a fetch under congestion control; with `rate`, Interests at a constant rate for
    the segments one after the other, without regard to answers; of a video, its player."""

    section: Literal["consumer"]

    def __init__(
        self,
        *,
        at: Any,
        name: str,
        start: Time | None = None,
        control: Scheme | None = None,
        patience: Time | None = None,
        lifetime: Time | None = None,
        range: int | None = None,
        rate: Any | None = None,
        stop: Time | None = None,
        adaptation: Literal["buffer", "rate", "fixed"] | None = None,
        quality: int | None = None,
        buffer: Time | None = None,
        startup: Time | None = None,
    ) -> None:
        """at: Where; one at each node.
        name: The content.
        start: When it begins.
        control: The congestion-control scheme of a fetch. A startup may precede it:
            `"packet-pair+cubic"`, `{ scheme = "cubic", startup = "packet-pair" }`.
        patience: A fetch gives up when no new data has arrived for this long.
        lifetime: InterestLifetime.
        range: The number of segments per Interest. Without it: for a fetch, the
            scheme's number, which is 1 except for schemes that work on chunks; at a
            constant rate, 1.
        rate: Interests a second at a constant rate, without congestion control.
        stop: When Interests at a constant rate end. Without it: never.
        adaptation: The player's rule for the quality of the next segment. `buffer`: by
            the level of the playout buffer (BBA-0, Huang and others, 2014). `rate`: the
            highest below 85 % of the harmonic mean of the rates of the last five.
            `fixed`: always `quality`.
        quality: The place on the ladder for `fixed`.
        buffer: The largest playout buffer.
        startup: The playout buffer needed to begin, and to continue after a stall."""


class Workload(dict[str, Any]):
    """Flows that start during the run: requests for random objects, or requests of a trace. Only
    the record of a finished flow is kept, and beyond `listed` flows only its share in the sums."""

    section: Literal["workload"]

    def __init__(
        self,
        *,
        name: Any,
        at: Any | None = None,
        rate: Any | None = None,
        arrivals: Literal["poisson", "constant"] | None = None,
        alpha: Any | None = None,
        q: Any | None = None,
        request: Literal["object", "chunk"] | None = None,
        start: Time | None = None,
        stop: Time | None = None,
        count: int | None = None,
        trace: str | PathLike[str] | None = None,
        listed: int | None = None,
        control: Scheme | None = None,
        patience: Time | None = None,
        lifetime: Time | None = None,
        range: int | None = None,
        adaptation: Literal["buffer", "rate", "fixed"] | None = None,
        quality: int | None = None,
        buffer: Time | None = None,
        startup: Time | None = None,
    ) -> None:
        """name: The contents, with equal probability.
        at: The nodes that send requests, with equal probability. Required without
            `trace`.
        rate: Requests a second, over all nodes. Required without `trace`.
        arrivals: The distances between requests: exponentially distributed, or all the
            same.
        alpha: The object of rank k is requested with probability proportional to (k +
            q)^-alpha (Zipf-Mandelbrot).
        q: See `alpha`; 0 gives Zipf's law.
        request: The requested part: the whole object by a fetch, or one segment of it,
            each with the same probability, by a single Interest that is never repeated.
        start: No request is sent before.
        stop: No request is sent from then on.
        count: The maximum number of requests.
        trace: A CSV file of requests, relative to the scenario's folder, with a head
            line and the columns `time` (seconds, or `"5 ms"`), `node`, `name` (an
            object's name, or its number) and, for contents with `objects = "listed"`,
            `size`.
        listed: The number of flows that are listed one by one in results, over all
            workloads: the smallest number given.
        control: The congestion-control scheme of a fetch. A startup may precede it:
            `"packet-pair+cubic"`, `{ scheme = "cubic", startup = "packet-pair" }`.
        patience: A fetch gives up when no new data has arrived for this long.
        lifetime: InterestLifetime.
        range: The number of segments per Interest. Without it: for a fetch, the
            scheme's number, which is 1 except for schemes that work on chunks; at a
            constant rate, 1.
        adaptation: The player's rule for the quality of the next segment. `buffer`: by
            the level of the playout buffer (BBA-0, Huang and others, 2014). `rate`: the
            highest below 85 % of the harmonic mean of the rates of the last five.
            `fixed`: always `quality`.
        quality: The place on the ladder for `fixed`.
        buffer: The largest playout buffer.
        startup: The playout buffer needed to begin, and to continue after a stall."""


class Caching(dict[str, Any]):
    """Content stores of nodes whose `[[node]]` does not say `content_store` itself; and the warm-
    up."""

    section: Literal["caching"]

    def __init__(
        self,
        *,
        at: Any | None = None,
        content_store: Any | None = None,
        policy: Literal["lru", "lfu", "fifo", "random"] | None = None,
        admission: Any | None = None,
        warmup: Any | None = None,
    ) -> None:
        """at: The nodes: `"routers"` are those without a producer.
        content_store: Bound of the content store: its total memory; Data packets; or
            Data packets as a share of the segments of all content. `"0 B"` switches it
            off.
        policy: The replacement policy of a full store.
        admission: The Data that it admits: `"all"` (leave copy everywhere, `"lce"`),
            `"none"`, or a share: each Data with this probability. By the position
            behind the answering node, if the neighbours do so too: `"lcd"` (leave copy
            down), `"mcd"` (move copy down), `"edge"` (the last store on the way),
            `"probcache"` (`"probcache:window=10,power=false"`), `"age"` (age-based:
            `"age:base=10 s,factor=2,most=5 min"`).
        warmup: Results distinguish the time before its end from the time after.
            `"auto"`: the end is detected from the hit ratio over time (MSER-5)."""


class Route(dict[str, Any]):
    """A route, in addition to those that `routing` computes."""

    section: Literal["route"]

    def __init__(
        self,
        *,
        at: Any,
        prefix: str,
        via: Any,
        cost: int | None = None,
    ) -> None:
        """at: The node that has it.
        prefix: Interests for names below it use the route.
        via: The neighbour that it leads to.
        cost: Smaller values are preferred."""


class Fault(dict[str, Any]):
    """Something that happens during the run."""

    section: Literal["fault"]

    def __init__(
        self,
        *,
        at: Time,
        kind: Literal["link-down", "link-up", "node-crash", "node-restart", "link-rate", "link-rates", "link-delay", "link-loss", "route-add", "route-remove"],
        link: Any | None = None,
        node: Any | None = None,
        rate: Rate | None = None,
        rates: Any | None = None,
        every: Time | None = None,
        delay: Time | None = None,
        loss: Any | None = None,
        prefix: str | None = None,
        via: Any | None = None,
        cost: int | None = None,
    ) -> None:
        """at: When.
        kind: The kind of fault.
        link: The link of a `link-…` fault.
        node: The node of a `node-…` or `route-…` fault.
        rate: The new rate of `link-rate`, from the first node to the second.
        rates: The rates of `link-rates`, one after the other, from the first node to
            the second: a trace of a link whose capacity varies. The first counts from
            `at` on, the last one stays.
        every: The duration of each of the `rates` except the last.
        delay: The new delay of `link-delay`, from the first node to the second. Frames
            on the way are not overtaken.
        loss: The new loss of `link-loss`, from the first node to the second, as of a
            link.
        prefix: The prefix of a `route-…` fault.
        via: The neighbour of a `route-…` fault.
        cost: The cost of `route-add`."""


class Record(dict[str, Any]):
    """The data that `--out` keeps of the run besides its summary: a sample of each quantity at
    every interval. [Results](results.md) lists the quantities."""

    section: Literal["record"]

    def __init__(
        self,
        *,
        interval: Any | None = None,
        flows: Any | None = None,
        links: Any | None = None,
        nodes: Any | None = None,
        warmup: Any | None = None,
    ) -> None:
        """interval: From sample to sample. `auto` takes 500 to 1000 samples, and fewer if
            there would be more than two million values; never fewer than 50.
        flows: Consumers of which samples are kept, by their nodes. Of the flows of a
            workload there are samples by class, if one of its nodes is among these, and
            a row for each in `flows.parquet`.
        links: Links, both directions of each: `[["a", "b"], ["b", "c"]]`.
        nodes: Nodes.
        warmup: The end of the warm-up of `settled` in the summary: goodput, fairness
            and queues. `auto` looks for it in the goodput of all flows (MSER-5)."""


class Sweep(dict[str, Any]):
    """Runs with each of several settings: a field's name as `--set` takes it, and a list of
    values. Several fields give every combination."""

    section: Literal["sweep"]

    def __init__(
        self,
        *,
        repetitions: int | None = None,
        **swept: list[Any],
    ) -> None:
        """repetitions: Runs of each combination, with seeds counted up from `seed`."""
