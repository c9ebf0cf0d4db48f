/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plain structs that pic/ and quadrature/ exchange: slices, history, field points, grid. */
#ifndef AW_KERNELS_MATH_VIEW_H
#define AW_KERNELS_MATH_VIEW_H
#include <stddef.h>
#include <stdint.h>

#include "kernels/math/orbit.h"
#include "kernels/math/spline.h"
#include "quadrature/rules/results.h"

/* Numbers per cell: sigma, sigma - K_par/c, K_perp/c, and one unused for alignment. */
#define AW_COMPONENTS 4

/** Moments of the beam on one grid at one time, in the frame of that grid.
 *  Cells are [nx + 2 AW_PAD][ns + 2 AW_PAD][AW_COMPONENTS], s fastest, in double or float as the
 *  history says: sigma [C/m^2], D = sigma - K_par/c and K_perp/c [C/m^2]; par and perp are the
 *  design tangent and normal at S (not the tilted axes). Node (i, j) lies at
 *  u = (i - (ns-1)/2) hs along the tilted axis and w = (j - (nx-1)/2) hx across it. */
typedef struct aw_slice {
    const void *cells; /* borrowed; first padding cell */
    double ct;         /* c times its time, from any origin [m] */
    double S, x;       /* centre: arc length and offset along the normal [m] */
    double tilt;       /* angle of the grid's s axis to the design tangent at S [rad] */
    double hs, hx;     /* spacing of the nodes [m] */
    double height2;    /* square of the rms height of the beam [m^2]; 0: a thin sheet */
    uint64_t id;       /* identifies the contents, so that a device need not upload a slice that is
                        * in its cache; 0: unknown, never cached */
} aw_slice;

/** The beam's past: slices at times that fall with their index, by steps of any length. The
 *  potentials are wanted at the time of slice[0]; the age of slice[i] is slice[0].ct - slice[i].ct.
 *  If `upstream` is set, the bunch moved rigidly along the orbit at `beta` before slice[n-1]. */
typedef struct aw_history_view {
    aw_orbit_view orbit;
    const aw_slice *slice; /* borrowed; newest first */
    int n;                 /* stored slices, >= 1 */
    int ns, nx;            /* nodes of every slice */
    int single;            /* cells are float, not double */
    int upstream;          /* 1: slice[n-1] is the first of the run; the motion before was rigid */
    double cdt;            /* of the first step of the run, times c [m]: spacing of the slices that
                            * interpolation imagines before slice[n-1] */
    double beta;           /* speed in the upstream, in c */
    double r_cut;          /* sources beyond this distance r' are neglected [m] */
    double gap;            /* between two conducting plates, the plane in the middle [m]; 0: none */
    int images;            /* above and below, at which their sum is cut (kernels/math/height.h) */
    int images_only;       /* 1: without the bunch itself */
} aw_history_view;

/** The bunch alone, as in free space. */
AW_FN aw_history_view aw_view_of_bunch(const aw_history_view *h)
{
    aw_history_view bunch = *h;
    bunch.gap = 0.0;
    bunch.images = bunch.images_only = 0;
    return bunch;
}

/** Its images between plates alone. */
AW_FN aw_history_view aw_view_of_images(const aw_history_view *h)
{
    aw_history_view images = *h;
    images.images_only = 1;
    return images;
}

/** A point at which potentials are computed, moving at `beta` along the design tangent there. */
typedef struct aw_field_point {
    double z, x;           /* lab position [m] */
    double S, offset;      /* arc length and normal offset of the point [m] */
    double theta, ct, st;  /* direction of the design tangent there [rad], its cosine and sine */
    double kappa;          /* design curvature there [1/m] */
    double beta;           /* in c */
    double one_minus_beta; /* 1 - beta without cancellation */
} aw_field_point;

/** Bytes of a slice's cells. */
AW_FN size_t aw_slice_bytes(int ns, int nx, int single)
{
    const size_t cells = (size_t)(ns + 2 * AW_PAD) * (size_t)(nx + 2 * AW_PAD);
    return cells * AW_COMPONENTS * (single ? sizeof(float) : sizeof(double));
}

/** Corners of a grid of points, row by row. */
AW_FN void aw_grid_corners(const aw_field_point *point, size_t columns, size_t points,
                           aw_field_point corner[4])
{
    corner[0] = point[0];
    corner[1] = point[columns - 1];
    corner[2] = point[points - columns];
    corner[3] = point[points - 1];
}

/** Axes and nodes of the grid on which potentials are computed (the newest slice's). */
typedef struct aw_grid_view {
    int ns, nx;
    double hs, hx;    /* spacing [m] */
    double z, x;      /* lab position of the centre [m] */
    double S, offset; /* arc length and normal offset of the centre [m] */
    double theta;     /* direction of the grid's s axis in the lab [rad] */
    double tilt;      /* angle of that axis to the design tangent at S [rad] */
} aw_grid_view;

#endif
