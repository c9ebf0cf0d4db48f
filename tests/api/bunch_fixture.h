/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A round bunch that moves rigidly through the LCLS bend, for tests of libarcwake. */
#ifndef AW_TESTS_API_BUNCH_FIXTURE_H
#define AW_TESTS_API_BUNCH_FIXTURE_H
#include <stddef.h>

#include "src/api/arcwake.h"

#define RADIUS 25.13
#define GAMMA 1e4
#define SIGMA 50e-6
#define CHARGE 1e-9

enum { N = 60000 };

typedef struct bunch {
    double s0[N], x[N], s[N], ps[N], px[N], charge[N];
    size_t n;
} bunch;

/* Quasi-random particles (additive recurrence), cut at 4 sigma; to be freed. */
bunch *draw(void);

/* Observe the bunch with its centre at S. */
int observe_at(aw_field *field, bunch *b, double S);

/* A drift of 0.2 m and the bend. */
extern const aw_section bend[2];

/* Its field with a tolerance of 1e-4; to be freed. */
aw_field *lcls(void);

/* Fail unless the field's message has these words. */
void says(const aw_field *field, const char *words);

#endif
