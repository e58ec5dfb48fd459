// An agent in C on libkiipush, the counterpart of AgentReceiver.swift. It finds its registration in the state
// directory, and makes no request to the cloud.
//
// embedded memory DIRECTORY COUNT   receives until the handler was called COUNT times; prints `handled=S`
// embedded idle DIRECTORY 1         prints `subscribed` after the broker has granted the subscription, and runs on
#include <kii_push.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static atomic_long calls;
static long count;
static sem_t all;
static double handled;

static int32_t on_message(void *context, const kii_push_message *message) {
    (void)context, (void)message;
    if (atomic_fetch_add(&calls, 1) + 1 < count) return KII_PUSH_NEW_DATA;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    handled = now.tv_sec + now.tv_nsec / 1e9;
    sem_post(&all);
    return KII_PUSH_NEW_DATA;
}

static void on_event(void *context, const char *json, size_t length) {
    (void)context;
    if (memmem(json, length, "\"connected\"", 11)) puts("subscribed"), fflush(stdout);
}

int main(int argc, char **argv) {
    if (argc != 4) return fprintf(stderr, "usage: embedded memory|idle DIRECTORY COUNT\n"), 64;
    int is_idle = !strcmp(argv[1], "idle");
    count = atol(argv[3]);
    sem_init(&all, 0, 0);
    char settings[4096];
    snprintf(settings, sizeof settings, "{\"stateDirectory\": \"%s\", \"inbox\": \"%s\"}", argv[2], is_idle ? "file" : "memory");
    static const char json[] = "{\"app\": {\"id\": \"bench\", \"key\": \"key\", \"baseURL\": \"http://127.0.0.1:9/api\"}, "
                               "\"account\": {\"type\": \"pseudoUser\"}, \"usesTLS\": false}";
    kii_push_runtime runtime;
    kii_push_agent agent;
    kii_push_error error;
    if (kii_push_open(KII_PUSH_API, settings, strlen(settings), &runtime, &error) ||
        kii_push_agent_new(runtime, json, strlen(json), on_message, NULL, &agent, &error) ||
        (is_idle && kii_push_observe(agent, on_event, NULL, &error)) || kii_push_start(agent, &error))
        return fprintf(stderr, "%s\n", error.text), 1;
    sem_wait(&all);
    if (kii_push_close(runtime, &error)) return fprintf(stderr, "%s\n", error.text), 1;
    printf("handled=%.9f\n", handled);
}
