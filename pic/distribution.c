/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pic/distribution.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stddef.h>

aw_cut_normal aw_cut_normal_of(double cutoff)
{
    aw_cut_normal n = {.cutoff = cutoff};
    n.tail = gsl_cdf_ugaussian_P(-cutoff);
    n.body = 1.0 - 2.0 * n.tail;
    return n;
}

/* The upper tail is the mirrored lower one, where the inverse is accurate. */
double aw_cut_normal_deviate(const aw_cut_normal *n, double u)
{
    double lower = u < 0.5 ? u : 1.0 - u;
    double g = gsl_cdf_ugaussian_Pinv(n->tail + lower * n->body);
    g = fmax(g, -n->cutoff);
    return u < 0.5 ? g : -g;
}

/* All coordinates normal. */
static void gaussian(const aw_cut_normal *n, const double u[AW_BEAM_DIMENSIONS],
                     double g[AW_BEAM_DIMENSIONS])
{
    for (int k = 0; k < AW_BEAM_DIMENSIONS; ++k) g[k] = aw_cut_normal_deviate(n, u[k]);
}

/* In the order of AW_DISTRIBUTION_NAMES. */
static const aw_distribution distributions[] = {{"gaussian", gaussian}};

const aw_distribution *aw_distribution_list(int i)
{
    const int n = (int)(sizeof distributions / sizeof distributions[0]);
    return i >= 0 && i < n ? &distributions[i] : NULL;
}
