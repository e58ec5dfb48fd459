/* The C interface without a cloud. The tests of the package deliver messages and read the answers. */
#include "kii_push.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SLOTS 1024
#define EXPORT __attribute__((visibility("default")))

enum { NONE, RUNTIME, AGENT, DELIVERY };
enum { OPEN = -1, REJECTED = 3 };

struct slot {
    int kind;
    uint64_t runtime;
    kii_push_handler handler;
    void *context;
    kii_push_observer observer;
    void *observer_context;
    bool runs, has_run, is_stopped, has_returned;
    int failure, answer;
    char *payload;
    int64_t id;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct slot slots[SLOTS];
static uint64_t last;
static pid_t owner;
static _Thread_local bool is_callback;
static char passed[4096], reason[256];
static int next_code, next_status, run_status, grace = 10000;
static uint32_t api = KII_PUSH_API;

static int32_t fail(kii_push_error *error, int code, const char *text) {
    if (error) {
        memset(error, 0, sizeof *error);
        error->code = code;
        snprintf(error->text, sizeof error->text, "%s", text);
    }
    return code;
}

static struct slot *find(uint64_t handle, int kind) {
    return handle && handle <= last && slots[handle].kind == kind ? &slots[handle] : NULL;
}

static uint64_t add(int kind, uint64_t runtime) {
    slots[++last] = (struct slot){.kind = kind, .runtime = runtime, .answer = OPEN};
    return last;
}

/* The checks at the beginning of every function. On success, the caller holds the lock. */
static int32_t begin(uint64_t handle, int kind, kii_push_error *error) {
    if (owner && owner != getpid()) return fail(error, KII_PUSH_E_FORKED, "the process is a fork");
    pthread_mutex_lock(&lock);
    int code = next_code ? next_code : kind && !find(handle, kind) ? KII_PUSH_E_HANDLE : 0;
    if (!code) return 0;
    fail(error, code, next_code ? "as the test has it" : "the handle has ended");
    if (error && next_code) {
        error->status = next_status;
        error->temporary = code == KII_PUSH_E_NETWORK;
        snprintf(error->refusal, sizeof error->refusal, "%s", next_status ? "TOPIC_NOT_FOUND" : "");
    }
    next_code = next_status = 0;
    pthread_mutex_unlock(&lock);
    return code;
}

static int32_t end(int code, kii_push_error *error, const char *text) {
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return code ? fail(error, code, text) : 0;
}

static struct timespec after(int64_t milliseconds) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec += milliseconds / 1000;
    time.tv_nsec += milliseconds % 1000 * 1000000;
    if (time.tv_nsec >= 1000000000) time.tv_sec++, time.tv_nsec -= 1000000000;
    return time;
}

static char *copied(const char *text, size_t length) {
    char *copy = malloc(length + 1);
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

EXPORT uint32_t kii_push_api(void) { return api; }
EXPORT void kii_push_free(char *text) { free(text); }

EXPORT int32_t kii_push_open(
    uint32_t version, const char *json, size_t length, kii_push_runtime *runtime, kii_push_error *error) {
    int32_t code = begin(0, NONE, error);
    if (code) return code;
    owner = getpid();
    snprintf(passed, sizeof passed, "%.*s", (int)length, json);
    *runtime = add(RUNTIME, 0);
    return end(version == KII_PUSH_API ? 0 : KII_PUSH_E_VERSION, error, "another version");
}

EXPORT int32_t kii_push_close(kii_push_runtime runtime, kii_push_error *error) {
    if (is_callback) return fail(error, KII_PUSH_E_CALLBACK, "inside a callback");
    int32_t code = begin(runtime, RUNTIME, error);
    if (code) return code;
    slots[runtime].kind = NONE;
    struct timespec until = after(grace);
    for (uint64_t i = 1; i <= last; i++) {
        if (slots[i].runtime != runtime) continue;
        slots[i].runs = false;
        while (slots[i].kind == DELIVERY && (!slots[i].has_returned || slots[i].answer == OPEN)
               && pthread_cond_timedwait(&changed, &lock, &until) == 0) {}
        slots[i].kind = NONE;
    }
    return end(0, NULL, NULL);
}

EXPORT int32_t kii_push_agent_new(
    kii_push_runtime runtime, const char *json, size_t length, kii_push_handler handler, void *context,
    kii_push_agent *agent, kii_push_error *error) {
    int32_t code = begin(runtime, RUNTIME, error);
    if (code) return code;
    snprintf(passed, sizeof passed, "%.*s", (int)length, json);
    *agent = add(AGENT, runtime);
    slots[*agent].handler = handler;
    slots[*agent].context = context;
    return end(0, NULL, NULL);
}

EXPORT int32_t kii_push_observe(
    kii_push_agent agent, kii_push_observer observer, void *context, kii_push_error *error) {
    int32_t code = begin(agent, AGENT, error);
    if (code) return code;
    slots[agent].observer = observer;
    slots[agent].observer_context = context;
    return end(0, NULL, NULL);
}

EXPORT int32_t kii_push_register(kii_push_agent agent, kii_push_error *error) {
    int32_t code = begin(agent, AGENT, error);
    return code ? code : end(0, NULL, NULL);
}

EXPORT int32_t kii_push_start(kii_push_agent agent, kii_push_error *error) {
    int32_t code = begin(agent, AGENT, error);
    if (code) return code;
    bool ran = slots[agent].runs;
    slots[agent].has_run = true;
    slots[agent].runs = !slots[agent].failure;
    return end(ran ? KII_PUSH_E_STATE : 0, error, "the agent runs");
}

EXPORT int32_t kii_push_stop(kii_push_agent agent, kii_push_error *error) {
    int32_t code = begin(agent, AGENT, error);
    if (code) return code;
    slots[agent].is_stopped = true;
    slots[agent].runs = false;
    return end(0, NULL, NULL);
}

/* Whether the agent has stopped. An agent with an unanswered handler has not stopped. */
static bool has_stopped(uint64_t agent) {
    if (slots[agent].runs) return false;
    for (uint64_t i = 1; i <= last; i++)
        if (slots[i].kind == DELIVERY && slots[i].context == slots[agent].context && slots[i].answer == OPEN)
            return false;
    return true;
}

EXPORT int32_t kii_push_wait(kii_push_agent agent, int64_t milliseconds, kii_push_error *error) {
    if (is_callback) return fail(error, KII_PUSH_E_CALLBACK, "inside a callback");
    int32_t code = begin(agent, AGENT, error);
    if (code) return code;
    if (!slots[agent].has_run) return end(KII_PUSH_E_STATE, error, "the agent was never started");
    struct timespec until = after(milliseconds < 0 ? 3600000 : milliseconds);
    while (slots[agent].kind == AGENT && !has_stopped(agent))
        if (pthread_cond_timedwait(&changed, &lock, &until)) return end(KII_PUSH_E_TIMEOUT, error, "it runs");
    return end(slots[agent].failure, error, "the cloud refuses the password");
}

EXPORT int32_t kii_push_run(kii_push_runtime runtime, kii_push_error *error) {
    if (is_callback) return fail(error, KII_PUSH_E_CALLBACK, "inside a callback"), 70;
    if (begin(runtime, RUNTIME, error)) return 70;
    while (slots[runtime].kind == RUNTIME && !run_status) pthread_cond_wait(&changed, &lock);
    int status = run_status < 0 ? 0 : run_status;
    slots[runtime].kind = NONE;
    end(0, NULL, NULL);
    if (status) fail(error, KII_PUSH_E_REFUSED, "the cloud refuses the password");
    return status;
}

EXPORT int32_t kii_push_field(
    const kii_push_message *message, const char *name, size_t name_length, const char **value, size_t *value_length,
    kii_push_error *error) {
    (void)message, (void)name, (void)name_length, (void)value, (void)value_length;
    return fail(error, KII_PUSH_E_STATE, "no such member");
}

EXPORT int32_t kii_push_source(
    const kii_push_message *message, const char **value, size_t *value_length, kii_push_error *error) {
    if (strstr(message->payload, "\"direct\"")) return fail(error, KII_PUSH_E_STATE, "no topic");
    *value = "kiicloud://topics/alerts";
    *value_length = strlen(*value);
    return 0;
}

static int32_t answer(kii_push_completion completion, int result, kii_push_error *error) {
    int32_t code = begin(completion, DELIVERY, error);
    if (code) return code;
    bool is_late = slots[completion].answer != OPEN;
    if (!is_late) slots[completion].answer = result;
    return end(is_late ? KII_PUSH_E_HANDLE : 0, error, "the message is answered");
}

EXPORT int32_t kii_push_complete(kii_push_completion completion, int32_t result, kii_push_error *error) {
    return answer(completion, result, error);
}

static int32_t answer_because(
    kii_push_completion completion, int result, const char *text, size_t length, kii_push_error *error) {
    if (length > 4 << 20) return fail(error, KII_PUSH_E_ARGUMENT, "the length of reason is more than 4194304");
    int32_t code = answer(completion, result, error);
    if (!code) snprintf(reason, sizeof reason, "%.*s", (int)length, text);
    return code;
}

EXPORT int32_t kii_push_fail(kii_push_completion completion, const char *text, size_t length, kii_push_error *error) {
    return answer_because(completion, KII_PUSH_FAILED, text, length, error);
}

EXPORT int32_t kii_push_reject(
    kii_push_completion completion, const char *text, size_t length, kii_push_error *error) {
    return answer_because(completion, REJECTED, text, length, error);
}

/* Three dead letters, in pages of two. */
EXPORT int32_t kii_push_dead_letters(
    kii_push_runtime runtime, int64_t after_id, char **json, size_t *length, kii_push_error *error) {
    int32_t code = begin(runtime, RUNTIME, error);
    if (code) return code;
    char text[512] = "[";
    for (int64_t id = after_id + 1; id <= 3 && id <= after_id + 2; id++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "%s{\"id\":%d,\"received_at\":\"2023-11-14T22:13:20.123Z\",\"attempts\":6,\"reason\":\"failed\",%s}",
                 id == after_id + 1 ? "" : ",", (int)id,
                 id == 2 ? "\"payload_base64\":\"/w==\"" : "\"payload\":\"{}\"");
    strcat(text, "]");
    *json = copied(text, *length = strlen(text));
    return end(0, NULL, NULL);
}

EXPORT int32_t kii_push_retry(kii_push_runtime runtime, int64_t id, kii_push_error *error) {
    int32_t code = begin(runtime, RUNTIME, error);
    return code ? code : end(id > 3 ? KII_PUSH_E_STATE : 0, error, "there is no such message");
}

EXPORT int32_t kii_push_drop(kii_push_runtime runtime, int64_t id, kii_push_error *error) {
    return kii_push_retry(runtime, id, error);
}

EXPORT int32_t kii_push_call(
    kii_push_agent agent, const char *method, const char *path, const char *content_type, const char *body,
    size_t length, char **result, size_t *result_length, kii_push_error *error) {
    int32_t code = begin(agent, AGENT, error);
    if (code) return code;
    char text[512];
    *result_length = snprintf(text, sizeof text, "%s %s %s %.*s", method, path, content_type ? content_type : "-",
                              (int)length, body ? body : "");
    *result = copied(text, *result_length);
    return end(0, NULL, NULL);
}

EXPORT int32_t kii_push_send(
    kii_push_agent agent, const char *target, const char *json, size_t length, char **id, kii_push_error *error) {
    int32_t code = begin(agent, AGENT, error);
    if (code) return code;
    snprintf(passed, sizeof passed, "%s %.*s", target, (int)length, json);
    *id = copied("push-1", 6);
    return end(0, NULL, NULL);
}

/* ---- functions for the tests ---- */

/* The last arguments of the program, and the last reason of a failure or a rejection. */
EXPORT const char *fake_passed(void) { return passed; }
EXPORT const char *fake_reason(void) { return reason; }
EXPORT void fake_fail_next(int code, int status) { next_code = code, next_status = status; }
EXPORT void fake_set_grace(int milliseconds) { grace = milliseconds; }
EXPORT void fake_set_api(uint32_t number) { api = number; }

/* Ends kii_push_run with `status`; a negative status ends it with 0. */
EXPORT void fake_end_run(int status) {
    pthread_mutex_lock(&lock);
    run_status = status;
    end(0, NULL, NULL);
}

/* Makes the newest agent stop by itself, at once or at its start. */
EXPORT void fake_end_agent(int code) {
    pthread_mutex_lock(&lock);
    for (uint64_t i = last; i; i--)
        if (slots[i].kind == AGENT) {
            slots[i].failure = code;
            slots[i].runs = false;
            break;
        }
    end(0, NULL, NULL);
}

static void *deliver(void *argument) {
    uint64_t number = (uint64_t)(uintptr_t)argument;
    struct slot *delivery = &slots[number];
    kii_push_message message = {
        .completion = number, .id = delivery->id, .received_at = 1700000000123, .attempt = 2,
        .kind = KII_PUSH_KIND_PUSH_TO_USER, .payload = delivery->payload, .payload_length = strlen(delivery->payload)};
    is_callback = true;
    if (delivery->observer) {
        const char *event = "{\"v\":1,\"type\":\"started\"}";
        delivery->observer(delivery->observer_context, event, strlen(event));
    }
    int result = delivery->handler(delivery->context, &message);
    /* A pointer that the handler has kept now points to garbage. */
    memset(delivery->payload, '#', message.payload_length);
    pthread_mutex_lock(&lock);
    delivery->has_returned = true;
    if (result != KII_PUSH_LATER && delivery->answer == OPEN) delivery->answer = result;
    end(0, NULL, NULL);
    return NULL;
}

/* Delivers a message to the newest agent, on a new thread. Returns the message's number. */
EXPORT uint64_t fake_deliver(const char *payload) {
    pthread_mutex_lock(&lock);
    uint64_t agent = last;
    while (agent && slots[agent].kind != AGENT) agent--;
    uint64_t number = add(DELIVERY, slots[agent].runtime);
    struct slot *delivery = &slots[number];
    delivery->handler = slots[agent].handler;
    delivery->context = slots[agent].context;
    delivery->observer = slots[agent].observer;
    delivery->observer_context = slots[agent].observer_context;
    delivery->payload = copied(payload, strlen(payload));
    delivery->id = (int64_t)number;
    pthread_mutex_unlock(&lock);
    pthread_t thread;
    pthread_create(&thread, NULL, deliver, (void *)(uintptr_t)number);
    pthread_detach(thread);
    return number;
}

/* Waits for the answer to a message: a kii_push_result, 3 for a rejection, -1 without an answer within a minute. */
EXPORT int fake_answer(uint64_t number) {
    pthread_mutex_lock(&lock);
    struct timespec until = after(60000);
    while ((slots[number].answer == OPEN || !slots[number].has_returned)
           && pthread_cond_timedwait(&changed, &lock, &until) == 0) {}
    int result = slots[number].answer;
    end(0, NULL, NULL);
    return result;
}
