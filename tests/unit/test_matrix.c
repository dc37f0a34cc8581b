/* Variants by text, the built-in ones, and what no variant may be. YAML is test_matrix_yaml's. */
#include "plan/matrix.h"

#include <stdlib.h>

#include "unit.h"

/* words: of the one variant that comes of the text; NULL: refused. */
static void test_texts(void **state)
{
    static const struct {
        const char *text, *name, *words;
    } cases[] = {
        {"ring: NCCL_ALGO=Ring", "ring", "NCCL_ALGO=Ring"},
        {"ring:NCCL_ALGO=Ring", "ring", "NCCL_ALGO=Ring"},
        {"two: A=1 B=2", "two", "A=1 B=2"},
        {"blanks:  A=1 \t B=2  ", "blanks", "A=1 B=2"},
        {"unset: A", "unset", "A unset"},
        {"empty: A=", "empty", "A="},
        {"nothing:", "nothing", "no change"},
        {"again: A=1 A=2", "again", "A=2"},
        {"verbatim: A=010 B=16M C=0x10 D=yes", "verbatim", "A=010 B=16M C=0x10 D=yes"},
        {"equals: A=b=c", "equals", "A=b=c"},
        {"algo: NCCL_ALGO=allreduce:tree;allgather:ring", "algo", "NCCL_ALGO=allreduce:tree;allgather:ring"},
        {"with blank: A=1", "with blank", "A=1"},
        {"a,b: A=1", "a,b", "A=1"},
        {"", NULL, NULL},
        {"ring", NULL, NULL},
        {": A=1", NULL, NULL},
        {"NCCL_ALGO=Ring", NULL, NULL},
        {"NCCL_ALGO=allreduce:tree", NULL, NULL},
        {"v: =1", NULL, NULL},
        {"v: 9A=1", NULL, NULL},
        {"v: A-B=1", NULL, NULL},
        {"v: NCCL_ALGO: Ring", NULL, NULL},
        {"0123456789012345678901234567890123456789012345678901234567890123: A=1", NULL, NULL}, /* 64 bytes */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_variants list = {0};
        struct lp_reason why = {""};
        char buf[128];

        assert_case(cases[i].text, lp_matrix_add_text(cases[i].text, &list, &why) == (cases[i].name ? LP_OK : LP_ERR_ARG));
        if (cases[i].name) {
            assert_case(cases[i].text, list.n == 1);
            assert_string_equal(list.item[0].name, cases[i].name);
            assert_string_equal(lp_variant_words(&list.item[0], buf, sizeof(buf)), cases[i].words);
        } else {
            assert_case(cases[i].text, why.text[0] != '\0');
        }
        lp_variants_release(&list);
    }
}

static void test_refusal_shows_the_form(void **state)
{
    struct lp_variants list = {0};
    struct lp_reason why = {""};

    (void)state;
    assert_int_equal(lp_matrix_add_text("NCCL_ALGO=Ring", &list, &why), LP_ERR_ARG);
    assert_says(why.text, "NCCL_ALGO=Ring");
    assert_says(why.text, "name: NCCL_X=value");
    lp_variants_release(&list);
}

static void test_longest_name(void **state)
{
    struct lp_variants list = {0};

    (void)state;
    assert_int_equal(lp_matrix_add_text("012345678901234567890123456789012345678901234567890123456789012: A=1", &list, NULL),
                     LP_OK);
    assert_int_equal(strlen(list.item[0].name), LP_NAME_MAX - 1);
    lp_variants_release(&list);
}

static void test_builtin(void **state)
{
    static const struct {
        const char *device, *name, *words;
        enum lp_when when;
    } cases[] = {
        {"cuda", "ring", "NCCL_ALGO=Ring", LP_WHEN_ALWAYS},
        {"cuda", "tree", "NCCL_ALGO=Tree", LP_WHEN_ALWAYS},
        {"cuda", "p2p-off", "NCCL_P2P_DISABLE=1 NCCL_NVLS_ENABLE=0", LP_WHEN_ALWAYS},
        {"cuda", "p2p-nvl", "NCCL_P2P_LEVEL=NVL", LP_WHEN_NVLINK},
        {"cuda", "p2p-pix", "NCCL_P2P_LEVEL=PIX", LP_WHEN_PCIE},
        {"cuda", "p2p-phb", "NCCL_P2P_LEVEL=PHB", LP_WHEN_PCIE},
        {"cuda", "p2p-sys", "NCCL_P2P_LEVEL=SYS", LP_WHEN_ALWAYS},
        {"host", "ring", "NCCL_ALGO=Ring", LP_WHEN_ALWAYS},
        {"host", "tree", "NCCL_ALGO=Tree", LP_WHEN_ALWAYS},
        {"host", "p2p-off", "NCCL_P2P_DISABLE=1", LP_WHEN_ALWAYS},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_variants list = {0};
        const struct lp_variant *variant;
        char buf[128];

        assert_int_equal(lp_matrix_builtin(cases[i].device, &list), LP_OK);
        assert_int_equal(lp_matrix_check(&list, NULL), LP_OK);
        variant = lp_variants_find(&list, cases[i].name, 0);
        assert_case(cases[i].name, variant != NULL);
        assert_string_equal(lp_variant_words(variant, buf, sizeof(buf)), cases[i].words);
        assert_case(cases[i].name, variant->when == cases[i].when);
        assert_null(lp_variants_find(&list, "default", 0));
        lp_variants_release(&list);
    }
}

static void test_builtin_of_no_device(void **state)
{
    struct lp_variants list = {0};

    (void)state;
    assert_int_equal(lp_matrix_builtin("abacus", &list), LP_OK);
    assert_int_equal(list.n, 0);
}

/* Two variants, one after the other; says NULL: they may be. */
static void test_check(void **state)
{
    static const struct {
        const char *first, *second, *says;
    } cases[] = {
        {"a: NCCL_ALGO=Ring", "b: NCCL_ALGO=Ring", NULL},
        {"a: A=1", "A: A=1", NULL},
        {"a: A=1", "a: A=2", "'a' is there twice"},
        {"a: A=1", "default: A=2", "default"},
        {"default:", "a:", "default"},
        {"a: NCCL_DEBUG=INFO", "b:", "NCCL_DEBUG"},
        {"a:", "b: NCCL_DEBUG", "'b'"},
        {"a: NCCL_DEBUG_FILE=x", "b:", "NCCL_DEBUG_FILE"},
        {"a: NCCL_DEBUG_SUBSYS=ALL", "b:", "NCCL_DEBUG_SUBSYS"},
        {"a: NCCL_COMM_BLOCKING=0", "b:", "NCCL_COMM_BLOCKING"},
        {"a: CUDA_VISIBLE_DEVICES=0", "b:", "CUDA_VISIBLE_DEVICES"},
        {"a: LD_PRELOAD=x.so", "b:", "LD_PRELOAD"},
        {"a: LINKPERF_LOCK", "b:", "LINKPERF_LOCK"},
        {"a: NCCL_DEBU=x", "b:", NULL},
        {"a: NCCL_X=\xff", "b:", "NCCL_X"},
        {"a: NCCL_X=\xc3\xbc", "b:", NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_variants list = {0};
        struct lp_reason why = {""};

        assert_int_equal(lp_matrix_add_text(cases[i].first, &list, NULL), LP_OK);
        assert_int_equal(lp_matrix_add_text(cases[i].second, &list, NULL), LP_OK);
        assert_case(cases[i].first, lp_matrix_check(&list, &why) == (cases[i].says ? LP_ERR_ARG : LP_OK));
        if (cases[i].says)
            assert_says(why.text, cases[i].says);
        lp_variants_release(&list);
    }
}

/* Names travel as JSON too: a record with such a name could not be written. */
static void test_names_are_utf8(void **state)
{
    struct lp_variants list = {0};
    struct lp_reason why = {""};

    (void)state;
    assert_int_equal(lp_matrix_add_text("bad\xff: A=1", &list, &why), LP_OK);
    assert_int_equal(lp_matrix_check(&list, &why), LP_ERR_ARG);
    lp_variants_release(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),        cmocka_unit_test(test_refusal_shows_the_form),
        cmocka_unit_test(test_builtin),      cmocka_unit_test(test_builtin_of_no_device),
        cmocka_unit_test(test_check),        cmocka_unit_test(test_names_are_utf8),
        cmocka_unit_test(test_longest_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
