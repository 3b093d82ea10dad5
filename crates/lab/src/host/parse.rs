//! Reads the bench's lines, checks that results agree, and turns samples into percentiles.

use super::error::HostError;
use super::job::{HostImpl, HostMachine, HostRow, HostRun, Spread, Workload};
use santoku_num::{from_hex, hex};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Line {
    Machine { tsc_hz: f64, pinned_cpu: i64, chain_core_cycles: u64, chain_tsc: Vec<u64> },
    Result { implementation: String, op: String, hex: String },
    Refused { implementation: String, code: i64 },
    Samples { implementation: String, op: String, bytes: u64, reps: usize, tsc: Vec<u64>, probe: Vec<u64>, instructions: u64 },
}

/// Fewest samples whose percentiles mean something.
const KEPT_MIN: usize = 20;
/// How much slower than an undisturbed one a probe may be.
const PROBE_SLACK: f64 = 1.05;

/// Rows of the bench output `text`, in its order.
pub fn rows(text: &str, impls: &[HostImpl], compilers: &[String], workload: &Workload) -> Result<HostRun, HostError> {
    let internal = |reason: &str| HostError::Internal(reason.to_string());
    let mut agreed: BTreeMap<String, (String, String)> =
        workload.expected.iter().map(|(op, bytes)| (op.clone(), ("the expected result".to_string(), hex(bytes)))).collect();
    let lines: Vec<Line> = text
        .lines()
        .map(|line| serde_json::from_str(line).map_err(|e| HostError::Internal(format!("bench line: {e}"))))
        .collect::<Result<_, _>>()?;
    let quiet = quiet_probe(&lines);
    let mut machine = None;
    let mut rows = Vec::new();
    let mut results: BTreeMap<(String, String), Vec<u8>> = BTreeMap::new();
    for line in lines {
        match line {
            Line::Refused { implementation, code } => return Err(HostError::Refused { implementation, code }),
            // An operation whose result is not for comparison reports none.
            Line::Result { hex, .. } if hex.is_empty() => {}
            Line::Result { implementation, op, hex } => {
                results.insert((implementation.clone(), op.clone()), from_hex(&hex).ok_or_else(|| internal("a result that is no hexadecimal"))?);
                if workload.compared {
                    agree(&mut agreed, implementation, op, hex)?;
                }
            }
            Line::Machine { tsc_hz, pinned_cpu, chain_core_cycles, chain_tsc } => {
                let ratios = chain_tsc.iter().map(|t| chain_core_cycles as f64 / (*t).max(1) as f64).collect();
                let core_per_tsc = spread(ratios).ok_or_else(|| internal("no calibration"))?;
                machine = Some(HostMachine { cpu: cpu_model(), tsc_hz, core_per_tsc, pinned_cpu: u32::try_from(pinned_cpu).ok() });
            }
            Line::Samples { implementation, op, bytes, reps, tsc, probe, instructions } => {
                let machine = machine.as_ref().ok_or_else(|| internal("samples before the machine line"))?;
                let n = impls.iter().position(|i| i.name == implementation).ok_or_else(|| internal("unknown implementation"))?;
                let taken = tsc.len();
                let per_op: Vec<f64> = undisturbed(&tsc, &probe, quiet).iter().map(|t| *t as f64 / reps.max(1) as f64).collect();
                let samples = per_op.len();
                let cycles_tsc = spread(per_op).ok_or_else(|| internal("no samples"))?;
                let cycles_core = cycles_tsc.times(machine.core_per_tsc.median);
                let result = results.remove(&(implementation.clone(), op.clone())).unwrap_or_default();
                rows.push(HostRow {
                    implementation,
                    op,
                    compiler: compilers[n].clone(),
                    cflags: impls[n].cflags.join(" "),
                    samples,
                    taken,
                    reps,
                    cycles_tsc,
                    cycles_core,
                    core_cycles_per_byte: (bytes > 0).then(|| cycles_core.times(1.0 / bytes as f64)),
                    ops_per_second: machine.tsc_hz / cycles_tsc.median,
                    instructions: (instructions > 0).then_some(instructions),
                    result,
                });
            }
        }
    }
    match machine {
        Some(machine) if !rows.is_empty() => {
            Ok(HostRun { workload: workload.name.clone(), message_len: workload.message_len, machine, rows })
        }
        _ => Err(internal("the bench printed no rows")),
    }
}

/// The probe of an undisturbed core: the fifth percentile of all in the run.
fn quiet_probe(lines: &[Line]) -> u64 {
    let probes = |l: &Line| if let Line::Samples { probe, .. } = l { probe.clone() } else { Vec::new() };
    let mut all: Vec<u64> = lines.iter().flat_map(probes).collect();
    all.sort_unstable();
    all.get(all.len() / 20).copied().unwrap_or(0)
}

/// The samples beside whose probes no neighbour on the core was seen; where they are too few, the least disturbed ones.
fn undisturbed(tsc: &[u64], probe: &[u64], quiet: u64) -> Vec<u64> {
    let mut by_probe: Vec<(u64, u64)> = probe.iter().copied().zip(tsc.iter().copied()).collect();
    by_probe.sort_unstable();
    let still = by_probe.iter().filter(|(p, _)| *p as f64 <= quiet as f64 * PROBE_SLACK).count();
    by_probe.iter().take(still.max(KEPT_MIN)).map(|(_, t)| *t).collect()
}

/// The first implementation of an operation (or the workload's expectation) is what the others must equal.
fn agree(agreed: &mut BTreeMap<String, (String, String)>, implementation: String, op: String, found: String) -> Result<(), HostError> {
    match agreed.get(&op) {
        Some((other, expected)) if *expected != found => {
            Err(HostError::Disagree { implementation, other: other.clone(), op, expected: expected.clone(), found })
        }
        Some(_) => Ok(()),
        None => {
            agreed.insert(op, (implementation, found));
            Ok(())
        }
    }
}

impl Spread {
    fn times(self, k: f64) -> Self {
        Spread { p10: self.p10 * k, median: self.median * k, p90: self.p90 * k }
    }
}

/// Nearest-rank percentiles; none of an empty list.
pub fn spread(mut values: Vec<f64>) -> Option<Spread> {
    if values.is_empty() {
        return None;
    }
    values.sort_by(f64::total_cmp);
    let at = |p: f64| values[(p * (values.len() - 1) as f64).round() as usize];
    Some(Spread { p10: at(0.1), median: at(0.5), p90: at(0.9) })
}


fn cpu_model() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = info.lines().find(|l| l.starts_with("model name"));
    line.and_then(|l| l.split_once(": ")).map_or("unknown", |(_, name)| name).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_beside_a_neighbour_are_left_out() {
        let tsc: Vec<u64> = (0..100).map(|i| if i % 2 == 0 { 1000 } else { 1900 }).collect();
        let probe: Vec<u64> = (0..100).map(|i| if i % 2 == 0 { 100 } else { 180 }).collect();
        let line = Line::Samples { implementation: "a".into(), op: "f".into(), bytes: 0, reps: 1, tsc: tsc.clone(), probe: probe.clone(), instructions: 0 };
        let quiet = quiet_probe(&[line]);
        assert_eq!(quiet, 100);
        assert_eq!(undisturbed(&tsc, &probe, quiet), vec![1000; 50]);
        // Nothing but noise: the least disturbed stand for it, and their number says so.
        let noisy: Vec<u64> = (0..100).map(|i| 150 + i).collect();
        assert_eq!(undisturbed(&tsc, &noisy, quiet).len(), KEPT_MIN);
        // A sample that is slow by itself is no neighbour's fault and stays.
        assert_eq!(undisturbed(&tsc, &vec![100; 100], quiet).len(), 100);
    }
}
