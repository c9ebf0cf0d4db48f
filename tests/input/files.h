/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Input files of a test, written to a new directory, and the messages that they cause. */
#ifndef AW_TESTS_INPUT_FILES_H
#define AW_TESTS_INPUT_FILES_H
#include <stddef.h>

#include "src/input/config.h"

#define RUN "run.yaml"
#define LATTICE "bend.pals.yaml"

/* cmocka group set-up and tear-down: work in a new directory, remove it afterwards. */
int files_setup(void **state);
int files_teardown(void **state);

/* Write `length` bytes to a file of the test's directory. */
void file_write(const char *name, const void *bytes, size_t length);

/* What was printed on stderr during the last capture; static storage. */
const char *messages(void);

void capture_begin(void);
void capture_end(void);

/* aw_config_read of RUN with stderr captured. */
aw_status read_run(const char *const *set, size_t n_set, aw_config **out);

/* A valid run file and lattice; write_good writes them to RUN and LATTICE. */
extern const char *const good_run;
extern const char *const good_lattice;
void write_good(void);

/* Items of a line: magnets of every kind, with and without length, and a strength of -0. */
extern const char *const magnet_items;

/* `text` with the first `from` replaced by `to`; static storage, valid until the next call. The
 * test fails if `text` does not contain `from`. */
const char *replaced(const char *text, const char *from, const char *to);

/* Assert that the valid run file with one replacement (of it, of the lattice, or by --set) is
 * refused with exit status 2, and that one line of the messages is "arcwake: error: " and then
 * exactly `message`. */
void refused_run(const char *from, const char *to, const char *message);
void refused_lattice(const char *from, const char *to, const char *message);
void refused_set(const char *set, const char *message);

/* Assert that one line of the messages is exactly `line`. */
void assert_message(const char *line);

/* Number of lines in the messages. */
int message_count(void);

/* Read a text as the run file beside the good lattice; a refusal fails the test. */
aw_config *read_text(const char *text);

/* The same; so does any message. */
aw_config *read_silently(const char *text);

#endif
