/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One time step as an openPMD 1.1.0 + ED-PIC file that openPMD-viewer and openPMD-beamphysics read.
 *
 * Layout and type rules: the openPMD standard 1.1.0 with its ED-PIC extension
 * (github.com/openPMD/openPMD-standard), and what openPMD-beamphysics asks of a species.
 * Fields lie in the frame of the moving grid, which is tilted with the bunch: z along it, x across,
 * y up. Particles lie in the design frame: the origin is the point of the design orbit at s_ref, z
 * the tangent and x the normal there, for all particles at one time.
 * `frameOrigin` and `frameRotation` (row-major) of a mesh or species take its positions to the lab:
 * r_lab = frameOrigin + frameRotation r.
 * `designRotation` is the same matrix for the design tangent (z) and normal (x): of the grid at its
 * centre, of the species at s_ref, where it equals `frameRotation`. */
#ifndef AW_OUTPUT_OPENPMD_H
#define AW_OUTPUT_OPENPMD_H
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "kernels/math/view.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** One mesh record. Scalars use data[0]; vectors have the components component[0..1]. */
typedef struct aw_mesh {
    const char *name;
    int ncomp;                /* 1 scalar, 2 vector */
    const char *component[2]; /* of a vector: "z" (design tangent) and "x" (design normal) */
    const double *data[2];    /* borrowed; [nx][ns], s fastest */
    double error[2];          /* estimated largest error of data[i]; NaN: not known */
    double scale;             /* the file gets scale * data */
    double unit_dimension[7]; /* powers of L, M, T, I, theta, N, J */
    double unit_SI;           /* (number in the file) * unit_SI is in SI */
} aw_mesh;

/** Axes in the lab: origin [m] and direction of z [rad]. */
typedef struct aw_axes {
    double z, x, theta;
} aw_axes;

/** Macro-particles of the species `electron`, along axes of their own; arrays borrowed, [n]. */
typedef struct aw_species {
    size_t n;              /* >= 1 */
    aw_axes axes;          /* point, tangent and normal of the design orbit at s_ref */
    const double *x, *z;   /* from the origin of the axes [m] */
    const double *px, *pz; /* momentum of one electron [kg m/s], along the axes */
    const double *y, *py;  /* height and its momentum; NULL: all in the plane */
    const uint64_t *id;    /* unique and the same in every file */
    double charge;         /* of one macro-particle [C], a magnitude; the mean, if they differ */
    const double *charges; /* of each; NULL: all the same */
    double time;           /* at which x, z, px, pz hold [s] */
} aw_species;

/** What one file says. All pointers are borrowed. */
typedef struct aw_snapshot {
    long step;          /* >= 0: number of the iteration */
    double time, dt;    /* [s] */
    double s_ref;       /* arc length of the bunch centre on the design orbit [m] */
    double t_ref;       /* time at which the reference particle is at s_ref [s] */
    double gamma_ref;   /* of the reference energy */
    double kappa_ref;   /* curvature of the design orbit at s_ref [1/m], signed */
    aw_grid_view frame; /* axes of all meshes; design direction = frame.theta - frame.tilt */
    const char *software, *version;
    const char *author;  /* NULL: "unknown" */
    const char *date;    /* "YYYY-MM-DD HH:mm:ss +0000" (aw_openpmd_date); NULL: the epoch */
    const char *input;   /* the resolved input, attribute `input`; NULL: none */
    const char *lattice; /* name of the lattice; NULL: none */
    const aw_mesh *mesh; /* [meshes] */
    size_t meshes;
    const aw_species *species; /* NULL: no particles in this file. openPMD-viewer takes the list of
                                * species from a series' FIRST file: give them there too. */
} aw_snapshot;

/** Fill a mesh of ours by name, with the numbers as the program holds them (the beam's charge
 *  counts as positive, src/base/units.h): its scale puts in the electrons' sign, its units are
 *  these:
 *    rho [C/m^2], J [A/m] (z, x), phi [V], A [V s/m] (z, x), psi [V]: negated;
 *    F, F_eff (z, x): in eV/m on one beam particle, unitSI = e.
 *  Its errors are not known; the caller may set them.
 *  @param[in] z  the scalar, or the component along the design tangent; borrowed, [nx][ns]
 *  @param[in] x  the component along the design normal; NULL for a scalar
 *  @return AW_OK, AW_ERR_ARG (unknown name, a component missing or too many: message). */
aw_status aw_mesh_describe(const char *name, const double *z, const double *x, aw_mesh *mesh);

/** Number of components of a mesh of ours: 1 scalar, 2 vector; 0 if there is none of that name. */
int aw_mesh_components(const char *name);

/** `time` as openPMD writes dates, in UTC. */
void aw_openpmd_date(time_t time, char date[32]);

/** DIRECTORY/diag/arcwake_%08ld.h5. @return AW_OK, AW_ERR_ARG (longer than `size`: message). */
aw_status aw_openpmd_path(const char *directory, long step, char *path, size_t size);

/** Write one file: built in memory, then put at `path` all or nothing (aw_file_replace). Equal
 *  snapshots give equal bytes. An input text over 60000 bytes does not fit into an attribute; the
 *  file then points at resolved.yaml.
 *  @return AW_OK, AW_ERR_ARG (no path, a mesh without data, n = 0 ..), AW_ERR_NONFINITE (a number
 *          that describes the frame or the time), AW_ERR_NOMEM, AW_ERR_IO; all printed. */
aw_status aw_openpmd_write(const char *path, const aw_snapshot *snapshot);

AW_END_DECLS
#endif
