"""What kii_push.h declares: written by Tests/Python/test_interface.py --write."""

CDEF = """\
#define KII_PUSH_API 1001
uint32_t kii_push_api(void);
typedef uint64_t kii_push_runtime;
typedef uint64_t kii_push_agent;
typedef uint64_t kii_push_completion;
typedef enum kii_push_code {
    KII_PUSH_OK = 0,
    KII_PUSH_E_ARGUMENT = 1,
    KII_PUSH_E_HANDLE = 2,
    KII_PUSH_E_CONFIGURATION = 3,
    KII_PUSH_E_VERSION = 4,
    KII_PUSH_E_FILE = 5,
    KII_PUSH_E_NETWORK = 6,
    KII_PUSH_E_REFUSED = 7,
    KII_PUSH_E_STATE = 8,
    KII_PUSH_E_CALLBACK = 9,
    KII_PUSH_E_TIMEOUT = 10,
    KII_PUSH_E_FORKED = 11
} kii_push_code;
typedef struct kii_push_error {
    int32_t code;
    int32_t status;
    int32_t temporary;
    char refusal[64];
    char text[1024];
} kii_push_error;
int32_t kii_push_open(
    uint32_t api, const char *json, size_t length, kii_push_runtime *runtime, kii_push_error *error);
int32_t kii_push_close(kii_push_runtime runtime, kii_push_error *error);
typedef enum kii_push_kind {
    KII_PUSH_KIND_PUSH_TO_APP = 1,
    KII_PUSH_KIND_PUSH_TO_USER = 2,
    KII_PUSH_KIND_DIRECT_PUSH = 3,
    KII_PUSH_KIND_THING_COMMAND = 4
} kii_push_kind;
typedef enum kii_push_result {
    KII_PUSH_NEW_DATA = 0,
    KII_PUSH_NO_DATA = 1,
    KII_PUSH_FAILED = 2,
    KII_PUSH_LATER = 3
} kii_push_result;
typedef struct kii_push_message {
    kii_push_completion completion;
    int64_t id;
    int64_t received_at;
    int32_t attempt;
    int32_t kind;
    const char *payload;
    size_t payload_length;
    const void *fields;
} kii_push_message;
typedef int32_t (*kii_push_handler)(void *context, const kii_push_message *message);
typedef void (*kii_push_observer)(void *context, const char *json, size_t length);
int32_t kii_push_agent_new(
    kii_push_runtime runtime, const char *json, size_t length, kii_push_handler handler, void *context,
    kii_push_agent *agent, kii_push_error *error);
int32_t kii_push_observe(kii_push_agent agent, kii_push_observer observer, void *context, kii_push_error *error);
int32_t kii_push_register(kii_push_agent agent, kii_push_error *error);
int32_t kii_push_start(kii_push_agent agent, kii_push_error *error);
int32_t kii_push_stop(kii_push_agent agent, kii_push_error *error);
int32_t kii_push_wait(kii_push_agent agent, int64_t milliseconds, kii_push_error *error);
int32_t kii_push_run(kii_push_runtime runtime, kii_push_error *error);
int32_t kii_push_field(
    const kii_push_message *message, const char *name, size_t name_length, const char **value, size_t *value_length,
    kii_push_error *error);
int32_t kii_push_source(
    const kii_push_message *message, const char **value, size_t *value_length, kii_push_error *error);
int32_t kii_push_complete(kii_push_completion completion, int32_t result, kii_push_error *error);
int32_t kii_push_fail(kii_push_completion completion, const char *reason, size_t length, kii_push_error *error);
int32_t kii_push_reject(
    kii_push_completion completion, const char *reason, size_t length, kii_push_error *error);
int32_t kii_push_dead_letters(
    kii_push_runtime runtime, int64_t after, char **json, size_t *length, kii_push_error *error);
int32_t kii_push_retry(kii_push_runtime runtime, int64_t id, kii_push_error *error);
int32_t kii_push_drop(kii_push_runtime runtime, int64_t id, kii_push_error *error);
int32_t kii_push_call(
    kii_push_agent agent, const char *method, const char *path, const char *content_type, const char *body, size_t length,
    char **answer, size_t *answer_length, kii_push_error *error);
int32_t kii_push_send(
    kii_push_agent agent, const char *target, const char *json, size_t length, char **id, kii_push_error *error);
void kii_push_free(char *text);
"""
