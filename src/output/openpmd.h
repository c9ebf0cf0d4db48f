/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One time step as an openPMD 1.1.0 + ED-PIC file, readable by openPMD-viewer and
 * openPMD-beamphysics.
 *
 * Layout and types follow the openPMD standard 1.1.0 with its ED-PIC extension
 * (github.com/openPMD/openPMD-standard) and the requirements of openPMD-beamphysics for a species.
 * Fields and particles are given in the frame of the moving grid: x across, z along, y up. The
 * attributes `frameRotation` (row-major) and `frameOrigin` transform a position to the lab:
 * r_lab = frameOrigin + frameRotation r.
 * `designRotation` is the same matrix for the design tangent (z) and normal (x) at the centre. */
#ifndef AW_OUTPUT_OPENPMD_H
#define AW_OUTPUT_OPENPMD_H
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "kernels/math/view.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** A kind of mesh record: a scalar, or a vector with the components "z" (along the design tangent)
 *  and "x" (along the design normal). */
typedef struct aw_mesh_record {
    const char *name;
    int ncomp;                /* 1 scalar, 2 vector */
    double scale;             /* the file gets scale * data */
    double unit_dimension[7]; /* powers of L, M, T, I, theta, N, J */
    double unit_SI;           /* (number in the file) * unit_SI is in SI */
} aw_mesh_record;

/** A mesh record with its numbers; all pointers are borrowed. */
typedef struct aw_mesh {
    const aw_mesh_record *record;
    const double *data[2]; /* the scalar, or z and x; [nx][ns], s fastest */
} aw_mesh;

/** Macro-particles of the species `electron`, in the frame of the grid; arrays borrowed, [n]. */
typedef struct aw_species {
    size_t n;              /* >= 1 */
    const double *x, *z;   /* from the centre of the grid, across and along it [m] */
    const double *px, *pz; /* momentum of one electron [kg m/s] */
    const uint64_t *id;    /* unique; the same in every file */
    double charge;         /* of one macro-particle [C], a magnitude */
    double time;           /* at which x, z, px, pz hold [s] */
} aw_species;

/** The content of one file. All pointers are borrowed. */
typedef struct aw_snapshot {
    long step;          /* iteration number, >= 0 */
    double time, dt;    /* [s] */
    double s_ref;       /* arc length of the bunch centre on the design orbit [m] */
    double t_ref;       /* time at which the reference particle is at s_ref [s] */
    double gamma_ref;   /* Lorentz factor of the reference particle */
    double kappa_ref;   /* curvature of the design orbit at s_ref [1/m], signed */
    aw_grid_view frame; /* of all meshes; angle of the design tangent = frame.theta - frame.tilt */
    const char *software, *version;
    const char *author;  /* NULL: "unknown" */
    const char *date;    /* "YYYY-MM-DD HH:mm:ss +0000" (aw_openpmd_date); NULL: the epoch */
    const char *input;   /* the resolved input, attribute `input`; NULL: none */
    const char *lattice; /* name of the lattice; NULL: none */
    const aw_mesh *mesh; /* [meshes] */
    size_t meshes;
    const aw_species *species; /* NULL: no particles in this file. openPMD-viewer reads the list of
                                * species from the FIRST file of a series: give them there, too. */
} aw_snapshot;

/** `time` in openPMD's date format, in UTC. */
void aw_openpmd_date(time_t time, char date[32]);

/** DIRECTORY/diag/arcwake_%08ld.h5. @return AW_OK, AW_ERR_ARG (longer than `size`: message). */
aw_status aw_openpmd_path(const char *directory, long step, char *path, size_t size);

/** Write one file: it is built in memory and then replaces `path` atomically (aw_file_replace).
 *  Equal snapshots give equal bytes. An input text of more than 60000 bytes does not fit into an
 *  attribute, which then refers to resolved.yaml.
 *  @return AW_OK, AW_ERR_ARG (no path, a mesh without data, no particles, ..), AW_ERR_NONFINITE
 *          (time, reference or frame), AW_ERR_NOMEM, AW_ERR_IO; all printed. */
aw_status aw_openpmd_write(const char *path, const aw_snapshot *snapshot);

AW_END_DECLS
#endif
