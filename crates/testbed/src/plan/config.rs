//! The configuration of a node's daemon.

use super::medium::{Medium, Shape, payload};
use super::planned::PlannedLink;
use control::Duration;
use record::NodeId;
use scenario::Network;
use scenario::model::{Direction, Loss, Scenario};
use std::fmt::Write;

/// The maximum number of applications' faces, as in a configuration.
const APPLICATIONS: usize = 10_000;

/// All of it except the path of its socket, which the testbed adds.
pub fn text(
    scenario: &Scenario,
    network: &Network,
    links: &[PlannedLink],
    at: usize,
    seed: u64,
    medium: Medium,
) -> String {
    let node = &scenario.nodes[at];
    let id = NodeId(at as u32);
    let store = network.content_store(id);
    // Numbers in TOML have a sign.
    let seed = seed >> 1;
    let mut text = format!("# {}\n\n[daemon]\nseed = {seed}\nlog = \"warn\"\n", node.name);
    if let Some(memory) = node.machine.memory {
        let _ = writeln!(text, "memory = \"{} B\"", memory.0);
    }
    // Scenarios may have stores without a limit. A daemon takes no more than the host has.
    let most = net::host_memory::host_memory().and_then(|most| usize::try_from(most).ok());
    let capacity = store.capacity.min(most.unwrap_or(usize::MAX));
    let _ = write!(
        text,
        "\n[application]\nmax = {APPLICATIONS}\n\n[content_store]\ncapacity = \"{capacity} B\"\n\
         policy = \"{}\"\n",
        store.policy,
    );
    if store.packets != usize::MAX {
        let _ = writeln!(text, "packets = {}", store.packets);
    }
    let _ = writeln!(text, "admission = \"{}\"", store.admission);
    let strategy = toml_text(&node.strategy.to_string());
    let _ = write!(text, "\n[[strategy]]\nprefix = \"/\"\nstrategy = {strategy}\n");
    for (number, link) in links.iter().enumerate() {
        for end in 0..2 {
            if link.ends[end] == at {
                face(&mut text, link, end, &scenario.links[number].directions, medium);
            }
        }
    }
    for (prefix, link, cost) in network.routes(id) {
        let prefix = toml_text(&prefix.to_string());
        let face = &links[link.index() / 2].interface;
        let _ = write!(text, "\n[[route]]\nprefix = {prefix}\nface = \"{face}\"\ncost = {cost}\n");
    }
    text
}

fn face(
    text: &mut String,
    link: &PlannedLink,
    end: usize,
    directions: &[Direction; 2],
    medium: Medium,
) {
    let (direction, back) = (&directions[end], &directions[1 - end]);
    let _ = write!(
        text,
        "\n[[face]]\nname = \"{}\"\nuri = \"udp4://{}:6363\"\nmtu = {}\nrate_in = \"{}\"\n\
         delay = \"{} ns\"\n",
        link.interface,
        link.addresses[1 - end],
        payload(medium),
        if back.measured { "measured".to_owned() } else { format!("{} bit/s", back.rate.0) },
        direction.delay.0,
    );
    if medium.shape == Shape::Faces {
        let _ = writeln!(text, "rate = \"{} bit/s\"\noverhead = \"0 B\"", direction.rate.0);
        let (bytes, packets) = direction.queue.bounds();
        let _ = match packets {
            usize::MAX => writeln!(text, "queue = \"{} B\"", bytes.0),
            packets => writeln!(text, "queue = \"{packets} packets\""),
        };
    }
    if direction.impairment.jitter > Duration::ZERO {
        let _ = writeln!(text, "jitter = \"{} ns\"", direction.impairment.jitter.0);
    }
    let _ = match direction.impairment.loss {
        Loss::None => Ok(()),
        Loss::Random(share) => writeln!(text, "loss = {share}"),
        Loss::GilbertElliott { to_bad, to_good, loss_good, loss_bad } => writeln!(
            text,
            "loss = {{ to_bad = {to_bad}, to_good = {to_good}, good = {loss_good}, \
             bad = {loss_bad} }}",
        ),
    };
    if direction.reliability {
        let _ = writeln!(text, "reliability = true");
    }
    let parts = &direction.parts;
    if parts.are_none() {
        // A daemon whose faces have rates would have the parts of the default scheme.
        let _ = writeln!(text, "marker = \"drop-tail\"");
    }
    let parts = [("marker", &parts.marker), ("shaper", &parts.shaper), ("stamper", &parts.stamper)];
    for (field, choice) in parts {
        if let Some(choice) = choice {
            let _ = writeln!(text, "{field} = {}", toml_text(&choice.to_string()));
        }
    }
}

/// In quotes.
fn toml_text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
