/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The height of the bunch. Sources and points are Gaussian across the plane, and forces in the
 * plane are averaged over the height of the points: all depends on the difference Y of the heights
 * of a source and a point, which is normal with the sum of both variances. A source at Y with the
 * delay D lies on a circle of radius sqrt(D^2 - Y^2) about the point, so that the inner integral at
 * r' = D becomes a mean over circles,
 *
 *     F(D) = int_-D^D dY P(Y) f(radius = sqrt(D^2 - Y^2), delay = D),
 *
 * with f the integral over one circle in the plane. There is no singularity at |Y| = D: with
 * Y = D sin(a) the integrand is smooth.
 *
 * Few circles do at large distances, where all radii are D - Y^2/2D to within a part of a cell:
 * Gauss-Hermite rules of one, two and three of them. Near the bunch the nodes are those of a
 * Gauss-Legendre rule in the square root of a, because the potential of a thin sheet has a kink at
 * Y = 0, and that of a line a logarithm. */
#ifndef AW_KERNELS_MATH_HEIGHT_H
#define AW_KERNELS_MATH_HEIGHT_H
#include "kernels/math/retarded.h"
#include "src/base/units.h"

/* Circles of one delay, at most. For potentials that go with ln(Y^2 + w^2), w 0.01 to 1 rms of Y,
 * the rule is right to 1e-4 of a unit. */
#define AW_CIRCLES 10
/* Largest height, in rms of Y: 6e-7 of a Gaussian lie beyond. */
#define AW_HEIGHT_REACH 5.0
/* Rms of Y^2/2D, in cells, up to which one, two and three circles do: what is left of the mean is
 * below 1e-6 for structure of two cells. */
#define AW_HEIGHT_ONE 0.002
#define AW_HEIGHT_TWO 0.02
#define AW_HEIGHT_THREE 0.1

/** Circles over which the inner integral at one r' is averaged. For a thin sheet there is one, of
 *  radius r' and weight 1. */
typedef struct aw_circles {
    int n;
    double radius[AW_CIRCLES]; /* [m], descending */
    double weight[AW_CIRCLES];
    double growth[AW_CIRCLES]; /* rate of the weight, d/d(ct), as the rms height changes [1/m] */
} aw_circles;

/* Rules with the nodes at Y = rms x; weights of both signs of Y. Source: Gauss-Hermite of 2, 4 and
 * 6 nodes. */
AW_FN const double *aw_height_hermite(int n)
{
    static const double rule[3][6] = {
        {1.0, 1.0},
        {0.7419637843027259, 2.3344142183389773, 0.9082482904638630, 0.0917517095361370},
        {0.6167065901925941, 1.8891758777537107, 3.3242574335521190, 0.8176569391120586,
         0.1772314920838290, 0.0051115688041125}};
    return rule[n - 1];
}

/* Nodes of the Gauss-Legendre rule on (0, 1), then weights. */
AW_FN const double *aw_height_legendre(void)
{
    static const double rule[2 * AW_CIRCLES] = {
        0.0130467357414141, 0.0674683166555077, 0.1602952158504878, 0.2833023029353764,
        0.4255628305091844, 0.5744371694908156, 0.7166976970646236, 0.8397047841495122,
        0.9325316833444923, 0.9869532642585859, 0.0333356721543441, 0.0747256745752903,
        0.1095431812579910, 0.1346333596549982, 0.1477621123573764, 0.1477621123573764,
        0.1346333596549982, 0.1095431812579910, 0.0747256745752903, 0.0333356721543441};
    return rule;
}

/* A circle of sources at the height Y, with the rate of its weight: the normal density has
 * dP/d(variance) = P (Y^2/variance - 1)/(2 variance). */
AW_FN void aw_circle_put(const aw_retarded *f, double Y, double weight, aw_circles *c)
{
    const double D = f->delay;
    c->radius[c->n] = sqrt(fmax(D - Y, 0.0) * (D + Y));
    c->weight[c->n] = weight;
    c->growth[c->n++] =
        weight * 0.5 * (Y * Y / f->height2 - 1.0) * f->dheight2 / f->height2;
}

/** The circles at a retarded time. */
AW_FN aw_circles aw_circles_at(const aw_retarded *f)
{
    aw_circles c = {.n = 0};
    const double D = f->delay, cell = fmin(f->hs, f->hx);
    if (!(f->height2 > 0.0) || !(D > 0.0)) {
        c.n = 1;
        c.radius[0] = f->radius;
        c.weight[0] = f->height2 > 0.0 ? 0.0 : 1.0; /* at D = 0 no height has a source */
        c.growth[0] = 0.0;
        return c;
    }
    const double rms = sqrt(f->height2), lag = f->height2 / (2.0 * D * cell);
    const int few = lag <= AW_HEIGHT_ONE ? 1 : lag <= AW_HEIGHT_TWO ? 2 : 3;
    if (lag <= AW_HEIGHT_THREE && D > 2.0 * AW_HEIGHT_REACH * rms) {
        const double *rule = aw_height_hermite(few);
        for (int i = 0; i < few; ++i) aw_circle_put(f, rms * rule[i], rule[few + i], &c);
        return c;
    }
    const double reach = AW_HEIGHT_REACH * rms;
    const double most = D > reach ? asin(reach / D) : 0.5 * AW_PI;
    const double *rule = aw_height_legendre();
    for (int i = 0; i < AW_CIRCLES; ++i) {
        const double u = rule[i], a = most * u * u, Y = D * sin(a), x = Y / rms;
        const double density = 2.0 / sqrt(2.0 * AW_PI) / rms * exp(-0.5 * x * x);
        aw_circle_put(f, Y, density * D * cos(a) * most * 2.0 * u * rule[AW_CIRCLES + i], &c);
    }
    return c;
}

/** The retarded time with the radius of circle c. */
AW_FN aw_retarded aw_circle_of(const aw_retarded *f, const aw_circles *circles, int c)
{
    aw_retarded one = *f;
    one.radius = circles->radius[c];
    return one;
}

/** By how much the smallest circle at a retarded time is less than r' [m]. */
AW_FN double aw_circles_lag(const aw_retarded *f)
{
    if (!(f->height2 > 0.0)) return 0.0;
    const aw_circles c = aw_circles_at(f);
    return f->delay - c.radius[c.n - 1];
}

/** Add the integral over circle c to the mean. The rates of the mean have a part from the rate of
 *  the weight.
 *  @param[in] one  f of the circle
 *  @param[in,out] f_in  mean of the circles before; at the first one 0 */
AW_FN void aw_circle_add(const aw_circles *circles, int c, const double one[AW_RESULTS],
                         double f_in[AW_RESULTS])
{
    const double weight = circles->weight[c], growth = circles->growth[c];
    for (unsigned k = 0; k < AW_RESULTS; ++k) f_in[k] += weight * one[k];
    if (growth == 0.0) return;
    f_in[AW_DPHI] += growth * one[AW_PHI];
    f_in[AW_DAZ] += growth * one[AW_AZ];
    f_in[AW_DAX] += growth * one[AW_AX];
}

#endif
