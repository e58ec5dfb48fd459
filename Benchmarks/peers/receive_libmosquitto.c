// libmosquitto, called as its manual shows: loop_forever and callbacks.
#include <mosquitto.h>
#include <stdbool.h>

#include "receive.h"

static void on_connect(struct mosquitto *client, void *context, int code) {
    const struct receiver *receiver = context;
    if (code != 0) exit(69);
    mosquitto_subscribe(client, NULL, receiver->topic, receiver->qos);
}

static void on_message(struct mosquitto *client, void *context, const struct mosquitto_message *message) {
    struct receiver *receiver = context;
    (void)message;
    // The library has acknowledged the message already (lib/handle_publish.c).
    if (++receiver->seen == receiver->count) mosquitto_disconnect(client);
}

static void on_disconnect(struct mosquitto *client, void *context, int code) {
    const struct receiver *receiver = context;
    (void)client;
    (void)code;
    // Otherwise loop_forever would reconnect.
    if (receiver->seen < receiver->count) exit(69);
}

int main(int count, char **arguments) {
    struct receiver receiver = receiver_open(count, arguments);
    mosquitto_lib_init();
    struct mosquitto *client = mosquitto_new(NULL, true, &receiver);
    if (client == NULL) return 70;
    mosquitto_connect_callback_set(client, on_connect);
    mosquitto_message_callback_set(client, on_message);
    mosquitto_disconnect_callback_set(client, on_disconnect);
    if (receiver.authority &&
        mosquitto_tls_set(client, receiver.authority, NULL, NULL, NULL, NULL) != MOSQ_ERR_SUCCESS)
        return 70;
    if (mosquitto_connect(client, receiver.host, receiver.port, 60) != MOSQ_ERR_SUCCESS) return 69;
    mosquitto_loop_forever(client, -1, 1);
    return receiver.seen == receiver.count ? 0 : 69;
}
