/* Names that a libnccl holds, and what is said about those that it does not. */
#include "plan/lint.h"

#include "fixture.h"
#include "plan/nccl_vars.h"

#include "lint_text.h"

static void test_library(void **state)
{
    static const char data[] =
        "\x7f"
        "ELF\0NCCL_ALGO\0xNCCL_BUFFSIZE\0 NCCL_NTHREADS set\0NCCL_\0XNCCL_PROTO\0NCCL version 2.28.3+cuda13.0\0NCCL_NEW\0"
        "NCCL_CUT";
    struct lp_lint_names names;
    struct lp_reason why = {""};
    struct lp_findings out = {0};
    struct lp_lint_context context = {.library = &names};
    struct scratch scratch;

    (void)state;
    scratch_make(&scratch);
    assert_int_equal(lp_lint_names_in_library(scratch_write(&scratch, "lib", data, sizeof(data) - 1), &names, &why), LP_OK);
    context.version = names.version;
    assert_int_equal(names.version, 22803);
    assert_true(lp_lint_names_has(&names, "NCCL_ALGO") && lp_lint_names_has(&names, "NCCL_NEW"));
    assert_true(lp_lint_names_has(&names, "NCCL_BUFFSIZE")); /* behind a small letter: the end of another string */
    assert_false(lp_lint_names_has(&names, "NCCL_NTHREADS") || lp_lint_names_has(&names, "NCCL_PROTO"));
    assert_false(lp_lint_names_has(&names, "NCCL_CUT"));

    lint_text("NCCL_ALGO=Ring NCCL_NTHREADS=256 NCCL_NEW=1 NCCL_QQQQQQ=1 NCCL_ALG=x", &context, &out);
    assert_int_equal(out.n, 4);
    assert_says(out.item[0].text, "this NCCL (2.28.3) does not read it");
    assert_says(out.item[1].text, "holds the name");
    assert_says(out.item[2].text, "does not hold the name");
    assert_string_equal(out.item[3].fix, "NCCL_ALGO=x");
    lp_findings_release(&out);
    lp_lint_names_release(&names);

    assert_int_equal(lp_lint_names_in_library(scratch_path(&scratch, "absent"), &names, &why), LP_ERR_IO);
    assert_says(why.text, "absent");
    lp_lint_names_release(&names);
    assert_int_equal(lp_lint_names_in_library(scratch.folder, &names, &why), LP_ERR_IO);
    lp_lint_names_release(&names);
    assert_int_equal(lp_lint_names_in_library(scratch_write(&scratch, "empty", "", 0), &names, &why), LP_ERR_IO);
    lp_lint_names_release(&names);
    scratch_remove(&scratch);
}

/* The libnccl of this machine, where there is one: every name of the table that its release reads is in it, and no other. */
static void test_real_library(void **state)
{
    static const char *const paths[] = {"/usr/local/cuda/lib/libnccl.so.2", "/usr/lib/x86_64-linux-gnu/libnccl.so.2"};
    const struct lp_nccl_var *var;
    struct lp_lint_names names;
    size_t i = 0;

    (void)state;
    while (i < COUNT_OF(paths) && access(paths[i], R_OK) != 0)
        i++;
    if (i == COUNT_OF(paths))
        skip();
    assert_int_equal(lp_lint_names_in_library(paths[i], &names, NULL), LP_OK);
    assert_true(names.version > 21800);
    for (i = 0; (var = lp_nccl_var_at(i)) != NULL; i++)
        if (!(var->flags & LP_VAR_PLUGINS_OWN) && names.version <= 23007)
            assert_case(var->name, lp_lint_names_has(&names, var->name) == lp_nccl_var_in(var, names.version));
    lp_lint_names_release(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_library),
        cmocka_unit_test(test_real_library),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
