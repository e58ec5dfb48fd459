// Runs a command and reports its time and memory, children included if their parent waited for them.
//
// measure [-d] SECONDS COMMAND [ARGUMENT ...]
//   -d  discards the command's output
// Ends the command and its children after SECONDS. Prints `measured user=S system=S wall=S peak=BYTES` at the end, in a
// line of its own. The exit status is the command's, or 1.
//
// This is a small program of its own because Linux adds the memory of the caller of exec(2) to the peak of the new
// program (exec_mmap in fs/exec.c). A child of a large process would seem as large as that process.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t child;

static void end_all(int signal) {
    (void)signal;
    kill(-child, SIGKILL);
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
    int discards = argc > 1 && !strcmp(argv[1], "-d");
    if (argc < 3 + discards) {
        fprintf(stderr, "usage: measure [-d] SECONDS COMMAND [ARGUMENT ...]\n");
        return 64;
    }
    char **command = argv + 2 + discards;
    double begin = seconds();
    child = fork();
    if (child < 0) return 71;
    if (child == 0) {
        // One process group, to end all processes at once.
        setpgid(0, 0);
        if (discards) dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
        execvp(command[0], command);
        perror(command[0]);
        _exit(127);
    }
    setpgid(child, child); // parent and child both set it, because either may run first
    struct sigaction action = {.sa_handler = end_all};
    for (size_t i = 0; i < 3; i++) sigaction((int[]){SIGALRM, SIGTERM, SIGINT}[i], &action, NULL);
    alarm((unsigned)atoi(argv[1 + discards]));
    int status;
    struct rusage used;
    while (wait4(child, &status, 0, &used) < 0) {
        if (errno != EINTR) return 71;
    }
    printf("measured user=%.6f system=%.6f wall=%.6f peak=%ld\n",
           (double)used.ru_utime.tv_sec + (double)used.ru_utime.tv_usec / 1e6,
           (double)used.ru_stime.tv_sec + (double)used.ru_stime.tv_usec / 1e6, seconds() - begin, used.ru_maxrss * 1024);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
