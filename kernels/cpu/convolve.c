/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CPU device's convolutions (kernels/math/convolution.h), by FFT. Each transform runs in one
 * thread, with a plan that is not chosen by timing, so that results do not depend on the number of
 * threads. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "kernels/cpu/convolver.h"
#include "kernels/cpu/device.h"
#include "kernels/math/slope.h"
#include "src/base/memory.h"

/* A block on one lattice. */
typedef struct block {
    aw_cpu_convolver *c;
    const aw_convolution *plan;
    int spectra[3], missing; /* of the slices (aw_cpu_convolver_begin) */
    int halved[2];           /* along, across: 1: two sets of nodes, half a cell apart */
    int adds;                /* 1: to the sums of blocks before it on the same lattice */
} block;

/* Sets of nodes of a block's lattice. Sets along it follow each other. */
static int sets_of(const block *b) { return (1 + b->halved[0]) * (1 + b->halved[1]); }

/* Output j of a block in Fourier space. */
static aw_spectral_sum spectral_sum(const block *b, int j)
{
    const aw_cpu_convolver *c = b->c;
    const aw_convolution *plan = b->plan;
    aw_spectral_sum s = {.sources = 3 * plan->slices,
                         .factor = plan->lattice.in_place || sets_of(b) > 1 ? NULL : c->factor,
                         .adds = b->adds};
    for (int q = 0; q < AW_RINGS; ++q) {
        const int axis = (q - AW_RADIAL) / AW_RADIAL_SLOPES, p = (q - AW_RADIAL) % AW_RADIAL_SLOPES;
        for (int i = 0; i < s.sources; ++i)
            s.weight[q][i] = q < AW_RADIAL         ? plan->value[j][i][q]
                             : q < AW_GROWTH_RINGS ? plan->slope[j][i][axis][p]
                             : plan->grows ? aw_convolution_growth(plan, j, i, q - AW_GROWTH_RINGS)
                                           : 0.0;
        s.even[q] = c->ring[q].even;
        s.odd[q] = c->ring[q].odd;
    }
    for (int i = 0; i < s.sources; ++i)
        s.source[i] = &c->slice[b->spectra[i / 3]].moment[i % 3][0][0];
    return s;
}

/* What a point gets from the convolutions about it, with lengths in cells. */
typedef struct at_point {
    double value[AW_CONVOLVED];
    double turned[3]; /* phi, psi, rate of phi: what the rest of the turn adds */
} at_point;

/* Add the results at the point that is (u, w) cells from the centre of the lattice. */
static void add_results(const block *b, double u, double w, const at_point *at,
                        double sum[AW_RESULTS])
{
    const aw_block_lattice *l = &b->plan->lattice;
    const double norm = 1.0 / ((double)b->c->size_s * b->c->size_x); /* FFTW does not normalise */
    const double aspect = l->hs / l->hx;
    const double rate = w / aspect * at->value[AW_TURNING_ALONG] -
                        u * aspect * at->value[AW_TURNING_ACROSS] + at->turned[2];
    for (unsigned k = 0; k < AW_RESULTS; ++k) sum[k] += norm * at->value[k];
    /* The moments move along the orbit: A is phi times the tangent. */
    sum[AW_PHI] += norm * at->turned[0];
    sum[AW_AZ] += norm * at->turned[0] * l->frame.ct;
    sum[AW_AX] += norm * at->turned[0] * l->frame.st;
    sum[AW_PSI] += norm * at->turned[1];
    sum[AW_DPHI] += norm * rate;
    sum[AW_DAZ] += norm * rate * l->frame.ct;
    sum[AW_DAX] += norm * rate * l->frame.st;
}

/* Numbers from one line of values to the next. */
static ptrdiff_t line_of(const aw_cpu_convolver *c) { return 2 * (c->size_s / 2 + 1); }

/* Values of output j at the nodes of a set. */
static const double *values(const aw_cpu_convolver *c, int set, int j)
{
    return &c->sum[set][j][0][0];
}

/* Add the results to the sums of row j, whose points are nodes of the lattice. */
static void add_row(const block *b, int j, double (*I)[AW_RESULTS])
{
    const aw_cpu_convolver *c = b->c;
    const int ns = c->ns + 2 * c->pad[0], nx = c->nx + 2 * c->pad[1], row = j + c->pad[1];
    const double aspect = b->plan->lattice.hs / b->plan->lattice.hx;
    for (int column = c->pad[0]; column < c->ns + c->pad[0]; ++column, ++I) {
        const ptrdiff_t node = row * line_of(c) + column;
        const double u = column - 0.5 * (ns - 1), w = row - 0.5 * (nx - 1);
        at_point at;
        at.turned[2] = 0.0;
        for (int k = 0; k < AW_CONVOLVED_IN_PLACE; ++k) at.value[k] = values(c, 0, k)[node];
        for (int k = 0; k < 2; ++k) {
            const double *out = values(c, 0, AW_TURNED_PHI + k) + node;
            at.turned[k] = w / aspect * aw_slope_at(out, 1, column, ns) -
                           u * aspect * aw_slope_at(out, line_of(c), row, nx);
        }
        add_results(b, u, w, &at, *I);
    }
}

/* Collect the spline coefficients of row j of all sets, node by node. */
static void collect_row(const block *b, int j)
{
    const aw_cpu_convolver *c = b->c;
    const int ns = c->ns + 2 * c->pad[0], along = 1 + b->halved[0], across = 1 + b->halved[1];
    for (int set = 0; set < sets_of(b); ++set) {
        const ptrdiff_t row = across * j + set / along, from = j * line_of(c);
        double(*node)[AW_LATTICE_WIDTH] = c->node + row * along * ns + set % along;
        for (int i = 0; i < ns; ++i, node += along)
            for (int k = 0; k < AW_CONVOLVED; ++k) (*node)[k] = values(c, set, k)[from + i];
    }
}

/* The cube of D - D_m, over 6, is on a block close to this many times D - D_m times the square of
 * the largest: 3/5 of that makes the rest orthogonal to all that is linear in D. */
#define AW_THIRD_TURN (0.6 / 6.0)

/* Interpolate at the point that is (u, w) cells from the centre of the lattice. */
static at_point interpolate(const aw_variant *variant, const block *b, double u, double w)
{
    const aw_cpu_convolver *c = b->c;
    const int ns = c->ns + 2 * c->pad[0], nx = c->nx + 2 * c->pad[1];
    const int along = 1 + b->halved[0], across = 1 + b->halved[1]; /* nodes per cell */
    const double aspect = b->plan->lattice.hs / b->plan->lattice.hx;
    const double turned = b->plan->lattice.turned;
    const aw_lattice_values lattice = {(const double(*)[AW_LATTICE_WIDTH])c->node, along * ns,
                                       across * nx};
    const aw_lattice_turn turn = {.a = along * (u + 0.5 * (ns - 1)),
                                  .b = across * (w + 0.5 * (nx - 1)),
                                  .u = along * u,
                                  .w = across * w,
                                  .along = along * w / aspect,
                                  .across = across * u * aspect,
                                  .third = turned * turned * AW_THIRD_TURN};
    aw_lattice_sums sums;
    at_point at;
    variant->lattice_sum(&lattice, &turn, &sums);
    memcpy(at.value, sums.value, sizeof at.value);
    at.turned[0] = sums.once[AW_TURNED_PHI] + sums.twice[AW_TURNED_TWICE_PHI];
    at.turned[1] = sums.once[AW_TURNED_PSI] + sums.twice[AW_TURNED_TWICE_PSI];
    at.turned[2] = sums.once[AW_TURNED_RATE] + sums.twice[AW_TURNED_TWICE_RATE];
    return at;
}

/* Interpolate the results at the points of row j, and add them to the sums. */
static void interpolate_row(const aw_cpu_state *cpu, const block *b, int j, double (*I)[AW_RESULTS])
{
    const aw_slice *now = &cpu->history.slice[0];
    const aw_cpu_convolver *c = b->c;
    for (int i = 0; i < c->ns; ++i) {
        double u, w;
        aw_lattice_place(&b->plan->lattice, (i - 0.5 * (c->ns - 1)) * now->hs,
                         (j - 0.5 * (c->nx - 1)) * now->hx, &u, &w);
        const at_point at = interpolate(cpu->variant, b, u, w);
        add_results(b, u, w, &at, I[i]);
    }
}

/* The circle of a node about the points of a set. */
static aw_ring ring_of(const block *b, int set, const aw_common_node *node, double density)
{
    const int along = 1 + b->halved[0], across = set / along;
    return (aw_ring){.r = node->r,
                     .weight = node->weight,
                     .density = node->density * density,
                     .shift = {0.5 * (set % along), 0.5 * across}};
}

/* Numbers that a lattice has at each node. */
static int outputs_of(const block *b)
{
    return b->plan->lattice.in_place ? AW_CONVOLVED_IN_PLACE : AW_CONVOLVED;
}

/* Convolve a block on one lattice, in Fourier space. node[nodes] are those of the block. */
static void convolve_block(aw_cpu_state *cpu, const block *b, const aw_common_node *nodes, size_t n)
{
    aw_cpu_convolver *c = b->c;
    const aw_convolution *plan = b->plan;
    const aw_history_view *h = &cpu->history;
    const size_t reals = (size_t)c->size_x * (size_t)c->size_s;
    const int rows = c->all.row[1], columns = 2 * c->all.ns - 1;
    const int outputs = outputs_of(b), sets = sets_of(b);
    aw_spectral_sum sum[AW_CONVOLVED];
    for (int j = 0; j < outputs; ++j) sum[j] = spectral_sum(b, j);
#pragma omp parallel num_threads(cpu->threads)
    {
        const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        double *real = c->real + (size_t)thread * reals;
        /* Weights are summed in the order of the nodes, for any number of threads. */
        aw_displacements mine = c->all;
        mine.row[0] = rows * thread / threads;
        mine.row[1] = rows * (thread + 1) / threads;
        for (int set = 0; set < sets; ++set) {
            memset(mine.weights[(ptrdiff_t)mine.row[0] * columns], 0,
                   (size_t)(mine.row[1] - mine.row[0]) * (size_t)columns * sizeof *mine.weights);
            for (size_t i = 0; i < n; ++i) {
                const aw_ring ring = ring_of(b, set, &nodes[i], cpu->density);
                cpu->variant->convolution_ring(h, plan, &ring, &mine);
            }
#pragma omp barrier
#pragma omp for schedule(dynamic)
            for (int i = 0; i < AW_RINGS + AW_CONVOLUTION_SOURCES; ++i) {
                const int t = (i - AW_RINGS) / 3, k = (i - AW_RINGS) % 3;
                if (i >= AW_GROWTH_RINGS && i < AW_RINGS && !plan->grows) continue;
                if (i < AW_RINGS) {
                    aw_cpu_convolver_weights(c, i, real);
                    fftw_execute_dft_r2c(c->forward, real, (fftw_complex *)c->ring[i].even);
                    aw_cpu_convolver_split(c, i);
                } else if (set == 0 && b->missing & 1 << t) {
                    aw_cpu_convolver_moment(c, h, plan->slice[t], k, real);
                    fftw_execute_dft_r2c(c->forward, real, c->slice[b->spectra[t]].moment[k]);
                }
            }
#pragma omp for schedule(static)
            for (ptrdiff_t m = 0; m < (ptrdiff_t)c->numbers; m += AW_SPECTRAL_CHUNK)
                for (int j = 0; j < outputs; ++j)
                    cpu->variant->spectral_sum(&sum[j], (size_t)m, &c->sum[set][j][0][0] + m);
        }
    }
}

/* Add the results of all blocks on a lattice, of which b is the last, to the sums. */
static void add_lattice(aw_cpu_state *cpu, const block *b, double (*I)[AW_RESULTS])
{
    aw_cpu_convolver *c = b->c;
    const size_t reals = (size_t)c->size_x * (size_t)c->size_s;
    const int outputs = outputs_of(b), sets = sets_of(b);
#pragma omp parallel num_threads(cpu->threads)
    {
        double *real = c->real + (size_t)omp_get_thread_num() * reals;
        if (sets > 1) {
#pragma omp for schedule(static)
            for (int line = 0; line < c->size_x; ++line)
                for (int j = 0; j < outputs; ++j) aw_cpu_convolver_join(c, j, b->halved, line);
        }
#pragma omp for schedule(dynamic)
        for (int i = 0; i < sets * outputs; ++i) {
            fftw_complex *values_of = c->sum[i / outputs][i % outputs];
            fftw_execute_dft_c2r(c->backward, values_of, real);
            for (ptrdiff_t line = 0; line < c->nx + 2 * c->pad[1]; ++line)
                memcpy((double *)values_of + line * line_of(c), real + line * c->size_s,
                       (size_t)(c->ns + 2 * c->pad[0]) * sizeof *real);
        }
        if (b->plan->lattice.in_place) {
#pragma omp for schedule(static)
            for (int j = 0; j < c->nx; ++j) add_row(b, j, I + (ptrdiff_t)j * c->ns);
        } else {
#pragma omp for schedule(static)
            for (int j = 0; j < c->nx + 2 * c->pad[1]; ++j) collect_row(b, j);
#pragma omp for schedule(static)
            for (int j = 0; j < c->nx; ++j) interpolate_row(cpu, b, j, I + (ptrdiff_t)j * c->ns);
        }
    }
}

/* Block i of a rule, and those that share its lattices. */
static aw_block_range block_of(const aw_common_rule *common, size_t i)
{
    size_t first = i, last = i;
    while (first > 0 && common->block_joins[first]) --first;
    while (last + 1 < common->blocks && common->block_joins[last + 1]) ++last;
    return (aw_block_range){.from = i > 0 ? common->block_end[i - 1] : 0.0,
                            .to = common->block_end[i],
                            .shared_from = first > 0 ? common->block_end[first - 1] : 0.0,
                            .shared_to = common->block_end[last]};
}

/* Find the lattices of all blocks. */
static aw_status find_lattices(aw_cpu_state *cpu, const aw_common_rule *common)
{
    aw_status status = AW_OK;
    AW_TRY(aw_grow((void **)&cpu->lattices, &cpu->lattices_capacity, common->blocks,
                   sizeof *cpu->lattices));
    for (size_t i = 0; i < common->blocks; ++i) {
        const aw_block_range range = block_of(common, i);
        aw_cpu_lattices *of = &cpu->lattices[i];
        of->n = aw_lattices_of(&cpu->history, &range, of->lattice);
    }
done:
    return status;
}

/* Have a convolver whose lattices cover all points in all blocks. */
static aw_status prepare(aw_cpu_state *cpu, size_t blocks)
{
    const aw_history_view *h = &cpu->history;
    const int size[2] = {h->ns, h->nx};
    int pad[2] = {0, 0};
    for (size_t i = 0; i < blocks; ++i)
        for (int k = 0; k < cpu->lattices[i].n; ++k) {
            double wanted[2];
            aw_lattice_pad(h, &cpu->lattices[i].lattice[k], wanted);
            for (int axis = 0; axis < 2; ++axis) {
                const int whole = aw_cpu_convolver_pad(size[axis], wanted[axis]);
                if (pad[axis] < whole) pad[axis] = whole;
            }
        }
    aw_cpu_convolver *c = cpu->convolver;
    if (c && c->ns == h->ns && c->nx == h->nx && c->pad[0] == pad[0] && c->pad[1] == pad[1])
        return AW_OK;
    aw_cpu_convolver_free(c);
    cpu->convolver = aw_cpu_convolver_new(h->ns, h->nx, pad, cpu->threads);
    return cpu->convolver ? AW_OK : AW_ERR_NOMEM;
}

/* First node beyond r'. */
static const aw_common_node *node_beyond(const aw_common_rule *common, double r)
{
    const aw_common_node *node = common->node, *end = node + common->nodes;
    while (node < end && node->r <= r) ++node;
    return node;
}

/* The lattice of a block with the spacings of `like`. @return NULL: it has none */
static const aw_block_lattice *lattice_like(const aw_cpu_lattices *of, const aw_block_lattice *like)
{
    for (int k = 0; k < of->n; ++k)
        if (of->lattice[k].hs == like->hs && of->lattice[k].hx == like->hx) return &of->lattice[k];
    return NULL;
}

/* Convolve the blocks that share a lattice, block `first` and those that join it. Outputs are added
 * up in Fourier space, and transformed back and interpolated together. */
static aw_status convolve_lattice(aw_cpu_state *cpu, const aw_common_rule *common, size_t first,
                                  const aw_block_lattice *lattice)
{
    aw_status status = AW_OK;
    block b = {.c = cpu->convolver};
    aw_convolution plan;
    for (int axis = 0; axis < 2; ++axis)
        b.halved[axis] = common->halves && !lattice->in_place && lattice->between[axis];
    AW_TRY(aw_cpu_convolver_sets(b.c, sets_of(&b)));
    for (size_t i = first; i == first || (i < common->blocks && common->block_joins[i]); ++i) {
        const aw_block_lattice *own = lattice_like(&cpu->lattices[i], lattice);
        if (!own) continue;
        const aw_common_node *node = node_beyond(common, own->block.from);
        const aw_common_node *end = node_beyond(common, own->block.to);
        plan = aw_convolution_plan(&cpu->history, own, common->moves_as);
        b.plan = &plan;
        AW_TRY(aw_cpu_convolver_begin(b.c, &plan, b.spectra, &b.missing));
        convolve_block(cpu, &b, node, (size_t)(end - node));
        b.adds = 1;
    }
    if (b.plan) add_lattice(cpu, &b, common->I);
done:
    return status;
}

/* Whether a block that block i joins has the lattice, too. */
static int is_shared_before(const aw_cpu_state *cpu, const aw_common_rule *common, size_t i,
                            const aw_block_lattice *lattice)
{
    while (i > 0 && common->block_joins[i])
        if (lattice_like(&cpu->lattices[--i], lattice)) return 1;
    return 0;
}

aw_status aw_cpu_convolve(void *state, const aw_common_rule *common)
{
    aw_cpu_state *cpu = state;
    aw_status status = AW_OK;
    if (common->nodes == 0) return AW_OK;
    AW_TRY(find_lattices(cpu, common));
    AW_TRY(prepare(cpu, common->blocks));
    for (size_t i = 0; i < common->blocks; ++i) {
        const aw_cpu_lattices *of = &cpu->lattices[i];
        for (int k = 0; k < of->n; ++k)
            if (!is_shared_before(cpu, common, i, &of->lattice[k]))
                AW_TRY(convolve_lattice(cpu, common, i, &of->lattice[k]));
    }
done:
    return status;
}
