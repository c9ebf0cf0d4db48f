/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The history: order and identities of the slices, which of them are dropped, end of the
 * upstream. */
#include <math.h>
#include <string.h>

#include "pic/deposit.h"
#include "pic/history.h"
#include "tests/assert_close.h"

enum { NS = 8, NX = 9, SLICES = 5 };

static const aw_orbit_piece straight = {.S = 0.0};

static aw_history *history_of(int single)
{
    const aw_history_params params = {NS, NX, single, 0.02, 50.0, 0.0, 0, 1e3, SLICES};
    aw_history *h = NULL;
    assert_ok(aw_history_new(&params, &h));
    return h;
}

/* Steps of 20 mm and 10 mm by turns. */
static double time_of(int k) { return 0.02 * k - 0.01 * (k / 2); }

/* Push a slice whose fields and bytes all depend on its number k. */
static void push(aw_history *h, int k, int single)
{
    aw_frame f;
    void *cells = aw_history_cells(h);
    assert_non_null(cells);
    memset(cells, k + 1, aw_slice_bytes(NS, NX, single));
    aw_frame_init(&f, NS, NX);
    f.grid.S = 0.02 * k;
    f.grid.offset = 1e-6 * k;
    f.grid.tilt = 0.01 * k;
    f.grid.hs = 1e-5 + 1e-7 * k;
    f.grid.hx = 2e-5 + 1e-7 * k;
    aw_history_push(h, &f, 0.0, time_of(k));
}

static void check_slice(const aw_slice *s, int k, int single)
{
    const unsigned char *byte = s->cells;
    assert_true(s->id != 0); /* 0 means not known */
    assert_close(s->ct, time_of(k), 0.0, 0.0);
    assert_close(s->S, 0.02 * k, 0.0, 0.0);
    assert_close(s->x, 1e-6 * k, 0.0, 0.0);
    assert_close(s->tilt, 0.01 * k, 0.0, 0.0);
    assert_close(s->hs, 1e-5 + 1e-7 * k, 0.0, 0.0);
    assert_close(s->hx, 2e-5 + 1e-7 * k, 0.0, 0.0);
    for (size_t i = 0; i < aw_slice_bytes(NS, NX, single); ++i) assert_int_equal(byte[i], k + 1);
}

static void newest_slice_is_first_and_no_two_slices_have_the_same_id(void **state)
{
    const aw_orbit_view orbit = {&straight, 1};
    (void)state;
    for (int single = 0; single < 2; ++single) {
        aw_history *h = history_of(single);
        for (int k = 0; k < 4 * SLICES; ++k) {
            push(h, k, single);
            const aw_history_view *v = aw_history_look(h, &orbit);
            assert_int_equal(v->n, k < SLICES ? k + 1 : SLICES);
            for (int i = 0; i < v->n; ++i) {
                check_slice(&v->slice[i], k - i, single);
                for (int j = 0; j < i; ++j) assert_true(v->slice[i].id != v->slice[j].id);
            }
            assert_int_equal(v->ns, NS);
            assert_int_equal(v->nx, NX);
            assert_int_equal(v->single, single);
            assert_close(v->cdt, 0.02, 0.0, 0.0);
            assert_close(v->r_cut, 1e3, 0.0, 0.0);
            assert_close(v->beta, sqrt(1.0 - 1.0 / 2500.0), 1e-15, 0.0);
        }
        aw_history_free(h);
    }
}

/* The upstream continues the oldest slice as long as this is the first slice of the run. */
static void upstream_ends_when_the_first_slice_is_dropped(void **state)
{
    const aw_orbit_view orbit = {&straight, 1};
    aw_history *h = history_of(0);
    (void)state;
    for (int k = 0; k < 2 * SLICES; ++k) {
        push(h, k, 0);
        assert_int_equal(aw_history_look(h, &orbit)->upstream, k < SLICES);
    }
    aw_history_free(h);
}

static void cells_are_the_same_until_the_push_and_aligned(void **state)
{
    const aw_orbit_view orbit = {&straight, 1};
    aw_history *h = history_of(0);
    (void)state;
    for (int k = 0; k < 2 * SLICES; ++k) {
        void *cells = aw_history_cells(h);
        assert_ptr_equal(cells, aw_history_cells(h));
        assert_int_equal((uintptr_t)cells % 64, 0);
        push(h, k, 0);
        assert_ptr_equal(aw_history_look(h, &orbit)->slice[0].cells, cells);
    }
    aw_history_free(h);
}

static void new_cells_are_zero(void **state)
{
    aw_history *h = history_of(0);
    const unsigned char *byte = aw_history_cells(h);
    (void)state;
    for (size_t i = 0; i < aw_slice_bytes(NS, NX, 0); ++i) assert_int_equal(byte[i], 0);
    aw_history_free(h); /* with cells that were never pushed */
    aw_history_free(NULL);
}

static void bytes_of_a_history_are_those_of_its_padded_cells(void **state)
{
    aw_history_params params = {NS, NX, 0, 0.02, 50.0, 0.0, 0, 1e3, 100};
    size_t cells = (size_t)(NS + 2 * AW_PAD) * (NX + 2 * AW_PAD) * AW_COMPONENTS;
    (void)state;
    assert_int_equal(aw_slice_bytes(NS, NX, 0), cells * sizeof(double));
    assert_int_equal(aw_slice_bytes(NS, NX, 1), cells * sizeof(float));
    size_t two = aw_history_bytes(&params);
    assert_true(two >= 100 * cells * sizeof(double));
    assert_true(two <= 100 * (cells * sizeof(double) + 64 + 128)); /* alignment, frame */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newest_slice_is_first_and_no_two_slices_have_the_same_id),
        cmocka_unit_test(upstream_ends_when_the_first_slice_is_dropped),
        cmocka_unit_test(cells_are_the_same_until_the_push_and_aligned),
        cmocka_unit_test(new_cells_are_zero),
        cmocka_unit_test(bytes_of_a_history_are_those_of_its_padded_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
