/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/solvers/projection/blocks.h"

#include <math.h>

#include "kernels/math/convolution.h"
#include "kernels/math/retarded.h"
#include "quadrature/partition.h"

double aw_blocks_reach(const aw_blocks *blocks)
{
    return blocks->n > 0 ? blocks->end[blocks->n - 1] : 0.0;
}

double aw_blocks_spread(double tolerance) { return cbrt(tolerance / AW_CONVOLUTION_TOLERANCE); }

/* Number of the lattices of a block; 0: they do not cover the points with few nodes beyond the
 * slices. */
static int lattices_that_cover(const aw_history_view *h, double from, double to)
{
    const double part =
        aw_retarded_at(h, 0.5 * (from + to)).same ? AW_BLOCK_PAD : AW_BLOCK_PAD_MIXED;
    aw_block_lattice lattice[3];
    const aw_block_range block = {from, to, from, to};
    const int n = aw_lattices_of(h, &block, lattice);
    for (int k = 0; k < n; ++k) {
        double pad[2];
        aw_lattice_pad(h, &lattice[k], pad);
        if (!(pad[0] <= part * h->ns && pad[1] <= part * h->nx)) return 0;
    }
    return n;
}

/* Let blocks that turn little together share their lattices, those in place among themselves.
 * @param[in] turn  largest turn of a block against its middle [cells] */
static void join_blocks(const aw_history_view *h, double turn, aw_blocks *blocks)
{
    const aw_retarded now = aw_retarded_at(h, 0.0);
    aw_retarded begin = now;
    int in_place = 1;
    for (size_t i = 0; i < blocks->n; ++i) {
        const aw_retarded end = aw_retarded_at(h, blocks->end[i]);
        const double allowed = in_place ? AW_IN_PLACE_CELLS : 2.0 * AW_SHARED_TURN * turn;
        blocks->joins[i] = i > 0 && aw_turn_cells(&begin, &end) <= allowed;
        if (blocks->joins[i]) continue;
        in_place = i == 0 && aw_turn_cells(&now, &end) <= AW_IN_PLACE_CELLS;
        begin = aw_retarded_at(h, i > 0 ? blocks->end[i - 1] : 0.0);
    }
}

/* Whether the bunch is at least about as wide across its motion as long along it. If not, tiles
 * need few nodes where slices turn, and blocks cost more. */
static int lies_across(const aw_retarded *now)
{
    const double c = fabs(now->cg * now->ct + now->sg * now->st);
    const double s = fabs(now->sg * now->ct - now->cg * now->st);
    const double along = now->half_s * c + now->half_x * s;
    const double across = now->half_s * s + now->half_x * c;
    return across >= AW_ACROSS_LEAST * along;
}

/* Largest turn of the slices of a block for a tolerance [cells]. */
static double turn_cells(double tolerance)
{
    return AW_TURN_CELLS * fmin(aw_blocks_spread(tolerance), AW_TURN_WIDER);
}

aw_blocks aw_blocks_choose(const aw_solver *solver, const aw_problem *problem, double border,
                           double end)
{
    const aw_history_view *h = problem->history;
    const aw_retarded now = aw_retarded_at(h, 0.0);
    const double aspect = fmax(now.half_s / now.half_x, now.half_x / now.half_s);
    const double limit = fmin(fmax(AW_REACH_FACTOR, AW_REACH_ASPECT * aspect) * border, end);
    const int turns = lies_across(&now);
    const size_t most = turns ? AW_BLOCKS_MAX : 1;
    const double cells = turn_cells(problem->tolerance);
    const double least = AW_BLOCK_LEAST_CELLS * fmin(now.hs, now.hx);
    const double turn = turns ? cells : 0.5 * AW_IN_PLACE_CELLS;
    aw_blocks blocks = {.n = 0};
    double from = 0.0, to = 0.0; /* of the block that is being measured */
    int beyond = 0;              /* number of lattices where the far zone could take over */
    if (h->images_only || !aw_device_convolves(solver->device)) return blocks;
    if (!aw_convolution_fits(h, problem->point, problem->columns, problem->points)) return blocks;
    while (blocks.n < most && from < limit) {
        const double last = to;
        to = aw_convolution_end(h, last, fmin(limit, aw_next_edge(h, last)), turn);
        if (!(to > last)) break;
        /* An edge and a slice may be next to each other, to rounding; the edge of the first magnet
         * is next to the mean of a bunch that starts there, to its noise. */
        if (to - from < fmax(AW_BLOCK_LEAST * to, least) && to < limit) continue;
        const double worth = AW_LATTICES_AT_ONCE + AW_LATTICES_PER_E * log(fmax(to / border, 1.0));
        if (from >= border && !(beyond < worth)) break;
        const int lattices = lattices_that_cover(h, from, to);
        if (lattices == 0) break;
        beyond += from >= border ? lattices : 0;
        blocks.lattices += lattices;
        blocks.end[blocks.n++] = from = to;
    }
    if (aw_blocks_reach(&blocks) < AW_REACH_LEAST * border) blocks = (aw_blocks){.n = 0};
    join_blocks(h, turn, &blocks);
    return blocks;
}
