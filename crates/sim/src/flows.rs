//! The individually listed flows.

use control::Time;
use record::{FlowId, FlowResult, FlowSample, NodeId};

use crate::apps::Apps;
use crate::topology::Topology;
use crate::workload::Member;

/// A listed flow.
pub(crate) struct Flow {
    name: String,
    control: String,
    state: State,
}

enum State {
    /// Running or not started, with the number of its application.
    Live { app: u32, member: Option<Member> },
    /// Ended; its application may serve another flow.
    Over(Box<FlowResult>),
}

impl Flow {
    /// Creates a flow. `member` is set if a workload starts it.
    pub fn new(app: u32, member: Option<Member>, name: String, control: String) -> Flow {
        Flow { name, control, state: State::Live { app, member } }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn control(&self) -> &str {
        &self.control
    }

    /// The number of its application; `None` if the flow has ended and the application may serve
    /// another flow.
    pub fn app(&self) -> Option<u32> {
        match self.state {
            State::Live { app, .. } => Some(app),
            State::Over(_) => None,
        }
    }
}

/// Flows by their ids.
#[derive(Default)]
pub(crate) struct Flows(Vec<Flow>);

impl Flows {
    /// The id of the next flow to be added.
    pub fn next_id(&self) -> FlowId {
        FlowId(self.0.len() as u32)
    }

    pub fn add(&mut self, flow: Flow) -> FlowId {
        let id = self.next_id();
        self.0.push(flow);
        id
    }

    pub fn get(&self, flow: FlowId) -> Option<&Flow> {
        self.0.get(flow.index())
    }

    pub fn iter(&self) -> impl Iterator<Item = (FlowId, &Flow)> {
        (0..).map(FlowId).zip(&self.0)
    }

    /// The number of flows at a node that request `name` and were not started by a workload.
    pub fn twins(&self, apps: &Apps, at: NodeId, name: &str) -> usize {
        let twins = self.0.iter().filter(|flow| match flow.state {
            State::Live { app, member: None } => {
                apps.get(app).place().node == at && flow.name == name
            }
            _ => false,
        });
        twins.count()
    }

    pub fn is_over(&self, flow: FlowId, apps: &Apps) -> bool {
        self.get(flow).and_then(Flow::app).is_none_or(|app| apps.get(app).is_over())
    }

    pub fn are_over(&self, apps: &Apps) -> bool {
        self.0.iter().filter_map(Flow::app).all(|app| apps.get(app).is_over())
    }

    /// Records the end of a workload flow at the node of this name.
    pub fn end(&mut self, flow: FlowId, member: Member, node: String, mut result: FlowResult) {
        let Some(flow) = self.0.get_mut(flow.index()) else { return };
        result.node = node;
        result.name.clone_from(&flow.name);
        result.control.clone_from(&flow.control);
        (result.workload, result.class) = (Some(member.workload), member.class);
        flow.state = State::Over(Box::new(result));
    }

    /// The results so far.
    pub fn results(&self, now: Time, apps: &Apps, topology: &Topology) -> Vec<FlowResult> {
        self.0.iter().map(|flow| result(flow, now, apps, topology)).collect()
    }

    /// Samples of the running flows.
    pub fn samples(&self, now: Time, apps: &Apps) -> impl Iterator<Item = FlowSample> {
        self.iter().filter_map(move |(id, flow)| apps.get(flow.app()?).sample(now, id))
    }
}

fn result(flow: &Flow, now: Time, apps: &Apps, topology: &Topology) -> FlowResult {
    let (app, member) = match &flow.state {
        State::Over(result) => return FlowResult::clone(result),
        State::Live { app, member } => (apps.get(*app), *member),
    };
    let mut result = FlowResult {
        node: topology.node(app.place().node).name().to_owned(),
        name: flow.name.clone(),
        control: flow.control.clone(),
        ..FlowResult::default()
    };
    app.result(now, &mut result);
    if let Some(member) = member {
        (result.workload, result.class) = (Some(member.workload), member.class);
    }
    result
}
