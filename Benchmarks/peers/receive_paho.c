// Paho C, MQTTAsync with callbacks, as in its own subscriber program. The library sends PUBACK after the callback.
#include <MQTTAsync.h>
#include <semaphore.h>

#include "receive.h"

static MQTTAsync client;
static sem_t done, left;

static void on_disconnected(void *context, MQTTAsync_successData *data) {
    (void)context;
    (void)data;
    sem_post(&left);
}

static void on_not_disconnected(void *context, MQTTAsync_failureData *data) {
    (void)context;
    (void)data;
    sem_post(&left);
}

static void on_failure(void *context, MQTTAsync_failureData *data) {
    (void)context;
    fprintf(stderr, "MQTTAsync: %s\n", data && data->message ? data->message : "failed");
    exit(69);
}

static void on_lost(void *context, char *cause) {
    const struct receiver *receiver = context;
    (void)cause;
    exit(receiver->seen < receiver->count ? 69 : 0);
}

static void on_connected(void *context, char *cause) {
    const struct receiver *receiver = context;
    (void)cause;
    MQTTAsync_responseOptions options = MQTTAsync_responseOptions_initializer;
    options.onFailure = on_failure;
    MQTTAsync_subscribe(client, receiver->topic, receiver->qos, &options);
}

static int on_message(void *context, char *topic, int topic_length, MQTTAsync_message *message) {
    struct receiver *receiver = context;
    (void)topic_length;
    MQTTAsync_freeMessage(&message);
    MQTTAsync_free(topic);
    if (++receiver->seen == receiver->count) sem_post(&done);
    return 1;
}

int main(int count, char **arguments) {
    struct receiver receiver = receiver_open(count, arguments);
    char address[256];
    snprintf(address, sizeof address, "%s://%s:%d", receiver.authority ? "ssl" : "tcp", receiver.host, receiver.port);
    sem_init(&done, 0, 0);
    sem_init(&left, 0, 0);
    if (MQTTAsync_create(&client, address, "paho", MQTTCLIENT_PERSISTENCE_NONE, NULL) != MQTTASYNC_SUCCESS) return 70;
    MQTTAsync_setCallbacks(client, &receiver, on_lost, on_message, NULL);
    MQTTAsync_setConnected(client, &receiver, on_connected);
    MQTTAsync_connectOptions options = MQTTAsync_connectOptions_initializer;
    MQTTAsync_SSLOptions tls = MQTTAsync_SSLOptions_initializer;
    tls.trustStore = receiver.authority;
    tls.verify = 1;
    if (receiver.authority) options.ssl = &tls;
    options.cleansession = 1;
    options.onFailure = on_failure;
    if (MQTTAsync_connect(client, &options) != MQTTASYNC_SUCCESS) return 69;
    while (sem_wait(&done) != 0) continue;
    MQTTAsync_disconnectOptions goodbye = MQTTAsync_disconnectOptions_initializer;
    goodbye.onSuccess = on_disconnected;
    goodbye.onFailure = on_not_disconnected;
    if (MQTTAsync_disconnect(client, &goodbye) == MQTTASYNC_SUCCESS)
        while (sem_wait(&left) != 0) continue;
    MQTTAsync_destroy(&client);
    return 0;
}
