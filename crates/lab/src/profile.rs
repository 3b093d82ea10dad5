//! Where the cycles of a simulated run went: a table by function, folded stacks, and a flame graph.
//!
//! Needs the call tree of a run made with [`crate::rv32::Config::profile`]. Cycles are those of the "core" column.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use crate::error::LabError;
use crate::rv32::CallTree;

/// One function of a profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Leaf {
    /// Its symbol.
    pub function: String,
    /// Cycles spent in its own instructions.
    pub self_cycles: u64,
    /// Cycles spent in it and in what it called; recursion counts once.
    pub inclusive_cycles: u64,
    /// Times it was entered.
    pub calls: u64,
}

/// All functions that ran, most expensive by itself first.
pub fn leaf_table(tree: &CallTree) -> Vec<Leaf> {
    let below = inclusive(tree);
    let mut leaves: BTreeMap<&str, Leaf> = BTreeMap::new();
    for (index, node) in tree.nodes.iter().enumerate() {
        let function = tree.functions[node.function].as_str();
        let leaf = leaves.entry(function).or_insert_with(|| Leaf {
            function: function.to_string(),
            self_cycles: 0,
            inclusive_cycles: 0,
            calls: 0,
        });
        leaf.self_cycles += node.self_cycles;
        leaf.calls += node.calls;
        if !ancestors(tree, index).any(|a| tree.nodes[a].function == node.function) {
            leaf.inclusive_cycles += below[index];
        }
    }
    let mut leaves: Vec<Leaf> = leaves.into_values().filter(|l| l.inclusive_cycles > 0).collect();
    leaves.sort_by(|a, b| b.self_cycles.cmp(&a.self_cycles).then_with(|| a.function.cmp(&b.function)));
    leaves
}

/// One line a call chain, `outermost;...;innermost cycles`: the input of flame-graph tools.
pub fn folded(tree: &CallTree) -> String {
    let mut lines = BTreeMap::new();
    for (index, node) in tree.nodes.iter().enumerate().filter(|(_, n)| n.self_cycles > 0) {
        let mut chain: Vec<&str> = vec![&tree.functions[node.function]];
        chain.extend(ancestors(tree, index).map(|a| tree.functions[tree.nodes[a].function].as_str()));
        chain.reverse();
        *lines.entry(chain.join(";")).or_insert(0) += node.self_cycles;
    }
    lines.iter().fold(String::new(), |mut text, (chain, cycles)| {
        let _ = writeln!(text, "{chain} {cycles}");
        text
    })
}

/// Flame graph of the call tree as an SVG document.
pub fn flamegraph_svg(tree: &CallTree, title: &str) -> Result<String, LabError> {
    let text = folded(tree);
    let mut options = inferno::flamegraph::Options::default();
    options.title = title.to_string();
    options.count_name = "cycles".to_string();
    options.deterministic = true;
    let mut svg = Vec::new();
    inferno::flamegraph::from_lines(&mut options, text.lines(), &mut svg)
        .map_err(|e| LabError::Record(format!("flame graph: {e}")))?;
    String::from_utf8(svg).map_err(|e| LabError::Record(format!("flame graph: {e}")))
}

/// Cycles of each node with everything below it. Parents come before their children, so one backward pass does.
fn inclusive(tree: &CallTree) -> Vec<u64> {
    let mut cycles: Vec<u64> = tree.nodes.iter().map(|n| n.self_cycles).collect();
    for index in (1..cycles.len()).rev() {
        cycles[tree.nodes[index].parent] += cycles[index];
    }
    cycles
}

/// Nodes above a node, innermost first; the root is its own parent and ends the chain.
fn ancestors(tree: &CallTree, index: usize) -> impl Iterator<Item = usize> + '_ {
    std::iter::successors(Some(index), |&n| (n != 0).then(|| tree.nodes[n].parent)).skip(1)
}
