/*
 * kii_push.h - push messages of a Kii-style cloud, for programs in any language.
 *
 * A program opens a runtime (a state directory with an inbox), makes an agent in it with a handler, and starts the agent.
 * From then on the library receives: it writes each message to the inbox, acknowledges it, and calls the handler, which
 * answers within 30 s. A message whose handler answers KII_PUSH_FAILED, or whose process dies, is handled again. "retryDelays"
 * limits the attempts: after the last one the message is a dead letter. A death counts only if no other message was being handled.
 *
 *     kii_push_runtime runtime;
 *     kii_push_agent agent;
 *     kii_push_error error;
 *     if (kii_push_open(KII_PUSH_API, runtime_json, strlen(runtime_json), &runtime, &error)
 *         || kii_push_agent_new(runtime, agent_json, strlen(agent_json), on_message, NULL, &agent, &error)) {
 *         fprintf(stderr, "%s\n", error.text);
 *         return 1;  // after kii_push_close, where the runtime is open
 *     }
 *     int status = kii_push_run(runtime, &error);
 *     if (status) fprintf(stderr, "%s\n", error.text);
 *     return status;
 *
 * Rules for all of it:
 *
 * - Text is UTF-8. Text that is passed has a length in bytes, and need not end with a zero. Text that the library hands out
 *   has a length and ends with a zero beside.
 * - What a function takes by pointer it has read, or copied, when it returns. What it hands out says how long it is good for.
 * - A handle is a number that is never given out twice. Zero is none. One that has ended, or is of another kind, is answered
 *   with KII_PUSH_E_HANDLE; it is never undefined what happens.
 * - A function returns KII_PUSH_OK (0) or a kii_push_code, which also stands in `error` with a text for people. `error` may
 *   be NULL. kii_push_run alone returns the status to exit with.
 * - Every function may be called on any thread, and inside callbacks unless it says otherwise.
 * - Callbacks come on threads of the library. Messages of one source (a topic, a bucket, the sender of direct pushes) are
 *   handled one at a time: the next one waits for the answer, KII_PUSH_LATER included. Those of different sources are handled
 *   at once (runtime member "concurrentHandlers"). A handler may block, and may call functions that do. An observer must not: it holds
 *   up the library, and a function that blocks fails there with KII_PUSH_E_CALLBACK. Neither may leave by longjmp or an
 *   exception.
 * - In JSON that is passed a member that is null counts as missing. Seconds are numbers from 0 to 1000000000.
 * - Before the process leaves main or calls exit its runtimes have to be closed: threads of theirs work with libraries that
 *   exit takes down.
 * - After kii_push_open a process must not fork without exec: in the child every function answers KII_PUSH_E_FORKED.
 * - No token, password or message stands in an error's text.
 */
#ifndef KII_PUSH_H
#define KII_PUSH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The interface that this header describes: major * 1000 + minor. A library serves programs that were built with a header of
 * the same major and the same or an older minor number. */
#define KII_PUSH_API 1001

/* The interface of the library that the program runs with. */
uint32_t kii_push_api(void);

typedef uint64_t kii_push_runtime;
typedef uint64_t kii_push_agent;
/* What one call of a handler is answered with. */
typedef uint64_t kii_push_completion;

typedef enum kii_push_code {
    KII_PUSH_OK = 0,
    /* A pointer is null that must not be, a length is too large, text is not UTF-8, a number is no member of its enum. */
    KII_PUSH_E_ARGUMENT = 1,
    /* The handle has ended, was never given out, or is of another kind. */
    KII_PUSH_E_HANDLE = 2,
    /* The JSON of a configuration or a message: what, as a JSON Pointer, stands in the text. */
    KII_PUSH_E_CONFIGURATION = 3,
    /* The header is newer than the library, or of another major number. */
    KII_PUSH_E_VERSION = 4,
    /* A file, or the state directory: in use, of another account, of a newer version, not to be read. */
    KII_PUSH_E_FILE = 5,
    /* The network, or the cloud or the broker did not answer as they should. */
    KII_PUSH_E_NETWORK = 6,
    /* The cloud has refused: `status` has the HTTP status, `refusal` Kii's errorCode. */
    KII_PUSH_E_REFUSED = 7,
    /* It cannot be done now: the agent runs already, or has not begun; the message is being handled; there is no such
     * message. */
    KII_PUSH_E_STATE = 8,
    /* It would wait for itself: called inside a callback. */
    KII_PUSH_E_CALLBACK = 9,
    /* The time has passed. */
    KII_PUSH_E_TIMEOUT = 10,
    /* The process is a fork of the one that opened the runtime. */
    KII_PUSH_E_FORKED = 11
} kii_push_code;

/* What went wrong. Belongs to the caller; the library writes it where it fails, and leaves it alone where it does not. */
typedef struct kii_push_error {
    int32_t code;       /* kii_push_code */
    int32_t status;     /* the HTTP status of a refusal, else 0 */
    int32_t temporary;  /* 1: it may pass by itself, and the program may be started again; 0: only a person can help */
    char refusal[64];   /* Kii's errorCode of a refusal, else "" */
    char text[1024];    /* one line: what failed and what to do about it; cut at a character where it is longer */
} kii_push_error;

/* ---- a runtime ---- */

/*
 * Opens a runtime. The state directory is opened, and locked until the runtime is closed, by what needs it first: an agent
 * that registers or runs, or a function for dead letters; that one fails with KII_PUSH_E_FILE where it cannot be.
 *
 * api: KII_PUSH_API.
 * json: an object, or NULL for the defaults. Unknown members are refused. All may be missing:
 *   "stateDirectory": made where it is missing; default $STATE_DIRECTORY, else kii-push in the user's state directory
 *     ($XDG_STATE_HOME). One process has it at a time. Inbox "memory" uses it too, for the agents' registrations
 *   "inbox": "file" (default) or "memory"
 *   "concurrentHandlers": how many sources are handled at once; default 4
 *   "isStrictlyOrdered": whether a message that failed holds up its source until it is done; default false
 *   "retryDelays": seconds before each further attempt; after the last one a message is a dead letter; default
 *     [1, 5, 30, 300, 1800]
 *   "shutdownGrace": seconds that handlers have to answer when the runtime is closed; default 10
 *   "hasControlSocket": whether kii-push (listen, inbox) may ask this process; default false
 *   "certificateAuthorityFile": certificates in PEM to trust instead of the system's
 *   "clientCertificateFile": a certificate in PEM for servers that ask for one, and those between it and its authority
 *   "clientKeyFile": the key to it in PEM, without a password, mode 0600; default: in the certificate's file
 *   "proxy": the URL of one for the REST API
 *   "userAgent": the field User-Agent of calls of the REST API; default: the library and libcurl with their versions
 *   "callTimeout": seconds for a call of the REST API; default 30
 */
int32_t kii_push_open(
    uint32_t api, const char *json, size_t length, kii_push_runtime *runtime, kii_push_error *error);

/*
 * Stops the runtime's agents, gives running handlers their grace, stores what they have not answered, and ends the handles of
 * the runtime and of all that is in it. Blocks. No observer runs after it has returned, and no handler begins; a handler that
 * has not returned within the grace goes on, with its thread, and what its context leads to has to stay. Takes up to twice the
 * grace then.
 * Fails with KII_PUSH_E_CALLBACK inside a callback.
 */
int32_t kii_push_close(kii_push_runtime runtime, kii_push_error *error);

/* ---- an agent ---- */

typedef enum kii_push_kind {
    KII_PUSH_KIND_PUSH_TO_APP = 1,
    KII_PUSH_KIND_PUSH_TO_USER = 2,
    KII_PUSH_KIND_DIRECT_PUSH = 3,
    KII_PUSH_KIND_THING_COMMAND = 4
} kii_push_kind;

/* The answers of UIKit's fetch-completion contract, and "later". */
typedef enum kii_push_result {
    KII_PUSH_NEW_DATA = 0,
    KII_PUSH_NO_DATA = 1,
    KII_PUSH_FAILED = 2,
    /* The answer comes by kii_push_complete, kii_push_fail or kii_push_reject, within 30 s of the call. */
    KII_PUSH_LATER = 3
} kii_push_result;

/* A message, as the handler gets it. It and all it points to is good until the handler returns. The library may add members
 * at its end. */
typedef struct kii_push_message {
    kii_push_completion completion; /* for KII_PUSH_LATER */
    int64_t id;                     /* the same at each attempt of one message */
    int64_t received_at;            /* when it reached this machine, in milliseconds since 1970 */
    int32_t attempt;                /* 1 for the first; an attempt in which the process died counts only if it ran alone */
    int32_t kind;                   /* kii_push_kind */
    const char *payload;            /* the bytes that came, JSON as a rule */
    size_t payload_length;
    const void *fields;             /* for kii_push_field and kii_push_source */
} kii_push_message;

/*
 * Handles a message. Returns a kii_push_result; any other number counts as KII_PUSH_FAILED. It may see a message again, with the
 * same `id`, after a failure or the death of the process; `id` is never given to another message
 * (with inbox "memory": of the process).
 */
typedef int32_t (*kii_push_handler)(void *context, const kii_push_message *message);

/*
 * Is told what happens to an agent: `json` is one line, an object with "v" and "type", as `kii-push listen --json` writes it; good
 * until the callback returns. It comes on the thread where it happened, which goes on when it returns.
 */
typedef void (*kii_push_observer)(void *context, const char *json, size_t length);

/*
 * Makes an agent; nothing happens before kii_push_register or kii_push_start.
 *
 * json: an object. Unknown members are refused.
 *   "app": {"id": …, "key": …, "baseURL": …, "thingIFBaseURL": …, "allowsPlainHTTP": false}; the last two may be left out: where
 *     things are onboarded, and whether `http` to another machine is allowed
 *   "account": {"type": "pseudoUser"}, {"type": "user", "name": …, "password": …, "createsIfMissing": false} or
 *     {"type": "thing", "vendorThingID": …, "password": …, "thingType": …}
 *   "name": of the agent within its runtime; default "default"
 *   "subscriptions": [{"topic": "alerts"}, {"topic": "todo", "scope": "me"}, {"bucket": "orders", "scope": "group:ID"}, …]; a
 *     scope is "app" (default), "me", "user:ID", "group:ID" or "thing:ID". A topic has to exist: the app's are made by its
 *     administrator (`kii-push subscribe` makes one at the emulator). The agent goes on trying to subscribe to what it cannot
 *     yet, and tells observers why: {"type": "state", "state": "not subscribed", "reason": …}
 *   "usesTLS": whether the connection to the broker is encrypted; default true. The runtime's "certificateAuthorityFile" names
 *     whom to trust: for the emulator `caFile` of its emulator.json
 *   "transport": what carries MQTT: "automatic" (default: TCP, and WebSocket where TCP does not get through), "tcp" or
 *     "webSocket"
 *   "isDevelopment": default false
 *   "installationMembers": further members of the call that makes the installation, an object; default: as it was made
 *   "keepAlive": seconds; default 45
 * handler: never NULL. context is passed to it as it is, and has to stay good until the runtime is closed.
 */
int32_t kii_push_agent_new(
    kii_push_runtime runtime, const char *json, size_t length, kii_push_handler handler, void *context,
    kii_push_agent *agent, kii_push_error *error);

/* Calls `observer` with everything that happens to the agent from now on, until the runtime is closed; `context` has to stay
 * good as long. There may be several. */
int32_t kii_push_observe(kii_push_agent agent, kii_push_observer observer, void *context, kii_push_error *error);

/*
 * Makes the agent known to the cloud, so that messages wait for it from then on. Blocks, up to minutes where the network does
 * not answer. kii_push_start does it as well. Fails with KII_PUSH_E_STATE where the agent runs, or registers already.
 */
int32_t kii_push_register(kii_push_agent agent, kii_push_error *error);

/* Begins to receive, on threads of the library, and returns at once. What goes wrong later and cannot pass by itself is said by
 * kii_push_wait. Fails with KII_PUSH_E_STATE where the agent runs, or registers. */
int32_t kii_push_start(kii_push_agent agent, kii_push_error *error);

/* Asks the agent to stop receiving, and returns at once; kii_push_wait says when it has. Fails with KII_PUSH_E_STATE where the
 * agent was not started. */
int32_t kii_push_stop(kii_push_agent agent, kii_push_error *error);

/*
 * Waits until the agent has stopped: KII_PUSH_OK after kii_push_stop, else why it stopped by itself. An agent that was never
 * started is answered with KII_PUSH_E_STATE. milliseconds: below zero without end; KII_PUSH_E_TIMEOUT when they have passed.
 * Fails with KII_PUSH_E_CALLBACK inside a callback.
 */
int32_t kii_push_wait(kii_push_agent agent, int64_t milliseconds, kii_push_error *error);

/*
 * Runs all agents of a runtime as a service does, until SIGTERM or SIGINT, or until an agent stops by itself: takes over these two
 * signals (a second one ends the process at once with 128 and its number as the status; one that was set to be ignored stays
 * ignored), tells systemd (sd_notify: READY, STATUS, WATCHDOG, STOPPING), and closes the runtime at the end. Returns the
 * status to exit with: 0; 75 where the failure may pass; 78, or 77 where the cloud refuses what the agent signs in with, where
 * starting again would not help. `error` says why. Fails with 70, and changes nothing, inside a callback, for a handle that has
 * ended, for a runtime without an agent, and where one of its agents runs.
 */
int32_t kii_push_run(kii_push_runtime runtime, kii_push_error *error);

/* ---- a message ---- */

/*
 * A member of the message by its name, as the sender wrote it ("msg") or as Kii writes it ("topic", "sender", "when", …): text
 * as it is, anything else as JSON. KII_PUSH_E_STATE where there is none.
 * value: set to text that is good until the handler returns. Only inside the handler.
 */
int32_t kii_push_field(
    const kii_push_message *message, const char *name, size_t name_length, const char **value, size_t *value_length,
    kii_push_error *error);

/* The topic or bucket that the message came from, as a "kiicloud:" URI. KII_PUSH_E_STATE where it names none. As kii_push_field
 * otherwise. */
int32_t kii_push_source(
    const kii_push_message *message, const char **value, size_t *value_length, kii_push_error *error);

/* Answers a message for which the handler has returned KII_PUSH_LATER, or will return it. Once: a second answer, and one after
 * kii_push_close, is KII_PUSH_E_HANDLE and changes nothing. After the 30 s of the message its attempt has failed; a success that
 * comes before the next attempt counts still, and any other answer is KII_PUSH_E_HANDLE. A call that is KII_PUSH_E_ARGUMENT is
 * no answer, and the message waits for one. result: not KII_PUSH_LATER. */
int32_t kii_push_complete(kii_push_completion completion, int32_t result, kii_push_error *error);

/* Answers that the attempt has failed, as KII_PUSH_FAILED does, and why. reason: for people; the last one is stored with a dead
 * letter, cut to 500 characters. As kii_push_complete otherwise. */
int32_t kii_push_fail(kii_push_completion completion, const char *reason, size_t length, kii_push_error *error);

/* Answers that no further attempt would help: the message is a dead letter at once. reason: for people, stored with it, and cut
 * to 500 characters. As kii_push_complete otherwise. */
int32_t kii_push_reject(
    kii_push_completion completion, const char *reason, size_t length, kii_push_error *error);

/* ---- dead letters ---- */

/*
 * The messages that were given up on, oldest first: up to a hundred with a greater id than `after` (0 for all). json: an array of
 * {"id", "received_at", "attempts", "reason", "payload"}, to be freed with kii_push_free. "received_at" is as in
 * "2026-05-16T01:46:41.908Z"; a payload that is not UTF-8 stands in "payload_base64" instead. Blocks, as the next two do.
 */
int32_t kii_push_dead_letters(
    kii_push_runtime runtime, int64_t after, char **json, size_t *length, kii_push_error *error);

/* Has a dead letter handled again. KII_PUSH_E_STATE where there is none, or its handler runs. */
int32_t kii_push_retry(kii_push_runtime runtime, int64_t id, kii_push_error *error);

/* Removes a dead letter for good. KII_PUSH_E_STATE where there is none, or its handler runs. */
int32_t kii_push_drop(kii_push_runtime runtime, int64_t id, kii_push_error *error);

/* ---- the cloud ---- */

/*
 * A call of the REST API as the agent's user or thing; blocks, and signs in where that is needed.
 *
 * path: below the app, percent-encoded, as "/users/me" or "/topics/alerts/acl"; may have a query.
 * content_type: of the body; NULL without a body, and for "application/json".
 * body, length: NULL and 0 for none.
 * answer, answer_length: the body of a success, to be freed with kii_push_free; may both be NULL where nobody wants it.
 * KII_PUSH_E_REFUSED with `status` and `refusal` for a refusal.
 */
int32_t kii_push_call(
    kii_push_agent agent, const char *method, const char *path, const char *content_type, const char *body, size_t length,
    char **answer, size_t *answer_length, kii_push_error *error);

/*
 * Sends a message as the agent's user or thing; blocks, and fails, as kii_push_call does.
 *
 * target: "topic:alerts", "topic:SCOPE/todo" with a scope as in a subscription, "user:me" or "user:ID".
 *   A topic takes messages from whom its rules name: one of the app's from the administrator alone, unless they give the
 *   user or thing the right SEND_MESSAGE_TO_TOPIC; one of the user's own from the user.
 * json: an object; its members are the message's data.
 * id: the pushMessageID, to be freed with kii_push_free; may be NULL.
 */
int32_t kii_push_send(
    kii_push_agent agent, const char *target, const char *json, size_t length, char **id, kii_push_error *error);

/* Frees text that a function has handed out "to be freed". NULL is nothing. */
void kii_push_free(char *text);

#ifdef __cplusplus
}
#endif

#endif
