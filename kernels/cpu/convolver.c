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
    for (int i = 0; i < AW_CONVOLVED; ++i) {
        fftw_free(c->sum[i]);
        fftw_free(c->out[i]);
    }
    for (int t = 0; t < AW_SPECTRA; ++t)
        for (int k = 0; k < 3; ++k) fftw_free(c->slice[t].moment[k]);
    pthread_mutex_lock(&planner);
    if (c->forward) fftw_destroy_plan(c->forward);
    if (c->backward) fftw_destroy_plan(c->backward);
    pthread_mutex_unlock(&planner);
    fftw_free(c->real);
    aw_free(c->node);
    aw_free(c->filter);
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
 * (src/solvers/projection/zone.c). */
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
    return (((size_t)threads + AW_CONVOLVED) * reals +
            (AW_CONVOLVED + 2 * AW_RINGS + 3 * spectra + 1) * modes + weights + nodes) *
           sizeof(double);
}

/* Fill the factors that turn a spectrum of values at nodes into one of spline coefficients. */
static void fill_filter(const aw_cpu_convolver *c)
{
    const size_t row = (size_t)c->size_s / 2 + 1;
    for (size_t i = 0; i < c->numbers; ++i) {
        const size_t mode = i / 2, column = mode % row, line = mode / row;
        const double by = aw_lattice_spectrum(2.0 * AW_PI * (double)column / c->size_s) *
                          aw_lattice_spectrum(2.0 * AW_PI * (double)line / c->size_x);
        c->filter[i] = 1.0 / by;
    }
}

/* A spectrum; the numbers behind its modes stay zero. */
static fftw_complex *new_spectrum(const aw_cpu_convolver *c)
{
    fftw_complex *spectrum = fftw_alloc_complex(c->numbers / 2);
    if (spectrum) memset(spectrum, 0, c->numbers / 2 * sizeof *spectrum);
    return spectrum;
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
    c->node = aw_alloc((size_t)(columns + pad[0]) * (size_t)(rows + pad[1]), sizeof *c->node);
    c->filter = aw_alloc(c->numbers, sizeof *c->filter);
    for (int i = 0; i < AW_RINGS; ++i) {
        complete &= !!(c->ring[i].even = (double *)new_spectrum(c));
        complete &= !!(c->ring[i].odd = (double *)new_spectrum(c));
    }
    for (int i = 0; i < AW_CONVOLVED; ++i) {
        complete &= !!(c->sum[i] = new_spectrum(c));
        complete &= !!(c->out[i] = fftw_alloc_real(reals));
    }
    if (complete && c->real && c->all.weights && c->node && c->filter) {
        fill_filter(c);
        pthread_mutex_lock(&planner);
        c->forward = fftw_plan_dft_r2c_2d(c->size_x, c->size_s, c->real,
                                          (fftw_complex *)c->ring[0].even, FFTW_ESTIMATE);
        c->backward =
            fftw_plan_dft_c2r_2d(c->size_x, c->size_s, c->sum[0], c->out[0], FFTW_ESTIMATE);
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
