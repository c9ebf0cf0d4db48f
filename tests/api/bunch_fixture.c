/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/api/bunch_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/assert_close.h"

#define LIGHT 299792458.0

bunch *draw(void)
{
    bunch *b = calloc(1, sizeof *b);
    assert_non_null(b);
    for (size_t i = 0; b->n < N; ++i) {
        const double u = fmod(0.5 + 0.7548776662466927 * (double)i, 1.0);
        const double v = fmod(0.5 + 0.5698402909980532 * (double)i, 1.0);
        const double r = sqrt(-2.0 * log(u > 0.0 ? u : 0.5)), angle = 6.283185307179586 * v;
        if (r > 4.0) continue;
        b->s0[b->n] = SIGMA * r * cos(angle);
        b->x[b->n] = SIGMA * r * sin(angle);
        b->ps[b->n] = GAMMA;
        b->charge[b->n++] = CHARGE / N;
    }
    return b;
}

int observe_at(aw_field *field, bunch *b, double S)
{
    const double beta = sqrt(1.0 - 1.0 / (GAMMA * GAMMA));
    for (size_t i = 0; i < b->n; ++i) b->s[i] = S + b->s0[i];
    const aw_bunch now = {b->n, b->s, b->x, b->ps, b->px, b->charge};
    return aw_field_observe(field, S / (beta * LIGHT), &now);
}

const aw_section bend[2] = {{0.2, 0.0, 0.0, 0.0}, {5.0, 1.0 / RADIUS, 0.0, 0.0}};

aw_field *lcls(void)
{
    aw_options options = aw_default_options();
    aw_field *field;
    options.tolerance = 1e-4;
    options.upstream_m = 1e4;
    assert_int_equal(aw_field_new(&options, bend, 2, &field), AW_DONE);
    return field;
}

void says(const aw_field *field, const char *words)
{
    if (!strstr(aw_message(field), words)) fail_msg("'%s' is not in: %s", words, aw_message(field));
}
