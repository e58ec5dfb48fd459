// `mosquitto_sub -q 1 -c | worker`, as one process group: the worker reads the pipe line by line, and killing the
// worker kills both. mosquitto_sub acknowledges and then prints, so the messages in the pipe are only in memory.
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "peer.h"

// A file for mosquitto_sub's password keeps the password out of the list of processes.
static void write_options(const struct peer *peer, const char *directory) {
    char path[4200];
    snprintf(path, sizeof path, "%s/mosquitto_sub", directory);
    mkdir(directory, 0700);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || dprintf(file, "--pw %s\n", peer->password) < 0 || close(file) != 0) {
        perror(path);
        exit(73);
    }
}

static FILE *start(const struct peer *peer, const char *directory) {
    int ends[2];
    if (pipe(ends) != 0) exit(71);
    pid_t worker = getpid();
    pid_t child = fork();
    if (child < 0) exit(71);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != worker) _exit(0);
        char port[12];
        snprintf(port, sizeof port, "%d", peer->port);
        setenv("XDG_CONFIG_HOME", directory, 1);
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execlp("mosquitto_sub", "mosquitto_sub", "-q", "1", "-c", "-h", peer->host, "-p", port, "-i", peer->client_id,
               "-t", peer->topic, "-u", peer->user, (char *)NULL);
        perror("mosquitto_sub");
        _exit(69);
    }
    close(ends[1]);
    return fdopen(ends[0], "r");
}

int main(int count, char **arguments) {
    struct peer peer = peer_open(count, arguments);
    char directory[4096];
    snprintf(directory, sizeof directory, "%s.options", peer.log_path);
    write_options(&peer, directory);
    char *line = NULL;
    size_t room = 0;
    while (true) {
        FILE *lines = start(&peer, directory);
        if (lines == NULL) return 71;
        ssize_t length;
        while ((length = getline(&line, &room, lines)) > 0) peer_handle(&peer, line, (size_t)length);
        fclose(lines);
        // mosquitto_sub ends if the broker refuses it; it reconnects after a broken connection by itself.
        while (wait(NULL) < 0 && errno == EINTR) continue;
        peer_sleep(1000000);
    }
}
