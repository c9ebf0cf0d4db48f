/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The phase of a wave at a particle, and its cosine and sine: the terms of a form factor.
 *
 * Phases are counted in quarter turns, so that reducing them needs no digits of pi: whole quarters
 * are taken off exactly, and what is left, at most half a quarter, goes through polynomials. */
#ifndef AW_KERNELS_MATH_FORM_FACTOR_H
#define AW_KERNELS_MATH_FORM_FACTOR_H
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "src/base/port.h"

/** Particles of a block: sums over a block are kept in the precision of the terms, and added to
 *  sums in double. In single precision the rounding of a block of equal terms is below 2e-7. */
enum { AW_FORM_BLOCK = 256 };

/** A wave vector in quarter turns per metre (2/pi times k), as the sum of two doubles: at a phase
 *  of 1e4 the rounding of one alone would cost 1e-12. */
typedef struct aw_wave {
    double hi[3], lo[3];
} aw_wave;

/** A reduced phase: a number of quarter turns, of which only the last two bits count, and the rest
 *  of -0.5 .. 0.5 of a quarter turn. */
typedef struct aw_phase {
    uint64_t quarters;
    double rest;
} aw_phase;

/* Adding this number rounds to a whole one, which its last bits then hold. */
#define AW_FORM_WHOLE 0x1.8p52

/** u quarter turns, |u| < 2^50. */
AW_FN aw_phase aw_phase_of(double u)
{
    const double shifted = u + AW_FORM_WHOLE;
    aw_phase p;
    memcpy(&p.quarters, &shifted, sizeof p.quarters);
    p.rest = u - (shifted - AW_FORM_WHOLE);
    return p;
}

/** The phase of a wave at a point [m], for results in single precision: exact to 2e-16 of the
 *  phase. */
AW_FN aw_phase aw_wave_phase_f(const double hi[3], const double lo[3], double x, double y, double z)
{
    (void)lo;
    return aw_phase_of(hi[0] * x + hi[1] * y + hi[2] * z);
}

/* The whole number next to a product, whose last bits go to *quarters. */
AW_FN double aw_phase_whole(double k, double x, uint64_t *quarters)
{
    const double shifted = k * x + AW_FORM_WHOLE;
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    *quarters += bits;
    return shifted - AW_FORM_WHOLE;
}

/** The same for results in double precision: exact to 2e-16 of a quarter turn, as products are
 *  rounded only after their whole number is subtracted. */
AW_FN aw_phase aw_wave_phase_d(const double hi[3], const double lo[3], double x, double y, double z)
{
    uint64_t quarters = 0;
    const double a = fma(hi[0], x, -aw_phase_whole(hi[0], x, &quarters));
    const double b = fma(hi[1], y, -aw_phase_whole(hi[1], y, &quarters));
    const double c = fma(hi[2], z, -aw_phase_whole(hi[2], z, &quarters));
    aw_phase p = aw_phase_of(((a + b) + c) + (lo[0] * x + lo[1] * y + lo[2] * z));
    p.quarters += quarters;
    return p;
}

/** Cosine and sine of a phase. Polynomials through the Chebyshev nodes in the square of the rest:
 *  errors 5e-9 and 8e-10 (single), 5e-18 and 5e-19 (double). */
#define AW_FORM_TURN(name, real, bits, SINE, COSINE)                     \
    AW_FN void name(aw_phase phase, real *c, real *s)                    \
    {                                                                    \
        const real f = (real)phase.rest, t = f * f;                      \
        const real sine = f * (SINE);                                    \
        const real cosine = (real)1 + t * (COSINE);                      \
        const bits q = (bits)phase.quarters;                             \
        const real a = q & 1 ? sine : cosine, b = q & 1 ? cosine : sine; \
        bits x, y; /* the second bit of q (+ 1) is the sign */           \
        memcpy(&x, &a, sizeof x);                                        \
        memcpy(&y, &b, sizeof y);                                        \
        x ^= (q + 1) >> 1 << (8 * sizeof(bits) - 1);                     \
        y ^= q >> 1 << (8 * sizeof(bits) - 1);                           \
        memcpy(c, &x, sizeof x);                                         \
        memcpy(s, &y, sizeof y);                                         \
    }

#define AW_FORM_SINE_F 1.57079632F + t *(-0.645963477F + t * (0.0796802178F + t * -0.00460214921F))
#define AW_FORM_COSINE_F \
    -1.23370055F + t *(0.253669410F + t * (-0.0208615283F + t * 0.000906739898F))
#define AW_FORM_SINE_D                                 \
    1.5707963267948966143 +                            \
        t *(-0.64596409750624431573 +                  \
            t * (0.079692626246043003134 +             \
                 t * (-0.0046817541323409759917 +      \
                      t * (0.00016044115074219091052 + \
                           t * (-3.598643352982309702e-6 + t * 5.6339337815378539538e-8)))))
#define AW_FORM_COSINE_D                                 \
    -1.2337005501361698269 +                             \
        t *(0.25366950790104782321 +                     \
            t * (-0.020863480763340772521 +              \
                 t * (0.00091926027454684461873 +        \
                      t * (-0.000025202039028029176105 + \
                           t * (4.7106784055052271063e-7 + t * -6.3293963449674235121e-9)))))
AW_FORM_TURN(aw_phase_turn_f, float, uint32_t, AW_FORM_SINE_F, AW_FORM_COSINE_F)
AW_FORM_TURN(aw_phase_turn_d, double, uint64_t, AW_FORM_SINE_D, AW_FORM_COSINE_D)
#undef AW_FORM_TURN

#endif
