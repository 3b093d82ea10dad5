//! Proofs of objects whose C changed in comments alone: the functions of the new objects have the hashes of the list, so the list holds of them.
//!
//! Needs: the compilers that the list names.  Keeps: an object is taken over only whole, with every function it lists, made of the same
//! program by the same compiler.  Absent: proofs.

use crate::claims::is_of;
use crate::matrix::{compile, compiler_version, configs};
use crate::matrix_units::{all_units, make_shipped, Made, Unit};
use crate::primitives::Tree;
use crate::BenchError;
use santoku_certify::manifest::{look_up, List, Object, Record};
use santoku_certify::program_hash;
use santoku_num::hex;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// What became of the objects of a list.
#[derive(Clone, Debug, Default)]
pub struct Carried {
    /// The list, with the texts that the objects are made of now.
    pub list: List,
    /// Objects with the same functions in other text.
    pub taken: usize,
    /// Objects of the text that the list names.
    pub same: usize,
    /// Why others are as they were in the list, a line each.
    pub left: Vec<String>,
}

/// Compiles every object of a list again and compares the hashes of its functions. `tell`: what is being looked at.
///
/// # Errors
/// Those of making and compiling.
pub fn carried(tree: &Tree, list: List, tell: &dyn Fn(&str)) -> Result<Carried, BenchError> {
    let (all, configs) = (all_units(tree)?, configs()?);
    let folder = tempfile::tempdir().map_err(|e| BenchError::io(std::env::temp_dir(), &e))?;
    let mut made: BTreeMap<&str, Made> = BTreeMap::new();
    let mut done = Carried::default();
    let mut objects = vec![];
    for o in &list.objects {
        tell(&o.name());
        let found = all.iter().flat_map(|u| u.ways(&configs).into_iter().map(move |c| (u, c))).find(|(u, c)| is_of(o, u, c));
        let Some((unit, config)) = found else {
            done.left.push(format!("{}: there is no such object any more", o.name()));
            objects.push(o.clone());
            continue;
        };
        if !made.contains_key(unit.name.as_str()) {
            made.insert(&unit.name, make_shipped(tree, unit)?);
        }
        let made = &made[unit.name.as_str()];
        let text = hex(&Sha256::digest(&made.source));
        let fault = match compiler_version(&config) {
            _ if text == o.text => None,
            Ok(version) if version != o.compiler => Some(format!("the compiler here is {version}")),
            Err(e) => Some(e.to_string()),
            Ok(_) => fault(o, &list, made, &compile(&config, &made.source, &folder.path().join(&unit.name))?, unit),
        };
        match fault {
            Some(why) => {
                done.left.push(format!("{}: {why}", o.name()));
                objects.push(o.clone());
            }
            None => {
                *if text == o.text { &mut done.same } else { &mut done.taken } += 1;
                objects.push(Object { text, ..o.clone() });
            }
        }
    }
    done.list = List { objects, ..list };
    Ok(done)
}

/// Why the list says nothing of an object's code.
fn fault(o: &Object, list: &List, made: &Made, object: &[u8], unit: &Unit) -> Option<String> {
    if program_hash(&made.program) != o.program {
        return Some(format!("the program of {} is another", unit.name));
    }
    let image = match santoku_elf::load(object) {
        Ok(image) => image,
        Err(e) => return Some(e.to_string()),
    };
    let own: Vec<Record> = list.functions.iter().filter(|r| o.has(r)).cloned().collect();
    let held: BTreeSet<usize> = look_up(&image, &own).into_iter().flat_map(|m| m.records).collect();
    match (0..own.len()).find(|n| !held.contains(n)) {
        Some(n) => Some(format!("the code of `{}` is another", own[n].symbol)),
        None if own.is_empty() => Some("nothing is claimed of it".into()),
        None => None,
    }
}
