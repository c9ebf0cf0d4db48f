/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CPU device's convolutions (kernels/math/convolution.h), by FFT. Each transform runs in one
 * thread, with a plan that is not chosen by timing, so that results do not depend on the number of
 * threads. */
#include <fftw3.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "kernels/cpu/device.h"
#include "kernels/math/convolution.h"
#include "kernels/math/slope.h"
#include "src/base/memory.h"

/* Modes that are summed together: their operands stay in the first-level cache. */
enum { MODES = 32 };

/** Spectra of the moments of a slice. */
typedef struct spectra {
    uint64_t id; /* of the slice; 0: none, or of a slice without an id, which is never reused */
    fftw_complex *moment[3]; /* [modes] each, owned */
} spectra;

struct aw_cpu_convolver {
    int ns, nx;                  /* points of the grid */
    int size_s, size_x;          /* of the transforms */
    size_t modes;                /* of one spectrum */
    double *real;                /* [threads][size_x][size_s] */
    double (*weights)[AW_RINGS]; /* [2 nx - 1][2 ns - 1], of displacements */
    double *out[AW_CONVOLVED];   /* [size_x][size_s] */
    fftw_complex *ring[AW_RINGS], *sum[AW_CONVOLVED];
    spectra slice[3];
    fftw_plan forward, backward;
};

typedef struct aw_cpu_convolver convolver;

void aw_cpu_convolver_free(convolver *c)
{
    if (!c) return;
    for (int i = 0; i < AW_RINGS; ++i) fftw_free(c->ring[i]);
    for (int i = 0; i < AW_CONVOLVED; ++i) {
        fftw_free(c->sum[i]);
        fftw_free(c->out[i]);
    }
    for (int t = 0; t < 3; ++t)
        for (int k = 0; k < 3; ++k) fftw_free(c->slice[t].moment[k]);
    if (c->forward) fftw_destroy_plan(c->forward);
    if (c->backward) fftw_destroy_plan(c->backward);
    fftw_free(c->real);
    aw_free(c->weights);
    aw_free(c);
}

/* The smallest even number from n on that has no prime factors but 2, 3 and 5. */
static int good_size(int n)
{
    for (int size = n + n % 2;; size += 2) {
        int rest = size;
        for (int factor = 2; factor <= 5; ++factor)
            while (rest % factor == 0) rest /= factor;
        if (rest == 1) return size;
    }
}

size_t aw_cpu_convolver_bytes(int ns, int nx, int threads)
{
    const size_t reals = (size_t)good_size(2 * ns - 1) * (size_t)good_size(2 * nx - 1);
    const size_t weights = (size_t)(2 * ns - 1) * (size_t)(2 * nx - 1) * AW_RINGS;
    /* A spectrum takes about as much memory as its array of reals. */
    const size_t arrays = (size_t)threads + 2 * AW_CONVOLVED + AW_RINGS + AW_CONVOLUTION_SOURCES;
    return (arrays * reals + weights) * sizeof(double);
}

static convolver *convolver_new(int ns, int nx, int threads)
{
    convolver *c = aw_alloc(1, sizeof *c);
    if (!c) return NULL;
    c->ns = ns;
    c->nx = nx;
    c->size_s = good_size(2 * ns - 1); /* displacements from -(ns - 1) to ns - 1 */
    c->size_x = good_size(2 * nx - 1);
    c->modes = (size_t)c->size_x * (size_t)(c->size_s / 2 + 1);
    const size_t reals = (size_t)c->size_x * (size_t)c->size_s;
    int complete = 1;
    c->real = fftw_alloc_real(reals * (size_t)threads);
    c->weights = aw_alloc((size_t)(2 * ns - 1) * (size_t)(2 * nx - 1), sizeof *c->weights);
    for (int i = 0; i < AW_RINGS; ++i) complete &= !!(c->ring[i] = fftw_alloc_complex(c->modes));
    for (int i = 0; i < AW_CONVOLVED; ++i) {
        complete &= !!(c->sum[i] = fftw_alloc_complex(c->modes));
        complete &= !!(c->out[i] = fftw_alloc_real(reals));
    }
    for (int t = 0; t < 3; ++t)
        for (int k = 0; k < 3; ++k)
            complete &= !!(c->slice[t].moment[k] = fftw_alloc_complex(c->modes));
    if (complete && c->real && c->weights) {
        c->forward = fftw_plan_dft_r2c_2d(c->size_x, c->size_s, c->real, c->ring[0], FFTW_ESTIMATE);
        c->backward =
            fftw_plan_dft_c2r_2d(c->size_x, c->size_s, c->sum[0], c->out[0], FFTW_ESTIMATE);
    }
    if (c->forward && c->backward) return c;
    aw_cpu_convolver_free(c);
    return NULL;
}

/* Copy moment k of a slice, and pad it with zeros. */
static void copy_moment(const convolver *c, const aw_history_view *h, const aw_slice *slice, int k,
                        double *real)
{
    const ptrdiff_t row = c->ns + 2 * AW_PAD;
    memset(real, 0, (size_t)c->size_x * (size_t)c->size_s * sizeof *real);
    for (ptrdiff_t j = 0; j < c->nx; ++j)
        for (ptrdiff_t i = 0; i < c->ns; ++i) {
            const ptrdiff_t cell = ((j + AW_PAD) * row + i + AW_PAD) * AW_COMPONENTS;
            real[j * c->size_s + i] = aw_cell_get(slice->cells, h->single, cell + k);
        }
}

/* Copy weights q of all displacements, negative ones at the end, and pad them with zeros. */
static void copy_weights(const convolver *c, int q, double *real)
{
    const ptrdiff_t columns = 2 * c->ns - 1;
    memset(real, 0, (size_t)c->size_x * (size_t)c->size_s * sizeof *real);
    for (ptrdiff_t j = 1 - c->nx; j < c->nx; ++j)
        for (ptrdiff_t i = 1 - c->ns; i < c->ns; ++i) {
            const ptrdiff_t at =
                (j < 0 ? j + c->size_x : j) * c->size_s + (i < 0 ? i + c->size_s : i);
            real[at] = c->weights[(j + c->nx - 1) * columns + i + c->ns - 1][q];
        }
}

/* Move the cached spectra of the plan's slices to slice[0 .. 2].
 * @return bit t is set: slice t is missing, and must be transformed */
static int match_spectra(convolver *c, const aw_convolution *plan)
{
    int missing = 0;
    for (int t = plan->slices - 1; t >= 0; --t) {
        const uint64_t id = plan->slice[t]->id;
        int from = -1;
        for (int i = 0; i <= t && id != 0; ++i) /* items after t are done */
            if (c->slice[i].id == id) from = i;
        if (from < 0) {
            missing |= 1 << t;
        } else if (from != t) {
            const spectra moved = c->slice[from];
            c->slice[from] = c->slice[t];
            c->slice[t] = moved;
        }
    }
    for (int t = 0; t < plan->slices; ++t)
        if (missing & 1 << t) c->slice[t].id = plan->slice[t]->id;
    return missing;
}

/* sum += w x for n complex numbers. */
static void add(size_t n, double w, const fftw_complex *x, double (*sum)[2])
{
    const double *from = &x[0][0];
    double *to = &sum[0][0];
#pragma omp simd
    for (size_t i = 0; i < 2 * n; ++i) to[i] += w * from[i];
}

/* sum += conj(k) x for n complex numbers: the transform of the sum over d of k(d) x(i + d). */
static void add_product(size_t n, const fftw_complex *k, double (*x)[2], double (*sum)[2])
{
#pragma omp simd
    for (size_t i = 0; i < n; ++i) {
        sum[i][0] += k[i][0] * x[i][0] + k[i][1] * x[i][1];
        sum[i][1] += k[i][0] * x[i][1] - k[i][1] * x[i][0];
    }
}

/* Spectrum of convolved quantity j: n modes from `first` on. */
static void sum_modes(const convolver *c, const aw_convolution *plan, int j, size_t first, size_t n)
{
    double total[MODES][2] = {{0.0}};
    for (int q = 0; q < AW_RINGS; ++q) {
        const int axis = (q - AW_RADIAL) / AW_RADIAL_SLOPES, p = (q - AW_RADIAL) % AW_RADIAL_SLOPES;
        double x[MODES][2] = {{0.0}};
        int used = 0;
        for (int i = 0; i < 3 * plan->slices; ++i) {
            const double w = q < AW_RADIAL ? plan->value[j][i][q] : plan->slope[j][i][axis][p];
            if (w == 0.0) continue;
            add(n, w, c->slice[i / 3].moment[i % 3] + first, x);
            used = 1;
        }
        if (used) add_product(n, c->ring[q] + first, x, total);
    }
    memcpy(c->sum[j] + first, total, n * sizeof *total);
}

/* Derivative w d/du - u d/dw of a convolved quantity, for a rotation of the frame, at node (i, j),
 * whose position is (u, w). */
static double rotation_slope(const convolver *c, const double *out, int i, int j, double u,
                             double w)
{
    const double *at = &out[(ptrdiff_t)j * c->size_s + i];
    return w * aw_slope_at(at, 1, i, c->ns) - u * aw_slope_at(at, c->size_s, j, c->nx);
}

/* Add row j of the convolutions to the sums of the points. */
static void add_row(const convolver *c, const aw_convolution *plan, int j, double (*I)[AW_RESULTS])
{
    const double norm = 1.0 / ((double)c->size_s * c->size_x); /* FFTW does not normalise */
    const aw_retarded *now = &plan->now;
    const double aspect = now->hs / now->hx;
    for (int i = 0; i < c->ns; ++i) {
        double *sum = I[(size_t)j * (size_t)c->ns + (size_t)i];
        const size_t at = (size_t)j * (size_t)c->size_s + (size_t)i;
        /* In cells of the axis of the slope: w in cells along, u in cells across. */
        const double u = (i - 0.5 * (c->ns - 1)) * aspect, w = (j - 0.5 * (c->nx - 1)) / aspect;
        const double slope = rotation_slope(c, c->out[AW_TURNED_PHI], i, j, u, w);
        const double rate = w * c->out[AW_TURNING_ALONG][at] - u * c->out[AW_TURNING_ACROSS][at];
        for (unsigned k = 0; k < AW_RESULTS; ++k) sum[k] += norm * c->out[k][at];
        /* The moments move along the orbit: A is phi times the tangent. */
        sum[AW_PHI] += norm * slope;
        sum[AW_AZ] += norm * slope * now->ct;
        sum[AW_AX] += norm * slope * now->st;
        sum[AW_PSI] += norm * rotation_slope(c, c->out[AW_TURNED_PSI], i, j, u, w);
        sum[AW_DPHI] += norm * rate;
        sum[AW_DAZ] += norm * rate * now->ct;
        sum[AW_DAX] += norm * rate * now->st;
    }
}

aw_status aw_cpu_convolve(void *state, const aw_common_rule *common)
{
    aw_cpu_state *cpu = state;
    const aw_history_view *h = &cpu->history;
    double reach = 0.0;
    for (size_t i = 0; i < common->nodes; ++i) reach = fmax(reach, common->node[i].r);
    if (common->nodes == 0) return AW_OK;
    if (cpu->convolver && (cpu->convolver->ns != h->ns || cpu->convolver->nx != h->nx)) {
        aw_cpu_convolver_free(cpu->convolver);
        cpu->convolver = NULL;
    }
    if (!cpu->convolver) cpu->convolver = convolver_new(h->ns, h->nx, cpu->threads);
    if (!cpu->convolver) return AW_ERR_NOMEM;
    convolver *c = cpu->convolver;
    const aw_convolution plan = aw_convolution_plan(h, common->moves_as, reach);
    const int missing = match_spectra(c, &plan), rows = 2 * h->nx - 1, columns = 2 * h->ns - 1;
    const size_t reals = (size_t)c->size_x * (size_t)c->size_s;
#pragma omp parallel num_threads(cpu->threads)
    {
        const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        double *real = c->real + (size_t)thread * reals;
        /* Weights are summed in the order of the nodes, for any number of threads. */
        const int row[2] = {rows * thread / threads, rows * (thread + 1) / threads};
        memset(c->weights[(ptrdiff_t)row[0] * columns], 0,
               (size_t)(row[1] - row[0]) * (size_t)columns * sizeof *c->weights);
        for (size_t i = 0; i < common->nodes; ++i) {
            const aw_common_node *node = &common->node[i];
            const aw_ring ring = {node->r, node->weight, node->density * cpu->density};
            aw_convolution_ring(h, &plan, &ring, row, c->weights);
        }
#pragma omp barrier
#pragma omp for schedule(dynamic)
        for (int i = 0; i < AW_RINGS + AW_CONVOLUTION_SOURCES; ++i) {
            const int t = (i - AW_RINGS) / 3, k = (i - AW_RINGS) % 3;
            if (i < AW_RINGS) {
                copy_weights(c, i, real);
                fftw_execute_dft_r2c(c->forward, real, c->ring[i]);
            } else if (missing & 1 << t) {
                copy_moment(c, h, plan.slice[t], k, real);
                fftw_execute_dft_r2c(c->forward, real, c->slice[t].moment[k]);
            }
        }
#pragma omp for schedule(static)
        for (ptrdiff_t m = 0; m < (ptrdiff_t)c->modes; m += MODES) {
            const size_t left = c->modes - (size_t)m;
            for (int j = 0; j < AW_CONVOLVED; ++j)
                sum_modes(c, &plan, j, (size_t)m, left < MODES ? left : MODES);
        }
#pragma omp for schedule(dynamic)
        for (int j = 0; j < AW_CONVOLVED; ++j)
            fftw_execute_dft_c2r(c->backward, c->sum[j], c->out[j]);
#pragma omp for schedule(static)
        for (int j = 0; j < c->nx; ++j) add_row(c, &plan, j, common->I);
    }
    return AW_OK;
}
