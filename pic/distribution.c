/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pic/distribution.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stddef.h>

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

/* All coordinates normal. */
static void gaussian(const aw_cut_normal *n, const double u[AW_BEAM_DIMENSIONS],
                     double g[AW_BEAM_DIMENSIONS])
{
    for (int k = 0; k < AW_BEAM_DIMENSIONS; ++k) g[k] = aw_cut_normal_deviate(n, u[k]);
}

#define ROW(function, name) {name, function},
static const aw_distribution distributions[] = {AW_DISTRIBUTION_LIST(ROW, ROW)};

const aw_distribution *aw_distribution_list(int i)
{
    const int n = (int)(sizeof distributions / sizeof distributions[0]);
    return i >= 0 && i < n ? &distributions[i] : NULL;
}
