/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The results of the integration at a point: their names and order. */
#ifndef AW_QUADRATURE_RULES_RESULTS_H
#define AW_QUADRATURE_RULES_RESULTS_H

/* Results per point, integrals over r' and theta' without the factor 1/(4 pi eps0):
 * phi, c A_z, c A_x, psi = phi - v.A, and the rates d/d(ct) along v of phi, c A_z, c A_x. */
enum { AW_PHI = 0, AW_AZ, AW_AX, AW_PSI, AW_DPHI, AW_DAZ, AW_DAX };
#define AW_RESULTS 7u

#endif
