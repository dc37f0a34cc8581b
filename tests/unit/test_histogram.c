/* Bins of equal ratio, what lies on their edges and beyond, and the way through JSON. */
#include "model/histogram.h"

#include <math.h>

#include "unit.h"

static size_t sum(const struct lp_histogram *histogram)
{
    size_t n = 0;

    for (int i = 0; i < histogram->n; i++)
        n += histogram->count[i];
    return n;
}

static void test_bins(void **state)
{
    const double times[] = {2.0, 2.0, 2.3, 2.4, 4.0, 7.9, 0.0, -1.0, (double)NAN, (double)INFINITY};
    struct lp_histogram histogram;

    (void)state;
    lp_histogram_make(times, COUNT_OF(times), &histogram);
    assert_int_equal(sum(&histogram), 6); /* times that are none are left out */
    assert_int_equal(histogram.n, 8);     /* 2 to 8 microseconds: two octaves of four */
    assert_true(fabs(lp_histogram_edge(&histogram, 0) - 2.0) < 1e-9 && fabs(lp_histogram_edge(&histogram, 4) - 4.0) < 1e-9);
    assert_int_equal(histogram.count[0], 3); /* up to 2.378 */
    assert_int_equal(histogram.count[1], 1);
    assert_int_equal(histogram.count[4], 1);
    assert_int_equal(histogram.count[7], 1);
}

/* A millisecond beside a nanosecond does not fit: the last bin takes what is beyond. */
static void test_beyond(void **state)
{
    const double times[] = {1e-3, 1e-3, 5.0, 1e6, 1e9};
    struct lp_histogram histogram;

    (void)state;
    lp_histogram_make(times, COUNT_OF(times), &histogram);
    assert_int_equal(histogram.n, LP_HISTOGRAM_BINS);
    assert_int_equal(sum(&histogram), 5);
    assert_int_equal(histogram.count[0], 2);
    assert_int_equal(histogram.count[LP_HISTOGRAM_BINS - 1], 2);
    lp_histogram_make(times, 0, &histogram);
    assert_int_equal(histogram.n, 0);
}

static void test_json(void **state)
{
    const double times[] = {8.7, 8.8, 9.1, 19.4, 8.6, 8.6, 300.0};
    struct lp_histogram histogram, back;
    json_t *json;

    (void)state;
    lp_histogram_make(times, COUNT_OF(times), &histogram);
    json = lp_histogram_to_json(&histogram);
    assert_int_equal(json_array_size(json), (size_t)histogram.n);
    lp_histogram_from_json(json, &back);
    assert_memory_equal(&histogram, &back, sizeof(back));
    json_decref(json);
    lp_histogram_make(times, 0, &histogram);
    json = lp_histogram_to_json(&histogram);
    assert_true(json_is_null(json));
    lp_histogram_from_json(json, &back);
    assert_int_equal(back.n, 0);
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bins), cmocka_unit_test(test_beyond), cmocka_unit_test(test_json)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
