/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A field of libarcwake from inside: its members, and how a call from outside begins and ends. */
#ifndef AW_API_FIELD_H
#define AW_API_FIELD_H
#include <sys/types.h>

#include "pic/gather.h"
#include "pic/lattice.h"
#include "src/api/arcwake.h"
#include "src/api/orbit.h"
#include "src/base/log.h"
#include "src/field/self_field.h"

/** Means over the charge of a bunch. */
typedef struct aw_bunch_moments {
    double charge, s, sigma_s, gamma;
} aw_bunch_moments;

enum { AW_MESSAGE_SIZE = 512, AW_SOLVER_SIZE = 64, AW_DEVICE_SIZE = 256 };

/** What aw_field_kick remembers. */
typedef struct aw_kick {
    int made;          /* there was one */
    aw_gather *gather; /* with the vector potentials of the last kick */
    size_t n;          /* particles of that */
    double *momentum;  /* [2][n]: before the kick */
    double ahead, end; /* c times the time ahead of the last kick, and when it ended [m] */
} aw_kick;

struct aw_field {
    aw_options options; /* its texts are not kept, but these: */
    char solver[AW_SOLVER_SIZE], device_name[AW_DEVICE_SIZE];
    aw_section *section; /* [sections], the caller's orbit */
    size_t sections;
    pid_t process; /* that made it */
    int ready;     /* 1: it was made */
    int threads;   /* with which it works */
    char message[AW_MESSAGE_SIZE];
    aw_lattice *lattice;
    aw_device device;
    aw_gather *gather;
    int begun;                        /* 1: a bunch has been observed, and `self` has its slices */
    aw_bunch_moments first;           /* of the first bunch */
    aw_self_field self;               /* if begun */
    double ct;                        /* c times the time of the newest observation [m] */
    int solved;                       /* 1: potentials and forces are of that, */
    aw_status found;                  /* and this is how they were found, */
    char found_text[AW_MESSAGE_SIZE]; /* with this message */
    aw_particles *bunch, *point; /* copies of the caller's; point->n: how many there is room for */
    aw_kick kick;
};

/** A call from outside: the messages of this thread go to the field, and the number of threads is
 *  that of the field. */
typedef struct aw_call {
    aw_field *field;
    aw_log_sink sink;
    const aw_log_sink *before;
    int threads; /* of the caller, to be restored */
} aw_call;

/** Begin a call. @param[out] c  must stay where it is until aw_call_end */
void aw_call_begin(aw_call *c, aw_field *field);

/** End it. @return status, for which there is a message then */
int aw_call_end(const aw_call *c, aw_status status);

/** Take the members that lie within the caller's struct, which may be of another version of the
 *  library. @return AW_OK, AW_ERR_ARG (message) */
aw_status aw_options_copy(const aw_options *from, aw_options *to);

/** Keep a text of the options in `to`, or what is there if it is NULL. @param[in] what  its name
 *  @return AW_OK, AW_ERR_ARG (too long: message) */
aw_status aw_options_text(const char *what, const char *text, char *to, size_t size);

/** A field with the default options, not ready and without message. @return NULL: out of memory */
aw_field *aw_field_blank(void);

/** Check the options and make the field ready for its first observation.
 *  @return AW_OK, or an error of aw_field_new (message) */
aw_status aw_field_make(aw_field *field);

/** Initialise field->self for field->first. @return as aw_self_field_init; nothing begun then */
aw_status aw_field_begin(aw_field *field);

/** Compute potentials and forces of the newest observation unless they are known.
 *  @return also AW_ERR_MAXEVAL, with them (message) */
aw_status aw_field_solve(aw_field *field);

/** Save or load what kicks remember. */
void aw_kick_archive(aw_field *field, aw_archive *archive);
void aw_kick_free(aw_kick *kick);

/** Sink of a log that keeps the first error in AW_MESSAGE_SIZE bytes at `to`. */
void aw_message_take(void *to, aw_log_kind kind, const char *where, const char *text);

#endif
