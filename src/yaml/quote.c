/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/yaml/quote.h"

/* Character of two or three bytes in UTF-8; 0 for any other, and for what is no UTF-8. */
static unsigned character(const unsigned char *c)
{
    const int next = (c[0] >= 0xc2 && c[0] <= 0xef) && (c[1] & 0xc0) == 0x80;
    if (next && c[0] < 0xe0) return (c[0] & 0x1fu) << 6 | (c[1] & 0x3fu);
    if (next && (c[2] & 0xc0) == 0x80)
        return (c[0] & 0x0fu) << 12 | (c[1] & 0x3fu) << 6 | (c[2] & 0x3fu);
    return 0;
}

/* YAML folds lines at U+0085, U+2028 and U+2029, drops U+FEFF at the start of a text, and refuses
 * the other control characters from U+0080 on and what is above U+FFFD. */
static int must_be_escaped(unsigned u)
{
    return (u >= 0x80 && u < 0xa0) || u == 0x2028 || u == 0x2029 || u == 0xfeff || u > 0xfffd;
}

void aw_yaml_quote(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c; ++c) {
        const unsigned u = character(c);
        if (*c == '"' || *c == '\\') {
            fprintf(out, "\\%c", *c);
        } else if (*c < 0x20 || *c == 0x7f) {
            fprintf(out, "\\x%02x", *c);
        } else if (must_be_escaped(u)) {
            fprintf(out, "\\u%04x", u);
            c += u < 0x800 ? 1 : 2;
        } else {
            fputc(*c, out);
        }
    }
    fputc('"', out);
}
