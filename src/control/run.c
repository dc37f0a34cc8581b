/* A run from start to exit code. Its parts are run_crews, run_link and run_variants. */
#include "control/run.h"

#include "base/json.h"
#include "base/log.h"
#include "base/units.h"
#include "base/version.h"
#include "control/launcher.h"
#include "control/run_parts.h"
#include "judge/hints.h"
#include "judge/judge.h"
#include "report/term.h"
#include "report/views.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXIT_ENVIRONMENT  3
#define EXIT_LOSS         4
#define EXIT_WRONG        6
#define CELL_BUDGET_US    25e3
#define CAREFUL_FACTOR    4.0
#define COPY_BUDGET_US    12e3
#define LATENCY_BUDGET_US 30e3
#define SUMMARY_BYTES     8192 /* what mpirun still passes on after it has sent SIGTERM */

/* ---- what the parts use ---- */

static bool costs_exit_code(enum lp_outcome outcome)
{
    return outcome != LP_DONE && outcome != LP_UNSUPPORTED && outcome != LP_SKIPPED;
}

static void journal_trouble(struct lp_job *job, const struct lp_reason *why)
{
    if (!job->journal_failed)
        lp_say("the journal cannot be written: %s; the run goes on", why->text);
    job->journal_failed = true;
}

void lp_job_add(struct lp_job *job, struct lp_record *record)
{
    struct lp_reason why = {""};

    job->outcomes[record->outcome]++;
    if (job->own_log_dir && !costs_exit_code(record->outcome))
        record->log[0] = '\0'; /* it goes with the folder */
    if (lp_journal_record(&job->journal, record, &why) != LP_OK)
        journal_trouble(job, &why);
    if (lp_result_add(&job->result, record) != LP_OK)
        lp_job_over(job, "out of memory for results");
}

void lp_job_head(struct lp_job *job, json_t *members)
{
    struct lp_reason why = {""};

    json_object_update(job->result.head, members);
    if (lp_journal_head(&job->journal, members, &why) != LP_OK)
        journal_trouble(job, &why);
    json_decref(members);
}

struct lp_lap lp_job_lap_begin(const struct lp_job *job)
{
    return (struct lp_lap){.since = lp_clock_now(job->link->clock), .ends = job->spent.ends};
}

void lp_job_lap(const struct lp_job *job, struct lp_lap *lap, double *seconds)
{
    struct lp_lap now = lp_job_lap_begin(job);

    *seconds += (double)(now.since - lap->since) / 1e9 - (now.ends - lap->ends);
    *lap = now;
}

/* ---- set-up ---- */

static enum lp_status find_worker(struct lp_job *job, struct lp_reason *why)
{
    char self[sizeof(job->worker)];
    ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *slash;

    if (job->options->worker) {
        if (!realpath(job->options->worker, job->worker))
            return lp_because(why, LP_ERR_ARG, "--worker %s: %s", job->options->worker, strerror(errno));
        return LP_OK;
    }
    self[len > 0 ? len : 0] = '\0';
    slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    if (snprintf(job->worker, sizeof(job->worker), "%s/linkperf-worker", self) >= (int)sizeof(job->worker) ||
        access(job->worker, X_OK) != 0)
        return lp_because(why, LP_ERR_ENV, "%s is not there: build it, or name it with --worker", job->worker);
    return LP_OK;
}

static enum lp_status make_log_dir(struct lp_job *job, struct lp_reason *why)
{
    const char *tmp = getenv("TMPDIR");

    if (job->options->log_dir) {
        if (mkdir(job->options->log_dir, 0777) < 0 && errno != EEXIST)
            return lp_because(why, LP_ERR_ENV, "--log-dir %s: %s", job->options->log_dir, strerror(errno));
        if (strlen(job->options->log_dir) > 400 || !realpath(job->options->log_dir, job->log_dir))
            return lp_because(why, LP_ERR_ENV, "--log-dir %s: not a folder, or over 400 bytes", job->options->log_dir);
        return LP_OK;
    }
    snprintf(job->log_dir, sizeof(job->log_dir), "%.400s/linkperf-XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
    if (!mkdtemp(job->log_dir))
        return lp_because(why, LP_ERR_ENV, "%s: %s: name another folder in TMPDIR or --log-dir", job->log_dir, strerror(errno));
    job->own_log_dir = true;
    return LP_OK;
}

/* Removes the folder that was made for this run, with the plain files in it. */
static void drop_log_dir(struct lp_job *job)
{
    DIR *dir = job->own_log_dir ? opendir(job->log_dir) : NULL;
    const struct dirent *entry;

    if (!dir)
        return;
    while ((entry = readdir(dir)) != NULL)
        unlinkat(dirfd(dir), entry->d_name, 0);
    closedir(dir);
    rmdir(job->log_dir);
}

static void set_limits(const struct lp_options *options, struct lp_limits *out)
{
    *out = (struct lp_limits){
        .init_ns = (int64_t)(options->init_timeout * options->slowness * 1e9),
        .cell_ns = (int64_t)(options->cell_timeout * options->slowness * 1e9),
        .end_ns = (int64_t)(20.0 * options->slowness * 1e9),
        .slowness = options->slowness,
        .budget_us = CELL_BUDGET_US * (options->careful ? CAREFUL_FACTOR : 1.0),
        .copy_us = COPY_BUDGET_US,
        .latency_us = LATENCY_BUDGET_US,
    };
}

static enum lp_status set_up(struct lp_job *job, const struct lp_options *options, struct lp_link *link, struct lp_reason *why)
{
    enum lp_status st;

    memset(job, 0, sizeof(*job));
    job->options = options;
    job->link = link;
    job->iteration = 1;
    job->spent.since = lp_clock_now(link->clock);
    job->link_gbps = (double)NAN;
    lp_result_init(&job->result);
    lp_journal_init(&job->journal);
    set_limits(options, &job->limits);
    job->full_us = job->limits.budget_us;
    st = lp_locks_make(getenv("LINKPERF_LOCK"), getenv("NCCL_NVLS_ENABLE"), &job->plan.locks, why); /* the survey obeys them too */
    if (st == LP_OK)
        st = find_worker(job, why);
    if (st == LP_OK)
        st = make_log_dir(job, why);
    return st == LP_OK ? lp_crews_create(link, &job->crews) : st;
}

static void tear_down(struct lp_job *job, bool keep_logs)
{
    if (job->crews)
        lp_crews_free(job->crews);
    if (keep_logs && job->own_log_dir)
        lp_say("logs of the workers are kept in %s", job->log_dir);
    else
        drop_log_dir(job);
    if (job->journal.fd >= 0)
        close(job->journal.fd);
    lp_settle_free(job->settle);
    lp_watch_free(job->watch);
    lp_plan_release(&job->plan);
    lp_result_release(&job->result);
}

/* ---- head ---- */

static void fill_head(struct lp_job *job, int argc, char **argv)
{
    json_t *command = json_array(), *versions = json_object_get(job->result.head, "versions");
    char now[32];

    for (int i = 0; i < argc; i++)
        json_array_append_new(command, lp_json_text(argv[i]));
    json_object_set_new(versions, "linkperf", json_string(lp_version()));
    json_object_set_new(versions, "mpi", lp_link_mpi_version()[0] ? json_string(lp_link_mpi_version()) : json_null());
    json_object_set_new(job->result.head, "command", command);
    json_object_set_new(job->result.head, "started", json_string(lp_clock_iso(now, sizeof(now))));
    json_object_set_new(job->result.head, "launch", json_string(job->link->launch));
    json_object_set_new(job->result.head, "locks", lp_locks_json(&job->plan.locks));
    json_object_set_new(job->result.head, "variants", lp_job_variants_json(job));
    json_object_set_new(job->result.head, "judgement", json_null());
}

/* ---- the end ---- */

static int exit_code(const struct lp_job *job)
{
    if (job->outcomes[LP_WRONG])
        return EXIT_WRONG;
    if (job->outcomes[LP_HANG] || job->outcomes[LP_CRASH] || job->over)
        return EXIT_LOSS;
    if (job->outcomes[LP_FAILED] || (job->machine.library_error[0] && !job->options->no_collectives))
        return EXIT_ENVIRONMENT;
    return 0;
}

/* The folder of a good run is removed; the file should not name what is in it. */
static void forget_logs(struct lp_job *job)
{
    json_t *variants = json_object_get(job->result.head, "variants");

    for (size_t i = 0; i < json_array_size(variants); i++) {
        json_object_set_new(json_array_get(variants, i), "logs", json_array());
        json_object_del(json_array_get(variants, i), "trace_logs");
    }
}

/* The file first: what was measured is safe before anything is printed. */
static void save(struct lp_job *job)
{
    struct lp_reason why = {""};

    if (lp_journal_finish(&job->journal, &job->result, &why) != LP_OK) {
        lp_say("the result was not written: %s", why.text);
        job->journal_failed = true;
    }
}

static int end_on_signal(struct lp_job *job)
{
    int sig = lp_crews_signal(job->crews);
    char words[64], show[4200];

    snprintf(words, sizeof(words), "ended by signal %d (%s)", sig, strsignal(sig));
    lp_job_head(job, json_pack("{s:s}", "ended", words));
    save(job);
    snprintf(show, sizeof(show), "linkperf show %s", job->options->result ? job->options->result : "");
    lp_view_summary(&job->result, SUMMARY_BYTES, job->options->result ? show : NULL, stdout);
    fflush(stdout);
    return 128 + sig;
}

static void print_tables(struct lp_job *job)
{
    int width = lp_term_width(lp_launched_by_mpi());

    lp_view_link(&job->result, stdout, width);
    lp_view_collectives(&job->result, stdout, width);
    if (job->options->longer)
        lp_view_long(&job->result, stdout, width);
    lp_view_proof(&job->result, stdout, width);
    lp_view_judge(&job->result, stdout, width);
    lp_view_variants(&job->result, stdout, width);
    lp_view_time(&job->result, stdout);
    lp_view_verdict(&job->result, stdout);
}

static json_t *seconds_json(const struct lp_job *job)
{
    const struct lp_spent *spent = &job->spent;
    const struct lp_seconds *crews = &spent->variants;
    double total = (double)(lp_clock_now(job->link->clock) - spent->since) / 1e9;
    double named =
        spent->survey + spent->link + crews->start + crews->init + crews->measure + crews->check + spent->evidence + crews->end;

    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "survey", spent->survey, "link", spent->link, "start",
                     crews->start, "init", crews->init, "measure", crews->measure, "check", crews->check, "evidence",
                     spent->evidence, "wait", crews->end, "other", total - named, "total", total);
}

static int finish(struct lp_job *job)
{
    bool printed;
    int code;

    if (lp_crews_signal(job->crews))
        return end_on_signal(job);
    lp_job_watch_finish(job);
    lp_job_head(job, json_pack("{s:b, s:o, s:o, s:o}", "complete", !job->over, "hints", lp_hints(&job->result), "judgement",
                               lp_judge_json(&job->result), "seconds", seconds_json(job)));
    if (job->own_log_dir && exit_code(job) == 0)
        forget_logs(job);
    save(job);
    if (job->over)
        lp_view_state(&job->result, stdout);
    print_tables(job);
    printed = fflush(stdout) == 0 && !ferror(stdout);
    if (!printed)
        lp_say("the tables could not be written to stdout: %s", strerror(errno));
    code = exit_code(job);
    return code == 0 && (job->journal_failed || !printed) ? EXIT_ENVIRONMENT : code;
}

/* ---- the run ---- */

static int fail(struct lp_job *job, enum lp_status st, const struct lp_reason *why)
{
    int sig = job->crews ? lp_crews_signal(job->crews) : 0;

    if (sig)
        return 128 + sig;
    lp_say("%s", why->text);
    return st == LP_ERR_ARG ? 2 : EXIT_ENVIRONMENT;
}

/* Survey and plan; then the journal may begin. */
static enum lp_status prepare(struct lp_job *job, int argc, char **argv, struct lp_reason *why)
{
    struct lp_options adjusted = *job->options;
    enum lp_status st = lp_job_survey(job, why);

    if (st != LP_OK)
        return st;
    if (job->machine.library_error[0]) {
        lp_say("collectives are left out: %s", job->machine.library_error);
        adjusted.no_collectives = true;
    }
    job->settle = lp_settle_create(&job->machine);
    lp_plan_release(&job->plan);
    st = lp_plan_make(&adjusted, &job->machine, &job->plan, why);
    if (st == LP_OK)
        fill_head(job, argc, argv);
    if (st == LP_OK && job->plan.variants.n > 0)
        st = lp_job_lint(job, why);
    if (st == LP_OK)
        st = lp_job_watch_start(job, why);
    if (st == LP_OK && job->options->result && !job->options->dry_run)
        st = lp_journal_open(&job->journal, job->options->result, why);
    return st == LP_ERR_IO ? LP_ERR_ENV : st;
}

static int measure_all(struct lp_job *job)
{
    struct lp_reason why = {""};
    struct lp_lap lap;

    if (lp_journal_head(&job->journal, job->result.head, &why) != LP_OK)
        journal_trouble(job, &why);
    lp_say("about %.0f s to go%s", job->plan.seconds,
           job->plan.seconds > job->options->budget && !job->options->no_collectives
               ? ", more than the run's budget: cells may get less time"
               : "");
    lap = lp_job_lap_begin(job);
    lp_job_link(job);
    lp_job_lap(job, &lap, &job->spent.link);
    lp_job_variants(job);
    lp_job_reap(job);
    lp_job_going(job); /* notes what became of the last crew */
    return finish(job);
}

int lp_run(const struct lp_options *options, struct lp_link *link, int argc, char **argv)
{
    static struct lp_job job; /* large tables: not for the stack */
    struct lp_reason why = {"out of memory"};
    enum lp_status st = set_up(&job, options, link, &why);
    struct lp_lap lap = {.since = job.spent.since};
    int code;

    if (st == LP_OK)
        st = prepare(&job, argc, argv, &why);
    lp_job_lap(&job, &lap, &job.spent.survey);
    if (st != LP_OK) {
        code = fail(&job, st, &why);
        tear_down(&job, false);
        return code;
    }
    lp_view_head(&job.result, stdout, lp_term_width(lp_launched_by_mpi()));
    fflush(stdout);
    if (options->dry_run) {
        lp_job_print_plan(&job, stdout);
        tear_down(&job, false);
        return 0;
    }
    code = measure_all(&job);
    tear_down(&job, code == EXIT_LOSS || code == EXIT_WRONG || code == EXIT_ENVIRONMENT);
    return code == 0 && lp_job_watch_refuses(&job) ? EXIT_ENVIRONMENT : code;
}

enum lp_status lp_run_count_ranks(const struct lp_options *options, int *nranks, struct lp_reason *why)
{
    static struct lp_job job;
    struct lp_link *link;
    enum lp_status st = lp_link_local_create(1, &link, why);

    if (st != LP_OK)
        return st;
    st = set_up(&job, options, link, why);
    if (st == LP_OK)
        st = lp_job_survey(&job, why);
    if (st == LP_OK)
        *nranks = strcmp(job.machine.device, "host") == 0 ? 2 : job.machine.visible;
    if (job.crews && lp_crews_signal(job.crews))
        st = LP_ERR_SIGNAL;
    tear_down(&job, false);
    link->close(link);
    return st;
}
