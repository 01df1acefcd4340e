//! The flows that are listed one by one.

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
    /// The number of its application.
    Live { app: u32, member: Option<Member> },
    /// Its application serves another one.
    Over(Box<FlowResult>),
}

impl Flow {
    /// A flow that begins. `member` is set if it began by itself.
    pub fn new(app: u32, member: Option<Member>, name: String, control: String) -> Flow {
        Flow { name, control, state: State::Live { app, member } }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn control(&self) -> &str {
        &self.control
    }

    /// The number of its application, until it is over and another flow may have that.
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
    /// The id of the flow that is added next.
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

    /// Flows at a node that ask for a name and did not begin by themselves.
    pub fn twins(&self, apps: &Apps, at: NodeId, name: &str) -> usize {
        let is_twin = |flow: &&Flow| match flow.state {
            State::Live { app, member: None } => {
                apps.get(app).place().node == at && flow.name == name
            }
            _ => false,
        };
        self.0.iter().filter(is_twin).count()
    }

    pub fn are_over(&self, apps: &Apps) -> bool {
        self.0.iter().filter_map(Flow::app).all(|app| apps.get(app).is_over())
    }

    /// A flow that began by itself ended at a node with this name.
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

    /// The flows that run.
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
