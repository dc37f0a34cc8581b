/* Waiting for GPU memory to come back, on scripted readings of NVML and a clock that each look moves on. */
#include "control/settle.h"

#include "machine/nvml.h"

#include <stdio.h>
#include <time.h>

#include "scripted_clock.h"
#include "unit.h"

#define MIB(n)   ((n) * (1LL << 20))
#define UNKNOWN  (-1LL)
#define READINGS 11

/* What a GPU has in use at each reading, the first one before any crew; the last one stays. */
struct readings {
    int n;
    long long used[READINGS];
};

struct lp_nvml {
    bool there;
    int opened, closed, read, naps;
    const struct readings *gpu; /* by the last digit of the PCI id */
    int at[2];
};

static struct lp_nvml driver;

enum lp_status lp_nvml_open(struct lp_nvml **out, struct lp_reason *why)
{
    driver.opened++;
    *out = driver.there ? &driver : NULL;
    return driver.there ? LP_OK : lp_because(why, LP_ERR_UNSUPPORTED, "no NVML");
}

void lp_nvml_close(struct lp_nvml *nvml)
{
    assert_ptr_equal(nvml, &driver);
    driver.closed++;
}

long long lp_nvml_used_bytes(struct lp_nvml *nvml, const char *pci)
{
    int g = pci[strlen(pci) - 1] - '0';
    int at = nvml->at[g]++;

    nvml->read++;
    return nvml->gpu[g].used[at < nvml->gpu[g].n ? at : nvml->gpu[g].n - 1];
}

/* No test needs the sleep itself. */
int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    (void)left;
    assert_true(wanted->tv_sec == 0 && wanted->tv_nsec >= LP_MILLISECOND);
    driver.naps++;
    return 0;
}

struct moving_clock {
    struct scripted_clock clock;
    int64_t step_ns;
};

static int64_t look(void *self)
{
    struct moving_clock *moving = self;
    int64_t now_ns = moving->clock.now_ns;

    moving->clock.now_ns += moving->step_ns;
    return now_ns;
}

static void make_machine(struct lp_machine *machine, const char *device)
{
    memset(machine, 0, sizeof(*machine));
    strcpy(machine->device, device);
    machine->nranks = 2;
    for (int r = 0; r < machine->nranks; r++)
        snprintf(machine->rank[r].pci, sizeof(machine->rank[r].pci), "0000:00:06.%d", r);
}

static void test_nothing_to_watch(void **state)
{
    static const struct {
        const char *device;
        bool nvml;
        int opened;
    } cases[] = {{"host", true, 0}, {"cuda", false, 1}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct moving_clock moving = {.step_ns = LP_SECOND};
        const struct lp_clock clock = {.now_ns = look, .self = &moving};
        struct lp_machine machine;
        long long excess = -7;

        make_machine(&machine, cases[i].device);
        driver = (struct lp_nvml){.there = cases[i].nvml};
        assert_null(lp_settle_create(&machine));
        assert_case(cases[i].device, lp_settle_wait(NULL, &clock, &excess) == -1);
        lp_settle_free(NULL);
        assert_case(cases[i].device, driver.opened == cases[i].opened && driver.closed == 0 && driver.read == 0);
        assert_case(cases[i].device, moving.clock.now_ns <= 2 * LP_SECOND);
    }
}

/* The clock moves a second with each look; between two polls there is a nap. */
static void test_wait(void **state)
{
    static const struct {
        const char *name;
        struct readings gpu[2];
        int rank;
        long long excess;
        int reads; /* while waiting, both GPUs together; 0: until the limit */
    } cases[] = {
        {"back at once", {{2, {MIB(500), MIB(500)}}, {2, {MIB(600), MIB(600)}}}, -1, 0, 2},
        {"less than before", {{2, {MIB(500), 0}}, {1, {MIB(600)}}}, -1, 0, 2},
        {"after some polls", {{4, {MIB(500), MIB(9000), MIB(800), MIB(500)}}, {1, {0}}}, -1, 0, 6},
        {"one after the other", {{3, {0, MIB(900), 0}}, {4, {0, MIB(900), MIB(900), 0}}}, -1, 0, 6},
        {"at the last poll",
         {{11, {0, MIB(900), MIB(900), MIB(900), MIB(900), MIB(900), MIB(900), MIB(900), MIB(900), MIB(900), 0}}, {1, {0}}},
         -1,
         0,
         20},
        {"never, rank 0", {{2, {MIB(500), MIB(900)}}, {1, {MIB(600)}}}, 0, MIB(400), 0},
        {"never, rank 1", {{1, {MIB(500)}}, {2, {MIB(600), MIB(900)}}}, 1, MIB(300), 0},
        {"never, rank 0 has most", {{2, {MIB(500), MIB(901)}}, {2, {MIB(500), MIB(900)}}}, 0, MIB(401), 0},
        {"never, rank 1 has most", {{2, {MIB(500), MIB(900)}}, {2, {MIB(500), MIB(901)}}}, 1, MIB(401), 0},
        {"largest excess, not largest use", {{2, {MIB(9000), MIB(9100)}}, {2, {0, MIB(200)}}}, 1, MIB(200), 0},
        {"what is left at the end", {{6, {0, MIB(900), MIB(800), MIB(700), MIB(600), MIB(500)}}, {1, {0}}}, 0, MIB(500), 0},
        {"the slack itself", {{2, {MIB(500), MIB(564)}}, {1, {0}}}, -1, 0, 2},
        {"a byte above the slack", {{2, {MIB(500), MIB(564) + 1}}, {1, {0}}}, 0, MIB(64) + 1, 0},
        {"slack is per GPU", {{2, {0, MIB(64)}}, {2, {0, MIB(64)}}}, -1, 0, 2},
        {"unknown before", {{2, {UNKNOWN, MIB(9000)}}, {1, {0}}}, -1, 0, 2},
        {"unknown after", {{2, {MIB(500), UNKNOWN}}, {1, {0}}}, -1, 0, 2},
        {"unknown in between", {{4, {0, MIB(900), UNKNOWN, MIB(900)}}, {1, {0}}}, -1, 0, 4},
        {"unknown beside an excess", {{1, {UNKNOWN}}, {2, {0, MIB(900)}}}, 1, MIB(900), 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct moving_clock moving = {.clock = {.now_ns = 77}, .step_ns = LP_SECOND};
        const struct lp_clock clock = {.now_ns = look, .self = &moving};
        const char *name = cases[i].name;
        struct lp_machine machine;
        struct lp_settle *settle;
        long long excess = -7;
        int64_t last_look;

        make_machine(&machine, "cuda");
        driver = (struct lp_nvml){.there = true, .gpu = cases[i].gpu};
        settle = lp_settle_create(&machine);
        assert_case(name, settle && driver.opened == 1 && driver.read == 2);
        assert_case(name, lp_settle_wait(settle, &clock, &excess) == cases[i].rank);
        assert_case(name, excess == cases[i].excess);
        last_look = moving.clock.now_ns - moving.step_ns - 77;
        if (cases[i].reads)
            assert_case(name, driver.read - 2 == cases[i].reads && last_look < 10 * LP_SECOND);
        else
            assert_case(name, last_look == 10 * LP_SECOND);
        assert_case(name, driver.naps == (driver.read - 2) / 2 - 1);
        assert_case(name, driver.closed == 0);
        lp_settle_free(settle);
        assert_case(name, driver.closed == 1);
    }
}

/* What was in use before any crew stays the measure, for every wait. */
static void test_waits_again(void **state)
{
    static const struct readings gpu[2] = {{4, {0, 0, MIB(50), MIB(100)}}, {1, {0}}};
    struct moving_clock moving = {.step_ns = 10 * LP_SECOND};
    const struct lp_clock clock = {.now_ns = look, .self = &moving};
    struct lp_machine machine;
    struct lp_settle *settle;
    long long excess;

    (void)state;
    make_machine(&machine, "cuda");
    driver = (struct lp_nvml){.there = true, .gpu = gpu};
    settle = lp_settle_create(&machine);
    assert_int_equal(lp_settle_wait(settle, &clock, &excess), -1);
    assert_int_equal(lp_settle_wait(settle, &clock, &excess), -1);
    assert_int_equal(lp_settle_wait(settle, &clock, &excess), 0);
    assert_int_equal(excess, MIB(100));
    lp_settle_free(settle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_to_watch),
        cmocka_unit_test(test_wait),
        cmocka_unit_test(test_waits_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
