// Paho C, MQTTAsync, with its file persistence. The library calls the callback, and then sends PUBACK (since 1.3.10).
#include <MQTTAsync.h>
#include <sys/stat.h>

#include "peer.h"

static MQTTAsync client;

static void on_connected(void *context, char *cause) {
    (void)cause;
    const struct peer *peer = context;
    MQTTAsync_responseOptions options = MQTTAsync_responseOptions_initializer;
    MQTTAsync_subscribe(client, peer->topic, 1, &options);
}

static int on_message(void *context, char *topic, int topic_length, MQTTAsync_message *message) {
    (void)topic_length;
    peer_handle(context, message->payload, (size_t)message->payloadlen);
    MQTTAsync_freeMessage(&message);
    MQTTAsync_free(topic);
    return 1;
}

static void connect_broker(const struct peer *peer);

// Automatic reconnect begins only after a successful first connection.
static void on_failure(void *context, MQTTAsync_failureData *data) {
    (void)data;
    peer_sleep(1000000);
    connect_broker(context);
}

static void connect_broker(const struct peer *peer) {
    MQTTAsync_connectOptions options = MQTTAsync_connectOptions_initializer;
    options.cleansession = 0;
    options.username = peer->user;
    options.password = peer->password;
    options.automaticReconnect = 1;
    options.onFailure = on_failure;
    options.context = (void *)peer;
    if (MQTTAsync_connect(client, &options) != MQTTASYNC_SUCCESS) exit(69);
}

int main(int count, char **arguments) {
    struct peer peer = peer_open(count, arguments);
    char address[256], directory[4096];
    snprintf(address, sizeof address, "tcp://%s:%d", peer.host, peer.port);
    snprintf(directory, sizeof directory, "%s.paho", peer.log_path);
    mkdir(directory, 0700);
    // The client's ID must not contain a slash, because Paho names its files after the ID.
    if (MQTTAsync_create(&client, address, peer.client_id, MQTTCLIENT_PERSISTENCE_DEFAULT, directory) !=
        MQTTASYNC_SUCCESS)
        return 70;
    MQTTAsync_setCallbacks(client, &peer, NULL, on_message, NULL);
    MQTTAsync_setConnected(client, &peer, on_connected);
    connect_broker(&peer);
    while (true) pause();
}
