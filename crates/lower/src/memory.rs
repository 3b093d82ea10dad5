//! Objects of bytes, in any domain of values.
//!
//! Needs: a domain.  Keeps: every access lies in its object, at a multiple of its size, in what may be written and was written.  Absent: addresses
//! as numbers.
//! Trusted: nothing: nothing that ships is made of it.

use santoku_isa::Domain;

/// An object, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object(pub usize);

/// A place in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    pub object: Object,
    pub offset: i64,
}

/// Part of a value that was stored: its byte so many places above the lowest.
#[derive(Clone, Debug)]
struct Byte<V> {
    value: V,
    width: u32,
    place: u32,
    /// The store that put it there.
    store: u64,
}

struct Cells<V> {
    name: String,
    bytes: Vec<Option<Byte<V>>>,
    align: u32,
    writable: bool,
}

pub struct Memory<D: Domain> {
    objects: Vec<Cells<D::V>>,
    big_endian: bool,
    stores: u64,
}

impl<D: Domain> Memory<D> {
    pub fn new(big_endian: bool) -> Memory<D> {
        Memory { objects: vec![], big_endian, stores: 0 }
    }

    /// An object of so many bytes at a multiple of `align`, which holds nothing.
    pub fn object(&mut self, name: &str, bytes: u64, align: u32) -> Object {
        self.objects.push(Cells { name: name.into(), bytes: vec![None; bytes as usize], align, writable: true });
        Object(self.objects.len() - 1)
    }

    /// An object with these bytes.
    pub fn filled(&mut self, domain: &mut D, name: &str, bytes: &[u8], align: u32, writable: bool) -> Object {
        let object = self.object(name, bytes.len() as u64, align);
        for (cell, b) in self.objects[object.0].bytes.iter_mut().zip(bytes) {
            *cell = Some(Byte { value: domain.constant((*b).into(), 8), width: 8, place: 0, store: 0 });
        }
        self.objects[object.0].writable = writable;
        object
    }

    /// Frees the objects that were made after so many.
    pub fn keep(&mut self, objects: usize) {
        self.objects.truncate(objects);
    }

    pub fn len(&self) -> usize {
        self.objects.len()
    }

    fn range(&self, at: At, bytes: u64, align: u32) -> Result<std::ops::Range<usize>, String> {
        let cells = &self.objects[at.object.0];
        let inside = u64::try_from(at.offset).ok().filter(|o| o.checked_add(bytes).is_some_and(|end| end <= cells.bytes.len() as u64));
        let first = inside.ok_or_else(|| format!("{bytes} bytes at {} of `{}`, which has {}", at.offset, cells.name, cells.bytes.len()))?;
        if align > cells.align || first % u64::from(align) != 0 {
            return Err(format!("an access at {first} of `{}`, which is no multiple of {align}", cells.name));
        }
        Ok(first as usize..(first + bytes) as usize)
    }

    /// A value of `8 * bytes` bits.
    ///
    /// # Errors
    /// Where an access is none that a program may make.
    pub fn load(&self, domain: &mut D, at: At, bytes: u32) -> Result<D::V, String> {
        let range = self.range(at, bytes.into(), bytes)?;
        let cells = &self.objects[at.object.0];
        let read: Option<Vec<&Byte<D::V>>> = cells.bytes[range].iter().map(Option::as_ref).collect();
        let mut parts = read.ok_or_else(|| format!("{bytes} bytes at {} of `{}`, which were not written", at.offset, cells.name))?;
        if !self.big_endian {
            parts.reverse();
        }
        // The highest byte first. A value that was stored whole comes back whole.
        let one = parts.iter().enumerate().all(|(k, b)| b.store == parts[0].store && b.width == 8 * bytes && b.place == bytes - 1 - k as u32);
        if one {
            return Ok(parts[0].value.clone());
        }
        let mut value: Option<D::V> = None;
        for b in parts {
            let low = if b.width == 8 { b.value.clone() } else { domain.extract(&b.value, 8 * b.place, 8) };
            value = Some(value.map_or(low.clone(), |high| domain.concat(&high, &low)));
        }
        value.ok_or_else(|| "an access of no bytes".into())
    }

    /// The bytes of a value of `8 * bytes` bits.
    ///
    /// # Errors
    /// As [`Memory::load`].
    pub fn store(&mut self, at: At, bytes: u32, value: &D::V) -> Result<(), String> {
        let range = self.range(at, bytes.into(), bytes)?;
        self.stores += 1;
        let (store, big) = (self.stores, self.big_endian);
        let cells = self.writable(at)?;
        for (k, cell) in cells.bytes[range].iter_mut().enumerate() {
            let place = if big { bytes - 1 - k as u32 } else { k as u32 };
            *cell = Some(Byte { value: value.clone(), width: 8 * bytes, place, store });
        }
        Ok(())
    }

    /// Bytes from one place to another, as if all were read first; what was not written stays so.
    ///
    /// # Errors
    /// As [`Memory::load`].
    pub fn copy(&mut self, to: At, from: At, bytes: u64) -> Result<(), String> {
        let (to_range, from_range) = (self.range(to, bytes, 1)?, self.range(from, bytes, 1)?);
        let read = self.objects[from.object.0].bytes[from_range].to_vec();
        self.writable(to)?.bytes[to_range].clone_from_slice(&read);
        Ok(())
    }

    fn writable(&mut self, at: At) -> Result<&mut Cells<D::V>, String> {
        let cells = &mut self.objects[at.object.0];
        if cells.writable { Ok(cells) } else { Err(format!("`{}` is written to", cells.name)) }
    }
}
