/* Opens a runtime, forks, and prints what the functions answer in the child, one a line. */
#include <kii_push.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments) {
    kii_push_runtime runtime, other;
    kii_push_error error = {0};
    char *text;
    size_t length;
    if (count != 2 || kii_push_open(KII_PUSH_API, arguments[1], strlen(arguments[1]), &runtime, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    pid_t child = fork();
    if (child == 0) {
        printf("%d\n", kii_push_open(KII_PUSH_API, NULL, 0, &other, &error));
        printf("%d\n", kii_push_dead_letters(runtime, 0, &text, &length, &error));
        printf("%d\n", kii_push_complete(1, KII_PUSH_NEW_DATA, &error));
        printf("%d\n", kii_push_close(runtime, &error));
        printf("%d\n%s\n", kii_push_run(runtime, &error), error.text);
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    return kii_push_close(runtime, &error);
}
