// SPDX-License-Identifier: LGPL-2.1-or-later
// measure RUNS COMMAND [ARGUMENT]... [-- COMMAND [ARGUMENT]...]...
//
// For each command, a line: least and median wall time in ms of RUNS runs, user instructions and system calls of one run, exit
// code, name. The commands take turns, so that a machine that gets slower does so for all of them.
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_COMMANDS 8
#define MAX_RUNS 1000

extern char **environ;

static double times[MAX_COMMANDS][MAX_RUNS];

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double run(char **command, int *code)
{
	struct timespec start, end;
	posix_spawn_file_actions_t actions;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	clock_gettime(CLOCK_MONOTONIC, &start);
	if (posix_spawn(&pid, command[0], &actions, NULL, command, environ) || waitpid(pid, code, 0) < 0) {
		perror(command[0]);
		exit(2);
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	posix_spawn_file_actions_destroy(&actions);
	return (end.tv_sec - start.tv_sec) * 1e3 + (end.tv_nsec - start.tv_nsec) / 1e6;
}

/* stops of a traced run: single steps, or entries to and returns from system calls */
static long count(char **command, int request)
{
	int status;
	long stops = 0;
	pid_t pid = fork();

	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 1);
		dup2(null, 2);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execv(command[0], command);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	while (!WIFEXITED(status) && !WIFSIGNALED(status)) {
		ptrace(request, pid, 0, 0);
		waitpid(pid, &status, 0);
		stops++;
	}
	return stops;
}

int main(int argc, char **argv)
{
	char **commands[MAX_COMMANDS];
	int codes[MAX_COMMANDS], n = 0, runs = argc > 2 ? atoi(argv[1]) : 0;

	if (runs < 1 || runs > MAX_RUNS) {
		fprintf(stderr, "usage: measure RUNS COMMAND... [-- COMMAND...]...\n");
		return 2;
	}
	for (int i = 2; i < argc && n < MAX_COMMANDS; i++) {
		commands[n++] = argv + i;
		while (i < argc && strcmp(argv[i], "--"))
			i++;
		argv[i] = NULL;
	}
	for (int c = 0; c < n; c++)
		run(commands[c], &codes[c]);
	for (int r = 0; r < runs; r++)
		for (int c = 0; c < n; c++)
			times[c][r] = run(commands[c], &codes[c]);
	for (int c = 0; c < n; c++) {
		qsort(times[c], runs, sizeof(double), compare);
		/* the last stop is the end; a system call stops twice, but for execve and exit_group once */
		printf("%.3f %.3f %ld %ld %d %s\n", times[c][0], times[c][runs / 2], count(commands[c], PTRACE_SINGLESTEP),
		       count(commands[c], PTRACE_SYSCALL) / 2, WEXITSTATUS(codes[c]), commands[c][0]);
	}
	return 0;
}
