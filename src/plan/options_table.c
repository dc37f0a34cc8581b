/* The rows: name, range, default and help of every option, and the commands that have it. */
#include "plan/options_table.h"

#include "plan/options.h"

#define AT(member) offsetof(struct lp_options, member)

const struct lp_option_row lp_option_rows[] = {
    {"Sizes (whole numbers with K, M or G, 1024-based):", 0, 0, 0, LP_OPT_RUN, LP_OPT_HEADING, 0, 0, 0},
    {"Sizes of the curves (whole numbers with K, M or G, 1024-based):", 0, 0, 0, LP_OPT_P2P, LP_OPT_HEADING, 0, 0, 0},
    {"minbytes", 'b', "SIZE", "smallest size, 8 by default", LP_OPT_RUN, LP_OPT_SIZE, AT(min_bytes), 0, 0},
    {"minbytes", 'b', "SIZE", "smallest size; 64K by default, 4K on host memory", LP_OPT_P2P, LP_OPT_SIZE, AT(min_bytes), 0, 0},
    {"maxbytes", 'e', "SIZE", "largest size; 256M by default, 16M on host memory", LP_OPT_RUN, LP_OPT_SIZE, AT(max_bytes), 0, 0},
    {"maxbytes", 'e', "SIZE", "largest size; 256M by default, 8M on host memory", LP_OPT_P2P, LP_OPT_SIZE, AT(max_bytes), 0, 0},
    {"stepfactor", 'f', "N", "multiply the size by N, 2 by default", LP_OPT_RUN, LP_OPT_COUNT, AT(factor), 2, 1024},
    {"stepfactor", 'f', "N", "multiply the size by N, 4 by default", LP_OPT_P2P, LP_OPT_COUNT, AT(factor), 2, 1024},
    {"stepbytes", 'i', "SIZE", "add SIZE instead of multiplying", LP_OPT_RUN | LP_OPT_P2P, LP_OPT_SIZE, AT(step_bytes), 0, 0},

    {"What is measured:", 0, 0, 0, LP_OPT_RUN | LP_OPT_P2P, LP_OPT_HEADING, 0, 0, 0},
    {"collectives", 0, "LIST", "allreduce, allgather; all by default", LP_OPT_RUN, LP_OPT_COLLECTIVES, AT(collectives), 0, 0},
    {"datatype", 'd', "TYPE", "float (default), double, int32, half, bfloat16", LP_OPT_RUN, LP_OPT_DTYPE, AT(dtype), 0, 0},
    {"op", 'o', "OP", "sum (default), min, max", LP_OPT_RUN, LP_OPT_REDOP, AT(redop), 0, 0},
    {"timing", 0, "LIST", "graph (default), pipelined, isolated", LP_OPT_RUN, LP_OPT_TIMINGS, AT(timings), 0, 0},
    {"placement", 0, "LIST", "out (of place), in (place); both by default", LP_OPT_RUN, LP_OPT_PLACEMENTS, AT(placements), 0, 0},
    {"no-link", 0, 0, "leave the link out; there is no baseline then", LP_OPT_RUN, LP_OPT_FLAG, AT(no_link), 0, 0},
    {"no-collectives", 0, 0, "measure the link only, as far as a run does; linkperf p2p does all of it", LP_OPT_RUN, LP_OPT_FLAG,
     AT(no_collectives), 0, 0},
    {"all-pairs", 0, 0, "curves and latencies of every pair, not of one of each kind", LP_OPT_RUN | LP_OPT_P2P, LP_OPT_FLAG,
     AT(all_pairs), 0, 0},

    {"How it is measured:", 0, 0, 0, LP_OPT_RUN | LP_OPT_P2P, LP_OPT_HEADING, 0, 0, 0},
    {"iters", 'n', "N", "operations in a timed block; chosen per cell by default, always 1 for isolated", LP_OPT_RUN | LP_OPT_P2P,
     LP_OPT_COUNT, AT(iters), 1, 1000000},
    {"warmup_iters", 'w', "N", "operations before, 5 by default", LP_OPT_RUN, LP_OPT_COUNT, AT(warmup), 0, 1000000},
    {"warmup_iters", 'w', "N", "copies before; by default until two agree", LP_OPT_P2P, LP_OPT_COUNT, AT(warmup), 0, 1000000},
    {"check", 'c', "N", "operations checked before the timed ones, and N after; 3 by default, 0 leaves the data unchecked",
     LP_OPT_RUN, LP_OPT_COUNT, AT(checks), 0, 1000},
    {"check", 'c', "N", "copies checked before the timed ones, and N after; 1 by default, 0 leaves the data unchecked", LP_OPT_P2P,
     LP_OPT_COUNT, AT(checks), 0, 1000},

    {"rounds", 0, "N", "fresh crews of every variant N times, in rotated order; 3 and more for differences that are claimed",
     LP_OPT_RUN, LP_OPT_COUNT, AT(rounds), 1, 100},
    {"careful", 0, 0, "5 rounds, and four times the time for a cell", LP_OPT_RUN, LP_OPT_FLAG, AT(careful), 0, 0},

    {"budget", 0, "SECONDS",
     "time for the run, 120 a round by default (--careful 240); where it gets short cells are timed for less, down to a third",
     LP_OPT_RUN, LP_OPT_FACTOR, AT(budget), 0, 0},

    {"Variants:", 0, 0, 0, LP_OPT_RUN, LP_OPT_HEADING, 0, 0, 0},
    {"matrix", 0, "FILE", "run matrix (YAML) instead of the built-in one", LP_OPT_RUN, LP_OPT_TEXT, AT(matrix), 0, 0},
    {"variant", 0, "'NAME: K=V ...'", "one more variant; K without = removes K from the environment", LP_OPT_RUN, LP_OPT_VARIANT, 0,
     0, 0},
    {"only", 0, "LIST", "of the variants, only these (and default)", LP_OPT_RUN, LP_OPT_NAMES, AT(only), 0, 0},
    {"no-lint", 0, "LIST", "run these variants although NCCL would misread them; a crash costs their cells only", LP_OPT_RUN,
     LP_OPT_NAMES, AT(no_lint), 0, 0},

    {"Machine:", 0, 0, 0, LP_OPT_RUN | LP_OPT_P2P, LP_OPT_HEADING, 0, 0, 0},
    {"device", 0, "KIND", "auto (default: GPUs, or host memory where there is none), cuda, host", LP_OPT_RUN | LP_OPT_P2P,
     LP_OPT_DEVICE, AT(device), 0, 0},
    {"ranks", 0, "N", "without mpirun: that many workers instead of one per GPU", LP_OPT_RUN | LP_OPT_P2P, LP_OPT_COUNT, AT(ranks),
     1, LP_MAX_RANKS},
    {"nccl", 0, "PATH", "libnccl to use", LP_OPT_RUN, LP_OPT_TEXT, AT(nccl), 0, 0},
    {"worker", 0, "PATH", "worker program, linkperf-worker beside this one by default", LP_OPT_RUN | LP_OPT_P2P, LP_OPT_TEXT,
     AT(worker), 0, 0},
    {"bind", 0, "HOW", "auto (default: undo the launcher's own binding), inherit", LP_OPT_RUN | LP_OPT_P2P, LP_OPT_BIND,
     AT(keep_binding), 0, 0},
    {"strict", 0, 0,
     "refuse GPUs that others use, after waiting up to 10 s for them, and exit with 3 where a crew was contended or throttled",
     LP_OPT_RUN | LP_OPT_P2P, LP_OPT_FLAG, AT(strict), 0, 0},
    {"init-timeout", 0, "SECONDS", "limit of a start-up step, 60 by default", LP_OPT_RUN | LP_OPT_P2P, LP_OPT_FACTOR,
     AT(init_timeout), 0, 0},
    {"timeout", 0, "SECONDS", "least limit of a step of a cell, 10 by default (or 20 times its estimate)", LP_OPT_RUN | LP_OPT_P2P,
     LP_OPT_FACTOR, AT(cell_timeout), 0, 0},
    {"slowness", 0, "X", "multiply all limits by X (also LINKPERF_SLOWNESS)", LP_OPT_RUN | LP_OPT_P2P, LP_OPT_FACTOR, AT(slowness),
     0, 0},

    {"Output:", 0, 0, 0, LP_OPT_RUN | LP_OPT_P2P, LP_OPT_HEADING, 0, 0, 0},
    {"json", 'J', "FILE", "result file; FILE.part while running", LP_OPT_RUN | LP_OPT_P2P, LP_OPT_TEXT, AT(result), 0, 0},
    {"log-dir", 0, "DIR", "keep the logs of workers and NCCL there", LP_OPT_RUN | LP_OPT_P2P, LP_OPT_TEXT, AT(log_dir), 0, 0},
    {"long", 0, 0, "every variant with nccl-tests' columns, and histograms of latencies", LP_OPT_RUN | LP_OPT_P2P, LP_OPT_FLAG,
     AT(longer), 0, 0},
    {"dry-run", 0, 0, "print the plan, with time and memory, and measure nothing", LP_OPT_RUN | LP_OPT_P2P, LP_OPT_FLAG,
     AT(dry_run), 0, 0},
    {NULL, 0, 0, 0, 0, LP_OPT_HEADING, 0, 0, 0},
};

const char lp_run_doc[] =
    "Which NCCL settings should this machine run, what does each reach, and how close is that to what the link carries? Start one "
    "rank per GPU (mpirun -np 2 linkperf), or linkperf alone for all GPUs of this machine."
    "\vSub-commands: linkperf p2p measures the link alone, in full; linkperf show FILE prints a result file or the journal of a "
    "run "
    "that was killed (FILE.part); linkperf lint FILE says what NCCL would misread in a run matrix, a shell file of exports or a "
    "docker "
    "line.\n"
    "Exit: 0 good, 2 usage, 3 environment, 4 hang or crash, 6 wrong data (wins over all); 128+N on signal N.\n"
    "LINKPERF_LOCK names variables (NAME or NAME=VALUE) that no variant may change.";
const char lp_p2p_doc[] =
    "The link between the GPUs, in full: every copy path between every pair, both ways, against line rate; latencies; what is true "
    "of "
    "peer access; and references through the host. Start one rank per GPU (mpirun -np 2 linkperf p2p), or linkperf p2p alone for "
    "all "
    "GPUs of this machine."
    "\vExit: 0 good, 2 usage, 3 environment, 4 hang or crash, 6 wrong data (wins over all); 128+N on signal N.";
