//! `<unit>.abi.json`, as far as bindings need it.

use serde::Deserialize;

/// A unit.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct Abi {
    pub unit: String,
    pub title: String,
    pub header: String,
    pub functions: Vec<Function>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    /// In C, without a semicolon; integers by the names that gcc and clang have for their types.
    pub declaration: String,
    pub returns: Returns,
    pub arguments: Vec<Argument>,
}

/// What a C function gives back.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Returns {
    Nothing,
    /// 0, or -1.
    Status,
    /// 1 or 0.
    Verdict,
    /// A number of at most 32 bits.
    Word32,
    Word64,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Input,
    Output,
    Length,
    Value,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct Argument {
    pub name: String,
    pub role: Role,
    /// Bytes of one number: 1 for octets.
    pub number: u32,
    /// How many bytes are read or written.
    pub bytes: Option<Bytes>,
    /// Least and greatest value of a length, a value, or a number that is written.
    pub range: Option<[String; 2]>,
    /// It may be a null pointer.
    #[serde(default)]
    pub null: bool,
    /// Inputs whose object it may be.
    #[serde(default)]
    pub same: Vec<String>,
    /// Of a length: it is a `size_t`.
    #[serde(default)]
    pub size_t: bool,
}

/// `times` times the length argument `of`, plus `add`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct Bytes {
    pub of: Option<String>,
    pub times: i64,
    pub add: i64,
}

/// What bindings cannot be made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbiError {
    pub function: String,
    pub reason: String,
}

impl Abi {
    /// # Errors
    /// serde's, with line and column.
    pub fn parse(text: &str) -> Result<Abi, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// What the names of all its functions begin with: whole words, as `santoku_p256_`, less than the shortest name.
    #[must_use]
    pub fn prefix(&self) -> &str {
        let first = self.functions.first().map_or("", |f| f.name.as_str());
        let shared = |name: &str| first.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
        let length = self.functions.iter().map(|f| shared(&f.name)).min().unwrap_or(0);
        first[..length].rfind('_').map_or("", |at| &first[..=at])
    }
}

impl Argument {
    /// A number that the function writes.
    #[must_use]
    pub fn is_number(&self) -> bool {
        self.role == Role::Output && self.number > 1
    }
}
