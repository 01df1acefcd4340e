//! `weir testbed up`

use super::preparation::{ensure_rights, failure, listen, name, program};
use crate::cli::TestbedUpArgs;
use crate::commands::scenario::load;
use crate::exit::Failure;
use crate::output::{self, Column, Table};
use testbed::{Described, MTU, Medium, Plan, Shape, Testbed, TestbedError};

/// The interval between two checks of the daemons and of a request to end.
const LOOK: std::time::Duration = std::time::Duration::from_millis(50);

/// Builds a network and leaves it running.
pub fn run(args: &TestbedUpArgs) -> Result<(), Failure> {
    let batch = load(&args.scenario, None)?;
    let name = name(args.name.as_deref(), &batch)?;
    let first = &batch.runs[0];
    let medium = Medium { shape: Shape::Kernel, mtu: args.mtu.unwrap_or(MTU) };
    let plan = Plan::network(&first.scenario, first.seed, medium);
    let plan = plan.map_err(|rejected| failure(&TestbedError::Unsupported(rejected)))?;
    ensure_rights()?;
    let (stop, program) = (listen()?, program()?);
    let mut testbed = Testbed::network(&name, plan, &program).map_err(|error| failure(&error))?;
    if !args.bare {
        testbed.start_daemons(&|| !stop.requested()).map_err(|error| failure(&error))?;
    }
    let described = Described::of(&testbed, !args.bare);
    if args.json {
        output::json(&described)?;
    } else {
        show(&described)?;
        if batch.runs.len() > 1 {
            output::note("this is the network of the first run of the scenario's sweep");
        }
        output::note("Ctrl-C removes it");
    }
    while !stop.requested() {
        testbed.check().map_err(|error| failure(&error))?;
        std::thread::park_timeout(LOOK);
    }
    Ok(())
}

fn show(described: &Described) -> Result<(), Failure> {
    let heads = ["node", "namespace", "address", "socket of its daemon"];
    let mut nodes = Table::new(heads.map(|head| Column::left(head, 0)).into());
    for node in &described.nodes {
        let socket = node.socket.as_ref().map(|path| path.display().to_string());
        nodes.row(vec![
            node.node.clone(),
            node.namespace.clone(),
            node.address.to_string(),
            socket.unwrap_or_else(|| "-".to_owned()),
        ]);
    }
    let mut columns =
        ["from", "to", "interface", "address"].map(|head| Column::left(head, 0)).to_vec();
    columns.push(Column::right("Mbit/s", 0));
    let mut links = Table::new(columns);
    for link in &described.links {
        for end in 0..2 {
            let rate = link.rate_mbps.map(|rates| rates[end].to_string());
            links.row(vec![
                link.between[end].clone(),
                link.between[1 - end].clone(),
                link.interface.clone(),
                link.addresses[end].to_string(),
                rate.unwrap_or_else(|| "-".to_owned()),
            ]);
        }
    }
    let width = output::width(std::io::stdout());
    let example = &described.nodes[0].namespace;
    let lines = nodes.lines(width).into_iter().chain([String::new()]).chain(links.lines(width));
    lines
        .chain([String::new(), format!("ip netns exec {example} COMMAND runs a program there")])
        .try_for_each(|line| output::result(&line))
}
