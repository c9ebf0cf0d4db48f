/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Line densities, their tables, and the cut Gaussian. */
#include "pic/distribution.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_interp.h>
#include <math.h>
#include <stddef.h>

#include "pic/particles.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/units.h"

/* Variance of a unit Gaussian that is cut at +-c: 1 - 2 c phi(c) / (2 Phi(c) - 1). With the series
 * 2 Phi(c) - 1 = 2 c phi(c) T, T = 1 + c^2/3 + c^4/(3 5) + .., it is 1 - 1/T, which loses no digits
 * at small c. */
static double cut_variance(double c)
{
    double rest = 0.0, term = 1.0; /* rest: T - 1 */
    for (int k = 3; term > 1e-17 * rest; k += 2) {
        term *= c * c / k;
        rest += term;
    }
    return rest / (1.0 + rest);
}

aw_cut_normal aw_cut_normal_of(double cutoff)
{
    aw_cut_normal n = {.cutoff = cutoff};
    n.tail = gsl_cdf_ugaussian_P(-cutoff);
    n.body = 1.0 - 2.0 * n.tail;
    n.scale = 1.0 / sqrt(cut_variance(cutoff));
    n.reach = cutoff * n.scale;
    return n;
}

/* The upper tail is the mirrored lower one, where the inverse is accurate. */
double aw_cut_normal_deviate(const aw_cut_normal *n, double u)
{
    double lower = u < 0.5 ? u : 1.0 - u;
    double g = gsl_cdf_ugaussian_Pinv(n->tail + lower * n->body);
    g = n->scale * fmax(g, -n->cutoff);
    return u < 0.5 ? g : -g;
}

static double gaussian(const aw_beam_params *b, double t, double *half)
{
    *half = b->cutoff_sigma;
    return exp(-0.5 * t * t);
}

static double uniform(const aw_beam_params *b, double t, double *half)
{
    (void)b;
    (void)t;
    *half = 1.0;
    return 1.0;
}

static double parabolic(const aw_beam_params *b, double t, double *half)
{
    (void)b;
    *half = 1.0;
    return fmax(1.0 - t * t, 0.0);
}

/* A uniform density of length 1, smoothed by a Gaussian of rms edge. */
static double flat_top(const aw_beam_params *b, double t, double *half)
{
    const double edge = b->edge;
    *half = 0.5 + b->cutoff_sigma * edge;
    return gsl_cdf_ugaussian_P((0.5 - fabs(t)) / edge) -
           gsl_cdf_ugaussian_P((-0.5 - fabs(t)) / edge);
}

/* Two Gaussians of rms 1. */
static double double_gaussian(const aw_beam_params *b, double t, double *half)
{
    const double behind = t + 0.5 * b->separation, ahead = t - 0.5 * b->separation;
    const double cut = b->cutoff_sigma, f = b->ahead;
    *half = 0.5 * b->separation + cut;
    return (fabs(behind) <= cut ? (1.0 - f) * exp(-0.5 * behind * behind) : 0.0) +
           (fabs(ahead) <= cut ? f * exp(-0.5 * ahead * ahead) : 0.0);
}

/* The table from its middle on, with straight lines between its points. */
static double tabulated(const aw_beam_params *b, double t, double *half)
{
    const double *s = b->table_s, *current = b->table_current;
    const size_t last = b->table_n - 1;
    const double at = t + 0.5 * (s[0] + s[last]);
    const size_t low = gsl_interp_bsearch(s, at, 0, last), high = low + 1;
    *half = 0.5 * (s[last] - s[0]);
    const double part = fmin(fmax((at - s[low]) / (s[high] - s[low]), 0.0), 1.0);
    return current[low] + part * (current[high] - current[low]);
}

#define ROW(function, name) {name, function},
static const aw_distribution distributions[] = {AW_DISTRIBUTION_LIST(ROW, ROW)};

const aw_distribution *aw_distribution_list(int i)
{
    const int n = (int)(sizeof distributions / sizeof distributions[0]);
    return i >= 0 && i < n ? &distributions[i] : NULL;
}

/* Nodes of a table, and in a period of the modulation: a line between them is off by
 * (2 pi/n)^2/8 of the depth, 0.1 %. */
enum { NODES = 16384, PER_WAVE = 64 };
#define MOST_NODES 4e6

static int is_plain(const aw_beam_params *b)
{
    return b->distribution == 0 && !(b->modulation_depth > 0.0);
}

/* Fill the nodes with t and the density there, without modulation, and its mean and rms. */
static void fill_nodes(const aw_beam_params *b, aw_profile *p, double *mean, double *rms)
{
    const aw_distribution *d = aw_distribution_list(b->distribution);
    double half, sum[3] = {0.0};
    d->density(b, 0.0, &half);
    for (size_t i = 0; i < p->n; ++i) {
        const double t = half * (2.0 * (double)i / (double)(p->n - 1) - 1.0);
        const double end = i == 0 || i + 1 == p->n ? 0.5 : 1.0;
        p->s[i] = t;
        p->density[i] = d->density(b, t, &half);
        sum[0] += end * p->density[i];
        sum[1] += end * p->density[i] * t;
        sum[2] += end * p->density[i] * t * t;
    }
    *mean = sum[1] / sum[0];
    *rms = sqrt(sum[2] / sum[0] - *mean * *mean);
}

/* Scale s and modulate; integrate. */
static void finish(const aw_beam_params *b, aw_profile *p, double mean, double rms)
{
    const double scale = b->sigma_s / rms;
    const double k = b->modulation_depth > 0.0 ? 2.0 * AW_PI / b->modulation_wavelength : 0.0;
    for (size_t i = 0; i < p->n; ++i) {
        p->s[i] = scale * (p->s[i] - mean);
        p->density[i] *= 1.0 + b->modulation_depth * cos(k * p->s[i]);
    }
    const double h = (p->s[p->n - 1] - p->s[0]) / (double)(p->n - 1);
    p->cumulative[0] = 0.0;
    for (size_t i = 1; i < p->n; ++i)
        p->cumulative[i] = p->cumulative[i - 1] + 0.5 * h * (p->density[i - 1] + p->density[i]);
    const double all = p->cumulative[p->n - 1];
    for (size_t i = 0; i < p->n; ++i) {
        p->density[i] /= all;
        p->cumulative[i] /= all;
    }
}

static size_t nodes_for(const aw_beam_params *b)
{
    const double length = 2.0 * (b->cutoff_sigma + b->separation) * b->sigma_s;
    if (!(b->modulation_depth > 0.0)) return NODES;
    return (size_t)fmin(fmax(PER_WAVE * length / b->modulation_wavelength, NODES), MOST_NODES);
}

aw_status aw_profile_new(const aw_beam_params *beam, aw_profile **out)
{
    double mean, rms;
    *out = NULL;
    if (is_plain(beam)) return AW_OK;
    aw_profile *p = aw_alloc(1, sizeof *p);
    if (p) {
        p->n = nodes_for(beam);
        p->s = aw_alloc(p->n, sizeof *p->s);
        p->density = aw_alloc(p->n, sizeof *p->density);
        p->cumulative = aw_alloc(p->n, sizeof *p->cumulative);
    }
    if (!p || !p->s || !p->density || !p->cumulative) {
        aw_profile_free(p);
        return aw_error(AW_ERR_NOMEM, "no memory for the current profile");
    }
    fill_nodes(beam, p, &mean, &rms);
    finish(beam, p, mean, rms);
    *out = p;
    return AW_OK;
}

void aw_profile_free(aw_profile *p)
{
    if (!p) return;
    aw_free(p->s);
    aw_free(p->density);
    aw_free(p->cumulative);
    aw_free(p);
}

double aw_profile_at(const aw_profile *p, double u)
{
    const size_t low = gsl_interp_bsearch(p->cumulative, u, 0, p->n - 1), high = low + 1;
    /* density d + (e - d) x/h: the root of d x + (e - d) x^2/2h = rest, without cancellation */
    const double h = p->s[high] - p->s[low], d = p->density[low], e = p->density[high];
    const double rest = u - p->cumulative[low];
    const double root = d + sqrt(fmax(d * d + 2.0 * (e - d) / h * rest, 0.0));
    return p->s[low] + (root > 0.0 ? fmin(2.0 * rest / root, h) : 0.0);
}

double aw_profile_table_rms(const aw_beam_params *b)
{
    double s[NODES / 4], density[NODES / 4], mean, rms;
    aw_profile coarse = {.n = NODES / 4, .s = s, .density = density};
    fill_nodes(b, &coarse, &mean, &rms);
    return rms;
}

double aw_beam_reach(const aw_beam_params *b)
{
    const aw_distribution *d = aw_distribution_list(b->distribution);
    const double across = aw_cut_normal_of(b->cutoff_sigma).reach;
    double half, mean, rms;
    double s[NODES / 16], density[NODES / 16];
    aw_profile coarse = {.n = NODES / 16, .s = s, .density = density};
    if (is_plain(b) || !d) return across;
    d->density(b, 0.0, &half);
    fill_nodes(b, &coarse, &mean, &rms);
    return fmax(across, 1.001 * (half + fabs(mean)) / rms); /* the coarse rms is good to 1e-4 */
}
