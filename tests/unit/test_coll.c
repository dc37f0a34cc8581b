/* What collectives mean: shapes of sizes, bus factors, and outputs made of inputs. */
#include "collectives/coll.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "unit.h"

#define MOST_RANKS 16
#define MANY       ((size_t)1 << 34) /* bytes: counts above 2^32 for the small types */

static void test_list(void **state)
{
    size_t n = 0;

    (void)state;
    for (; lp_colls[n]; n++) {
        assert_ptr_equal(lp_coll_find(lp_colls[n]->name), lp_colls[n]);
        assert_true(lp_colls[n]->title && lp_colls[n]->help && lp_colls[n]->shape && lp_colls[n]->bus_factor);
        assert_true(lp_colls[n]->launch && lp_colls[n]->expect);
    }
    assert_true(n >= 2);
    assert_null(lp_coll_find("AllReduce"));
    assert_null(lp_coll_find("allreduc"));
    assert_null(lp_coll_find(""));
}

static void test_shapes(void **state)
{
    static const struct {
        const char *name;
        size_t bytes;
        enum lp_dtype dtype;
        int nranks;
        size_t size_bytes, count, send, recv;
    } cases[] = {
        {"allreduce", 8, LP_FLOAT, 2, 8, 2, 2, 2},
        {"allreduce", 11, LP_FLOAT, 2, 8, 2, 2, 2}, /* whole elements */
        {"allreduce", 4, LP_FLOAT, 8, 4, 1, 1, 1},
        {"allreduce", 3, LP_FLOAT, 2, 0, 0, 0, 0},
        {"allreduce", 1, LP_BFLOAT16, 2, 0, 0, 0, 0},
        {"allreduce", 15, LP_DOUBLE, 3, 8, 1, 1, 1},
        {"allreduce", MANY, LP_HALF, 3, MANY, MANY / 2, MANY / 2, MANY / 2},
        {"allreduce", MANY + 5, LP_FLOAT, 8, MANY + 4, MANY / 4 + 1, MANY / 4 + 1, MANY / 4 + 1},
        {"allgather", 8, LP_FLOAT, 2, 8, 1, 1, 2},
        {"allgather", 4, LP_FLOAT, 2, 0, 0, 0, 0}, /* less than one element a rank */
        {"allgather", 12, LP_FLOAT, 2, 8, 1, 1, 2},
        {"allgather", 24, LP_FLOAT, 2, 24, 3, 3, 6},
        {"allgather", 31, LP_FLOAT, 2, 24, 3, 3, 6},        /* 15 bytes a rank: below the 16-byte rule */
        {"allgather", 32, LP_FLOAT, 2, 32, 4, 4, 8},        /* 16: exactly */
        {"allgather", 62, LP_FLOAT, 2, 32, 4, 4, 8},        /* 31: down to 16 */
        {"allgather", 1000, LP_FLOAT, 3, 960, 80, 80, 240}, /* 333: down to 320 */
        {"allgather", 1000, LP_BFLOAT16, 8, 896, 56, 56, 448},
        {"allgather", 1 << 20, LP_FLOAT, 3, 1048560, 87380, 87380, 262140},
        {"allgather", 1 << 20, LP_DOUBLE, 8, 1 << 20, 16384, 16384, 131072},
        {"allgather", 15, LP_DOUBLE, 1, 8, 1, 1, 1},
        {"allgather", MANY, LP_HALF, 2, MANY, MANY / 4, MANY / 4, MANY / 2},
        {"allgather", MANY, LP_BFLOAT16, 3, 17179869168u, 2863311528u, 2863311528u, 8589934584u},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_shape shape;
        char name[96];

        snprintf(name, sizeof(name), "%s %zu %s on %d", cases[i].name, cases[i].bytes, lp_dtype_name(cases[i].dtype),
                 cases[i].nranks);
        memset(&shape, 0x5a, sizeof(shape));
        lp_coll_find(cases[i].name)->shape(cases[i].bytes, cases[i].dtype, cases[i].nranks, &shape);
        assert_case(name, shape.size_bytes == cases[i].size_bytes);
        assert_case(name, shape.count == cases[i].count);
        assert_case(name, shape.send_count == cases[i].send);
        assert_case(name, shape.recv_count == cases[i].recv);
    }
}

typedef void each(const struct lp_coll *coll, const struct lp_shape *shape, size_t bytes, enum lp_dtype dtype, int nranks);

static void for_all_shapes(each *check)
{
    static const size_t sizes[] = {1,           2,           3,           7,       8,    15,     16,       17,
                                   31,          100,         1000,        4095,    4096, 999983, 1u << 20, (1u << 25) + 1,
                                   4294967295u, 4294967296u, 4294967297u, MANY + 7};

    for (size_t c = 0; lp_colls[c]; c++)
        for (size_t s = 0; s < COUNT_OF(sizes); s++)
            for (int d = 0; d < LP_NDTYPES; d++)
                for (int n = 1; n <= MOST_RANKS; n++) {
                    struct lp_shape shape;

                    lp_colls[c]->shape(sizes[s], (enum lp_dtype)d, n, &shape);
                    check(lp_colls[c], &shape, sizes[s], (enum lp_dtype)d, n);
                }
}

/* Never more than was asked, never odd elements, and no buffer larger than the size that memory was planned with. */
static void shape_fits(const struct lp_coll *coll, const struct lp_shape *shape, size_t bytes, enum lp_dtype dtype, int nranks)
{
    size_t element = lp_dtype_size(dtype);

    assert_true(shape->size_bytes <= bytes);
    assert_true(shape->send_count * element <= shape->size_bytes);
    assert_true(shape->recv_count * element <= shape->size_bytes);
    assert_true(shape->size_bytes % element == 0);
    assert_true((shape->count == 0) == (shape->size_bytes == 0));
    assert_true(shape->count > 0 || bytes < element * (size_t)nranks);
    if (coll->flags & LP_COLL_IN_PLACE)
        assert_true((size_t)(nranks - 1) * shape->in_place_send_off + shape->send_count <= shape->recv_count);
}

static void test_shapes_fit(void **state)
{
    (void)state;
    for_all_shapes(shape_fits);
}

/* Rank r's slots of the output begin on 16 bytes once they are that large. */
static void test_sixteen_byte_rule(void **state)
{
    (void)state;
    for (size_t bytes = 1; bytes < 3000; bytes++)
        for (int d = 0; d < LP_NDTYPES; d++)
            for (int n = 1; n <= 9; n++) {
                struct lp_shape shape;
                size_t part;

                lp_coll_find("allgather")->shape(bytes, (enum lp_dtype)d, n, &shape);
                part = shape.send_count * lp_dtype_size((enum lp_dtype)d);
                assert_true(part < 16 || part % 16 == 0);
                assert_true(part + 16 > bytes / (size_t)n);
                assert_true(shape.in_place_send_off == shape.send_count);
            }
}

/* Segments cover the output exactly once, from inputs that are there. */
static void segments_cover(const struct lp_coll *coll, const struct lp_shape *shape, size_t bytes, enum lp_dtype dtype, int nranks)
{
    (void)bytes;
    (void)dtype;
    for (int rank = 0; rank < nranks; rank++) {
        struct lp_segment segments[MOST_RANKS];
        size_t n = coll->expect(shape, rank, nranks, segments);
        uint64_t covered = 0;

        assert_true(n >= 1 && n <= (size_t)nranks);
        for (size_t i = 0; i < n; i++) {
            assert_true(segments[i].out_off == covered);
            assert_true(segments[i].src_off + segments[i].count <= shape->send_count);
            assert_true(segments[i].src_rank == LP_RANK_ALL ? (coll->flags & LP_COLL_REDUCES) != 0
                                                            : segments[i].src_rank >= 0 && segments[i].src_rank < nranks);
            covered += segments[i].count;
        }
        assert_true(covered == shape->recv_count);
    }
}

static void test_segments_cover_the_output(void **state)
{
    (void)state;
    for_all_shapes(segments_cover);
}

static void test_expected_sources(void **state)
{
    struct lp_segment segments[3];
    struct lp_shape shape;

    (void)state;
    lp_coll_find("allgather")->shape(3 * 64, LP_FLOAT, 3, &shape);
    for (int rank = 0; rank < 3; rank++) {
        assert_int_equal(lp_coll_find("allgather")->expect(&shape, rank, 3, segments), 3);
        for (int i = 0; i < 3; i++)
            assert_true(segments[i].src_rank == i && segments[i].src_off == 0 && segments[i].count == 16);
    }
    lp_coll_find("allreduce")->shape(64, LP_FLOAT, 3, &shape);
    assert_int_equal(lp_coll_find("allreduce")->expect(&shape, 2, 3, segments), 1);
    assert_int_equal(segments[0].src_rank, LP_RANK_ALL);
}

static void test_bus_factors(void **state)
{
    static const struct {
        const char *name;
        int nranks;
        double factor;
    } cases[] = {
        {"allreduce", 1, 0.0}, {"allreduce", 2, 1.0}, {"allreduce", 3, 4.0 / 3}, {"allreduce", 4, 1.5},  {"allreduce", 8, 1.75},
        {"allgather", 1, 0.0}, {"allgather", 2, 0.5}, {"allgather", 3, 2.0 / 3}, {"allgather", 4, 0.75}, {"allgather", 8, 0.875},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_case(cases[i].name, fabs(lp_coll_find(cases[i].name)->bus_factor(cases[i].nranks) - cases[i].factor) < 1e-15);
}

/* Rounded to vectors of 16 bytes, never none: what is on the wire of 2, 3 and 8 ranks. */
static void test_exchange_bytes(void **state)
{
    static const struct {
        const char *name;
        int nranks;
        size_t size, bytes;
    } cases[] = {
        {"allreduce", 2, 8, 16},           {"allreduce", 2, 1000, 1008}, {"allreduce", 3, 1 << 20, 1398096},
        {"allreduce", 8, 16, 32},          {"allgather", 2, 8, 16},      {"allgather", 2, 992, 496},
        {"allgather", 8, 1 << 20, 917504}, {"allreduce", 1, 64, 16},     {"allgather", 2, (size_t)1 << 40, (size_t)1 << 39},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_case(cases[i].name,
                    lp_coll_exchange_bytes(lp_coll_find(cases[i].name), cases[i].size, cases[i].nranks) == cases[i].bytes);
    assert_true(lp_coll_wire_bytes(lp_coll_find("allreduce"), 12, 2) == 12.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_shapes_fit),
        cmocka_unit_test(test_sixteen_byte_rule),
        cmocka_unit_test(test_bus_factors),
        cmocka_unit_test(test_exchange_bytes),
        cmocka_unit_test(test_segments_cover_the_output),
        cmocka_unit_test(test_expected_sources),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
