# Everything one builds or checks; `make help` lists it. Programs land here at the top, objects under build/.
# Lines that begin with "#:" are what `make help` prints.

#: Targets
#:   all         ./linkperf and ./linkperf-worker (default)
#:   run         build, then mpirun with one rank a GPU, or 2 on host memory; RUN_ARGS='-b 8 -e 1G' go to linkperf
#:   plot        figures of a result: make plot RESULT=run.json, PLOT_ARGS='-o DIR --format svg' go to scripts/plot.py
#:   test        unit and command tests; they need no GPU
#:   test-gpu    tests for machines with GPUs; builds only what is absent
#:   gpu-tests   the programs of test-gpu, under build/gpu-tests/, to be carried to a GPU machine
#:   lint        clang-format, cppcheck, shellcheck, and who may include which outside header
#:   install     both programs into $(DESTDIR)$(PREFIX)/bin; builds only what is absent
#:   clean       remove what was built
#:
#: Variables
#:   CUDA=0        host-memory worker even where there is CUDA
#:   CUDA_HOME     CUDA toolkit (else that of the nvcc on the PATH); NCCL_HOME: where include/nccl.h is (else CUDA's, the system's)
#:   ARCH="80 90"  compute capabilities (else this machine's own; without a GPU the oldest the toolkit knows, with PTX)
#:   STATIC_DEPS=1 jansson, libyaml and hwloc linked statically, for programs that go to another machine
#:   SANITIZE=address,undefined  with all and test: instrumented programs in a build folder of their own
#:   V=1           show commands
#:   RESULT, PLOT_ARGS     file and arguments of `make plot`
#:   N, RUN_ARGS, MPIRUN   ranks, linkperf's arguments and the launcher of `make run`
#:   CC, MPICC, NVCC, CFLAGS, CPPFLAGS, LDFLAGS, LDLIBS, NVCCFLAGS, PREFIX, DESTDIR   as usual; flags are appended to ours

MPICC   ?= mpicc
MPIRUN  ?= mpirun
PREFIX  ?= /usr/local
comma   := ,
hash    := \#

.DELETE_ON_ERROR:
.PHONY: all run plot test test-gpu gpu-tests test-programs install lint clean help where FORCE
all: linkperf linkperf-worker

# These build through a make of their own, once set-up has run, or nothing at all: they look for no compiler.
building := $(filter-out help clean lint run plot test test-gpu install,$(or $(MAKECMDGOALS),all))

Q   := $(if $(filter 1,$(V)),,@)
say  = $(if $(Q),@printf '  %-5s %s\n' '$1' '$2')

# --- what there is on this machine ---

ifneq ($(building),)

needs = $(if $(shell $1 >/dev/null 2>&1 && echo y),,$2)
absent := $(strip $(call needs,command -v $(firstword $(CC)),gcc) \
    $(call needs,command -v $(firstword $(MPICC)),libopenmpi-dev) \
    $(if $(call needs,command -v pkg-config,n),pkg-config,\
        $(call needs,pkg-config --exists jansson,libjansson-dev) \
        $(call needs,pkg-config --exists yaml-0.1,libyaml-dev) \
        $(call needs,pkg-config --exists smartcols,libsmartcols-dev) \
        $(call needs,pkg-config --exists hwloc,libhwloc-dev)))
ifneq ($(absent),)
$(error missing: $(absent); install that or run scripts/setup.sh)
endif

ifeq ($(CUDA),0)
    no_cuda := CUDA=0
else
    NVCC      ?= $(or $(if $(CUDA_HOME),$(wildcard $(CUDA_HOME)/bin/nvcc)),$(shell command -v nvcc 2>/dev/null))
    cuda_root := $(if $(NVCC),$(patsubst %/bin/nvcc,%,$(realpath $(shell command -v $(firstword $(NVCC)) 2>/dev/null))))
    cuda_dirs := $(if $(cuda_root),$(wildcard $(cuda_root)/include $(cuda_root)/targets/*/include))
    nccl_dirs := $(if $(NCCL_HOME),$(wildcard $(NCCL_HOME)/include))
    cudart    := $(if $(cuda_root),$(firstword $(wildcard $(addprefix $(cuda_root)/,\
                     lib64/libcudart_static.a lib/libcudart_static.a targets/*/lib/libcudart_static.a \
                     lib/*-linux-gnu/libcudart_static.a))))
    # /usr/include as -isystem would hide the compiler's own headers
    CUDA_CPPFLAGS := $(addprefix -isystem ,$(filter-out /usr/include,$(nccl_dirs) $(cuda_dirs)))
    has_header     = $(shell echo '$(hash)include <$1>' | $(CC) $(CPPFLAGS) $(CUDA_CPPFLAGS) -E -o /dev/null -x c - 2>/dev/null && echo y)
    ifeq ($(cuda_root),)
        no_cuda := no nvcc
    else ifeq ($(call has_header,cuda_runtime_api.h),)
        no_cuda := no cuda_runtime_api.h
    else ifeq ($(call has_header,nccl.h),)
        no_cuda := no nccl.h
    else ifeq ($(cudart),)
        no_cuda := no libcudart_static.a
    endif
endif

endif

# Builds that differ in their objects have their own folders.
BUILD := build/$(if $(no_cuda),host,cuda)$(if $(SANITIZE),-$(subst $(comma),-,$(SANITIZE)))

# --- which files are what ---

sources = $(sort $(foreach folder,$1,$(wildcard $(folder)/*.c)))
objects = $(patsubst %,$(BUILD)/%.o,$(basename $1))

# Files that exclude each other: a worker has the one or the other.
CUDA_C := $(wildcard src/worker/device_cuda*.c src/worker/lib_nccl.c)
LISTS  := src/worker/lists_cuda.c src/worker/lists_host.c

SHARED := $(call sources,src/base src/model collectives p2p)
# Of src/machine, what both programs need.
MACHINE := src/machine/cpus.c src/machine/nvml.c src/machine/pci.c
LINKPERF := src/linkperf.c src/control/link_mpi.c
LINKPERF_REST := $(wildcard src/cmd_*.c) $(call sources,src/plan src/proof src/judge src/report) \
    $(filter-out src/control/link_mpi.c,$(call sources,src/control)) $(MACHINE) \
    $(addprefix src/machine/,survey.c links.c nvml_now.c load.c)
WORKER := src/linkperf_worker.c
WORKER_REST := $(filter-out $(CUDA_C) $(LISTS),$(call sources,src/worker)) src/control/wire.c $(MACHINE)
WORKER_PICK := $(if $(no_cuda),src/worker/lists_host.c,src/worker/lists_cuda.c $(CUDA_C) src/worker/kernels.cu)

linkperf_objs := $(call objects,$(sort $(LINKPERF) $(LINKPERF_REST) $(SHARED)))
worker_rest   := $(call objects,$(sort $(WORKER_REST) $(WORKER_PICK) $(SHARED)))
worker_objs   := $(call objects,$(WORKER)) $(worker_rest)
# Everything but the two mains, MPI and CUDA: what unit tests and the faulty worker are linked with.
library_objs  := $(call objects,$(sort $(LINKPERF_REST) $(WORKER_REST) src/worker/lists_host.c $(SHARED)))
cuda_objs     := $(call objects,$(CUDA_C))

unit_tests := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/test_*.c))
fakes      := $(BUILD)/tests/fakes/linkperf-worker-faulty
gpu_tests  := $(patsubst tests/gpu/%.c,build/gpu-tests/%,$(wildcard tests/gpu/test_*.c))

# --- flags ---

pkg  = $(shell pkg-config $1)
SAN := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer)

ifneq ($(building),)
OUR_CPPFLAGS := -Isrc -I. -D_GNU_SOURCE $(call pkg,--cflags jansson yaml-0.1 smartcols hwloc)
OUR_CFLAGS   := -std=gnu11 -O2 -g -Wall -Wextra -Wshadow -Wmissing-prototypes -pthread $(SAN)
# Our copies of libraries stay ours: Open MPI brings its own hwloc into the same process.
OUR_LDFLAGS  := -pthread $(SAN) -Wl,--as-needed -Wl,--exclude-libs,ALL

ifeq ($(STATIC_DEPS),1)
# $1.a as a full path, found as the compiler finds libraries; the package is named when it has none
archive = $(or $(filter /%,$(shell $(CC) $(CFLAGS) $(LDFLAGS) -print-file-name=$1)),\
              $(error STATIC_DEPS=1: $1 is missing; it comes with $2: install that or run scripts/setup.sh))
udev    = $(if $(filter /%,$(shell $(CC) -print-file-name=libudev.so.1)),-l:libudev.so.1,\
              $(error STATIC_DEPS=1: libudev.so.1, which libhwloc.a needs, is missing; it comes with libudev1))
JANSSON := $(call archive,libjansson.a,libjansson-dev)
YAML    := $(call archive,libyaml.a,libyaml-dev)
HWLOC   := $(call archive,libhwloc.a,libhwloc-dev) $(udev)
else
JANSSON := $(call pkg,--libs jansson)
YAML    := $(call pkg,--libs yaml-0.1)
HWLOC   := $(call pkg,--libs hwloc)
endif
LINKPERF_LIBS := $(JANSSON) $(YAML) $(call pkg,--libs smartcols) $(HWLOC) -ldl -lm $(LDLIBS)
WORKER_LIBS   := $(if $(no_cuda),,$(cudart)) $(JANSSON) $(HWLOC) -ldl -lrt -lpthread -lm $(LDLIBS)
endif

COMPILE = $(OUR_CPPFLAGS) $(CPPFLAGS) $(OUR_CFLAGS) $(CFLAGS)
LINK    = $(OUR_CFLAGS) $(CFLAGS) $(OUR_LDFLAGS) $(LDFLAGS)
# mpicc with our compiler
MPI     = OMPI_CC='$(CC)' MPICH_CC='$(CC)' $(MPICC)

# Asked only when kernels are compiled, since both take their time. A GPU newer than the toolkit gets the oldest one's PTX.
known_archs = $(sort $(patsubst compute_%,%,$(filter compute_%,$(shell $(NVCC) --list-gpu-arch 2>/dev/null))))
oldest_arch = $(shell printf '%s\n' $(known_archs) | sort -n | head -n 1)
own_archs   = $(filter $(known_archs),$(sort $(subst .,,$(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null))))
archs       = $(or $(subst $(comma), ,$(ARCH)),$(own_archs),$(oldest_arch))
gencode     = $(foreach arch,$1,-gencode arch=compute_$(arch)$(comma)code=[sm_$(arch)$(comma)compute_$(arch)])
# Without exceptions and guarded statics the object needs nothing of libstdc++.
COMPILE_CU  = -Isrc -I. -O2 -lineinfo -Xcompiler -fno-exceptions,-fno-threadsafe-statics -Wno-deprecated-gpu-targets \
    $(call gencode,$(archs)) $(NVCCFLAGS)

# --- programs ---

# $1: file, $2: what it shall say. Rewritten only when that is something else, so that what depends on it is made again then.
remember = @mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$1)' >$@.new; \
    if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

FORCE:
$(BUILD)/compile.flags: FORCE
	$(call remember,$(CC) $(MPICC) $(COMPILE) $(CUDA_CPPFLAGS))
$(BUILD)/cu.flags: FORCE
	$(call remember,$(NVCC) $(COMPILE_CU))
$(BUILD)/link.flags: FORCE
	$(call remember,$(LINK) $(LINKPERF_LIBS) $(WORKER_LIBS) $(sort $(linkperf_objs) $(worker_objs)))
# Which build the programs at the top are from.
build/top: FORCE
	$(call remember,$(BUILD))
# The old one stands where git has no answer (make install as root).
$(BUILD)/version: FORCE
	@mkdir -p $(@D); v=$$(git --no-optional-locks describe --always --dirty 2>/dev/null) || v=$$(cat $@ 2>/dev/null) || v=unknown; \
	    echo "$$v" | cmp -s - $@ || echo "$$v" >$@

$(BUILD)/%.o: %.c $(BUILD)/compile.flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(COMPILE) $(EXTRA_CPPFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/%.o: %.cu $(BUILD)/cu.flags
	$(call say,NVCC,$<)
	@mkdir -p $(@D)
	$(Q)$(NVCC) $(COMPILE_CU) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<

$(BUILD)/src/control/link_mpi.o: src/control/link_mpi.c $(BUILD)/compile.flags
	$(call say,MPICC,$<)
	@mkdir -p $(@D)
	$(Q)$(MPI) $(COMPILE) -MMD -MP -c -o $@ $<

$(cuda_objs): EXTRA_CPPFLAGS = $(CUDA_CPPFLAGS)
$(BUILD)/src/base/version.o: EXTRA_CPPFLAGS = -DLP_VERSION='"$(shell cat $(BUILD)/version)"'
$(BUILD)/src/base/version.o: $(BUILD)/version

$(BUILD)/linkperf: $(linkperf_objs) $(BUILD)/link.flags
	$(call say,LINK,$@)
	$(Q)$(MPI) $(LINK) -o $@ $(filter %.o,$^) $(LINKPERF_LIBS)

$(BUILD)/linkperf-worker: $(worker_objs) $(BUILD)/link.flags
	$(call say,LINK,$@)
	$(Q)$(CC) $(LINK) -o $@ $(filter %.o,$^) $(WORKER_LIBS)
	@$(if $(no_cuda),echo 'linkperf-worker: host memory only: $(no_cuda)',:)

linkperf linkperf-worker: %: $(BUILD)/% build/top
	$(Q)cp -f $< $@.new && mv -f $@.new $@

# --- tests ---

# Archives, so that a test can define what it wants to replace.
$(BUILD)/tests/library.a: $(library_objs) $(BUILD)/link.flags
	@rm -f $@; mkdir -p $(@D)
	$(Q)$(AR) rcs $@ $(filter %.o,$^)
$(BUILD)/tests/cuda.a: $(worker_rest) $(BUILD)/link.flags
	@rm -f $@; mkdir -p $(@D)
	$(Q)$(AR) rcs $@ $(filter %.o,$^)

$(unit_tests): %: %.o $(BUILD)/tests/library.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LINK) -o $@ $^ $(LINKPERF_LIBS) -lcmocka -lrt

# The worker of host memory, with tests/fakes/ in place of lists_host.c
$(fakes): $(call objects,$(WORKER) $(call sources,tests/fakes)) $(BUILD)/tests/library.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LINK) -o $@ $^ $(JANSSON) $(HWLOC) -ldl -lrt -lpthread -lm $(LDLIBS)

test-programs: $(BUILD)/linkperf $(BUILD)/linkperf-worker $(unit_tests) $(fakes)
where:
	@echo $(BUILD)

ifeq ($(no_cuda),)
$(gpu_tests): build/gpu-tests/%: $(BUILD)/tests/gpu/%.o $(BUILD)/tests/cuda.a
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LINK) -o $@ $^ $(WORKER_LIBS)
gpu-tests: $(gpu_tests)
else
gpu-tests:
	@echo 'gpu-tests: none built: $(no_cuda)'
endif

sub  := $(MAKE) --no-print-directory
SAN2 := SANITIZE=address,undefined CUDA=0

# Everything once as it is built, then units and local mode once more with sanitizers.
test:
	@scripts/setup.sh build test
	+@$(sub) test-programs
	+@$(if $(SANITIZE),:,$(sub) $(SAN2) test-programs)
	@b=; a=$$($(sub) -s where 2>/dev/null) $(if $(SANITIZE),,&& b=$$($(sub) -s $(SAN2) where 2>/dev/null)) && exec tests/run.sh "$$a" $$b

# A GPU machine may have no compiler: what was carried there is used as it is.
test-gpu:
	+@for program in linkperf linkperf-worker; do [ -x $$program ] || $(sub) $$program || exit; done
	+@for program in $(gpu_tests); do [ -x $$program ] || { $(sub) gpu-tests; exit; }; done
	@tests/gpu/run.sh

# --- use ---

run:
	@scripts/setup.sh build
	+@$(sub) all
	@n='$(N)'; [ -n "$$n" ] || n=$$(nvidia-smi -L 2>/dev/null | grep -c '^GPU '); [ "$$n" -gt 0 ] || n=2; \
	if [ "$$(id -u)" = 0 ]; then \
	    echo 'make run: as root, so OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 are set for mpirun'; \
	    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; \
	fi; \
	cores=$$(lscpu -p=CORE,SOCKET 2>/dev/null | grep -v '^#' | sort -u | wc -l); \
	[ "$$cores" -ge "$$n" ] || set -- --oversubscribe; \
	echo "$(MPIRUN) -np $$n $$* ./linkperf $(RUN_ARGS)"; \
	exec $(MPIRUN) -np "$$n" "$$@" ./linkperf $(RUN_ARGS)

plot:
	@[ -n '$(RESULT)' ] || { echo 'make plot: of which result? make plot RESULT=run.json' >&2; exit 2; }
	@scripts/setup.sh plot
	@scripts/plot.py '$(RESULT)' $(PLOT_ARGS)

# Builds nothing that is there: under sudo the PATH may have no nvcc, and git no answer.
install:
	+@for program in linkperf linkperf-worker; do [ -x $$program ] || $(sub) $$program || exit; done
	install -d '$(DESTDIR)$(PREFIX)/bin'
	install -m 755 linkperf linkperf-worker '$(DESTDIR)$(PREFIX)/bin'

# --- checks ---

C_FILES := $(sort $(wildcard $(foreach folder,src src/* collectives p2p tests/*,$(folder)/*.c $(folder)/*.h)))
SCRIPTS := $(sort $(wildcard scripts/*.sh tests/*.sh tests/*/*.sh .ci/run))
BATS    := $(sort $(wildcard tests/cmd/*.bats))
# HEADER|OWNERS: outside headers and the only files that may include them, as regular expressions
OWNERS  := 'mpi\.h|src/control/link_mpi\.c' 'nccl\.h|src/worker/lib_nccl\.c' 'nvml\.h|nobody' \
    'cuda[a-zA-Z0-9_]*\.h|src/worker/(device_cuda[a-z_]*\.[ch]|cuda_stream\.h|kernels\.(h|cu))' \
    'hwloc[a-zA-Z0-9_/-]*\.h|src/machine/.*' 'libsmartcols\.h|src/report/tables\.c' 'yaml\.h|src/plan/matrix_yaml\.c'
# What cppcheck gets wrong: a loop over sizeof(raw) "may run zero times"; a rank "may be" the limit of some other loop.
CPPCHECK_WRONG := uninitvar:src/worker/device_cuda_memory.c arrayIndexOutOfBoundsCond:src/control/link_mpi.c
# SC2317: functions that are called by a name in a variable count as never called.
# SC2034, SC2154: in bats files, variables that helpers.bash sets or reads.
SHELLCHECK_WRONG := SC2317

lint:
	@scripts/setup.sh --check lint
	@st=0; \
	clang-format --dry-run -Werror $(C_FILES) || st=1; \
	cppcheck -q -j $$(nproc) --std=c11 --enable=warning,performance,portability --error-exitcode=1 --inline-suppr \
	    --suppress=missingInclude --suppress=missingIncludeSystem --suppress=unmatchedSuppression $(addprefix --suppress=,$(CPPCHECK_WRONG)) \
	    -D_GNU_SOURCE -Isrc -I. $(filter %.c,$(C_FILES)) || st=1; \
	shellcheck -e $(SHELLCHECK_WRONG) $(SCRIPTS) || st=1; \
	[ -z '$(BATS)' ] || shellcheck -s bats -e $(SHELLCHECK_WRONG),SC2034,SC2154 $(BATS) || st=1; \
	for rule in $(OWNERS); do \
	    header=$${rule%%|*}; owners=$${rule#*|}; \
	    found=$$(grep -nE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]$$header[>\"]" $(C_FILES) $(wildcard src/*/*.cu) /dev/null | \
	        grep -vE "^$$owners:"); \
	    [ -z "$$found" ] || { echo "$$found" | sed "s#\$$#   (only for $$owners)#"; st=1; }; \
	done; \
	[ $$st != 0 ] || echo 'lint: clean'; exit $$st

clean:
	rm -rf build linkperf linkperf-worker

help:
	@sed -n 's/^#: \{0,1\}//p' Makefile

-include $(wildcard $(BUILD)/src/*.d $(BUILD)/*/*.d $(BUILD)/*/*/*.d)
