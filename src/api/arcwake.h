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
 *  They are for the same version of the library and the same kind of processor, and begin with a
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

/** The same at the nodes of the grid.
 *  @param[out] info    may be NULL
 *  @param[out] Fs, Fx  [nx][ns] or NULL: without both, potentials are not computed, and info->error
 *                      is that of the last time that they were, or 0 */
AW_API int aw_field_grid(aw_field *field, aw_grid_info *info, double *Fs, double *Fx);

/** What went wrong at the last call with this field: one line, borrowed until the next call; "" if
 *  it returned AW_DONE; of NULL a text about memory. Words such as numerics.tolerance are the run
 *  file's names of the options. */
AW_API const char *aw_message(const aw_field *field);

/** Version of the library, "0.1.0"; static. */
AW_API const char *aw_library_version(void);

#ifdef __cplusplus
}
#endif
#endif
