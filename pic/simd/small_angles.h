/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions of small angles without branches: Taylor series, exact to rounding. */
#ifndef AW_PIC_SIMD_SMALL_ANGLES_H
#define AW_PIC_SIMD_SMALL_ANGLES_H
#include "src/base/port.h"

/* Largest |a| for the sine and cosine (the next terms are below 3e-18), largest |t| for the arc
 * tangent. */
#define AW_SMALL 0.1
#define AW_SMALL_TAN 0.05

/** sin(a)/a as a function of a^2. */
AW_FN double aw_small_sinc(double q)
{
    return 1.0 + q * (-1.0 / 6.0 + q * (1.0 / 120.0 + q * (-1.0 / 5040.0 + q * (1.0 / 362880.0))));
}

/** (1 - cos(a))/a^2 as a function of a^2. */
AW_FN double aw_small_cosc(double q)
{
    return 0.5 +
           q * (-1.0 / 24.0 + q * (1.0 / 720.0 + q * (-1.0 / 40320.0 + q * (1.0 / 3628800.0))));
}

/** 1 - cos(a) as a function of a^2. */
AW_FN double aw_small_versine(double q) { return q * aw_small_cosc(q); }

/** atan(t)/t as a function of t^2. */
AW_FN double aw_small_atan(double q)
{
    return 1.0 + q * (-1.0 / 3.0 +
                      q * (1.0 / 5.0 + q * (-1.0 / 7.0 + q * (1.0 / 9.0 + q * (-1.0 / 11.0)))));
}

#endif
