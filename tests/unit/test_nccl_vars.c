/* The table of what NCCL reads, finding names in it, and reading numbers as NCCL does. */
#include "plan/nccl_vars.h"

#include "unit.h"

static void test_table(void **state)
{
    const struct lp_nccl_var *var;
    size_t n = 0;

    (void)state;
    for (; (var = lp_nccl_var_at(n)) != NULL; n++) {
        assert_case(var->name, strncmp(var->name, "NCCL_", 5) == 0 && var->help && var->help[0]);
        assert_case(var->name, lp_nccl_var_find(var->name) == var);
        assert_case(var->name, var->until == 0 || var->until >= var->since);
        assert_case(var->name, var->kind != LP_VAR_NUMBER || var->min < var->max);
        assert_case(var->name, (var->kind == LP_VAR_WORD) == (var->words != NULL));
    }
    assert_true(n > 230);
    assert_null(lp_nccl_var_find("NCCL_"));
    assert_null(lp_nccl_var_find("nccl_algo"));
}

static void test_nearest(void **state)
{
    static const struct {
        const char *name, *meant;
    } cases[] = {
        {"NCCL_Algo", "NCCL_ALGO"},
        {"nccl_algo", "NCCL_ALGO"},
        {"NCLL_ALGO", "NCCL_ALGO"},
        {"NCCL_ALGOS", "NCCL_ALGO"},
        {"NCCL_PROTOCOL", "NCCL_PROTO"},
        {"NCCL_NTHREAD", "NCCL_NTHREADS"},
        {"NCCL_BUFFERSIZE", "NCCL_BUFFSIZE"},
        {"NCCL_BUFF_SIZE", "NCCL_BUFFSIZE"},
        {"BUFFSIZE", "NCCL_BUFFSIZE"},
        {"p2p_level", "NCCL_P2P_LEVEL"},
        {"NCCL_P2P_DISABLED", "NCCL_P2P_DISABLE"},
        {"NCCL_MAX_CHANNELS", "NCCL_MAX_NCHANNELS"},
        {"NCCL_SOCKET_IFANME", "NCCL_SOCKET_IFNAME"},
        {"NCCL_ALGO", NULL},
        {"NCCL_FOO", NULL},
        {"NCCL_", NULL},
        {"", NULL},
        {"PATH", NULL},
        {"HOME", NULL},
        {"NCCL_SOMETHING_ELSE_AND_MORE_THAN_SIXTY_FOUR_LETTERS_OF_IT_TO_THE_END", NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct lp_nccl_var *near = lp_nccl_var_nearest(cases[i].name);

        assert_case(cases[i].name, cases[i].meant ? near && strcmp(near->name, cases[i].meant) == 0 : !near);
    }
}

static void test_distance(void **state)
{
    (void)state;
    assert_int_equal(lp_edit_distance("", ""), 0);
    assert_int_equal(lp_edit_distance("", "abc"), 3);
    assert_int_equal(lp_edit_distance("ring", "RING"), 0);
    assert_int_equal(lp_edit_distance("rnig", "ring"), 1);
    assert_int_equal(lp_edit_distance("kitten", "sitting"), 3);
}

static void test_releases(void **state)
{
    static const struct {
        const char *name;
        int version;
        bool in;
    } cases[] = {
        {"NCCL_ALGO", 21801, true},
        {"NCCL_ALGO", 0, true},
        {"NCCL_ENV_PLUGIN", 22803, false},
        {"NCCL_ENV_PLUGIN", 22807, true},
        {"NCCL_CONF_FILE", 22203, false},
        {"NCCL_CONF_FILE", 22304, true},
        {"NCCL_TREE_THRESHOLD", 22803, false},
        {"NCCL_SHM_USE_CUDA_MEMCPY", 23004, true},
        {"NCCL_SHM_USE_CUDA_MEMCPY", 23007, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_case(cases[i].name, lp_nccl_var_in(lp_nccl_var_find(cases[i].name), cases[i].version) == cases[i].in);
}

static void test_versions(void **state)
{
    static const struct {
        const char *text;
        int version;
    } cases[] = {
        {"2.28.3", 22803},
        {"2.28", 22800},
        {"2.9.6", 20906},
        {"2.30.7", 23007},
        {"", 0},
        {"2", 0},
        {"x", 0},
        {"2.x", 0},
        {"2.28.3.1", 0},
        {"1.2.3", 0},
        {"2.123", 0},
        {"-2.28", 0},
        {"2.28.3+cuda13.0", 22803},
        {"2.28.345", 0},
    };
    char buf[32];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_case(cases[i].text, lp_nccl_version_parse(cases[i].text) == cases[i].version);
    assert_string_equal(lp_nccl_version_text(22803, buf, sizeof(buf)), "2.28.3");
    assert_string_equal(lp_nccl_version_text(20499, buf, sizeof(buf)), "2.4");
}

static void test_numbers(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
        bool any, overflow, octal;
        const char *rest;
    } cases[] = {
        {"16M", 16, true, false, false, "M"},
        {"16777216", 16777216, true, false, false, ""},
        {"0x400000", 4194304, true, false, false, ""},
        {"010", 8, true, false, true, ""},
        {"0256", 174, true, false, true, ""},
        {"089", 0, true, false, true, "89"},
        {"-010", -8, true, false, true, ""},
        {"07", 7, true, false, false, ""},
        {"00", 0, true, false, false, ""},
        {"0", 0, true, false, false, ""},
        {"-1", -1, true, false, false, ""},
        {"+5", 5, true, false, false, ""},
        {" 5 ", 5, true, false, false, ""},
        {"5\r", 5, true, false, false, ""},
        {"1e6", 1, true, false, false, "e6"},
        {"1.5", 1, true, false, false, ".5"},
        {"abc", 0, false, false, false, "abc"},
        {"", 0, false, false, false, ""},
        {"0b11", 0, true, false, false, "b11"},
        {"0x", 0, true, false, false, "x"},
        {"9223372036854775807", INT64_MAX, true, false, false, ""},
        {"9223372036854775808", INT64_MAX, true, true, false, ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_nccl_number got = lp_nccl_read_number(cases[i].text);

        assert_case(cases[i].text, got.value == cases[i].value && got.any == cases[i].any && got.overflow == cases[i].overflow &&
                                       got.octal == cases[i].octal && strcmp(got.rest, cases[i].rest) == 0);
    }
}

static void test_words(void **state)
{
    (void)state;
    assert_int_equal(lp_nccl_word_find(lp_nccl_algos, "nvlstree,ring", 8, true)->bit, LP_ON_NVLS_TREE);
    assert_null(lp_nccl_word_find(lp_nccl_levels, "phb", 3, false));
    assert_string_equal(lp_nccl_word_find(lp_nccl_levels, "PHB", 3, false)->name, "PHB");
    assert_null(lp_nccl_word_find(lp_nccl_protos, "LL12", 4, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),    cmocka_unit_test(test_nearest),  cmocka_unit_test(test_distance),
        cmocka_unit_test(test_releases), cmocka_unit_test(test_versions), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
