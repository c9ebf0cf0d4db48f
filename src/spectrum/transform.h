/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Fourier transform of a slice at any wave vectors, by one FFT and interpolation. */
#ifndef AW_SPECTRUM_TRANSFORM_H
#define AW_SPECTRUM_TRANSFORM_H
#include "kernels/math/view.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Moments that are transformed: sigma, D and K_perp/c. */
enum { AW_TRANSFORMED = 3 };

/** Phases per cell (k_u h_s, k_w h_x) beyond which a grid holds no waves. */
#define AW_TRANSFORM_PHASE AW_SPLINE_PHASE

/** Workspace for slices of one size; opaque. */
typedef struct aw_transform aw_transform;

/** For slices of ns x nx nodes. Not while another thread makes plans of FFTW. Free with
 *  aw_transform_free. @return AW_OK, AW_ERR_NOMEM. */
aw_status aw_transform_new(int ns, int nx, aw_transform **out);
void aw_transform_free(aw_transform *transform);

/** Take a slice. @param[in] single  1: its cells are float */
void aw_transform_load(aw_transform *transform, const aw_slice *slice, int single);

/** int M exp(-i (k_u u + k_w w)) du dw for each moment M of the slice that was loaded, with u and w
 *  from its centre along its tilted axes, as real and imaginary part [C]. What deposition has done
 *  to a wave (the particles' shape and its compensation, docs/theory.md, "Moments") is undone.
 *  0 beyond AW_TRANSFORM_PHASE. Threads may call it at the same time.
 *  Non-uniform FFT of type 2 with a kernel exp(b (sqrt(1 - y^2) - 1)) of 8 nodes on a grid twice as
 *  fine: A. H. Barnett, J. Magland, L. af Klinteberg, SIAM J. Sci. Comput. 41 (2019) C479. Its
 *  error is below 1e-6 of the sum of all magnitudes.
 *  @param k_u, k_w  [1/m] */
void aw_transform_at(const aw_transform *transform, double k_u, double k_w,
                     double out[AW_TRANSFORMED][2]);

AW_END_DECLS
#endif
