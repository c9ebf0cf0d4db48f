/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run step by step, for the Python package: what a second library, libarcwake_session, offers to
 * ctypes. Not a public interface: the package is of the same version, and nobody else may call it.
 *
 * Nothing is printed or written but by aw_session_write. One session is for one thread at a time
 * and for the process that made it. Functions return 0, or a status of src/base/status.h; what
 * there is to say is in aw_session_messages. */
#ifndef AW_SESSION_SESSION_H
#define AW_SESSION_SESSION_H
#include <stddef.h>
#include <stdint.h>

#define AW_SESSION_API __attribute__((visibility("default")))

/** A run; opaque. */
typedef struct aw_session aw_session;

/** Particles in the design frame: z along the design tangent at the reference particle, x along the
 *  normal, y up; momenta in eV/c. Arrays of n numbers, the caller's. */
typedef struct aw_session_beam {
    size_t n;
    double *x, *px, *y, *py, *z, *pz; /* [m], [eV/c]; y, py and z may be NULL: 0 */
    double *t;                        /* [s], or NULL: the same for all */
    double *charge;                   /* of each, magnitudes [C] */
    uint64_t *id;                     /* or NULL: 1, 2, .. */
    int from_reference;               /* 1: z is counted from the reference; 0: from anywhere, and
                                       * the bunch's mean is put at the start */
} aw_session_beam;

/** What a run is made of; borrowed during the call. */
typedef struct aw_session_input {
    const char *path;       /* of the run file */
    const char *text;       /* NULL, or the run file itself, for which path stands in messages */
    const char *const *set; /* [n_set] "key.path=value" */
    size_t n_set;
    int threads;                 /* 0: OpenMP's */
    const aw_session_beam *beam; /* NULL, or the particles in place of the section `beam` */
} aw_session_input;

/** Where a run is. */
typedef struct aw_session_state {
    long step, planned; /* of this step, and of the last one as it is planned now */
    double S, time;     /* of the reference particle [m], [s] */
    int last;           /* 1: there is no step after this one */
    int solved;         /* 1: forces of this step are known */
    size_t n;           /* particles */
} aw_session_state;

/** The grid of this step. */
typedef struct aw_session_grid {
    int ns, nx;
    double hs, hx, s, x, tilt, charge, error; /* as aw_grid_info in src/api/arcwake.h */
} aw_session_grid;

/** Read the input, and place the beam at the start (step 0).
 *  @param[out] out  free with aw_session_free, also after an error (then only aw_session_messages);
 *                   NULL: out of memory */
AW_SESSION_API int aw_session_new(const aw_session_input *input, aw_session **out);
AW_SESSION_API void aw_session_free(aw_session *session);

/** Lines of the last call, each with its kind and a space before it: E error, W warning, I
 *  information. Borrowed until the next call. */
AW_SESSION_API const char *aw_session_messages(const aw_session *session);

/** Complete this step: deposit the particles and compute the forces on them, as far as the run's
 *  motion needs them. With `forces` in any case. What is done already is not done again. */
AW_SESSION_API int aw_session_complete(aw_session *session, int forces);

/** Complete this step, go on to the next one, and complete that. An error at the last step. */
AW_SESSION_API int aw_session_step(aw_session *session);

AW_SESSION_API void aw_session_where(const aw_session *session, aw_session_state *out);

/** Name of the i-th column of monitor.csv, "step" the first; NULL past the last. */
AW_SESSION_API const char *aw_session_column(int i);

/** The row of this step, after aw_session_complete. @param[out] row  a number for each column, NaN
 *  where it is not known */
AW_SESSION_API int aw_session_monitor(aw_session *session, double *row);

/** Copy the particles. @param[out] out  arrays for all n of them, none NULL */
AW_SESSION_API int aw_session_get_beam(aw_session *session, const aw_session_beam *out);

/** Change the momenta in the plane, of step 1 and later. All else that `beam` has must be as of
 *  aw_session_get_beam. */
AW_SESSION_API int aw_session_kick(aw_session *session, const aw_session_beam *beam);

/** Self-forces on the particles along z and x of the design frame, and those at the nodes of the
 *  grid along the design tangent and normal there [eV/m], after aw_session_complete with forces.
 *  @param[out] Fz, Fx  [n], or NULL
 *  @param[out] Fs, Fn  [nx][ns], or NULL */
AW_SESSION_API int aw_session_forces(aw_session *session, double *Fz, double *Fx);
AW_SESSION_API int aw_session_grid_of(aw_session *session, aw_session_grid *out, double *Fs,
                                      double *Fn);

/** Write this step to an openPMD file, with the particles if asked, after aw_session_complete with
 *  forces. */
AW_SESSION_API int aw_session_write(aw_session *session, const char *path, int particles);

/** The input with all its keys, as resolved.yaml has it; borrowed for the life of the session. */
AW_SESSION_API const char *aw_session_resolved(const aw_session *session);

#endif
