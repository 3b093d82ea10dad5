//! The C around a kernel: the structure of keys, its set-up, and the functions of batches.

use crate::isa::Layout;
use crate::steps::{words, Steps};
use crate::transpose::functions;
use santoku_ir::{Len, Ty};
use std::fmt::Write;

impl Steps<'_> {
    /// Key structure, set-up, and the two batch functions.
    pub fn api(&self) -> (String, String) {
        let (name, layout) = (&self.request.name, self.request.layout);
        let register = if layout == Layout::Scalar { format!("typedef uint{}_t V;\n", self.block.bits.next_power_of_two()) } else { String::new() };
        let mut source = register;
        let prepared: Vec<(String, Ty)> = self.prepare.iter().flat_map(|p| p.rets.iter().map(|id| (p.local(*id).name.clone(), p.local(*id).ty.clone()))).collect();
        let element = |bits: u32| match layout {
            Layout::Scalar => format!("uint{}_t", bits.next_power_of_two().max(8)),
            Layout::Vertical => "V".to_string(),
            Layout::Bitslice => "uint64_t".to_string(),
        };
        let _ = writeln!(source, "struct {name}_keys {{");
        for (n, t) in self.shared.iter().chain(&prepared) {
            let (_, bits) = words(t).unwrap_or((0, 8));
            let last = if layout == Layout::Bitslice { format!("[{bits}]") } else { String::new() };
            let _ = writeln!(source, "    {} {}{}{last};", element(bits), safe(n), dims(t));
        }
        if self.shared.is_empty() {
            source.push_str("    uint8_t none;\n");
        }
        source.push_str("};\n\n");
        source.push_str(&self.setup(&element, &prepared));
        source.push_str(&functions(name, self.block, layout, &self.request.isa));
        source.push_str(&self.batches(&prepared));
        let header = format!(
            "struct {name}_keys;\nsize_t {name}_keys_size(void);\nvoid {name}_setup(struct {name}_keys *k, const uint8_t *shared);\n\
             void {name}_blocks(uint8_t *out, const uint8_t *in, const struct {name}_keys *k, size_t batches);\n\
             void {name}_sliced(void *out, const void *in, const struct {name}_keys *k, size_t batches);\n\n"
        );
        (source, header)
    }

    fn setup(&self, element: &dyn Fn(u32) -> String, prepared: &[(String, Ty)]) -> String {
        let name = &self.request.name;
        let mut t = format!("size_t {name}_keys_size(void)\n{{\n    return sizeof(struct {name}_keys);\n}}\n\n");
        let _ = writeln!(t, "void {name}_setup(struct {name}_keys *k, const uint8_t *shared)\n{{");
        if self.shared.is_empty() {
            t.push_str("    (void)shared;\n    k->none = 0;\n");
        }
        let mut offset = 0;
        for (n, ty) in &self.shared {
            let (count, bits) = words(ty).unwrap_or((0, 8));
            let (bytes, ptr) = (bits / 8, format!("(({} *)&k->{})", element(bits), safe(n)));
            let mut word = String::new();
            for j in 0..bytes {
                let _ = write!(word, "{}(uint64_t)shared[{offset} + {bytes} * i + {j}] << {}", if j > 0 { " | " } else { "" }, 8 * j);
            }
            let store = match self.request.layout {
                Layout::Scalar => format!("{ptr}[i] = ({})w;", element(bits)),
                Layout::Vertical => format!("{ptr}[i] = V_SET{bits}(w);"),
                Layout::Bitslice => format!("for (j = 0; j < {bits}; j++) {{ {ptr}[{bits} * i + j] = 0 - (w >> j & 1); }}"),
            };
            let j = if self.request.layout == Layout::Bitslice { ", j" } else { "" };
            let _ = writeln!(t, "    {{\n        size_t i{j};\n        for (i = 0; i < {count}; i++) {{\n            uint64_t w = {word};\n            {store}\n        }}\n    }}");
            offset += count * bytes;
        }
        if !prepared.is_empty() {
            let outs = prepared.iter().map(|(n, _)| format!("k->{}", safe(n)));
            let ins = self.shared.iter().map(|(n, _)| format!("k->{}", safe(n)));
            let _ = writeln!(t, "    {name}_prepare({});", outs.chain(ins).collect::<Vec<_>>().join(", "));
        }
        t.push_str("}\n\n");
        t
    }

    fn batches(&self, prepared: &[(String, Ty)]) -> String {
        let (name, k, layout) = (&self.request.name, self.request.interleave, self.request.layout);
        let n = self.block.registers(self.request.layout);
        let lanes = self.lanes();
        let bytes = lanes * self.block.bytes();
        let call = |out: &str, input: &str| {
            let pick = |base: &str| (0..k).map(|c| format!("(void *)({base} + {})", c * n)).collect::<Vec<_>>();
            let keys = self.shared.iter().chain(prepared).map(|(n, t)| match t {
                Ty::Word(_) if layout != Layout::Bitslice => format!("k->{}", safe(n)),
                _ => format!("(void *)k->{}", safe(n)),
            });
            [pick(out), pick(input), keys.collect()].concat().join(", ")
        };
        let total = k * n;
        let unused = if self.shared.is_empty() { "    (void)k;\n" } else { "" };
        let mut t = format!(
            "void {name}_sliced(void *out, const void *in, const struct {name}_keys *k, size_t batches)\n{{\n    V *o = out;\n    V *p = (void *)in;\n{unused}    \
             for (; batches > 0; batches--, o += {total}, p += {total}) {{\n        {name}_core({});\n    }}\n}}\n\n",
            call("o", "p")
        );
        let _ = write!(
            t,
            "void {name}_blocks(uint8_t *out, const uint8_t *in, const struct {name}_keys *k, size_t batches)\n{{\n    V o[{total}], p[{total}];\n    int c;\n{unused}    \
             for (; batches > 0; batches--, out += {step}, in += {step}) {{\n        for (c = 0; c < {k}; c++) {{ {name}_in(p + c * {n}, in + c * {bytes}); }}\n        \
             {name}_core({});\n        for (c = 0; c < {k}; c++) {{ {name}_out(out + c * {bytes}, o + c * {n}); }}\n    }}\n}}\n",
            call("o", "p"),
            step = k * bytes
        );
        t
    }
}


fn dims(t: &Ty) -> String {
    match t {
        Ty::Array { elem, len: Len::Const(n), .. } => format!("[{n}]{}", dims(elem)),
        _ => String::new(),
    }
}

/// A C identifier.
fn safe(name: &str) -> String {
    format!("in_{}", name.replace(|c: char| !c.is_ascii_alphanumeric(), "_"))
}
