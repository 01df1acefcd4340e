//! The nodes of a plan as network namespaces, and its links as veth pairs between them.

use crate::error::TestbedError;
use crate::namespaces::{exists, ip, namespace};
use crate::plan::{Plan, Shape};
use crate::{buckets, ip_routes};

/// Makes the namespaces and links of a plan.
///
/// # Errors
/// Such a namespace exists already, or `ip` fails.
pub fn build(testbed: &str, plan: &Plan) -> Result<(), TestbedError> {
    let names: Vec<String> =
        plan.nodes.iter().map(|node| namespace(testbed, &node.short)).collect();
    if let Some(name) = names.iter().find(|name| exists(name)) {
        return Err(TestbedError::ForeignNamespace(name.clone()));
    }
    let mtu = plan.medium.mtu;
    let mut outside = String::new();
    for name in &names {
        outside += &format!("netns add {name}\n");
    }
    for link in &plan.links {
        let ([a, b], interface) = (link.ends, &link.interface);
        outside += &format!(
            "link add {interface} netns {} mtu {mtu} type veth peer name {interface} netns {} \
             mtu {mtu}\n",
            names[a], names[b],
        );
    }
    ip(&[], &outside)?;
    for (at, name) in names.iter().enumerate() {
        let mut inside = "link set lo up\n".to_owned();
        for link in &plan.links {
            for end in (0..2).filter(|end| link.ends[*end] == at) {
                let (address, interface) = (link.addresses[end], &link.interface);
                inside += &format!("address add {address}/30 dev {interface}\n");
                inside += &format!("link set {interface} up\n");
            }
        }
        ip(&["-n", name], &inside)?;
    }
    if plan.medium.shape == Shape::Kernel {
        buckets::build(&names, plan)?;
    }
    ip_routes::build(&names, plan)
}

/// Cuts or fixes a link, at both of its ends.
///
/// # Errors
/// `ip` cannot do it.
pub fn switch(
    testbed: &str,
    shorts: [&str; 2],
    interface: &str,
    is_up: bool,
) -> Result<(), TestbedError> {
    let state = if is_up { "up" } else { "down" };
    shorts.into_iter().try_for_each(|short| {
        let name = namespace(testbed, short);
        ip(&["-n", &name], &format!("link set {interface} {state}\n"))
    })
}
