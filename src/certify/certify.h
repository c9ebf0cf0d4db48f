/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake certify`: run a case and its neighbours, and certify the results. */
#ifndef AW_CERTIFY_CERTIFY_H
#define AW_CERTIFY_CERTIFY_H
#include "src/certify/neighbours.h"

AW_BEGIN_DECLS

/** What to do. */
typedef struct aw_certify_params {
    aw_case_input input;
    int jobs;          /* neighbours side by side, at least 1 */
    int force;         /* write into a directory with another run */
    int quiet;         /* no report */
    double max_time;   /* [s] of wall time; 0: no limit */
    const char *minus; /* directory of another certificate to compare with, or NULL */
    int (*stopped)(void);
} aw_certify_params;

/** Run what is not there yet, print the table, and write DIR/certificate.json, DIR/certificate.csv
 *  and the report; with `minus` also DIR/difference.json and difference.csv.
 *  @return AW_OK; AW_ERR_INTERRUPTED: stopped by a signal, or the neighbours would take longer than
 *          max_time (what is complete stays, and is not run again); AW_ERR_INPUT, AW_ERR_ARG,
 *          AW_ERR_NOMEM, AW_ERR_IO, AW_ERR_MAXEVAL: as the run that went wrong first (each with a
 *          message); after one of a neighbour the certificate is written and says so */
aw_status aw_certify(const aw_certify_params *params);

AW_END_DECLS
#endif
