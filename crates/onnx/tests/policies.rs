//! Policies from files, and files that are none.

mod build;

use build::{Model, constant, graph_in_graphs, whole};
use control::{Observation, Policy};
use onnx::{Fault, ModelError, limits, load, policy};
use proptest::prelude::*;
use schemes::Choice;
use std::sync::Arc;

const SEEN: Observation = [10.0, 5.0, 30.0, 20.0, 9.0, 0.0, 2.0, 1.5];

fn fault(model: &Model) -> Fault {
    policy(&model.bytes()).expect_err("the model has a fault")
}

#[test]
fn a_network_of_neurons_is_computed() {
    let weights: Vec<f32> = (0..16).map(|k| (k as f32 - 8.0) / 100.0).collect();
    let model = Model::of(&[1, 8], "action")
        .with(constant("matrix", &[8, 2], &weights))
        .with(constant("bias", &[2], &[0.1, -0.2]))
        .with(constant("last", &[2, 1], &[0.5, -0.25]))
        .node("Gemm", &["seen", "matrix", "bias"], "one")
        .node("Tanh", &["one"], "hidden")
        .node("MatMul", &["hidden", "last"], "two")
        .node("Tanh", &["two"], "action");
    let neuron = |at: usize, bias: f64| {
        let sum: f64 = (0..8).map(|k| SEEN[k] * (2 * k + at) as f64 / 100.0 - SEEN[k] * 0.08).sum();
        (sum + bias).tanh()
    };
    let expected = (0.5 * neuron(0, 0.1) - 0.25 * neuron(1, -0.2)).tanh();
    let policy = policy(&model.bytes()).unwrap();
    let action = policy.action(&SEEN).unwrap();
    // Numbers of 32 bits have seven digits.
    assert!((action - expected).abs() < 1e-5, "{action} is not {expected}");
    assert_eq!(policy.action(&SEEN), Some(action), "equal observations give equal actions");
}

#[test]
fn features_may_be_computed_from_the_observation() {
    // rtt / rtt_min - 1, from an input without a dimension for several observations.
    let model = Model::of(&[8], "action")
        .with(constant("one", &[1], &[1.0]))
        .with(whole("first", &[2]))
        .with(whole("second", &[3]))
        .node("Gather", &["seen", "first"], "rtt")
        .node("Gather", &["seen", "second"], "rtt_min")
        .node("Div", &["rtt", "rtt_min"], "inflation")
        .node("Sub", &["inflation", "one"], "action");
    let action = policy(&model.bytes()).unwrap().action(&SEEN).unwrap();
    assert!((action - 0.5).abs() < 1e-6, "{action}");
    // A path that has had no Data has no smallest round-trip time: infinity is no action, and the
    // scheme counts it.
    let mut nothing = SEEN;
    nothing[3] = 0.0;
    let action = policy(&model.bytes()).unwrap().action(&nothing).unwrap();
    assert!(action.is_infinite(), "{action}");
}

#[test]
fn inputs_and_outputs_of_other_forms_are_rejected() {
    let sum = |dims: &[i64]| Model::of(dims, "action").node("ReduceSum", &["seen"], "action");
    assert!(policy(&sum(&[1, 8]).bytes()).is_ok());
    assert!(policy(&sum(&[-1, 8]).bytes()).is_ok(), "any number of observations");
    for dims in [&[1, 7][..], &[2, 8], &[8, 1], &[1, 1, 8], &[], &[8, -1]] {
        assert!(matches!(fault(&sum(dims)), Fault::Form(_)), "{dims:?}");
    }
    let two = sum(&[1, 8]).input("more", &[1, 8]);
    assert_eq!(fault(&two), Fault::Form("it has 2 inputs".to_owned()));
    let eight = Model::of(&[1, 8], "action").node("Neg", &["seen"], "action");
    assert_eq!(fault(&eight), Fault::Form("its output is not one number".to_owned()));
    let missing = Model::of(&[1, 8], "other").node("ReduceSum", &["seen"], "action");
    assert!(matches!(fault(&missing), Fault::Form(_)));
}

#[test]
fn an_action_that_is_no_number_is_found_before_it_is_used() {
    let root = Model::of(&[1, 8], "action")
        .node("ReduceSum", &["seen"], "sum")
        .node("Neg", &["sum"], "negative")
        .node("Sqrt", &["negative"], "action");
    let error = fault(&root).to_string();
    assert!(error.contains("NaN"), "{error}");
}

#[test]
fn operators_outside_of_the_list_are_rejected() {
    for operator in ["Expand", "Loop", "If", "RandomNormal", "Tile", "NoSuchOperator", ""] {
        let model = Model::of(&[1, 8], "action").node(operator, &["seen"], "action");
        let error = fault(&model);
        assert_eq!(error, Fault::Operator(operator.to_owned()));
        assert!(error.to_string().contains("Add, And, Cast"), "{error}");
    }
}

/// The divisor may be 0 for a later observation.
#[test]
fn integers_are_not_divided() {
    let sum = |model: Model| model.node("ReduceSum", &["seen"], "action");
    let computed = Model::of(&[1, 8], "action").node("Equal", &["seen", "seen"], "same").node(
        "Div",
        &["same", "same"],
        "quotient",
    );
    let constant =
        Model::of(&[1, 8], "action").with(whole("n", &[1])).node("Div", &["n", "n"], "q");
    for model in [computed, constant] {
        assert_eq!(fault(&sum(model)), Fault::Operator("Div of integers".to_owned()));
    }
}

#[test]
fn models_out_of_order_are_rejected() {
    let model = Model::of(&[1, 8], "action").node("ReduceSum", &["later"], "action").node(
        "Neg",
        &["seen"],
        "later",
    );
    assert!(matches!(fault(&model), Fault::NotAModel(_)));
    let twice = Model::of(&[1, 8], "action").node("ReduceSum", &["seen"], "action").node(
        "ReduceSum",
        &["seen"],
        "action",
    );
    assert!(matches!(fault(&twice), Fault::NotAModel(_)));
    let itself = Model::of(&[1, 8], "action").node("Add", &["seen", "action"], "action");
    assert!(matches!(fault(&itself), Fault::NotAModel(_)));
}

#[test]
fn other_files_are_rejected() {
    let text = b"control = \"cubic\"\n".as_slice();
    let cut = Model::of(&[1, 8], "action").node("ReduceSum", &["seen"], "action").bytes();
    for bytes in [b"".as_slice(), text, b"\0\0\0\0", &[0xff; 64], &cut[..cut.len() - 9]] {
        let error = policy(bytes).unwrap_err();
        assert!(matches!(error, Fault::NotAModel(_)), "{error}");
    }
    assert_eq!(policy(&vec![0; 1_000_001]).unwrap_err(), Fault::TooLarge);
}

#[test]
fn graphs_in_graphs_do_not_end_the_stack() {
    let error = policy(&graph_in_graphs(limits::FILE as usize / 12)).unwrap_err();
    assert!(matches!(error, Fault::Operator(_) | Fault::TooLarge), "{error}");
}

#[test]
fn values_that_grow_are_rejected_before_they_are_computed() {
    let mut doubled = Model::of(&[1, 8], "action");
    for k in 0..60 {
        let (from, to) = (if k == 0 { "seen".to_owned() } else { format!("v{k}") }, k + 1);
        doubled = doubled.concat(&[&from, &from], &format!("v{to}"));
    }
    assert!(matches!(fault(&doubled.node("ReduceSum", &["v60"], "action")), Fault::TooMuch(_)));
    let table = Model::of(&[1, 8], "action")
        .with(constant("column", &[9_000, 1], &vec![1.0; 9_000]))
        .node("Mul", &["column", "seen"], "table")
        .node("ReduceSum", &["table"], "action");
    assert!(matches!(fault(&table), Fault::TooMuch(_)));
    // Its numbers are not in the file.
    let empty = Model::of(&[1, 8], "action").with(constant("much", &[1 << 30, 1 << 30], &[])).node(
        "ReduceSum",
        &["much"],
        "action",
    );
    assert!(matches!(fault(&empty), Fault::TooMuch(_)));
}

#[test]
fn a_choice_reads_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let model = Model::of(&[1, 8], "action").node("ReduceSum", &["seen"], "action");
    std::fs::write(folder.path().join("p.onnx"), model.bytes()).unwrap();
    let mut choice: Choice = "learned:model=p.onnx".parse().unwrap();
    load(&mut choice, folder.path()).unwrap();
    assert!(choice.controller().is_ok());
    let path = folder.path().join("p.onnx");
    assert_eq!(choice.to_string(), format!("learned:model={}", path.display()));
    let mut none: Choice = "cubic".parse().unwrap();
    load(&mut none, folder.path()).unwrap();
    assert_eq!(none.to_string(), "cubic");
    let problem = |path: &str| {
        let mut choice: Choice = format!("learned:model={path}").parse().unwrap();
        load(&mut choice, folder.path()).unwrap_err()
    };
    for path in ["q.onnx", ".", "/dev/zero"] {
        assert!(matches!(problem(path), ModelError::Read { .. }), "{path}");
    }
    std::fs::write(folder.path().join("text"), "a text").unwrap();
    let text = problem("text").to_string();
    assert!(text.contains("the model `text`: it is not an ONNX model"), "{text}");
}

#[test]
fn equal_files_are_one_model() {
    let model = Model::of(&[1, 8], "action").node("ReduceMax", &["seen"], "action").bytes();
    let (one, two) = (policy(&model).unwrap(), policy(&model).unwrap());
    assert!(Arc::ptr_eq(&one, &two));
}

proptest! {
    /// Damaged files are rejected or computed, and nothing else.
    #[test]
    fn damage_is_no_panic(at in 0usize..400, bytes in prop::collection::vec(any::<u8>(), 1..4)) {
        let weights: Vec<f32> = (0..8).map(|k| k as f32 / 10.0).collect();
        let mut file = Model::of(&[1, 8], "action")
            .with(constant("matrix", &[8, 1], &weights))
            .node("MatMul", &["seen", "matrix"], "one")
            .concat(&["one", "one"], "two")
            .node("ReduceMean", &["two"], "action")
            .bytes();
        for (k, byte) in bytes.into_iter().enumerate() {
            let at = (at + k) % file.len();
            file[at] = byte;
        }
        if let Ok(policy) = policy(&file) {
            policy.action(&SEEN);
        }
    }
}
