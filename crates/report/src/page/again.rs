//! The scenarios, commands and versions for a repetition.

use crate::results::Results;
use crate::text::escaped;
use control::counted;
use scenario::result::TESTBED;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The maximum number of files that are shown.
const MOST: usize = 20;

/// Version, command, seeds and scenarios of each folder.
pub fn section(out: &mut String, results: &Results) {
    out.push_str("<section><h2>To run it again</h2>");
    for (number, source) in results.sources.iter().enumerate() {
        let is_real = results.of(number).any(|run| run.id.driver == TESTBED);
        if results.sources.len() > 1 {
            let _ = write!(out, "<h3>{}</h3>", escaped(&source.name));
        }
        let _ = write!(out, "<p>Made with {}", escaped(&source.version));
        if !source.command.is_empty() {
            let _ = write!(out, " by</p><pre><code>{}</code></pre><p>", escaped(&source.command));
        } else {
            out.push_str(". ");
        }
        if is_real {
            out.push_str("It ran on real daemons, which do nothing twice in the same way. ");
        }
        let driver = if is_real { "testbed" } else { "sim" };
        let _ = write!(
            out,
            "The files below have all defaults and settings in them; each can be run as it is, \
             with <code>weir {driver} run FILE --seed N</code>.</p>",
        );
        for (name, text) in source.scenarios.iter().take(MOST) {
            let _ = write!(
                out,
                "<details><summary>{}</summary><pre><code>{}</code></pre></details>",
                escaped(name),
                escaped(text.trim())
            );
        }
        if source.scenarios.len() > MOST {
            let more = source.scenarios.len() - MOST;
            let _ = write!(out, "<p>{} more in the folder.</p>", counted(more, "file"));
        }
    }
    let seeds: BTreeSet<u64> = results.runs().map(|run| run.id.seed).collect();
    let shown: Vec<String> = seeds.iter().take(10).map(u64::to_string).collect();
    let more = if seeds.len() > 10 { ", …" } else { "" };
    let hashes: BTreeSet<&str> = results.runs().map(|run| run.trace_hash.as_str()).collect();
    let _ = write!(out, "<p class=\"soft\">Seeds {}{more}.", shown.join(", "));
    if let (1, Some(hash)) = (hashes.len(), hashes.first()) {
        let _ = write!(out, " Equal runs have the trace hash <code>{}</code>.", escaped(hash));
    }
    out.push_str("</p></section>\n");
}
