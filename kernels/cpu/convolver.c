/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of the CPU device's convolutions (convolver.h). */
#include "kernels/cpu/convolver.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "kernels/cpu/device.h"
#include "src/base/memory.h"

/* FFTW makes and destroys one plan at a time, in the whole process. */
static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER;

void aw_cpu_convolver_free(aw_cpu_convolver *c)
{
    if (!c) return;
    for (int i = 0; i < AW_RINGS; ++i) {
        fftw_free(c->ring[i].even);
        fftw_free(c->ring[i].odd);
    }
    for (int i = 0; i < AW_LATTICE_SETS; ++i)
        for (int j = 0; j < AW_CONVOLVED; ++j) fftw_free(c->sum[i][j]);
    for (int t = 0; t < AW_SPECTRA; ++t)
        for (int k = 0; k < 3; ++k) fftw_free(c->slice[t].moment[k]);
    pthread_mutex_lock(&planner);
    if (c->forward) fftw_destroy_plan(c->forward);
    if (c->backward) fftw_destroy_plan(c->backward);
    pthread_mutex_unlock(&planner);
    fftw_free(c->real);
    aw_free(c->node);
    for (int i = 0; i < 2; ++i) {
        aw_free(c->filter[i].whole);
        aw_free(c->filter[i].own);
        aw_free(c->filter[i].other);
        aw_free(c->filter[i].half);
    }
    aw_free(c->factor);
    aw_free(c->all.weights);
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

/* Displacements are -(n - 1) .. n - 1 cells. */
static int transform_size(int n) { return good_size(2 * n - 1); }

int aw_cpu_convolver_pad(int n, double wanted)
{
    const int unit = (n + 3) / 4;
    return (int)ceil(wanted / unit) * unit;
}

/* Strategies want no lattice that reaches further beyond a slice than the slice is long
 * (src/solvers/projection/blocks.c). */
static int expected_pad(int n, double beyond)
{
    return beyond > 0.0 ? aw_cpu_convolver_pad(n, fmin(beyond + AW_LATTICE_MARGIN, n)) : 0;
}

size_t aw_cpu_convolver_bytes(const int n[2], const double beyond[2], int threads, size_t slices)
{
    const int pad[2] = {expected_pad(n[0], beyond[0]), expected_pad(n[1], beyond[1])};
    const size_t columns = (size_t)n[0] + (size_t)pad[0], rows = (size_t)n[1] + (size_t)pad[1];
    const size_t size_s = (size_t)transform_size((int)columns);
    const size_t size_x = (size_t)transform_size((int)rows);
    const size_t reals = size_s * size_x, modes = size_x * (size_s / 2 + 1) * 2;
    const size_t spectra = slices < AW_SPECTRA ? slices : AW_SPECTRA;
    const size_t weights = (2 * columns - 1) * (2 * rows - 1) * AW_RINGS;
    const size_t nodes = (columns + (size_t)pad[0]) * (rows + (size_t)pad[1]) * AW_LATTICE_WIDTH;
    return ((size_t)threads * reals + (AW_CONVOLVED + 2 * AW_RINGS + 3 * spectra + 1) * modes +
            weights + nodes) *
           sizeof(double);
}

/* Make the filter of an axis with transforms of n numbers, of which the first `frequencies` count.
 * @return 0: no memory */
static int filter_make(aw_lattice_filter *f, int n, int frequencies)
{
    f->whole = aw_alloc((size_t)frequencies, sizeof *f->whole);
    f->own = aw_alloc((size_t)frequencies, sizeof *f->own);
    f->other = aw_alloc((size_t)frequencies, sizeof *f->other);
    f->half = aw_alloc((size_t)frequencies, sizeof *f->half);
    if (!f->whole || !f->own || !f->other || !f->half) return 0;
    for (int k = 0; k < frequencies; ++k) {
        /* Nodes half a cell apart have the frequencies k and k + n of 2 n. */
        const double half = AW_PI * (double)k / n;
        const double a = 0.5 / aw_lattice_spectrum(half),
                     b = 0.5 / aw_lattice_spectrum(half + AW_PI);
        f->whole[k] = 1.0 / aw_lattice_spectrum(2.0 * half);
        f->own[k] = a + b;
        f->other[k] = a - b;
        f->half[k][0] = cos(half);
        f->half[k][1] = sin(half);
    }
    return 1;
}

/* Fill the factors of a lattice of one set. */
static void fill_factor(const aw_cpu_convolver *c)
{
    const size_t row = (size_t)c->size_s / 2 + 1;
    for (size_t i = 0; i < 2 * c->modes; ++i) {
        const size_t mode = i / 2;
        c->factor[i] = c->filter[0].whole[mode % row] * c->filter[1].whole[mode / row];
    }
}

/* A spectrum; the numbers behind its modes stay zero. */
static fftw_complex *new_spectrum(const aw_cpu_convolver *c)
{
    fftw_complex *spectrum = fftw_alloc_complex(c->numbers / 2);
    if (spectrum) memset(spectrum, 0, c->numbers / 2 * sizeof *spectrum);
    return spectrum;
}

aw_status aw_cpu_convolver_sets(aw_cpu_convolver *c, int sets)
{
    const size_t columns = (size_t)c->ns + 2 * (size_t)c->pad[0];
    const size_t rows = (size_t)c->nx + 2 * (size_t)c->pad[1];
    aw_status status = AW_OK;
    AW_TRY(aw_grow((void **)&c->node, &c->node_capacity, (size_t)sets * columns * rows,
                   sizeof *c->node));
    for (; c->sets < sets; ++c->sets)
        for (int j = 0; j < AW_CONVOLVED; ++j)
            if (!c->sum[c->sets][j] && !(c->sum[c->sets][j] = new_spectrum(c))) return AW_ERR_NOMEM;
done:
    return status;
}

/* Filter n numbers of the spectra of two sets, the second half a cell further on. The factors are
 * `by` frequencies apart, 0: the same for all. */
static void join_sets(const aw_lattice_filter *f, int first, int by, int n, fftw_complex *even,
                      fftw_complex *odd)
{
    for (int i = 0, k = first; i < n; ++i, k += by) {
        const double own = f->own[k], re = f->other[k] * f->half[k][0];
        const double im = f->other[k] * f->half[k][1];
        const double e[2] = {even[i][0], even[i][1]}, o[2] = {odd[i][0], odd[i][1]};
        even[i][0] = own * e[0] + re * o[0] + im * o[1];
        even[i][1] = own * e[1] + re * o[1] - im * o[0];
        odd[i][0] = own * o[0] + re * e[0] - im * e[1];
        odd[i][1] = own * o[1] + re * e[1] + im * e[0];
    }
}

/* The same of one set. */
static void filter_set(const aw_lattice_filter *f, int first, int by, int n, fftw_complex *of)
{
    for (int i = 0, k = first; i < n; ++i, k += by) {
        of[i][0] *= f->whole[k];
        of[i][1] *= f->whole[k];
    }
}

void aw_cpu_convolver_join(const aw_cpu_convolver *c, int j, const int halved[2], int line)
{
    const int row = c->size_s / 2 + 1, along = 1 + halved[0], across = 1 + halved[1];
    fftw_complex *set[AW_LATTICE_SETS];
    for (int i = 0; i < along * across; ++i) set[i] = c->sum[i][j] + (ptrdiff_t)line * row;
    for (int a = 0; a < along; ++a) {
        if (halved[1])
            join_sets(&c->filter[1], line, 0, row, set[a], set[along + a]);
        else
            filter_set(&c->filter[1], line, 0, row, set[a]);
    }
    for (int b = 0; b < across; ++b) {
        if (halved[0])
            join_sets(&c->filter[0], 0, 1, row, set[along * b], set[along * b + 1]);
        else
            filter_set(&c->filter[0], 0, 1, row, set[b]);
    }
}

aw_cpu_convolver *aw_cpu_convolver_new(int ns, int nx, const int pad[2], int threads)
{
    aw_cpu_convolver *c = aw_alloc(1, sizeof *c);
    if (!c) return NULL;
    const int columns = ns + pad[0], rows = nx + pad[1];
    c->ns = ns;
    c->nx = nx;
    c->pad[0] = pad[0];
    c->pad[1] = pad[1];
    c->size_s = transform_size(columns);
    c->size_x = transform_size(rows);
    c->modes = (size_t)c->size_x * (size_t)(c->size_s / 2 + 1);
    c->numbers = (2 * c->modes + AW_SPECTRAL_CHUNK - 1) / AW_SPECTRAL_CHUNK * AW_SPECTRAL_CHUNK;
    c->all = (aw_displacements){.ns = columns, .nx = rows, .row = {0, 2 * rows - 1}};
    const size_t reals = (size_t)c->size_x * (size_t)c->size_s;
    int complete = 1;
    c->real = fftw_alloc_real(reals * (size_t)threads);
    c->all.weights =
        aw_alloc((size_t)(2 * columns - 1) * (size_t)(2 * rows - 1), sizeof *c->all.weights);
    c->factor = aw_alloc(c->numbers, sizeof *c->factor);
    complete &= filter_make(&c->filter[0], c->size_s, c->size_s / 2 + 1);
    complete &= filter_make(&c->filter[1], c->size_x, c->size_x);
    complete &= aw_cpu_convolver_sets(c, 1) == AW_OK;
    for (int i = 0; i < AW_RINGS; ++i) {
        complete &= !!(c->ring[i].even = (double *)new_spectrum(c));
        complete &= !!(c->ring[i].odd = (double *)new_spectrum(c));
    }
    if (complete && c->real && c->all.weights && c->factor) {
        fill_factor(c);
        pthread_mutex_lock(&planner);
        c->forward = fftw_plan_dft_r2c_2d(c->size_x, c->size_s, c->real,
                                          (fftw_complex *)c->ring[0].even, FFTW_ESTIMATE);
        /* In place, FFTW's plans took up to twice as long. */
        c->backward = fftw_plan_dft_c2r_2d(c->size_x, c->size_s, c->sum[0][0], c->real,
                                           FFTW_ESTIMATE | FFTW_DESTROY_INPUT);
        pthread_mutex_unlock(&planner);
    }
    if (c->forward && c->backward) return c;
    aw_cpu_convolver_free(c);
    return NULL;
}

/* The spectra to be replaced: none yet, or those not used for the longest time. */
static int oldest_spectra(const aw_cpu_convolver *c)
{
    int oldest = 0;
    for (int i = 1; i < AW_SPECTRA; ++i)
        if (c->slice[i].used < c->slice[oldest].used) oldest = i;
    return oldest;
}

aw_status aw_cpu_convolver_begin(aw_cpu_convolver *c, const aw_convolution *plan, int spectra[3],
                                 int *missing)
{
    *missing = 0;
    c->block++;
    for (int t = 0; t < plan->slices; ++t) {
        spectra[t] = -1;
        for (int i = 0; plan->slice[t] && plan->slice[t]->id != 0 && i < AW_SPECTRA; ++i)
            if (c->slice[i].id == plan->slice[t]->id) spectra[t] = i;
        if (spectra[t] >= 0) c->slice[spectra[t]].used = c->block;
    }
    for (int t = 0; t < plan->slices; ++t) {
        if (spectra[t] >= 0) continue;
        spectra[t] = 0; /* read with no weight */
        if (!plan->slice[t]) continue;
        const int i = oldest_spectra(c);
        aw_spectra *s = &c->slice[i];
        for (int k = 0; k < 3; ++k)
            if (!s->moment[k] && !(s->moment[k] = new_spectrum(c))) return AW_ERR_NOMEM;
        s->id = plan->slice[t]->id;
        s->used = c->block;
        spectra[t] = i;
        *missing |= 1 << t;
    }
    return AW_OK;
}

void aw_cpu_convolver_moment(const aw_cpu_convolver *c, const aw_history_view *h,
                             const aw_slice *slice, int k, double *real)
{
    const ptrdiff_t row = c->ns + 2 * AW_PAD;
    memset(real, 0, (size_t)c->size_x * (size_t)c->size_s * sizeof *real);
    for (ptrdiff_t j = 0; j < c->nx; ++j)
        for (ptrdiff_t i = 0; i < c->ns; ++i) {
            const ptrdiff_t cell = ((j + AW_PAD) * row + i + AW_PAD) * AW_COMPONENTS;
            real[(j + c->pad[1]) * c->size_s + i + c->pad[0]] =
                aw_cell_get(slice->cells, h->single, cell + k);
        }
}

void aw_cpu_convolver_split(const aw_cpu_convolver *c, int q)
{
    double *even = c->ring[q].even, *odd = c->ring[q].odd;
    for (size_t i = 0; i < 2 * c->modes; i += 2) {
        const double re = even[i], im = even[i + 1];
        even[i + 1] = re;
        odd[i] = -im;
        odd[i + 1] = im;
    }
}

void aw_cpu_convolver_weights(const aw_cpu_convolver *c, int q, double *real)
{
    const ptrdiff_t ns = c->all.ns, nx = c->all.nx, columns = 2 * ns - 1;
    memset(real, 0, (size_t)c->size_x * (size_t)c->size_s * sizeof *real);
    for (ptrdiff_t j = 1 - nx; j < nx; ++j)
        for (ptrdiff_t i = 1 - ns; i < ns; ++i) {
            const ptrdiff_t at =
                (j < 0 ? j + c->size_x : j) * c->size_s + (i < 0 ? i + c->size_s : i);
            real[at] = c->all.weights[(j + nx - 1) * columns + i + ns - 1][q];
        }
}
