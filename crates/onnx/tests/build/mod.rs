//! ONNX files, written field by field (onnx.proto; "Encoding" of Protocol Buffers).

/// A message or a part of one.
type Bytes = Vec<u8>;

fn varint(mut number: u64) -> Bytes {
    let mut out = Vec::new();
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
    out
}

fn number(field: u64, value: u64) -> Bytes {
    [varint(field << 3), varint(value)].concat()
}

fn message(field: u64, content: &[u8]) -> Bytes {
    [varint(field << 3 | 2), varint(content.len() as u64), content.to_vec()].concat()
}

/// A model that is written.
pub struct Model {
    graph: Bytes,
}

impl Model {
    /// With an input `seen` of this shape, where -1 is any number, and this output.
    pub fn of(dims: &[i64], output: &str) -> Model {
        let model = Model { graph: message(12, &value(output, &[1, 1])) };
        model.input("seen", dims)
    }

    /// Another input.
    pub fn input(self, name: &str, dims: &[i64]) -> Model {
        self.with(message(11, &value(name, dims)))
    }

    /// A part of the graph.
    pub fn with(mut self, part: Bytes) -> Model {
        self.graph.extend(part);
        self
    }

    /// An operator.
    pub fn node(self, operator: &str, inputs: &[&str], output: &str) -> Model {
        self.with(message(1, &node(operator, inputs, output)))
    }

    /// Values behind each other, along their last dimension.
    pub fn concat(self, inputs: &[&str], output: &str) -> Model {
        // AttributeProto: name, type INT, i.
        let axis = [message(1, b"axis"), number(20, 2), number(3, 1)].concat();
        let node = [node("Concat", inputs, output), message(5, &axis)].concat();
        self.with(message(1, &node))
    }

    /// The file.
    pub fn bytes(&self) -> Bytes {
        // ModelProto: ir_version, opset_import with version 17, graph.
        [number(1, 9), message(8, &number(2, 17)), message(7, &self.graph)].concat()
    }
}

fn node(operator: &str, inputs: &[&str], output: &str) -> Bytes {
    let inputs = inputs.iter().map(|name| message(1, name.as_bytes()));
    let rest = [message(2, output.as_bytes()), message(4, operator.as_bytes())];
    inputs.chain(rest).collect::<Vec<_>>().concat()
}

/// A ValueInfoProto of floats.
fn value(name: &str, dims: &[i64]) -> Bytes {
    let dim = |dim: &i64| match u64::try_from(*dim) {
        Ok(dim) => message(1, &number(1, dim)),
        Err(_) => message(1, &message(2, b"batch")),
    };
    let shape = dims.iter().map(dim).collect::<Vec<_>>().concat();
    let tensor = [number(1, 1), message(2, &shape)].concat();
    [message(1, name.as_bytes()), message(2, &message(1, &tensor))].concat()
}

fn tensor(name: &str, dims: &[i64], kind: u64, raw: &[u8]) -> Bytes {
    let dims = dims.iter().map(|dim| number(1, *dim as u64)).collect::<Vec<_>>().concat();
    message(5, &[dims, number(2, kind), message(8, name.as_bytes()), message(9, raw)].concat())
}

/// A constant of floats.
pub fn constant(name: &str, dims: &[i64], numbers: &[f32]) -> Bytes {
    let raw: Bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    tensor(name, dims, 1, &raw)
}

/// A constant of whole numbers, with one dimension.
pub fn whole(name: &str, numbers: &[i64]) -> Bytes {
    let raw: Bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    tensor(name, &[numbers.len() as i64], 7, &raw)
}

/// A graph in an attribute of a node of a graph, and so on.
pub fn graph_in_graphs(depth: usize) -> Bytes {
    // From the inside: lengths have to be known.
    let mut parts = Vec::new();
    let mut length = 0_usize;
    for _ in 0..depth {
        for field in [6_u64, 5, 1] {
            let head = [varint(field << 3 | 2), varint(length as u64)].concat();
            length += head.len();
            parts.push(head);
        }
    }
    parts.push([varint(7 << 3 | 2), varint(length as u64)].concat());
    parts.reverse();
    parts.concat()
}
