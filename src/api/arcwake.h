/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libarcwake: the self-field of an electron bunch on a curved design orbit (coherent synchrotron
 * radiation and space charge, in two dimensions), for tracking codes that move the particles
 * themselves.
 *
 *     aw_options options = aw_default_options();
 *     aw_field *field;
 *     if (aw_field_new(&options, orbit, sections, &field) != AW_DONE) puts(aw_message(field));
 *     for (each step of the tracking code) {
 *         aw_field_observe(field, t, &bunch);
 *         aw_field_force(field, bunch.n, bunch.s, bunch.x, Fs, Fx);
 *         ... kick and move the particles ...
 *     }
 *     aw_field_free(field);
 *
 * The library prints nothing, never ends the process, installs no handler of signals, and keeps no
 * state but that of each aw_field; the number of OpenMP's threads is the caller's again after each
 * call. Two fields may be used by two threads; one field by one thread at a time. FFTW's planner is
 * called by aw_field_force and aw_field_grid: a caller who plans with the same FFTW in another
 * thread at that time makes it safe (fftw_make_planner_thread_safe). Inside, a call uses the
 * threads of OpenMP, which do not survive fork(): a field belongs to the process that made it, and
 * in a child of a process in which several threads have worked for arcwake a new field needs
 * threads = 1. A parallel region of the caller's leaves one thread to each call in it.
 * Arrays are the caller's, are read or written during the call and never kept. Lengths are in
 * metres, times in seconds, charges in coulomb, forces in eV/m on one electron, momenta in units of
 * m c (gamma beta). */
#ifndef ARCWAKE_H
#define ARCWAKE_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define AW_API __attribute__((visibility("default")))
#else
#define AW_API
#endif

/** What functions return: AW_DONE, or what went wrong. aw_message says it in one line. */
enum {
    AW_DONE = 0,
    AW_WRONG_ARGUMENT = 1, /* an option, an orbit or an array that makes no sense */
    AW_NO_MEMORY = 3,
    AW_NOT_FINITE = 4,   /* a number is NaN or infinite */
    AW_NOT_REACHED = 5,  /* the tolerance was not reached; forces are the best that were found */
    AW_OUT_OF_RANGE = 6, /* a particle or point lies outside of the grid */
    AW_DEVICE_FAILED = 7 /* a device failed, or is not in this build */
};

/** Options of a field; begin with aw_default_options. Members that a later version adds come last
 *  and have defaults: a library takes what lies within `size`, and refuses members that it does not
 *  know unless they are 0.
 *  - tolerance: of the potentials over their largest values. The forces of a whole bunch feel the
 *    default of 3e-3 to about 0.1 % (docs/accuracy.md)
 *  - step_m: c times the time between observations, about; 0, the default, stands for an overtaking
 *    length over 22. For the motion before the first observation alone
 *  - steady: 1: before the first observation the bunch was on the circle of the first section; 0,
 *    the default: on the straight line through its beginning
 *  - device, solver: as of the program's --device and --solver; borrowed until aw_field_new
 *    returns */
typedef struct aw_options {
    size_t size;        /* of this struct, set by aw_default_options: for later versions */
    int grid[2];        /* nodes along the bunch and across it, 8 to 4096; 48 x 48 */
    double tolerance;   /* 1e-12 to 1 */
    double gamma;       /* mean energy over m c^2; 0, the default: of the first observation */
    double step_m;      /* [m] */
    int steady;         /* 0 or 1 */
    double upstream_m;  /* part of the motion before that counts; 1e4 */
    double history_MiB; /* memory for the past of the bunch: older slices are dropped; 1024 */
    int threads;        /* 0, the default: as many as OpenMP has at aw_field_new */
    const char *device; /* "cpu" */
    const char *solver; /* "projection" */
} aw_options;

/** A section of the design orbit: its length along the orbit, its curvature (> 0 bends towards -x,
 *  0 is a straight), and the angles of its pole faces, as MAD has them. */
typedef struct aw_section {
    double length_m, curvature, e1, e2; /* [m], [1/m], [rad] */
} aw_section;

/** The field of a bunch; opaque. */
typedef struct aw_field aw_field;

/** All particles of a bunch at one time; arrays of n numbers, borrowed during a call. */
typedef struct aw_bunch {
    size_t n;
    const double *s, *x;   /* place: arc length of the design orbit, offset along its normal [m] */
    const double *ps, *px; /* momentum along the design tangent and normal at s [m c] */
    const double *charge;  /* of each, magnitudes [C] */
} aw_bunch;

/** Where the grid of the newest observation is. */
typedef struct aw_grid_info {
    int ns, nx;    /* nodes along the grid's first axis and its second */
    double hs, hx; /* spacing [m] */
    double s, x;   /* centre, on the design orbit and along its normal [m] */
    double tilt;   /* of the first axis to the design tangent there [rad] */
    double charge; /* observed [C] */
    double error;  /* estimated error of the potentials over their largest value */
} aw_grid_info;

AW_API aw_options aw_default_options(void);

/** Make the field of a bunch on a design orbit of n sections, which begins at s = 0 and has
 *  straights of any length ahead and behind.
 *  @param[out] out  free with aw_field_free, also after an error, when it has no use but
 *                   aw_message; NULL without memory
 *  @return AW_DONE; AW_WRONG_ARGUMENT (an option or the orbit; several threads after fork()),
 *          AW_NO_MEMORY, AW_DEVICE_FAILED */
AW_API int aw_field_new(const aw_options *options, const aw_section *orbit, size_t n,
                        aw_field **out);
AW_API void aw_field_free(aw_field *field);

/** The state of a field as bytes: orbit, options, slices, potentials, and what the solver has
 *  learned. A field that is loaded from them goes on to the same bits, with any number of threads.
 *  Observed particles are not among them: aw_field_kick wants an observation after loading. The
 *  bytes are for the same version of the library and the same kind of processor, and begin with a
 *  hash of all the rest.
 *  @param[out] bytes  [*size], to be freed with aw_bytes_free; NULL after an error
 *  @return AW_DONE, AW_WRONG_ARGUMENT, AW_NO_MEMORY */
AW_API int aw_field_save(aw_field *field, void **bytes, size_t *size);
AW_API void aw_bytes_free(void *bytes);

/** Make a field from saved bytes, which are borrowed during the call.
 *  @param[in] machine  NULL: device and threads are those of the field that was saved; else the
 *                      members `device` and `threads` of these options (another kind of device
 *                      goes on within the tolerance), the others are not read
 *  @param[out] out     as of aw_field_new
 *  @return AW_DONE; AW_WRONG_ARGUMENT: damaged, cut off, of another version or not a saved field;
 *          AW_NO_MEMORY, AW_DEVICE_FAILED */
AW_API int aw_field_load(const void *bytes, size_t size, const aw_options *machine, aw_field **out);

/** Observe the bunch at the time t [s], later than that of the last observation. All particles are
 *  within 10 m of their mean and of the orbit, move ahead, with charges of 0 to 1 C.
 *  @return AW_DONE; AW_WRONG_ARGUMENT, AW_NOT_FINITE, AW_NO_MEMORY, AW_DEVICE_FAILED: the field is
 *          as before */
AW_API int aw_field_observe(aw_field *field, double t, const aw_bunch *bunch);

/** Self-force on electrons at n points, at the time of the newest observation and for the velocity
 *  of the design orbit there; the first call after an observation computes the potentials.
 *  @param[in] s, x     [n] within the grid, as all observed particles are
 *  @param[out] Fs, Fx  [n] along the design tangent and normal at s [eV/m]; Fs < 0: energy is lost
 *  @return AW_DONE; AW_OUT_OF_RANGE: of points outside of the grid Fs and Fx are NaN;
 *          AW_NOT_REACHED, AW_NOT_FINITE, AW_WRONG_ARGUMENT (nothing observed yet), AW_NO_MEMORY,
 *          AW_DEVICE_FAILED */
AW_API int aw_field_force(aw_field *field, size_t n, const double *s, const double *x, double *Fs,
                          double *Fx);

/** Change of momentum of the observed particles by the self-force, each for its own velocity, from
 *  where the last call of this function ended to the time `ahead` after the newest observation: a
 *  leap-frog that kicks once at each observation, half of the time to the next one ahead. The rates
 *  of the vector potential in it are replaced by the difference of A between observations, which
 *  needs the same particles in the same order: at other numbers of them the rates are taken. The
 *  first call begins at its observation. Source: canonical momentum (docs/theory.md, "Differences
 *  of A"). Error model: an error of A counts once, where errors of its rate add up.
 *  @param[in] ahead      [s], 0 at the last observation
 *  @param[in] n          as observed
 *  @param[out] dps, dpx  [n] along the design tangent and normal at each particle [m c]
 *  @return as aw_field_force but for AW_OUT_OF_RANGE; AW_WRONG_ARGUMENT also where the last call
 *          ended later than this observation. After AW_NOT_REACHED the kicks are the best found */
AW_API int aw_field_kick(aw_field *field, double ahead, size_t n, double *dps, double *dpx);

/** The forces of aw_field_force at the nodes of the grid.
 *  @param[out] info    may be NULL
 *  @param[out] Fs, Fx  [nx][ns] or NULL: without both, potentials are not computed, and info->error
 *                      is that of the last time that they were, or 0 */
AW_API int aw_field_grid(aw_field *field, aw_grid_info *info, double *Fs, double *Fx);

/** What went wrong at the last call with this field: one line, borrowed until the next call; "" if
 *  it returned AW_DONE; of NULL a text about memory. Words such as numerics.tolerance are the run
 *  file's names of the options. */
AW_API const char *aw_message(const aw_field *field);

/* From one place to one time, for a tracking code that goes by s. It has all particles in one plane
 * across the design orbit, each with its own time of arrival; a field wants them at one time. */

/** A plane across the design orbit of `sections` sections, which begins at s = 0. */
typedef struct aw_plane {
    const aw_section *orbit;
    size_t sections;
    double s;  /* of the plane [m] */
    double p0; /* reference momentum, which the bends turn along the orbit [m c] */
} aw_plane;

/** Particles that are moved; arrays of n numbers, read and written during a call. */
typedef struct aw_passage {
    size_t n;
    double *t;       /* times of arrival at the plane [s] */
    double *s, *x;   /* arc length of the design orbit, offset along its normal [m] */
    double *ps, *px; /* momentum along the design tangent and normal at s [m c] */
} aw_passage;

/** What went wrong: one line, "" if nothing did. */
typedef struct aw_text {
    char line[512]; /* as much as aw_message has, at most */
} aw_text;

/** Move each particle from the plane, where it is at particles->t, to where it is at the time t
 *  [s], ahead or back, by its own velocity: along a straight line in straights, in bends along the
 *  circle of its own momentum in the uniform field that turns p0 along the design orbit, exactly,
 *  also through faces of magnets (hard edges). Fields other than those of bends are not known: in a
 *  quadrupole of strength k1 the places err by k1 x d^2/2 for a way d.
 *  @param[in,out] particles  t and what x, ps, px are in the plane are read; s, x, ps, px are those
 *                            at the time t. After an error some particles have been moved
 *  @param[out] text          may be NULL
 *  @return AW_DONE; AW_OUT_OF_RANGE: a particle turns back, is beyond the centre of the design
 *          circle, or its circle does not meet a face; AW_NOT_FINITE, AW_WRONG_ARGUMENT,
 *          AW_NO_MEMORY */
AW_API int aw_at_one_time(const aw_plane *plane, double t, const aw_passage *particles,
                          aw_text *text);

/** The way back: s, x, ps, px at the time t are read, kicked since or not; t, x, ps, px are those
 *  where each particle meets the plane. @return as aw_at_one_time */
AW_API int aw_at_one_place(const aw_plane *plane, double t, const aw_passage *particles,
                           aw_text *text);

/** Version of the library, "0.1.0"; static. */
AW_API const char *aw_library_version(void);

#ifdef __cplusplus
}
#endif
#endif
