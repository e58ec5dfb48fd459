/* Prints each push to the topic "alerts": its ID, the attempt, and its member "msg".
 *
 *     cc agent.c -o agent $(pkg-config --cflags --libs kii-push)
 *
 * KII_APP_ID, KII_APP_KEY and KII_BASE_URL name the app. Optional are KII_CA_FILE, a file of trusted certificates, and
 * KII_SLEEP, the seconds that the handler takes. */
#include <kii_push.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int32_t on_message(void *context, const kii_push_message *message) {
    const char *text;
    size_t length;
    (void)context;
    const char *seconds = getenv("KII_SLEEP");
    if (kii_push_field(message, "msg", 3, &text, &length, NULL)) text = "", length = 0;
    printf("%lld %d %.*s\n", (long long)message->id, message->attempt, (int)length, text);
    /* A handler may block. */
    if (seconds) sleep(atoi(seconds));
    return KII_PUSH_NEW_DATA;
}

static void on_event(void *context, const char *json, size_t length) {
    fprintf(context, "%.*s\n", (int)length, json);
}

/* A member of a JSON object. The value must not need escapes. */
static const char *member(char *buffer, size_t size, const char *name, const char *variable) {
    const char *value = getenv(variable);
    snprintf(buffer, size, value ? "\"%s\": \"%s\"" : "\"%s\": null", name, value);
    return buffer;
}

int main(void) {
    kii_push_runtime runtime;
    kii_push_agent agent;
    kii_push_error error = {0};
    char settings[1200], json[4096], id[300], key[300], url[1000], file[1000];
    setvbuf(stdout, NULL, _IOLBF, 0);
    snprintf(settings, sizeof settings, "{%s}", member(file, sizeof file, "certificateAuthorityFile", "KII_CA_FILE"));
    snprintf(json, sizeof json,
        "{\"app\": {%s, %s, %s}, \"account\": {\"type\": \"pseudoUser\"}, \"subscriptions\": [{\"topic\": \"alerts\"}]}",
        member(id, sizeof id, "id", "KII_APP_ID"), member(key, sizeof key, "key", "KII_APP_KEY"),
        member(url, sizeof url, "baseURL", "KII_BASE_URL"));
    int failed = kii_push_open(KII_PUSH_API, settings, strlen(settings), &runtime, &error)
        || kii_push_agent_new(runtime, json, strlen(json), on_message, NULL, &agent, &error)
        || kii_push_observe(agent, on_event, stderr, &error);
    int status = !failed ? kii_push_run(runtime, &error) : error.temporary ? 75 : 78;
    if (status) fprintf(stderr, "%s\n", error.text);
    return status;
}
