/* A GPU's state by a driver that answers all, some or nothing of what is asked. */
#include "machine/nvml_now.h"

#include "machine/nvml_parts.h"

#include <limits.h>
#include <math.h>

#include "unit.h"

#define PCI    "0000:00:06.0"
#define HIDDEN ULLONG_MAX

enum { OTHER_ERROR = 999, TOO_SMALL = 7 };

/* What the driver says; result: of every call but the one for the handle. */
static struct {
    int known, result;
    unsigned long long reasons;
    unsigned nprocesses;
    struct process_info process[LP_NVML_MAX_PROCESSES];
} driver;

static int by_pci(const char *pci, device_t *device)
{
    *device = (device_t)&driver;
    return strcmp(pci, PCI) == 0 ? driver.known : OTHER_ERROR;
}

/* Everybody gets the handle, and out only where there is an answer. */
static int answer(device_t device, unsigned *out, unsigned value)
{
    assert_ptr_equal(device, &driver);
    if (driver.result == SUCCESS)
        *out = value;
    return driver.result;
}

static int clock_now(device_t device, int kind, unsigned *out)
{
    return answer(device, out, kind == CLOCK_SM ? 1755 : kind == CLOCK_MEMORY ? 3201 : 1);
}

static int clock_max(device_t device, int kind, unsigned *out)
{
    return answer(device, out, kind == CLOCK_SM ? 1980 : kind == CLOCK_MEMORY ? 3202 : 1);
}

static int temperature(device_t device, int sensor, unsigned *out)
{
    return answer(device, out, sensor == SENSOR_GPU ? 41 : 1);
}

static int power(device_t device, unsigned *out)
{
    return answer(device, out, 123400);
}

static int clock_reasons(device_t device, unsigned long long *out)
{
    unsigned value = 0;
    int result = answer(device, &value, 0);

    *out = driver.reasons;
    return result;
}

static int utilisation(device_t device, struct utilisation *out)
{
    return answer(device, &out->gpu, 97);
}

static int ecc_errors(device_t device, int type, int counter, unsigned long long *out)
{
    unsigned value = 0;
    int result = answer(device, &value, type == ECC_UNCORRECTED && counter == ECC_VOLATILE ? 3 : 1);

    *out = value;
    return result;
}

static int memory(device_t device, struct memory_info *out)
{
    unsigned value = 0;
    int result = answer(device, &value, 5);

    *out = (struct memory_info){.total = 9000000000ULL, .free = 1, .used = 8000000000ULL + value};
    return result;
}

static int processes(device_t device, unsigned *n, struct process_info *out)
{
    unsigned room = *n;
    int result = answer(device, n, driver.nprocesses);

    if (driver.nprocesses > room) {
        *n = driver.nprocesses;
        return TOO_SMALL;
    }
    if (result == SUCCESS)
        memcpy(out, driver.process, driver.nprocesses * sizeof(*out));
    return result;
}

static struct lp_nvml all_there(void)
{
    memset(&driver, 0, sizeof(driver));
    return (struct lp_nvml){.by_pci = by_pci,
                            .clock = clock_now,
                            .max_clock = clock_max,
                            .temperature = temperature,
                            .power = power,
                            .clock_reasons = clock_reasons,
                            .utilisation = utilisation,
                            .ecc_errors = ecc_errors,
                            .memory = memory,
                            .processes = processes};
}

static void expect_nothing(const char *name, const struct lp_nvml_now *now)
{
    assert_case(name, now->sm_mhz == -1 && now->sm_max_mhz == -1 && now->mem_mhz == -1 && now->mem_max_mhz == -1);
    assert_case(name, now->temperature_c == -1 && isnan(now->power_w) && now->throttle == 0 && now->busy_percent == -1);
    assert_case(name, now->ecc_uncorrected == -1 && now->used_bytes == -1 && now->total_bytes == -1 && now->nprocesses == -1);
}

static void test_everything(void **state)
{
    struct lp_nvml nvml = all_there();
    struct lp_nvml_now now;

    (void)state;
    driver.nprocesses = 3;
    driver.process[0] = (struct process_info){.pid = 4711, .used = 2147483648ULL};
    driver.process[1] = (struct process_info){.pid = 0, .used = HIDDEN};
    driver.process[2] = (struct process_info){.pid = 3000000000U, .used = 0};
    lp_nvml_now(&nvml, PCI, &now);
    assert_true(now.sm_mhz == 1755 && now.sm_max_mhz == 1980 && now.mem_mhz == 3201 && now.mem_max_mhz == 3202);
    assert_true(now.temperature_c == 41 && fabs(now.power_w - 123.4) < 1e-9 && now.busy_percent == 97);
    assert_true(now.ecc_uncorrected == 3 && now.used_bytes == 8000000005LL && now.total_bytes == 9000000000LL);
    assert_int_equal(now.nprocesses, 3);
    assert_true(now.process[0].pid == 4711 && now.process[0].memory_bytes == 2147483648LL);
    assert_true(now.process[1].pid == 0 && now.process[1].memory_bytes == -1);
    assert_true(now.process[2].pid == 3000000000L && now.process[2].memory_bytes == 0);
}

static void test_throttle(void **state)
{
    static const struct {
        unsigned long long reasons;
        const char *words; /* each with ; after it */
    } cases[] = {
        {0x0, ""},
        {0x1, ""},   /* idle */
        {0x2, ""},   /* application clocks */
        {0x100, ""}, /* display clocks */
        {0x4, "power cap;"},
        {0x8, "hardware slowdown;"},
        {0x10, "sync boost;"},
        {0x20, "thermal (software);"},
        {0x48, "hardware slowdown;thermal (hardware);"},
        {0x80, "power brake;"},
        {0x107, "power cap;"},
        {0xffffffffffffff00ULL, ""}, /* of a driver to come */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_nvml nvml = all_there();
        struct lp_nvml_now now;
        char words[256] = "";

        driver.reasons = cases[i].reasons;
        lp_nvml_now(&nvml, PCI, &now);
        for (int b = 0; b < LP_NTHROTTLES; b++)
            if (now.throttle & 1u << b) {
                strcat(words, lp_throttle_word(b));
                strcat(words, ";");
            }
        if (strcmp(words, cases[i].words) != 0)
            fail_msg("0x%llx is \"%s\", not \"%s\"", cases[i].reasons, words, cases[i].words);
    }
}

/* An old driver, an error, a GPU that is not there: unknown, and never a failure. */
static void test_not_given(void **state)
{
    struct lp_nvml nvml = all_there(), old = {.by_pci = by_pci};
    struct lp_nvml_now now;

    (void)state;
    lp_nvml_now(NULL, PCI, &now);
    expect_nothing("no NVML", &now);
    lp_nvml_now(&old, PCI, &now);
    expect_nothing("no functions", &now);
    lp_nvml_now(&nvml, "0000:00:07.0", &now);
    expect_nothing("another GPU", &now);
    driver.result = NOT_SUPPORTED;
    driver.reasons = 0x4;
    lp_nvml_now(&nvml, PCI, &now);
    expect_nothing("not supported", &now);
    driver.result = SUCCESS;
    driver.nprocesses = LP_NVML_MAX_PROCESSES + 1;
    lp_nvml_now(&nvml, PCI, &now);
    assert_true(now.nprocesses == -1 && now.sm_mhz == 1755);
    driver.nprocesses = LP_NVML_MAX_PROCESSES;
    lp_nvml_now(&nvml, PCI, &now);
    assert_int_equal(now.nprocesses, LP_NVML_MAX_PROCESSES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_throttle),
        cmocka_unit_test(test_not_given),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
