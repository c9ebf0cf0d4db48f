/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The height of the bunch. Sources and points are Gaussian across the plane, and forces in the
 * plane are averaged over the height of the points: all depends on the difference Y of the heights
 * of a source and a point, which is normal with the sum of both variances. A source at Y with the
 * delay D lies on a circle of radius sqrt(D^2 - Y^2) about the point, so that the inner integral at
 * r' = D becomes a mean over circles,
 *
 *     F(D) = int_-D^D dY P(Y) f(radius = sqrt(D^2 - Y^2), delay = D),
 *
 * with f the integral over one circle in the plane. There is no singularity at |Y| = D, where the
 * radius is 0.
 *
 * Few circles do at large distances, where all radii are D - Y^2/2D to within a part of a cell:
 * Gauss-Hermite rules of one to five of them. Near the bunch the nodes are those of a
 * Gauss-Legendre rule in the square root of |Y|, because the potential of a thin sheet has a kink
 * at Y = 0, and that of a line a logarithm. What few circles miss at one r' nearly cancels in the
 * integral over r', as each circle passes all of the beam. */
#ifndef AW_KERNELS_MATH_HEIGHT_H
#define AW_KERNELS_MATH_HEIGHT_H
#include "kernels/math/retarded.h"
#include "src/base/units.h"

/* Circles of one delay, at most. For potentials that go with ln(Y^2 + w^2), w 0.01 to 1 rms of Y,
 * the rule is right to 3e-3 of a unit. */
#define AW_CIRCLES 8
/* Largest height, in rms of Y: 7e-6 of a Gaussian lie beyond. */
#define AW_HEIGHT_REACH 4.5
/* Number of the Gauss-Hermite rules, and the smallest r' at which they are used, in rms of Y: their
 * outermost nodes are 1.0 to 4.9 rms away. */
#define AW_HEIGHT_RULES 5
#define AW_HEIGHT_FAR 7.0

/** Circles over which the inner integral at one r' is summed. For a thin sheet without plates there
 *  is one, of radius r' and weight 1. Between plates a gap g apart, images of the bunch lie at the
 *  heights Y = n g, n = 1, 2, .. and on the other side, with the charge (-1)^n of the bunch's and a
 *  taper at n = N that makes the alternating sum converge faster than any power of N. Of them
 *  only those in a window of n are circles here (aw_circles_see): at other n the circle about
 *  any of the points misses the beam. */
typedef struct aw_circles {
    int n;                     /* circles of the bunch itself; 0 if only images count */
    double radius[AW_CIRCLES]; /* [m], descending */
    double weight[AW_CIRCLES];
    double growth[AW_CIRCLES]; /* rate of the weight, d/d(ct), as the rms height changes [1/m] */
    int first, images;         /* the window: n of the first image, and their number */
    int most;                  /* N */
    double gap, rms;           /* between images, and of Y about each [m] */
} aw_circles;

/* Circles that do where V/2D, the mean of Y^2/2D, is `lag` cells; AW_HEIGHT_RULES + 1: more than a
 * Gauss-Hermite rule has. For structure of two cells they are off by at most 1e-4, 3e-5, 2e-5, 1e-5
 * and 1e-5 at one r'. (With 0.005, 0.05, 0.12 and 0.3 for the first four closed forms were met no
 * better, `validate height height-bend`, for 5 % more evaluations in the LCLS bend.) */
AW_FN int aw_height_circles(double lag)
{
    static const double most[AW_HEIGHT_RULES] = {0.02, 0.15, 0.3, 0.45, 0.6};
    int n = 0;
    while (n < AW_HEIGHT_RULES && lag > most[n]) ++n;
    return n + 1;
}

/* Rule of n circles: the nodes in rms of Y, then their weights, those of both signs of Y. Source:
 * Gauss-Hermite of 2 n nodes. */
AW_FN const double *aw_height_hermite(int n)
{
    static const double rule[AW_HEIGHT_RULES][2 * AW_HEIGHT_RULES] = {
        {1.0, 1.0},
        {0.7419637843027259, 2.3344142183389773, 0.9082482904638630, 0.0917517095361370},
        {0.6167065901925941, 1.8891758777537107, 3.3242574335521190, 0.8176569391120586,
         0.1772314920838290, 0.0051115688041125},
        {0.5390798113513751, 1.6365190424351080, 2.8024858612875416, 4.1445471861258945,
         0.7460245153581547, 0.2344798153235181, 0.0192704402415765, 0.0002252290767508},
        {0.4849357075154976, 1.4659890943911582, 2.4843258416389546, 3.5818234835519270,
         4.8594628283323120, 0.6892846698640380, 0.2709674059605356, 0.0382231610015405,
         0.0015161418686244, 0.0000086213052614}};
    return rule[n - 1];
}

/* Nodes of the Gauss-Legendre rule on (0, 1), then weights. */
AW_FN const double *aw_height_legendre(void)
{
    static const double rule[2 * AW_CIRCLES] = {
        0.0198550717512319, 0.1016667612931866, 0.2372337950418355, 0.4082826787521751,
        0.5917173212478248, 0.7627662049581645, 0.8983332387068134, 0.9801449282487681,
        0.0506142681451885, 0.1111905172266872, 0.1568533229389434, 0.1813418916891808,
        0.1813418916891808, 0.1568533229389434, 0.1111905172266872, 0.0506142681451885};
    return rule;
}

/** Radius of the circle of the sources at the height Y that have the delay D; 0: there is none. */
AW_FN double aw_source_radius(double D, double Y) { return sqrt(fmax(D - Y, 0.0) * (D + Y)); }

/* A circle of sources at the height Y, with the rate of its weight: the normal density has
 * dP/d(variance) = P (Y^2/variance - 1)/(2 variance). */
AW_FN void aw_circle_put(const aw_retarded *f, double Y, double weight, aw_circles *c)
{
    c->radius[c->n] = aw_source_radius(f->delay, Y);
    c->weight[c->n] = weight;
    c->growth[c->n++] = weight * 0.5 * (Y * Y / f->height2 - 1.0) * f->dheight2 / f->height2;
}

/** The circles at a retarded time. */
AW_FN aw_circles aw_circles_at(const aw_retarded *f)
{
    aw_circles c = {.n = 0};
    c.gap = f->gap;
    c.most = f->images;
    c.rms = sqrt(f->height2);
    if (f->images_only) return c;
    const double D = f->delay, cell = fmin(f->hs, f->hx);
    if (!(f->height2 > 0.0) || !(D > 0.0)) {
        c.n = 1;
        c.radius[0] = f->radius;
        c.weight[0] = f->height2 > 0.0 ? 0.0 : 1.0; /* at D = 0 no height has a source */
        c.growth[0] = 0.0;
        return c;
    }
    const double rms = sqrt(f->height2);
    const int few = aw_height_circles(f->height2 / (2.0 * D * cell));
    if (few <= AW_HEIGHT_RULES && D > AW_HEIGHT_FAR * rms) {
        const double *rule = aw_height_hermite(few);
        for (int i = 0; i < few; ++i) aw_circle_put(f, rms * rule[i], rule[few + i], &c);
        return c;
    }
    const double most = fmin(D, AW_HEIGHT_REACH * rms);
    const double *rule = aw_height_legendre();
    for (int i = 0; i < AW_CIRCLES; ++i) {
        const double u = rule[i], Y = most * u * u, x = Y / rms;
        const double density = 2.0 / sqrt(2.0 * AW_PI) / rms * exp(-0.5 * x * x);
        aw_circle_put(f, Y, density * most * 2.0 * u * rule[AW_CIRCLES + i], &c);
    }
    return c;
}

/* Circles of an image: those of Y = n g -+ rms, which are right to third order in the rms. */
AW_FN int aw_image_circles(const aw_circles *c) { return c->rms > 0.0 ? 2 : 1; }

/** Choose the window of images for points from which the beam's nearest part is `near` [m] away, in
 *  the plane, and the furthest `far`. */
AW_FN void aw_circles_see(const aw_retarded *f, double near, double far, aw_circles *c)
{
    const double D = f->delay;
    c->first = c->images = 0;
    if (!(f->gap > 0.0)) return;
    const double low = aw_source_radius(D, far) - c->rms; /* its inverse is the same function */
    const double high = aw_source_radius(D, near) + c->rms;
    const int first = (int)ceil(fmax(low / f->gap, 1.0)),
              last = (int)fmin(floor(high / f->gap), (double)f->images);
    if (last < first || !(D > near)) return;
    c->first = first;
    c->images = last - first + 1;
}

/** A rectangle that holds some points, along and across the beam at a retarded time, from the
 *  beam's centre on [m]. */
typedef struct aw_span {
    double u[2], w[2];
} aw_span;

AW_FN aw_span aw_span_of_none(void)
{
    const aw_span none = {{HUGE_VAL, -HUGE_VAL}, {HUGE_VAL, -HUGE_VAL}};
    return none;
}

/** Extend the rectangle by the point (z, x). */
AW_FN void aw_span_add(const aw_retarded *f, double z, double x, aw_span *span)
{
    const double dz = z - f->z, dx = x - f->x;
    const double u = dz * f->cg + dx * f->sg, w = -dz * f->sg + dx * f->cg;
    span->u[0] = fmin(span->u[0], u);
    span->u[1] = fmax(span->u[1], u);
    span->w[0] = fmin(span->w[0], w);
    span->w[1] = fmax(span->w[1], w);
}

/** Smallest and largest distance from the rectangle to the beam's box [m]. A tilted beam is much
 *  longer than what of it lies in the direction to the points. */
AW_FN void aw_span_distances(const aw_retarded *f, const aw_span *span, double *near, double *far)
{
    const double near_u = fmax(0.0, fmax(span->u[0], -span->u[1]) - f->half_s);
    const double near_w = fmax(0.0, fmax(span->w[0], -span->w[1]) - f->half_x);
    const double far_u = fmax(-span->u[0], span->u[1]) + f->half_s;
    const double far_w = fmax(-span->w[0], span->w[1]) + f->half_x;
    *near = sqrt(near_u * near_u + near_w * near_w);
    *far = sqrt(far_u * far_u + far_w * far_w);
}

/** Choose the window of images for the points of a rectangle. */
AW_FN void aw_circles_see_span(const aw_retarded *f, const aw_span *span, aw_circles *c)
{
    double near, far;
    aw_span_distances(f, span, &near, &far);
    aw_circles_see(f, near, far, c);
}

/** Choose the window of images for one point. */
AW_FN void aw_circles_see_from(const aw_retarded *f, double z, double x, aw_circles *c)
{
    aw_span span = aw_span_of_none();
    if (!(f->gap > 0.0)) return; /* aw_circles_at has left no window */
    aw_span_add(f, z, x, &span);
    aw_circles_see_span(f, &span, c);
}

/* The sum over images is tapered about this many before N, over a width of this many: images from N
 * on have less than 1e-5 of their charge, and what the taper adds to the sum of a smooth
 * alternating series is exp(-(pi width)^2/4), 7e-7. */
#define AW_TAPER_BEFORE 7.2
#define AW_TAPER_WIDTH 2.4
/* N is so many beyond the last image up to which the series is not smooth, which has 1 - 0.0015 of
 * its charge; and N at least, and at most. */
#define AW_IMAGES_BEYOND 12.0
#define AW_IMAGES_LEAST 16
#define AW_IMAGES_MOST 400

/** N of a bunch at S. The series is not smooth where a change of curvature is seen in an image:
 *  that is the height at which a source there is seen at S by the bunch.
 *  @param[in] size   of the bunch along and across an axis [m]
 *  @param[in] angle  from the design tangent at S to that axis [rad]
 *  @return at most AW_IMAGES_MOST + 1 */
AW_FN int aw_images_of(const aw_orbit_view *orbit, double S, double gap, const double size[2],
                       double angle)
{
    const aw_orbit_point now = aw_orbit_at(orbit, S);
    const double cz = cos(now.theta + angle), cx = sin(now.theta + angle);
    double height2 = 0.0;
    for (int i = 1; i < orbit->n && orbit->piece[i].S < S; ++i) {
        const aw_orbit_piece *edge = &orbit->piece[i];
        const double dz = now.z - edge->z, dx = now.x - edge->x, d2 = dz * dz + dx * dx;
        /* A tilted bunch is much longer than what of it lies in the direction to the edge. */
        const double along = fabs(dz * cz + dx * cx) * size[0],
                     across = fabs(dx * cz - dz * cx) * size[1];
        const double D = S - edge->S + (d2 > 0.0 ? (along + across) / sqrt(d2) : 0.0);
        height2 = fmax(height2, D * D - d2);
    }
    const double images = ceil(sqrt(height2) / gap) + AW_IMAGES_BEYOND;
    const double least = AW_IMAGES_LEAST,
                 most = AW_IMAGES_MOST + 1; /* nvcc takes an int for the host's */
    return (int)fmin(fmax(images, least), most);
}

/** Number of all circles. */
AW_FN int aw_circles_count(const aw_circles *c) { return c->n + c->images * aw_image_circles(c); }

/** Weight of circle i of all. */
AW_FN double aw_circle_weight(const aw_circles *c, int i)
{
    if (i < c->n) return c->weight[i];
    const int each = aw_image_circles(c), image = c->first + (i - c->n) / each;
    const double taper = erfc((image - (c->most - AW_TAPER_BEFORE)) / AW_TAPER_WIDTH);
    return (image % 2 ? -taper : taper) / each; /* 1/2 of erfc, and two images */
}

/** Rate of the weight of circle i [1/m]. That of images is neglected: their distance is the gap,
 *  which does not change. */
AW_FN double aw_circle_growth(const aw_circles *c, int i) { return i < c->n ? c->growth[i] : 0.0; }

/** Radius of circle i [m]. */
AW_FN double aw_circle_radius(const aw_retarded *f, const aw_circles *c, int i)
{
    if (i < c->n) return c->radius[i];
    const int each = aw_image_circles(c), k = i - c->n, image = c->first + k / each;
    const double Y = image * c->gap + (k % each ? c->rms : -c->rms);
    return aw_source_radius(f->delay, Y);
}

/** The retarded time with the radius of circle i. */
AW_FN aw_retarded aw_circle_of(const aw_retarded *f, const aw_circles *circles, int i)
{
    aw_retarded one = *f;
    one.radius = aw_circle_radius(f, circles, i);
    return one;
}

/* Density with a node in angle per cell on every arc. */
#define AW_ONE_PER_CELL 0.25
/* Largest weights of circles with a quarter, and a half, of the nodes in angle of a sheet. */
#define AW_QUARTER_WEIGHT 0.25
#define AW_HALF_WEIGHT 0.5

/* The same for a rule for tiles that has less than a sheet's own density: it relies on many radii
 * to make up for it. Near the bunch circles are more of them, and have half as many nodes each. The
 * few circles of larger distances have nearly the radius of the heaviest, and each misses the same
 * part of the rates at one r' after the other: with half a node per cell the force in the entrance
 * of the LCLS bend was off by 1.3 % of the steady one (`validate plates-entrance`), with that on
 * circles of weights up to 0.1 only still by 0.4 % in its steady state (`validate height-bend`).
 * They have one per cell, if the rule has. */
AW_FN double aw_circle_density_sparse(const aw_circles *c, double density)
{
    const double half = 0.5 * density;
    return c->n == AW_CIRCLES ? half : fmax(half, fmin(density, AW_ONE_PER_CELL));
}

/** Density of nodes in angle on circle i (aw_arc_nodes), if that of a sheet is `density`. What a
 *  circle misses counts as its weight, and circles miss different things: light ones have a quarter
 *  or a half of the nodes, always a whole number per cell and at least one. Images are left as they
 *  are. */
AW_FN double aw_circle_density(const aw_circles *c, int i, double density)
{
    if (c->n == 1 || i >= c->n) return density;
    if (density < 1.0) return aw_circle_density_sparse(c, density);
    const double w = c->weight[i];
    const double part = w <= AW_QUARTER_WEIGHT ? 0.25 : w <= AW_HALF_WEIGHT ? 0.5 : 1.0;
    const double nodes = density * part;
    return nodes <= 0.25 ? 0.25 : nodes <= 0.5 ? 0.5 : ceil(nodes);
}

/** Whether a point sees images, with the beam's nearest and furthest parts so far away. */
AW_FN int aw_images_seen(const aw_retarded *f, double near, double far)
{
    aw_circles c = {.rms = sqrt(f->height2)};
    aw_circles_see(f, near, far, &c);
    return c.images > 0;
}

/** By how much the smallest circle at a retarded time is less than r' [m]. */
AW_FN double aw_circles_lag(const aw_retarded *f)
{
    if (!(f->height2 > 0.0) || f->images_only) return 0.0;
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
    const double weight = aw_circle_weight(circles, c), growth = aw_circle_growth(circles, c);
    for (unsigned k = 0; k < AW_RESULTS; ++k) f_in[k] += weight * one[k];
    if (growth == 0.0) return;
    f_in[AW_DPHI] += growth * one[AW_PHI];
    f_in[AW_DAZ] += growth * one[AW_AZ];
    f_in[AW_DAX] += growth * one[AW_AX];
}

#endif
