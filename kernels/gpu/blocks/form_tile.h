/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The terms of form factors on a GPU (kernels/gpu/blocks/form_factor.h), in one precision. Included
 * once for each: AW_REAL is float or double, AW_LETTER ends the names. */

#define AW_FORM_TERM AW_CAT(aw_gpu_form_term_, AW_LETTER)
#define AW_FORM_FACTORS AW_CAT(aw_gpu_form_factors_, AW_LETTER)
#define AW_FORM_FILL AW_CAT(aw_gpu_form_fill_, AW_LETTER)
#define AW_FORM_MULTIPLY AW_CAT(aw_gpu_form_multiply_, AW_LETTER)
#define AW_FORM_FLUSH AW_CAT(aw_gpu_form_flush_, AW_LETTER)
#define AW_FORM_TILE AW_CAT(aw_gpu_form_tile_, AW_LETTER)
#define AW_FORM_WAVE AW_CAT(aw_gpu_form_wave_, AW_LETTER)
#define AW_FORM_PHASE AW_CAT(aw_wave_phase_, AW_LETTER)
#define AW_FORM_TURNED AW_CAT(aw_phase_turn_, AW_LETTER)

/* Cosine and sine of a wave at particle j. */
AW_GPU_FN void AW_FORM_TERM(const aw_form_call *call, const aw_wave *k, size_t j, AW_REAL *c,
                            AW_REAL *s)
{
    const aw_phase phase =
        AW_FORM_PHASE(k->hi, k->lo, call->at[0][j], call->at[1][j], call->at[2][j]);
    AW_FORM_TURNED(phase, c, s);
}

/* Factors in shared memory, [particle][cosine, sine][wave]. */
typedef struct AW_FORM_FACTORS {
    AW_REAL outer[AW_GPU_FORM_STEP][2][AW_GPU_FORM_TILE];
    AW_REAL inner[AW_GPU_FORM_STEP][2][AW_GPU_FORM_TILE];
} AW_FORM_FACTORS;

/* The factors of particles `first` to `end` - 1; particles and waves that are not
 * there have zeros. Called by all threads. */
AW_GPU_FN void AW_FORM_FILL(const aw_gpu_form *g, size_t tile, size_t first, size_t end,
                            AW_FORM_FACTORS *s)
{
    const aw_form_call *call = &g->call;
    const size_t across = (call->inners + AW_GPU_FORM_TILE - 1) / AW_GPU_FORM_TILE;
    AW_GPU_EACH(t)
    {
        for (int i = t; i < 2 * AW_GPU_FORM_STEP * AW_GPU_FORM_TILE; i += AW_GPU_THREADS) {
            const int wave = i % AW_GPU_FORM_TILE, other = i / AW_GPU_FORM_TILE;
            const int step = other % AW_GPU_FORM_STEP;
            const int is_inner = other / AW_GPU_FORM_STEP;
            const size_t j = first + (size_t)step;
            const size_t k =
                (is_inner ? tile % across : tile / across) * AW_GPU_FORM_TILE + (size_t)wave;
            AW_REAL c = 0, sine = 0;
            if (j < end && k < (is_inner ? call->inners : call->outers)) {
                const AW_REAL weight = is_inner ? (AW_REAL)1 : (AW_REAL)call->weight[j];
                AW_FORM_TERM(call, is_inner ? &call->inner[k] : &call->outer[k], j, &c, &sine);
                c *= weight;
                sine *= weight;
            }
            AW_REAL(*to)[AW_GPU_FORM_TILE] = is_inner ? s->inner[step] : s->outer[step];
            to[0][wave] = c;
            to[1][wave] = sine;
        }
    }
}

/* Add the products of the particles in shared memory to the sums of a thread. */
AW_GPU_FN void AW_FORM_MULTIPLY(const AW_FORM_FACTORS *s, int t, AW_REAL acc[AW_GPU_FORM_OUTER][4])
{
    const int b = t % AW_GPU_WARP, first = t / AW_GPU_WARP * AW_GPU_FORM_OUTER;
    for (int j = 0; j < AW_GPU_FORM_STEP; ++j) {
        const AW_REAL c = s->inner[j][0][b], sine = s->inner[j][1][b];
        for (int a = 0; a < AW_GPU_FORM_OUTER; ++a) {
            const AW_REAL e = s->outer[j][0][first + a], f = s->outer[j][1][first + a];
            acc[a][0] += e * c;
            acc[a][1] += e * sine;
            acc[a][2] += f * c;
            acc[a][3] += f * sine;
        }
    }
}

/* Add the sums of a thread to those of the part, and begin them anew. */
AW_GPU_FN void AW_FORM_FLUSH(const aw_gpu_form *g, size_t tile, double *sum, int t,
                             AW_REAL acc[AW_GPU_FORM_OUTER][4])
{
    const aw_form_call *call = &g->call;
    const size_t across = (call->inners + AW_GPU_FORM_TILE - 1) / AW_GPU_FORM_TILE;
    const size_t b = tile % across * AW_GPU_FORM_TILE + (size_t)(t % AW_GPU_WARP);
    for (int i = 0; i < AW_GPU_FORM_OUTER; ++i) {
        const size_t a =
            tile / across * AW_GPU_FORM_TILE + (size_t)(t / AW_GPU_WARP * AW_GPU_FORM_OUTER + i);
        if (a < call->outers && b < call->inners)
            aw_form_pair_add(acc[i][0], acc[i][1], acc[i][2], acc[i][3],
                             &sum[4 * (a * call->inners + b)]);
        for (int k = 0; k < 4; ++k) acc[i][k] = 0;
    }
}

/* A tile of a part. */
AW_GPU_FN void AW_FORM_TILE(const aw_gpu_form *g, size_t part, size_t tile, double *sum,
                            AW_FORM_FACTORS *s)
{
    AW_REAL acc[AW_GPU_PRIVATE][AW_GPU_FORM_OUTER][4];
    size_t first;
    const size_t end = aw_gpu_form_range(g, part, &first);
    for (int own = 0; own < AW_GPU_PRIVATE; ++own)
        for (int i = 0; i < AW_GPU_FORM_OUTER; ++i)
            for (int k = 0; k < 4; ++k) acc[own][i][k] = 0;
    for (size_t j = first; j < end; j += AW_GPU_FORM_STEP) {
        const size_t next = j + AW_GPU_FORM_STEP;
        AW_FORM_FILL(g, tile, j, end, s);
        AW_GPU_BARRIER();
        AW_GPU_EACH(t)
        {
            AW_FORM_MULTIPLY(s, t, acc[AW_GPU_INDEX(t)]);
            if (next >= end || (next - first) % AW_GPU_FORM_CHUNK == 0)
                AW_FORM_FLUSH(g, tile, sum, t, acc[AW_GPU_INDEX(t)]);
        }
        AW_GPU_BARRIER();
    }
}

/* A wave without inner waves: its thread goes through the particles of the part. */
AW_GPU_FN void AW_FORM_WAVE(const aw_gpu_form *g, size_t part, size_t wave, double *sum)
{
    size_t first;
    const size_t end = aw_gpu_form_range(g, part, &first);
    AW_REAL re = 0, im = 0;
    for (size_t j = first; j < end; ++j) {
        const AW_REAL weight = (AW_REAL)g->call.weight[j];
        AW_REAL c, s;
        AW_FORM_TERM(&g->call, &g->call.outer[wave], j, &c, &s);
        re += weight * c;
        im += weight * s;
        if (j + 1 < end && (j + 1 - first) % AW_FORM_BLOCK != 0) continue;
        sum[2 * wave] += (double)re;
        sum[2 * wave + 1] += (double)im;
        re = im = 0;
    }
}

#undef AW_FORM_TERM
#undef AW_FORM_FACTORS
#undef AW_FORM_FILL
#undef AW_FORM_MULTIPLY
#undef AW_FORM_FLUSH
#undef AW_FORM_TILE
#undef AW_FORM_WAVE
#undef AW_FORM_PHASE
#undef AW_FORM_TURNED
