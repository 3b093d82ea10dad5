//! What test programs print with.

/// Prints what a test program measured.
pub(super) const PRINT: &str = "
void lab_putc(int c);
static void print(unsigned v)
{
    char digits[10];
    int n = 0;
    do digits[n++] = (char)('0' + v % 10), v /= 10; while (v);
    while (n) lab_putc(digits[--n]);
    lab_putc('\\n');
}
";
