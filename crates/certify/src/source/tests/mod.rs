//! Executions beside the interpreter, layouts and signatures beside the C compiler.

mod abi;
mod agree;
mod gcc;
mod layouts;
mod library;
mod random;
mod rules;
