//! Paths for IP packets between all nodes, so that any program can reach any other.

use crate::error::TestbedError;
use crate::namespaces;
use crate::plan::Plan;

/// Kernels forward packets, and accept packets whose path differs from that of the answers.
const FORWARD: &str = "echo 1 >/proc/sys/net/ipv4/ip_forward; \
                       for one in /proc/sys/net/ipv4/conf/*/rp_filter; do echo 0 >$one; done";

/// Gives nodes an address of their own and routes to all others, if the plan has any.
///
/// # Errors
/// The kernel does not take them.
pub fn build(namespaces: &[String], plan: &Plan) -> Result<(), TestbedError> {
    if plan.ip.is_empty() {
        return Ok(());
    }
    let mut lines: Vec<String> =
        plan.nodes.iter().map(|node| format!("address add {}/32 dev lo\n", node.address)).collect();
    for route in &plan.ip {
        let (to, from) = (plan.nodes[route.to].address, plan.nodes[route.at].address);
        lines[route.at] += &format!("route add {to}/32 via {} src {from}\n", route.via);
    }
    for (name, lines) in namespaces.iter().zip(&lines) {
        namespaces::ip(&["-n", name], lines)?;
        namespaces::run(
            "nsenter",
            &[&format!("--net=/run/netns/{name}"), "sh", "-ec", FORWARD],
            "",
        )?;
    }
    Ok(())
}
