/* The variance that settings and rounds leave, how neighbours count, and which settings are far from default. */
#include "judge/noise.h"

#include "unit.h"

#include "spot_of.h"

static const bool near_all[4] = {false, false, false, false};

/* Default twice a round and one variant, three rounds with shifts 0, 1 and -2: what is left is known. */
static const struct crew_x crews[] = {{0, 1, 0.01}, {0, 1, -0.01}, {1, 1, 0.50},  {0, 2, 1.01}, {0, 2, 0.99},
                                      {1, 2, 1.50}, {0, 3, -1.99}, {0, 3, -2.01}, {1, 3, -1.50}};

static void test_variance(void **state)
{
    struct spot_of of;
    struct lp_noise noise;

    (void)state;
    spot_init(&of, crews, COUNT_OF(crews), 3);
    assert_int_equal(lp_noise_fit(&of.times, &of.spot, near_all, &noise), LP_OK);
    assert_true(near(noise.df, 9 - 2 - 3 + 1));
    assert_true(near(noise.variance, 6 * 0.0001 / 5.0));
    assert_true(near(noise.setting[1].ss, 0.0));
    assert_int_equal(noise.setting[0].n, 6);
    assert_true(near(noise.setting[0].widest, 0.01));
    assert_true(near(noise.clear, (1.0 + LP_CLEAR_CREWS / 6.0) * 0.01));
    lp_noise_release(&noise);
}

/* What samples say of a median is the least. */
static void test_samples(void **state)
{
    struct spot_of of;
    struct lp_noise noise;

    (void)state;
    spot_init(&of, crews, COUNT_OF(crews), 3);
    for (size_t i = 0; i < of.spot.n; i++)
        of.time[i].error = 0.1;
    assert_int_equal(lp_noise_fit(&of.times, &of.spot, near_all, &noise), LP_OK);
    assert_true(near(noise.variance, 0.01));
    lp_noise_release(&noise);
}

/* Crews are missing here and there: the least squares are those of the normal equations. */
static void test_unbalanced(void **state)
{
    static const struct crew_x some[] = {{0, 1, 0.0}, {0, 1, 0.2}, {1, 1, 0.3}, {0, 2, 1.0}, {2, 2, 5.0}, {1, 3, 0.7}, {2, 3, 4.0}};
    struct spot_of of;
    struct lp_noise noise;

    (void)state;
    spot_init(&of, some, COUNT_OF(some), 3);
    assert_int_equal(lp_noise_fit(&of.times, &of.spot, near_all, &noise), LP_OK);
    assert_true(near(noise.df, 7 - 3 - 3 + 1));
    /* the pair (0,1) has 0.02; the cycle 0,1 1,1 1,3 2,3 2,2 0,2 misses its mark by 0.1 - 0.3 + 0.7 - 4.0 + 5.0 - 1.0 over 5.5
     * steps */
    assert_true(fabs(noise.own_ss - (0.02 + 0.5 * 0.5 / 5.5)) < 1e-6);
    lp_noise_release(&noise);
}

/* A group counts as default; a far setting counts for nothing but itself. */
static void test_group_and_far(void **state)
{
    static const struct crew_x some[] = {{0, 1, 0.0}, {0, 1, 0.0}, {1, 1, 0.3}, {2, 1, 5.0},
                                         {0, 2, 0.0}, {0, 2, 0.0}, {1, 2, 0.3}, {2, 2, 6.0}};
    static const bool far[4] = {false, false, true, false};
    struct spot_of of;
    struct lp_noise noise;

    (void)state;
    spot_init(&of, some, COUNT_OF(some), 2);
    of.setting[1].same = true;
    assert_int_equal(lp_noise_fit(&of.times, &of.spot, far, &noise), LP_OK);
    assert_true(near(noise.df, 6 - 1 - 2 + 1));
    assert_true(near(noise.own_ss, 4 * 0.01 + 2 * 0.04));
    assert_true(near(noise.setting[2].ss, 0.5));
    assert_true(near(noise.clear, (1.0 + LP_CLEAR_CREWS / 6.0) * 0.2));
    lp_noise_release(&noise);
}

static void test_one_crew(void **state)
{
    static const struct crew_x some[] = {{0, 1, 0.0}, {1, 1, 0.3}};
    struct spot_of of;
    struct lp_noise noise;

    (void)state;
    spot_init(&of, some, COUNT_OF(some), 1);
    assert_int_equal(lp_noise_fit(&of.times, &of.spot, near_all, &noise), LP_OK);
    assert_true(isnan(noise.variance));
    lp_noise_release(&noise);
}

/* Quiet neighbours do not quieten a noisy size; noisy ones warn a quiet one; what is unknown stays so. */
static void test_neighbours(void **state)
{
    struct lp_noise noise[4] = {{.variance = 1.0, .df = 10.0, .own_ss = 10.0, .own_df = 10.0},
                                {.variance = 4.0, .df = 10.0, .own_ss = 40.0, .own_df = 10.0},
                                {.variance = 1.0, .df = 10.0, .own_ss = 10.0, .own_df = 10.0},
                                {.variance = NAN, .df = 0.0, .own_ss = 0.0, .own_df = 0.0}};

    (void)state;
    lp_noise_smooth(noise, 4);
    assert_true(near(noise[0].variance, 2.5) && near(noise[0].df, 10.0 + LP_NEIGHBOUR_DF * 10.0));
    assert_true(near(noise[1].variance, 4.0) && near(noise[1].df, 10.0 + LP_NEIGHBOUR_DF * 20.0));
    assert_true(near(noise[2].variance, 2.5) && near(noise[2].df, 10.0 + LP_NEIGHBOUR_DF * 10.0));
    assert_true(isnan(noise[3].variance));
}

static void test_placements(void **state)
{
    struct lp_spot a[] = {{.bytes = 8}, {.bytes = 16}}, b[] = {{.bytes = 16}, {.bytes = 32}};
    const struct lp_family one = {.spot = a, .nspots = 2}, two = {.spot = b, .nspots = 2};
    struct lp_noise noise_a[2] = {{.clear = 1.0}, {.clear = 2.0}}, noise_b[2] = {{.clear = 3.0}, {.clear = 4.0}};

    (void)state;
    lp_noise_share(&one, noise_a, &two, noise_b);
    assert_true(near(noise_a[0].clear, 1.0) && near(noise_a[1].clear, 3.0));
    assert_true(near(noise_b[0].clear, 3.0) && near(noise_b[1].clear, 4.0));
}

static void test_far(void **state)
{
    static const struct crew_x some[] = {{0, 1, 0.0}, {1, 1, 0.3}, {2, 1, 0.6}, {3, 1, -0.6}};
    struct spot_of of;
    struct lp_family family;
    bool *far;

    (void)state;
    spot_init(&of, some, COUNT_OF(some), 1);
    of.setting[3].same = true;
    family = (struct lp_family){.spot = &of.spot, .nspots = 1};
    far = lp_noise_far(&of.times, &family);
    assert_true(!far[0] && !far[1] && far[2] && !far[3]);
    free(far);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variance),   cmocka_unit_test(test_samples),       cmocka_unit_test(test_unbalanced),
        cmocka_unit_test(test_one_crew),   cmocka_unit_test(test_group_and_far), cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_placements), cmocka_unit_test(test_far),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
