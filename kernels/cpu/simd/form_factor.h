/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums of form factors with short vectors. Included by variant.c for AW_REAL double and float;
 * AW_LETTER ends the names. Cosines and sines are the compiler's work, which turns their loops into
 * vectors; products keep a tile of sums in registers. */

#define AW_FORM(name) AW_CAT(name, AW_LETTER)
#define AW_FORM_TURNED AW_CAT(aw_phase_turn_, AW_LETTER)
#define AW_FORM_PHASE AW_CAT(aw_wave_phase_, AW_LETTER)
#define AW_FORM_STRIP AW_CAT(aw_form_strip_, AW_LETTER)
#define AW_FORM_VECTOR AW_FORM(aw_form_vector_)
#define AW_FORM_LANES (AW_VECTOR_BYTES / (int)sizeof(AW_REAL))

typedef AW_REAL AW_FORM_VECTOR __attribute__((vector_size(AW_VECTOR_BYTES)));

static void AW_FORM(aw_form_sum_)(const aw_wave *wave, const aw_form_points *p, double sum[2])
{
    const aw_wave k = *wave;
    const double *x = p->at[0], *y = p->at[1], *z = p->at[2], *weight = p->weight;
    AW_REAL re = 0, im = 0;
#pragma omp simd reduction(+ : re, im)
    for (int j = 0; j < p->n; ++j) {
        AW_REAL c, s;
        AW_FORM_TURNED(AW_FORM_PHASE(k.hi, k.lo, x[j], y[j], z[j]), &c, &s);
        re += (AW_REAL)weight[j] * c;
        im += (AW_REAL)weight[j] * s;
    }
    sum[0] += (double)re;
    sum[1] += (double)im;
}

static void AW_FORM(aw_form_row_)(const aw_wave *wave, const aw_form_points *p, void *row)
{
    const aw_wave k = *wave;
    const double *x = p->at[0], *y = p->at[1], *z = p->at[2], *weight = p->weight;
    AW_REAL *cosine = row, *sine = cosine + AW_FORM_BLOCK;
#pragma omp simd
    for (int j = 0; j < p->n; ++j) {
        AW_REAL c, s;
        AW_FORM_TURNED(AW_FORM_PHASE(k.hi, k.lo, x[j], y[j], z[j]), &c, &s);
        cosine[j] = (AW_REAL)weight[j] * c;
        sine[j] = (AW_REAL)weight[j] * s;
    }
}

static void AW_FORM(aw_form_columns_)(const aw_form_panel *panel, const aw_form_points *p,
                                      int first, int end, void *column)
{
    for (int j = first; j < end; ++j) {
        const double x = p->at[0][j], y = p->at[1][j], z = p->at[2][j];
        AW_REAL *AW_RESTRICT cosine = (AW_REAL *)column + (ptrdiff_t)j * AW_FORM_COLUMNS;
        AW_REAL *AW_RESTRICT sine = cosine + AW_FORM_PANEL;
        /* Without a pragma, which would keep hi and lo in memory. */
        for (int l = 0; l < AW_FORM_PANEL; ++l) {
            const double hi[3] = {panel->hi[0][l], panel->hi[1][l], panel->hi[2][l]};
            const double lo[3] = {panel->lo[0][l], panel->lo[1][l], panel->lo[2][l]};
            AW_FORM_TURNED(AW_FORM_PHASE(hi, lo, x, y, z), &cosine[l], &sine[l]);
        }
    }
}

/* Columns first .. first + AW_FORM_ACROSS vectors - 1 of the tile. */
static inline void AW_FORM_STRIP(const AW_REAL *row, const AW_REAL *column, int n, double *sum)
{
    AW_FORM_VECTOR acc[AW_FORM_ROWS][AW_FORM_ACROSS] = {{{0}}};
    for (int j = 0; j < n; ++j) {
        const AW_FORM_VECTOR *at =
            (const AW_FORM_VECTOR *)(column + (ptrdiff_t)j * AW_FORM_COLUMNS);
        AW_FORM_VECTOR b[AW_FORM_ACROSS];
#pragma GCC unroll 4
        for (int v = 0; v < AW_FORM_ACROSS; ++v) b[v] = at[v];
#pragma GCC unroll 6
        for (int r = 0; r < AW_FORM_ROWS; ++r) {
            const AW_FORM_VECTOR a = row[r * AW_FORM_BLOCK + j] - (AW_FORM_VECTOR){0};
#pragma GCC unroll 4
            for (int v = 0; v < AW_FORM_ACROSS; ++v) acc[r][v] += a * b[v];
        }
    }
#pragma GCC unroll 6
    for (int r = 0; r < AW_FORM_ROWS; ++r)
#pragma GCC unroll 4
        for (int v = 0; v < AW_FORM_ACROSS; ++v)
#pragma GCC unroll 16
            for (int l = 0; l < AW_FORM_LANES; ++l)
                sum[r * AW_FORM_COLUMNS + v * AW_FORM_LANES + l] += (double)acc[r][v][l];
}

static void AW_FORM(aw_form_tile_)(const void *row, const void *column, int n, double *sum)
{
    for (int c = 0; c < AW_FORM_COLUMNS; c += AW_FORM_ACROSS * AW_FORM_LANES)
        AW_FORM_STRIP(row, (const AW_REAL *)column + c, n, sum + c);
}

#undef AW_FORM
#undef AW_FORM_TURNED
#undef AW_FORM_PHASE
#undef AW_FORM_STRIP
#undef AW_FORM_VECTOR
#undef AW_FORM_LANES
