//! Collects the samples and the results of a run.

use control::Time;
use record::{NetworkSample, NodeResult, NodeSample, Outcome, Recorder};

use crate::fabric::Fabric;
use crate::population::Population;
use crate::stores;

/// The results so far.
pub(crate) fn outcome(fabric: &Fabric, population: &Population) -> Outcome {
    let (now, topology, apps) = (fabric.now(), fabric.topology(), fabric.apps());
    let nodes = topology.nodes().iter();
    let trace = fabric.observers().trace();
    Outcome {
        duration: now.since(Time::ZERO),
        events: fabric.agenda().calls(),
        packet_hops: trace.hops(),
        flows: fabric.flows().results(now, apps, topology),
        workloads: population.results(apps),
        links: topology.ends().map(|(_, end)| topology.link_result(now, end)).collect(),
        nodes: nodes
            .map(|node| NodeResult { served: apps.served(node), ..node.result() })
            .collect(),
        trace_hash: trace.digest(),
    }
}

/// Passes a sample of everything to the recorder, and schedules the next one.
pub(crate) fn take_sample(fabric: &mut Fabric, population: &Population) {
    match fabric.observers_mut().take_recorder() {
        Some(mut recorder) => {
            sample(fabric, population, &mut *recorder);
            sample_nodes(fabric, &mut *recorder);
            fabric.observers_mut().put_recorder(recorder);
        }
        None => fabric.observers_mut().stop_samples(),
    }
    fabric.schedule_sample();
}

/// Passes a sample of links, flows and workloads to the recorder.
pub(crate) fn sample(fabric: &Fabric, population: &Population, recorder: &mut dyn Recorder) {
    let (now, topology) = (fabric.now(), fabric.topology());
    for (wire, end) in topology.ends() {
        recorder.link(&topology.link_sample(now, wire, end));
    }
    fabric.flows().samples(now, fabric.apps()).for_each(|sample| recorder.flow(&sample));
    for sample in population.numbered_samples(now, fabric.apps()) {
        recorder.workload(&sample);
    }
}

fn sample_nodes(fabric: &Fabric, recorder: &mut dyn Recorder) {
    let at = fabric.now();
    let mut sum = NetworkSample { at, ..NetworkSample::default() };
    for node in fabric.topology().nodes() {
        let answers = stores::answers(fabric, node);
        sum.answers += &answers;
        let Some(forwarder) = node.forwarder() else { continue };
        recorder.node(&NodeSample {
            at,
            node: node.id(),
            pit: forwarder.pit().len(),
            content_store: forwarder.content_store().len(),
            answers,
            process: None,
        });
    }
    recorder.network(&sum);
}
