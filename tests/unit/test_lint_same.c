/* Lint of several variants: the same effective environment; and what conf files hold. */
#include "plan/lint.h"

#include "fixture.h"
#include "plan/matrix.h"

#include "unit.h"

/* Which of the variants before a variant it is the same as; "" for none. */
static void test_same(void **state)
{
    static const struct {
        const char *text, *same;
    } cases[] = {
        {"size: NCCL_BUFFSIZE=8388608", ""},
        {"hex: NCCL_BUFFSIZE=0x800000", "size"},
        {"ring: NCCL_ALGO=Ring", ""},
        {"case: NCCL_ALGO=rInG", "ring"},
        {"each: NCCL_ALGO=allreduce:ring;allgather:ring;reducescatter:ring;broadcast:ring;reduce:ring", "ring"},
        {"tree: NCCL_ALGO=ring,tree", ""},
        {"order: NCCL_ALGO=Tree,Ring", "tree"},
        {"threads: NCCL_NTHREADS=512", ""},
        {"more: NCCL_NTHREADS=1024", "threads"},
        {"sys: NCCL_P2P_LEVEL=SYS", ""},
        {"four: NCCL_P2P_LEVEL=4", "sys"},
        {"misread: NCCL_P2P_LEVEL=FOO", ""}, /* an error, which is enough */
        {"empty: NCCL_PROTO=", "default"},
        {"zero: NCCL_NVLS_ENABLE=0", "default"},
        {"nothing: NCCL_IB_HCA", "default"},
        {"ib: NCCL_IB_DISABLE=1", ""},
        {"unset: NCCL_NVLS_ENABLE", ""},
    };
    json_t *inherited = json_of("{'NCCL_NVLS_ENABLE': '0'}");
    const struct lp_lint_context context = {.version = 22803, .inherited = inherited};
    struct lp_variants list = {0};
    struct lp_findings out = {0};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(lp_matrix_add_text(cases[i].text, &list, NULL), LP_OK);
    assert_int_equal(lp_lint_matrix(&list, &context, &out), LP_OK);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *same = "";

        for (size_t k = 0; k < out.n; k++)
            if (strcmp(out.item[k].variant, list.item[i].name) == 0 && strstr(out.item[k].text, "same environment"))
                same = strrchr(out.item[k].text, ' ') + 1;
        if (strcmp(same, cases[i].same) != 0)
            fail_msg("case \"%s\": the same as \"%s\"", cases[i].text, same);
    }
    lp_findings_release(&out);
    lp_variants_release(&list);
    json_decref(inherited);
}

/* Another library or other timings make another variant of the same environment. */
static void test_same_options(void **state)
{
    const struct lp_lint_context context = {0};
    struct lp_variants list = {0};
    struct lp_findings out = {0};

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_non_null(lp_variants_add(&list, i == 0 ? "a" : i == 1 ? "b" : "c"));
    list.item[0].timings = 1;
    list.item[1].nccl = strdup("/x");
    list.item[2].nccl = strdup("/x");
    assert_int_equal(lp_lint_matrix(&list, &context, &out), LP_OK);
    assert_int_equal(out.n, 1);
    assert_string_equal(out.item[0].variant, "c");
    assert_says(out.item[0].text, "variant b");
    lp_findings_release(&out);
    lp_variants_release(&list);
}

static void test_conf_files(void **state)
{
    static const char text[] = "# no\nNCCL_ALGO=Ring\r\n NCCL_X=1\nnothing\nNCCL_ALGO=Tree\nNCCL_Y =\nNCCL_LAST=a=b";
    struct scratch scratch;
    char path[128];
    json_t *files, *env;

    (void)state;
    scratch_make(&scratch);
    snprintf(path, sizeof(path), "%s", scratch_write(&scratch, "own.conf", text, strlen(text)));
    scratch_write(&scratch, ".nccl.conf", "NCCL_HOME=1\n", 12);
    scratch_write(&scratch, "nccl.conf", "NCCL_ETC=1\n", 11);
    files = lp_lint_conf_read(path, scratch.folder, scratch.folder, 0);
    assert_int_equal(json_array_size(files), 2);
    env = json_object_get(json_array_get(files, 0), "env");
    assert_string_equal(json_string_value(json_object_get(env, "NCCL_ALGO")), "Ring\r"); /* not trimmed, and the first stays */
    assert_string_equal(json_string_value(json_object_get(env, "NCCL_LAST")), "a=b");
    assert_non_null(json_object_get(env, " NCCL_X"));
    assert_int_equal(json_object_size(env), 4);
    json_decref(files);

    files = lp_lint_conf_read(path, scratch.folder, scratch.folder, 22203); /* before NCCL_CONF_FILE */
    assert_non_null(json_object_get(json_object_get(json_array_get(files, 0), "env"), "NCCL_HOME"));
    assert_int_equal(json_array_size(files), 2);
    json_decref(files);
    files = lp_lint_conf_read(NULL, NULL, "/nowhere", 0);
    assert_int_equal(json_array_size(files), 0);
    json_decref(files);
    remove(scratch_path(&scratch, ".nccl.conf"));
    scratch_remove(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_same_options),
        cmocka_unit_test(test_conf_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
