/* `linkperf lint` by its function: output and exit codes. */
#include "cmd.h"

#include "fixture.h"

#include <fcntl.h>

#include "unit.h"

/* The sub-command with stdout in a file. */
static int run_lint(struct scratch *scratch, char **argv, char *output, size_t cap)
{
    int argc = 0, saved = dup(STDOUT_FILENO), fd, code;
    FILE *file;

    while (argv[argc])
        argc++;
    fflush(stdout);
    fd = open(scratch_path(scratch, "out"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(saved >= 0 && fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0);
    close(fd);
    code = lp_cmd_lint(argc, argv);
    assert_true(dup2(saved, STDOUT_FILENO) >= 0);
    close(saved);
    file = fopen(scratch_path(scratch, "out"), "r");
    assert_non_null(file);
    output[fread(output, 1, cap - 1, file)] = '\0';
    fclose(file);
    return code;
}

#define LINT(...) ((char *[]){(char *)"lint", __VA_ARGS__, NULL})

static void test_command(void **state)
{
    static const char matrix[] =
        "variants:\n- name: big\n  env: {NCCL_BUFFSIZE: 16M}\n- name: fine\n  env: {NCCL_CUMEM_ENABLE: 0}\n";
    static const char shell[] = "export NCCL_P2P_LEVEL=phb\n";
    struct scratch scratch;
    char yaml[128], sh[128], output[8192];

    (void)state;
    unsetenv("NCCL_CUMEM_ENABLE");
    scratch_make(&scratch);
    setenv("HOME", scratch.folder, 1);
    snprintf(yaml, sizeof(yaml), "%s", scratch_write(&scratch, "m.yaml", matrix, strlen(matrix)));
    snprintf(sh, sizeof(sh), "%s", scratch_write(&scratch, "set.sh", shell, strlen(shell)));

    assert_int_equal(run_lint(&scratch, LINT(yaml), output, sizeof(output)), 2);
    assert_says(output, "variant big: error: NCCL_BUFFSIZE=16M: NCCL reads 16, not 16 MiB: it knows no suffixes; write "
                        "NCCL_BUFFSIZE=16777216\n");
    assert_says(output, "2 variants: 1 error, 0 warnings, 0 notes\n");
    assert_int_equal(run_lint(&scratch, LINT(sh), output, sizeof(output)), 2);
    assert_says(output, "variant set.sh: error: NCCL_P2P_LEVEL=phb");
    assert_int_equal(run_lint(&scratch, LINT("--variant", "t: NCCL_ALGO=Tree"), output, sizeof(output)), 0);
    assert_says(output, "variant t: warning: NCCL_ALGO=Tree: NCCL has none of these for AllGather");
    assert_says(output, "1 variant: 0 errors, 1 warning, 0 notes\n");
    assert_int_equal(
        run_lint(&scratch, LINT("--variant", "t: NCCL_ALGO=Tree", "--collectives", "allreduce"), output, sizeof(output)), 0);
    assert_says(output, "0 warnings");
    assert_int_equal(
        run_lint(&scratch, LINT("--nccl-version", "2.20.5", "--variant", "t: NCCL_ALGO=allreduce:tree"), output, sizeof(output)),
        2);
    assert_says(output, "since 2.24");
    assert_int_equal(run_lint(&scratch, LINT("--variant", "no colon"), output, sizeof(output)), 2);
    assert_int_equal(run_lint(&scratch, LINT("--variant", "a: NCCL_DEBUG=INFO"), output, sizeof(output)), 2);
    assert_int_equal(run_lint(&scratch, LINT("/nowhere/x.yaml"), output, sizeof(output)), 3);
    assert_int_equal(run_lint(&scratch, LINT("/nowhere/x.sh"), output, sizeof(output)), 3);
    assert_int_equal(run_lint(&scratch, LINT("--nccl", "/nowhere", "--variant", "a: NCCL_ALGO=Ring"), output, sizeof(output)), 3);
    scratch_remove(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_command),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
