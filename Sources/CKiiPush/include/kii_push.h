/*
 * kii_push.h - push messages of a Kii-style cloud, for programs in any language.
 *
 * A program opens a runtime (a state directory with an inbox), makes an agent in it with a handler, and starts the
 * agent. The library writes each message to the inbox, acknowledges it to the broker, and calls the handler, which
 * answers within 30 s. If the handler answers KII_PUSH_FAILED, or the process dies, the library retries the message.
 * After the last of "retryDelays" the message is a dead letter. An attempt in which the process died counts only if no
 * other message was being handled.
 *
 *     kii_push_runtime runtime;
 *     kii_push_agent agent;
 *     kii_push_error error;
 *     if (kii_push_open(KII_PUSH_API, runtime_json, strlen(runtime_json), &runtime, &error)
 *         || kii_push_agent_new(runtime, agent_json, strlen(agent_json), on_message, NULL, &agent, &error)) {
 *         fprintf(stderr, "%s\n", error.text);
 *         return 1;  // after kii_push_close, if the runtime is open
 *     }
 *     int status = kii_push_run(runtime, &error);
 *     if (status) fprintf(stderr, "%s\n", error.text);
 *     return status;
 *
 * Rules for all functions:
 *
 * - Text is UTF-8. A text argument without a length in bytes must end with a zero. Text from the library always does.
 * - When a function returns, it has read or copied its pointer arguments, except `context`. Each function says how long
 *   its results are valid.
 * - A handle is a number above zero, which the library never reuses. With a handle that has ended or is of another
 *   kind, a function fails with KII_PUSH_E_HANDLE.
 * - A function returns KII_PUSH_OK (0) or a kii_push_code. If it fails, it also writes the code and a text for people
 *   to `error`, which may be NULL. Only kii_push_run returns an exit status instead.
 * - Every function may be called on any thread, and inside callbacks unless its documentation says otherwise.
 * - Callbacks run on threads of the library and must not exit by longjmp or an exception. A handler may block, and may
 *   call functions that block. An observer must not block, since it would hold up the library. A function that blocks
 *   fails with KII_PUSH_E_CALLBACK inside an observer.
 * - A source is a topic, a bucket, or the sender of direct pushes. The library handles the messages of one source one
 *   at a time: the next message waits for the answer, even after KII_PUSH_LATER. It handles several sources at once
 *   (runtime member "concurrentHandlers").
 * - In JSON arguments, null counts as missing. Seconds are numbers from 0 to 1000000000.
 * - Close all runtimes before the process leaves main or calls exit: exit destroys libraries that their threads use.
 * - After kii_push_open, a process must not fork without exec: in the child every function fails with
 *   KII_PUSH_E_FORKED.
 * - The text of an error never contains a token, a password or a message.
 */
#ifndef KII_PUSH_H
#define KII_PUSH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header: major * 1000 + minor. A library supports programs built with a header of the same major
 * number and of the same or an older minor number. */
#define KII_PUSH_API 1001

/* The version of the library in use, as in KII_PUSH_API. */
uint32_t kii_push_api(void);

typedef uint64_t kii_push_runtime;
typedef uint64_t kii_push_agent;
/* A call of a handler, for a later answer. */
typedef uint64_t kii_push_completion;

typedef enum kii_push_code {
    KII_PUSH_OK = 0,
    /* A required pointer is null, a length too large, a text not UTF-8 or malformed, or a number not in its enum. */
    KII_PUSH_E_ARGUMENT = 1,
    /* The handle has ended, is not from this library, or is of another kind. */
    KII_PUSH_E_HANDLE = 2,
    /* The JSON of a configuration or a message is invalid. The text names the member by its JSON Pointer. */
    KII_PUSH_E_CONFIGURATION = 3,
    /* The header is newer than the library, or has another major number. */
    KII_PUSH_E_VERSION = 4,
    /* A file or the state directory is in use, unreadable, of another account, or from a newer version. */
    KII_PUSH_E_FILE = 5,
    /* The network failed, or the cloud or the broker did not answer correctly. */
    KII_PUSH_E_NETWORK = 6,
    /* The cloud refused: `status` is the HTTP status, `refusal` Kii's errorCode. */
    KII_PUSH_E_REFUSED = 7,
    /* Not possible now: the agent runs or was not started, or the message is being handled or does not exist. */
    KII_PUSH_E_STATE = 8,
    /* Called inside a callback, where the function would wait for that callback. */
    KII_PUSH_E_CALLBACK = 9,
    KII_PUSH_E_TIMEOUT = 10,
    /* The process was forked after kii_push_open. */
    KII_PUSH_E_FORKED = 11
} kii_push_code;

/* A failure. The caller owns the structure. A function writes to it only if it fails. */
typedef struct kii_push_error {
    int32_t code;       /* kii_push_code */
    int32_t status;     /* the HTTP status of a refusal, else 0 */
    int32_t temporary;  /* 1: may pass by itself, so a restart may help; 0: only a person can help */
    char refusal[64];   /* Kii's errorCode of a refusal, else "" */
    char text[1024];    /* one line: what failed and what to do about it; cut between characters if longer */
} kii_push_error;

/* ---- a runtime ---- */

/*
 * Opens a runtime. Later, the first agent that registers or runs, or the first function for dead letters, opens the
 * state directory, and locks it until the runtime is closed. If that fails, the error is KII_PUSH_E_FILE.
 *
 * api: KII_PUSH_API.
 * json: an object, or NULL for the defaults. Unknown members are an error. All members are optional:
 *   "stateDirectory": created if missing; default $STATE_DIRECTORY, else kii-push in the user's state directory
 *     ($XDG_STATE_HOME). One process at a time can use it. Inbox "memory" uses it too, for the agents' registrations
 *   "inbox": "file" (default) or "memory"
 *   "concurrentHandlers": the most sources handled at once; default 4
 *   "isStrictlyOrdered": whether the next messages of a source wait while a failed one is retried; default false
 *   "retryDelays": seconds before each further attempt; default [1, 5, 30, 300, 1800]
 *   "shutdownGrace": seconds that handlers have to answer when the runtime is closed; default 10
 *   "hasControlSocket": whether kii-push (listen, inbox) may query this process; default false
 *   "certificateAuthorityFile": certificates in PEM to trust instead of the system's
 *   "clientCertificateFile": a client certificate in PEM, with any intermediate certificates
 *   "clientKeyFile": the certificate's key in PEM, without a password, mode 0600; default: the certificate's file
 *   "proxy": the URL of a proxy for the REST API
 *   "userAgent": the User-Agent field of REST calls; default: the library and libcurl with their versions
 *   "callTimeout": seconds for a REST call; default 30
 */
int32_t kii_push_open(
    uint32_t api, const char *json, size_t length, kii_push_runtime *runtime, kii_push_error *error);

/*
 * Stops the runtime's agents, and waits up to "shutdownGrace" for running handlers. Unanswered messages stay in the
 * inbox. Ends the handles of the runtime and its agents. After the call, no observer runs and no handler starts.
 *
 * If a handler exceeds the grace, the call takes up to twice the grace. That handler continues in its thread, so its
 * context must stay valid. Fails with KII_PUSH_E_CALLBACK inside a callback.
 */
int32_t kii_push_close(kii_push_runtime runtime, kii_push_error *error);

/* ---- an agent ---- */

typedef enum kii_push_kind {
    KII_PUSH_KIND_PUSH_TO_APP = 1,
    KII_PUSH_KIND_PUSH_TO_USER = 2,
    KII_PUSH_KIND_DIRECT_PUSH = 3,
    KII_PUSH_KIND_THING_COMMAND = 4
} kii_push_kind;

/* The answer to a message: UIKit's three fetch results, or "later". */
typedef enum kii_push_result {
    KII_PUSH_NEW_DATA = 0,
    KII_PUSH_NO_DATA = 1,
    KII_PUSH_FAILED = 2,
    /* The program answers by kii_push_complete, kii_push_fail or kii_push_reject, within 30 s of the handler's call. */
    KII_PUSH_LATER = 3
} kii_push_result;

/* A message for the handler. The structure and its pointers are valid until the handler returns. Later versions of the
 * library may add members at its end. */
typedef struct kii_push_message {
    kii_push_completion completion; /* for KII_PUSH_LATER */
    int64_t id;                     /* the same at each attempt of one message */
    int64_t received_at;            /* when the message reached this machine, in milliseconds since 1970 */
    int32_t attempt;                /* from 1 */
    int32_t kind;                   /* kii_push_kind */
    const char *payload;            /* the received bytes, usually JSON */
    size_t payload_length;
    const void *fields;             /* for kii_push_field and kii_push_source */
} kii_push_message;

/*
 * Handles a message and returns a kii_push_result. Any other number counts as KII_PUSH_FAILED. After a failure or the
 * death of the process, the library calls the handler again with the same `id`. The library never reuses an `id` for
 * another message (with inbox "memory": within the process).
 */
typedef int32_t (*kii_push_handler)(void *context, const kii_push_message *message);

/*
 * Receives an event of an agent. `json` is one line, in the format of `kii-push listen --json`: an object with "v" and
 * "type". It is valid until the callback returns. The observer runs on the thread of the event and delays that thread.
 */
typedef void (*kii_push_observer)(void *context, const char *json, size_t length);

/*
 * Makes an agent, which does nothing before kii_push_register, kii_push_start or kii_push_run.
 *
 * json: an object. Unknown members are an error.
 *   "app": {"id": …, "key": …, "baseURL": …, "thingIFBaseURL": …, "allowsPlainHTTP": false}. Optional are
 *     "thingIFBaseURL", for onboarding things, and "allowsPlainHTTP", to allow `http` to another machine
 *   "account": {"type": "pseudoUser"}, {"type": "user", "name": …, "password": …, "createsIfMissing": false} or
 *     {"type": "thing", "vendorThingID": …, "password": …, "thingType": …}
 *   "name": the agent's name in its runtime; default "default"
 *   "subscriptions": [{"topic": "alerts"}, {"topic": "todo", "scope": "me"}, {"bucket": "orders",
 *     "scope": "group:ID"}, …].
 *     A scope is "app" (default), "me", "user:ID", "group:ID" or "thing:ID". A topic must exist: the app's
 *     administrator creates the app's topics (at the emulator, `kii-push subscribe` does). If subscribing fails, the
 *     agent retries, and tells observers why: {"type": "state", "state": "not subscribed", "reason": …}
 *   "usesTLS": whether to encrypt the connection to the broker; default true. The runtime's "certificateAuthorityFile"
 *     names the trusted authorities: for the emulator, `caFile` of its emulator.json
 *   "transport": "tcp", "webSocket" or "automatic" (default): MQTT over TCP, or over WebSocket if TCP is blocked
 *   "isDevelopment": whether the installation is for development; default false
 *   "installationMembers": an object, further members of the call that creates the installation; default: none, or
 *     those of the existing installation
 *   "keepAlive": seconds without sending after which the agent pings the broker; default 45
 * handler: must not be NULL. The library passes `context` to it. `context` must stay valid until the runtime is closed.
 */
int32_t kii_push_agent_new(
    kii_push_runtime runtime, const char *json, size_t length, kii_push_handler handler, void *context,
    kii_push_agent *agent, kii_push_error *error);

/* Calls `observer` for every event of the agent from now on. `context` must stay valid until the runtime is closed. An
 * agent can have several observers. */
int32_t kii_push_observe(kii_push_agent agent, kii_push_observer observer, void *context, kii_push_error *error);

/*
 * Registers the agent with the cloud, which then keeps messages for the agent. kii_push_start does this too. Blocks,
 * for minutes if the network does not answer. Fails with KII_PUSH_E_STATE if the agent runs or is registering.
 */
int32_t kii_push_register(kii_push_agent agent, kii_push_error *error);

/* Starts receiving and returns at once. kii_push_wait reports a failure that stops the agent later. Fails with
 * KII_PUSH_E_STATE if the agent runs or is registering. */
int32_t kii_push_start(kii_push_agent agent, kii_push_error *error);

/* Asks the agent to stop receiving, and returns at once; kii_push_wait waits for the end. Fails with KII_PUSH_E_STATE
 * if the agent was not started. */
int32_t kii_push_stop(kii_push_agent agent, kii_push_error *error);

/*
 * Waits until the agent has stopped. Returns KII_PUSH_OK after kii_push_stop, else the failure that stopped the agent.
 * Fails with KII_PUSH_E_STATE if the agent was never started, and with KII_PUSH_E_CALLBACK inside a callback.
 * milliseconds: the longest wait, then KII_PUSH_E_TIMEOUT; a negative number means no limit.
 */
int32_t kii_push_wait(kii_push_agent agent, int64_t milliseconds, kii_push_error *error);

/*
 * Runs all agents of a runtime as a service until SIGTERM, SIGINT or a failure that stops an agent. Then closes the
 * runtime.
 *
 * Takes over these two signals. A second signal ends the process at once, with 128 plus the signal's number as status.
 * An ignored signal stays ignored. Notifies systemd (sd_notify: READY, STATUS, WATCHDOG, STOPPING).
 *
 * Returns the exit status; `error` says why it is not 0. 0 is success. 75 is a failure that may pass. 77 (the cloud
 * refuses the agent's credentials) and 78 mean that a restart would not help. 70 means that nothing was run or closed:
 * the call was inside a callback or a forked process, the handle has ended, or the runtime has no agent or a running
 * agent.
 */
int32_t kii_push_run(kii_push_runtime runtime, kii_push_error *error);

/* ---- a message ---- */

/*
 * Reads a member of the message by the sender's name ("msg") or Kii's name ("topic", "sender", "when", …): a string as
 * plain text, any other value as JSON. Only inside the handler. Fails with KII_PUSH_E_STATE if there is no such member.
 * value: set to text that is valid until the handler returns.
 */
int32_t kii_push_field(
    const kii_push_message *message, const char *name, size_t name_length, const char **value, size_t *value_length,
    kii_push_error *error);

/* Reads the topic or bucket that the message came from, as a "kiicloud:" URI. Fails with KII_PUSH_E_STATE if the
 * message names none. Otherwise like kii_push_field. */
int32_t kii_push_source(
    const kii_push_message *message, const char **value, size_t *value_length, kii_push_error *error);

/*
 * Answers a message for which the handler returns KII_PUSH_LATER. The first answer counts. A second answer, or an
 * answer after kii_push_close, fails with KII_PUSH_E_HANDLE. After 30 s the attempt has failed: a success still counts
 * until the next attempt starts, and any other answer fails with KII_PUSH_E_HANDLE. After KII_PUSH_E_ARGUMENT the
 * message still waits for an answer.
 * result: any kii_push_result but KII_PUSH_LATER.
 */
int32_t kii_push_complete(kii_push_completion completion, int32_t result, kii_push_error *error);

/* Answers KII_PUSH_FAILED with a reason for people. A dead letter stores the reason of its last attempt, cut to 500
 * characters. Otherwise like kii_push_complete. */
int32_t kii_push_fail(kii_push_completion completion, const char *reason, size_t length, kii_push_error *error);

/* Makes the message a dead letter at once, for a message that no further attempt would help. The dead letter stores the
 * reason, for people, cut to 500 characters. Otherwise like kii_push_complete. */
int32_t kii_push_reject(
    kii_push_completion completion, const char *reason, size_t length, kii_push_error *error);

/* ---- dead letters ---- */

/*
 * Lists dead letters, oldest first: at most 100, with an id greater than `after` (0: from the oldest). Blocks, as
 * kii_push_retry and kii_push_drop do.
 * json: an array of {"id", "received_at", "attempts", "reason", "payload"}; free it with kii_push_free. "received_at"
 * is as in "2026-05-16T01:46:41.908Z". A payload that is not UTF-8 is in "payload_base64" instead.
 */
int32_t kii_push_dead_letters(
    kii_push_runtime runtime, int64_t after, char **json, size_t *length, kii_push_error *error);

/* Retries a dead letter. Fails with KII_PUSH_E_STATE if there is none, or if its handler runs. */
int32_t kii_push_retry(kii_push_runtime runtime, int64_t id, kii_push_error *error);

/* Deletes a dead letter. Fails with KII_PUSH_E_STATE if there is none, or if its handler runs. */
int32_t kii_push_drop(kii_push_runtime runtime, int64_t id, kii_push_error *error);

/* ---- the cloud ---- */

/*
 * Calls the REST API as the agent's user or thing. Blocks, and signs in if necessary.
 *
 * path: below the app's URL, percent-encoded, such as "/users/me" or "/topics/alerts/acl"; may have a query.
 * content_type: the body's type; NULL for "application/json" or no body.
 * body, length: NULL and 0 for none.
 * answer, answer_length: the body of a successful answer; free it with kii_push_free. Both may be NULL.
 * Fails with KII_PUSH_E_REFUSED, `status` and `refusal` if the cloud refuses.
 */
int32_t kii_push_call(
    kii_push_agent agent, const char *method, const char *path, const char *content_type, const char *body, size_t length,
    char **answer, size_t *answer_length, kii_push_error *error);

/*
 * Sends a message as the agent's user or thing. Blocks and fails like kii_push_call.
 *
 * target: "topic:alerts", "topic:SCOPE/todo" with a scope as in a subscription, "user:me" or "user:ID". By default only
 * the administrator may send to a topic of the app, and only the owner to a user's topic. The topic's right
 * SEND_MESSAGE_TO_TOPIC lets another user or thing send.
 * json: an object; its members are the message's data.
 * id: the pushMessageID; free it with kii_push_free. May be NULL.
 */
int32_t kii_push_send(
    kii_push_agent agent, const char *target, const char *json, size_t length, char **id, kii_push_error *error);

/* Frees a text, where the documentation of a function says so. NULL does nothing. */
void kii_push_free(char *text);

#ifdef __cplusplus
}
#endif

#endif
