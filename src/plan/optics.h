/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Optics of a lattice, and the sizes of the bunch that follow from them without self-force. */
#ifndef AW_PLAN_OPTICS_H
#define AW_PLAN_OPTICS_H
#include <stddef.h>

#include "pic/lattice.h"
#include "pic/particles.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Map from the start of the lattice to a plane perpendicular to the design orbit, about the
 *  trajectory of a particle of the beam's mean energy, and the bunch there.
 *
 *  Coordinates are x, x' and delta (relative deviation of the energy), as in pic/stats.h, and the
 *  distance s ahead of the reference. R5. and T5.. are derivatives of the distance *behind* it, as
 *  usual: s = s_0 - R51 x_0 - R52 x'_0 - R56 delta - T566 delta^2. So a chicane has R56 < 0 and
 *  compresses a bunch with a chirp h = d(delta)/ds < 0 by the factor 1 - h R56, and a drift has
 *  R56 = -L/(beta gamma)^2.
 *
 *  Behind a cavity all depends on s_0, too. Its coefficients have the index 5, and since s is the
 *  distance ahead: s = R55 s_0 - R51 x_0 - R52 x'_0 - R56 delta - T555 s_0^2 - T556 s_0 delta -
 *  T566 delta^2, x = R15 s_0 + .. + R16 delta + .., and the energy is R65 s_0 + R66 delta, with
 *  delta that at the start. The factor of compression is then R55 - h R56.
 *
 *  At an end of an element x, x' and s are those of the particle's straight line behind the edge of
 *  the magnet, also if that is slanted. */
typedef struct aw_optics_point {
    size_t element; /* of the lattice */
    int end;        /* 1: at the element's end; 0: inside a bend, or (the first point) at S = 0 */
    double S;       /* arc length [m] */
    double kappa;   /* curvature of the design orbit in the element [1/m] */
    double R11, R12, R21, R22, R16, R26; /* R16, R26: dispersion [m], and its slope */
    double R51, R52, R56, T166, T566;    /* [m]; of x and -s by delta^2: T166, T566 */
    double R15, R55, R65, R66;           /* 0, 1, 0, 1 up to the first cavity; R65 [1/m] */
    double T155, T156, T555, T556;       /* 0 up to the first cavity [1/m], 1 */
    double beta_x, alpha_x;              /* [m], 1; NaN for a beam without emittance */
    double sigma_s, sigma_x;             /* expected rms length and width [m] */
    double compression;                  /* R55 - h R56: sigma_s of the chirped bunch over that at
                                          * the start, to first order; 1 in rigid motion */
    double sigma_s_rest; /* sigma_s without that part [m]: from x and x' through R51 and R52, and */
    double sigma_s_energy; /* from the uncorrelated energy spread and the T5.. alone [m] */
    /* At the end of a bend: the smallest sigma_s from its entrance to its exit [m], and its S. */
    double shortest, shortest_S;
} aw_optics_point;

/** The points: S = 0, the ends of all elements that have a length, and some inside each bend. */
typedef struct aw_optics {
    size_t n;
    aw_optics_point *point; /* owned, [n], in the order of S */
} aw_optics;

/** Track a few particles through the lattice (with pic/particle/track.h, as a run in external
 *  motion does), and take derivatives by central differences. Free with aw_optics_free.
 *  The expected sizes are those of a Gaussian beam, to first order in x and x' and to second
 *  order in s and delta. In rigid motion they are the initial ones.
 *  Accuracy of the derivatives: third order, 1e-7 of U5666 for R56; rounding, 1e-16 of the
 *  lattice's extent over 1e-7 for T566; for those of s a hundredth of (2 pi f sigma_s/c)^2/6.
 *  @param[in] lattice, beam  borrowed for the call
 *  @return AW_OK; AW_ERR_NOMEM; AW_ERR_RANGE: the beam does not reach the end of the lattice. No
 *  message: a run says where its particles are lost. */
aw_status aw_optics_new(const aw_lattice *lattice, const aw_beam_params *beam, int rigid,
                        aw_optics **out);
void aw_optics_free(aw_optics *optics);

/** The same at the places S[n] only, which must not fall; `element` and `end` are 0.
 *  @param[out] point  [n]
 *  @return as aw_optics_new */
aw_status aw_optics_at(const aw_lattice *lattice, const aw_beam_params *beam, int rigid,
                       const double *S, size_t n, aw_optics_point *point);

/** Shape of the bunch at a place: covariance to first order in all coordinates, and the bend that
 *  T1.. and T5.. give its longer axis. */
typedef struct aw_optics_shape {
    double ss, sx, xx;     /* covariance of s and x [m^2] */
    double bend_s, bend_x; /* displacement of a particle by the square of the rms of delta [m]:
                            * adds 2 bend^2 to a variance */
} aw_optics_shape;

aw_optics_shape aw_optics_shape_of(const aw_beam_params *beam, const aw_optics_point *point);

/** Principal axes of a bunch. */
typedef struct aw_optics_axes {
    double longer, shorter; /* rms [m]; the shorter at least 1e-6 of their mean square's root */
    double tilt;            /* of the longer against s, within +-pi/2 [rad] */
} aw_optics_axes;

/** The axes of the covariance (ss, sx, xx) of s and x [m^2]. */
aw_optics_axes aw_optics_axes_of(double ss, double sx, double xx);

/** Ratio of the axes up to which the grid does not turn to them (pic/frame.h). */
#define AW_ROUND_AXES 1.2

/** Overtaking length (24 sigma_s R^2)^(1/3) at curvature kappa [m]. */
double aw_overtaking_length(double sigma_s, double kappa);

/** d(delta)/ds of the bunch there [1/m], to first order: that of the beam up to the first cavity
 *  without R56 before. */
double aw_optics_chirp(const aw_optics_point *point, const aw_beam_params *beam);

/** Whether the bunch is fully compressed there, or nearly so: its uncorrelated energy spread and
 *  T566 make more of its length than what compression leaves of the initial one. */
int aw_optics_fully_compressed(const aw_optics_point *point, const aw_beam_params *beam);

AW_END_DECLS
#endif
