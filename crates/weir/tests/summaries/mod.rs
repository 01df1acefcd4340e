//! The meaning of the fields of the commands' JSON objects. The end-to-end tests compare the fields
//! with those that the commands print.

/// A command, and its fields with their meanings, in the order in which they are printed.
pub const SUMMARIES: &[(&str, &[(&str, &str)])] = &[
    (
        "weir get",
        &[
            ("name", "the object's name, with its version"),
            ("control", "the congestion-control scheme"),
            ("bytes", "bytes of the object"),
            ("resumed_bytes", "bytes of an earlier, interrupted transfer"),
            ("segments", "segments verified in this transfer"),
            ("duration_s", "seconds from the first Interest to the last byte"),
            ("goodput_mbps", "Mbit/s of content in this transfer"),
            (
                "verified",
                "the proof: `key` (signed by a trusted or own key), `digest` (undamaged, of \
             unknown origin), `unchecked` (signed by an unknown key)",
            ),
            ("key", "the name of the key that signed, or null"),
            ("interests", "Interests sent"),
            ("data", "requested Data packets received"),
            ("timeouts", "losses found by timeout"),
            ("gaps", "losses found by later answers or by silence, before a timeout"),
            ("false_timeouts", "false losses"),
            ("nacks", "Nacks received"),
            ("retransmissions", "repeated Interests"),
            ("marks", "Data received with a congestion mark"),
            ("false_losses", "the former name of `false_timeouts`, in this version only"),
            ("duplicates", "Data received after the segment had already arrived"),
            ("forged", "Data received that differs from its publisher's"),
            ("rtt_min_ms", "the smallest round-trip time in ms, or null"),
            ("rtt_mean_ms", "the mean round-trip time in ms, or null"),
        ],
    ),
    (
        "weir chat",
        &[
            ("boot", "the start of the member that sent it, in seconds since 1970"),
            ("clock_off", "the member's clock cannot be right"),
            (
                "event",
                "`message`; \
             [the guide](../how-to/chat.md#use-it-in-a-script) has the others",
            ),
            ("live", "it was sent since this member joined"),
            ("member", "the name of the member that sent it"),
            ("seq", "its number among those of this start"),
            ("text", "the text"),
            ("time_ms", "the time by the member's clock, in ms since 1970"),
        ],
    ),
    (
        "weir get NAME/",
        &[
            ("name", "the name of the tree's object, with its version"),
            ("folder", "the folder"),
            ("control", "the congestion-control scheme"),
            ("files", "files of the tree, without those that were not chosen"),
            ("directories", "directories in it"),
            ("links", "symbolic links in it"),
            ("bytes", "bytes of the files"),
            ("fetched_files", "files that were new or different"),
            ("fetched_bytes", "bytes that came from the network"),
            (
                "unchanged_files",
                "files that were there already: by size and time, or by their content",
            ),
            ("removed", "entries that were removed because they are not in the tree"),
            ("duration_s", "seconds from the first Interest to the last file"),
            ("goodput_mbps", "Mbit/s of content from the network"),
            ("verified", "the proof of the tree, as for `weir get`"),
            ("key", "the name of the key that signed, or null"),
            ("interests", "Interests sent"),
            ("data", "requested Data packets received"),
            ("timeouts", "losses found by timeout"),
            ("gaps", "losses found by later answers or by silence, before a timeout"),
            ("false_timeouts", "false losses"),
            ("nacks", "Nacks received"),
            ("retransmissions", "repeated Interests"),
            ("marks", "Data received with a congestion mark"),
            ("forged", "Data received that differs from its publisher's"),
        ],
    ),
    (
        "weir ls",
        &[
            ("path", "the path of the entry"),
            ("type", "`file`, `directory` or `link`"),
            ("size", "bytes of the file, or of all files in the directory, or null"),
            ("mode", "its permissions, as a number"),
            ("modified", "the time of its modification, in nanoseconds since 1970"),
            ("name", "the name of the file's object, or null"),
            ("target", "the target of the link, or null"),
        ],
    ),
    (
        "weir mount",
        &[
            ("mounted", "the folder, without links"),
            ("name", "the versioned name of the object, or of the tree's root"),
            ("entries", "files, directories and links"),
            ("bytes", "bytes of all files"),
            ("verified", "proof by the signature: `key`, `digest` or `unchecked`"),
            ("key", "the key that signed, or null"),
        ],
    ),
    (
        "weir gateway",
        &[
            ("method", "the request's method"),
            ("path", "the request's path, as sent"),
            ("status", "the HTTP status of the answer"),
            ("name", "the object's name, with its version, or null if it was not found"),
            ("range", "the Content-Range of the answer, or null"),
            ("bytes", "bytes of content fetched for the client, or stored of an upload"),
            ("segments", "verified segments"),
            ("interests", "Interests sent"),
            ("duration_s", "seconds from the first Interest to the last byte fetched"),
            ("verified", "the proof, as for `weir get`, or null"),
            ("key", "the name of the key that signed, or null"),
            ("error", "the error, or null"),
        ],
    ),
    (
        "weir put",
        &[
            (
                "objects",
                "a list: `name` with its version (of a tree with a slash), `bytes` of content, and \
             `segments`, or `files` of a tree",
            ),
            ("answered", "Interests answered with Data"),
            ("content_bytes", "bytes of content sent"),
            ("refused", "Interests for missing parts of a published object"),
            ("unknown", "Interests for unpublished names"),
            ("dropped", "Interests dropped from a full queue"),
            ("malformed", "frames other than Interests"),
            ("failed", "failed answers, because the file could not be read or had changed"),
        ],
    ),
    (
        "weir traceroute",
        &[
            ("name", "the name"),
            ("reached", "whether the forwarder with the producer replied"),
            (
                "hops",
                "a list: `hop`, a number from 1; `node` and `name` of the forwarder; `rtt_ms`; \
             `next`: `forwarder`, `application` or `none`; `stored`: whether its content store has \
             Data at or below the name; `rejected`: the reason of a Nack; null where unknown",
            ),
        ],
    ),
    (
        "weir perf client",
        &[
            ("name", "the server's name"),
            ("run", "the number of the first flow's run; those of the other flows follow"),
            ("control", "the congestion-control scheme"),
            ("segment_size", "bytes of content per segment"),
            ("begin_s", "begin of the measured time, in seconds since the run began"),
            ("end_s", "its end"),
            ("bytes", "bytes of verified content"),
            ("goodput_mbps", "Mbit/s of content"),
            ("interests", "Interests sent"),
            ("data", "requested Data packets received"),
            ("timeouts", "losses found by timeout"),
            ("gaps", "losses found by later answers or by silence, before a timeout"),
            ("false_timeouts", "false losses"),
            ("nacks", "Nacks received"),
            ("retransmissions", "repeated Interests"),
            ("marks", "Data received with a congestion mark"),
            ("in_flight", "segments in flight at the end"),
            ("window", "the sum of the schemes' windows at the end, in segments, or null"),
            ("rate_mbps", "the sum of the schemes' rates at the end, or null"),
            ("rtt_min_ms", "the least round-trip time in ms, or null"),
            ("rtt_mean_ms", "the mean round-trip time in ms, or null"),
            ("rtt_p99_ms", "the 99th percentile of the round-trip times in ms, or null"),
            ("sent_bytes", "bytes of all packets to the forwarder, with link headers"),
            ("received_bytes", "bytes of all packets from the forwarder"),
            ("duplicates", "Data received after the segment had already arrived"),
            ("forged", "Data received that failed the check of its signature"),
            ("malformed", "frames that could not be decoded"),
            ("cpu_s", "processor time of this process in seconds"),
            ("fairness", "Jain's index of the flows' goodput, or null for a single flow"),
            (
                "flows",
                "a list with the fields `begin_s` to `rtt_p99_ms` of each flow, over its own time",
            ),
            ("intervals", "a list with the same fields of each interval"),
            ("interrupted", "whether a signal ended the measurement"),
            ("error", "the reason if a flow or the connection failed, or null"),
        ],
    ),
    (
        "weir perf server",
        &[
            ("answered", "Interests answered with Data"),
            ("content_bytes", "bytes of content sent"),
            ("refused", "requests below its name for packets that do not exist"),
            ("unknown", "Interests for other names"),
            ("dropped", "requests dropped from a full queue, or after half of their lifetime"),
            ("malformed", "frames other than Interests"),
        ],
    ),
    (
        "weir key list",
        &[
            ("name", "the key's name"),
            ("certificate", "the name of its certificate; null for a shared key"),
            ("type", "`ed25519`, `ecdsa`, `rsa` or `hmac`"),
            ("not_after", "the certificate's expiry, in seconds since 1970; null for a shared key"),
            ("self_signed", "whether the certificate is self-signed"),
            ("default", "whether it is the default key"),
            ("secret", "the file of the secret"),
            ("store", "`weir`, or `ndn`: the key chain that ndn-cxx and python-ndn share"),
        ],
    ),
    (
        "weir schemes",
        &[
            ("name", "the scheme's name"),
            ("summary", "its effect, in one line"),
            ("paper", "its publication"),
            ("parts", "a list of its parts"),
            (
                "default_for",
                "a list of what it is where nobody chooses: `controller`, `strategy`, or the \
                 `baseline` of comparisons",
            ),
            ("equations", "a list: `number`, what the source calls it, and `text`"),
            (
                "parameters",
                "a list: `name`, `default`, range from `low` to `high`, `help`, `source`",
            ),
        ],
    ),
    (
        "weir compare",
        &[
            (
                "first",
                "the first folder: `name`, `folder`, `scenario`, `version`, `command`, and the \
                 number of `runs`",
            ),
            ("second", "the second folder, in the same way"),
            ("within", "the share above which a difference is marked"),
            ("main", "the number of compared goodputs, completion times and mean queues"),
            ("beyond", "the number of them that differ by more than `within`"),
            ("alone", "how many flows and workloads of the cases only one of the two has"),
            ("remarks", "a list of notes for the reader"),
            (
                "cases",
                "a list, one for each combination of swept settings that is in both: `settings` \
                 (field and value), `first_seeds`, `second_seeds`, `method` (`paired`, `welch`, or \
                 `single`: no intervals of differences), `differences`, and things that \
                 `only_first` or `only_second` has, by `kind` and `entity`",
            ),
            (
                "cases[].differences",
                "a list: `kind` (`network`, `flow`, `workload`, `link`, `node`) and `entity` as in \
                 the series; `quantity`, a field of [results](results.md) in its unit \
                 (`queue_mean_bytes` and `utilization` of links are of the time until the last \
                 flow ended); `main`, \
                 whether it counts for `beyond`; `first` and `second`, means over the runs with \
                 `mean`, `ci95` (half the width of the 95 % interval) and `n`, or null; \
                 `difference`, the second less the first, in the same way; `share`, the difference \
                 as a share of the first, and its `share_ci95`; `missing`, whether it has a value \
                 in some runs of one and not in those of the other; `resolution`, up to where a \
                 difference says nothing; `beyond`, whether it is over `within` and over that",
            ),
            ("only_first", "a list of settings with runs only in the first"),
            ("only_second", "a list of settings with runs only in the second"),
        ],
    ),
    (
        "weir docs",
        &[
            ("listening", "the address and port that browsers open"),
            ("folder", "the folder of the documentation"),
        ],
    ),
    (
        "weir doctor",
        &[
            (
                "check",
                "`receive-buffer`, `send-buffer`, `open-files`, `inotify-watches`, \
                 `inotify-instances`, `udp-gso`, `udp-gro`, `mtu`, `clock`, `clock-synchronised`, \
                 `forwarder`, `forwarder-socket`, `forwarder-folder`, `home-folder`, \
                 `keys-folder`, `free-space`, `default-key`, `private-keys`, `key-files`, \
                 `certificates`",
            ),
            ("subject", "the checked interface, address, key, file or folder, or null"),
            (
                "result",
                "`good`, `advice` (it works, and would work better after a change), `wrong`, \
                 `unchecked` (the host does not show it)",
            ),
            ("found", "the value found; if `unchecked`, the reason"),
            ("wanted", "the value wanted"),
            ("change", "the command or setting that changes it, or null"),
        ],
    ),
    (
        "weir demo",
        &[
            ("file", "the file"),
            ("bytes", "its size"),
            ("link_mbps", "the rate of the links in Mbit/s"),
            ("link_delay_ms", "their delay in ms, each way"),
            ("key", "the name of the key that signed"),
            (
                "transfers",
                "a list: `consumer`, `goodput_mbps`, `duration_s`, `sha256_matches`, and Data \
                 `from_cache` and `from_producer`",
            ),
        ],
    ),
    (
        "weir repo run",
        &[
            ("answered", "Data sent"),
            ("content_bytes", "bytes of content sent"),
            ("refused", "requests for packets that do not exist"),
            ("unknown", "Interests for names that are not in the store"),
            ("dropped", "requests dropped because too many answers were waiting"),
            ("malformed", "frames that are not Interests"),
            ("failed", "answers that could not be made, because of damage or a disk"),
        ],
    ),
    (
        "weir proxy",
        &[
            ("answered", "Data sent"),
            ("content_bytes", "bytes of content sent"),
            ("refused", "requests for what does not exist, cannot be had, or has no room now"),
            ("unknown", "Interests for names of no origin"),
            ("dropped", "requests whose lifetime ended, or whose refusal had no room"),
            ("malformed", "frames that are not Interests"),
        ],
    ),
    (
        "weir repo put",
        &[
            ("name", "the name of the object or tree, with its version"),
            ("bytes", "bytes of content"),
            ("files", "files of a tree, or null"),
            ("new_bytes", "bytes that the store did not have"),
            ("was_there", "true if the store had all of it before"),
        ],
    ),
    (
        "weir repo fetch",
        &[
            ("name", "the name of the object or tree, with its version"),
            ("bytes", "bytes of content"),
            ("files", "files of a tree, or null"),
            ("new_bytes", "bytes that the store did not have"),
            ("was_there", "true if the store had all of it before"),
        ],
    ),
    (
        "weir repo ls",
        &[
            ("name", "the name of the object or tree, with its version"),
            ("type", "`object` or `tree`"),
            ("bytes", "bytes of content"),
            ("files", "files of a tree, or null"),
            ("added_ms", "the time when it was stored, in ms since 1970"),
            ("segment_size", "bytes of content in a segment"),
            ("key", "the key that signed, or null"),
            ("sha256", "the SHA-256 of the content of an object, or null"),
        ],
    ),
    (
        "weir repo stat",
        &[
            ("name", "the name of the object or tree, with its version"),
            ("type", "`object` or `tree`"),
            ("bytes", "bytes of content"),
            ("files", "files of a tree, or null"),
            ("added_ms", "the time when it was stored, in ms since 1970"),
            ("segment_size", "bytes of content in a segment"),
            ("key", "the key that signed, or null"),
            ("sha256", "the SHA-256 of the content of an object, or null"),
        ],
    ),
    (
        "weir repo rm",
        &[
            ("removed", "the names of the removed objects and trees"),
            ("freed_bytes", "bytes that were removed from the disk"),
        ],
    ),
    (
        "weir repo verify",
        &[
            ("objects", "objects and trees that were read"),
            ("entries", "objects and packets in them"),
            ("bytes", "bytes of content that were read"),
            ("damaged", "the entries that are damaged, each with `name` and `why`"),
        ],
    ),
    (
        "weir repo export",
        &[
            ("name", "the name of the object, with its version"),
            ("bytes", "bytes of content"),
            ("file", "the file"),
        ],
    ),
    (
        "weir repo gc",
        &[("files", "files without a name that were removed"), ("freed_bytes", "bytes in them")],
    ),
];
