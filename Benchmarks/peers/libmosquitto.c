// libmosquitto, called as its manual shows: loop_forever, and the work done in on_message. The library acknowledges
// before it calls on_message (lib/handle_publish.c, lib/handle_pubrel.c), and has no way to acknowledge later.
#include <mosquitto.h>

#include "peer.h"

// The QoS of the subscription. The report has another row with 2.
#ifndef PEER_QOS
#define PEER_QOS 1
#endif

static void on_connect(struct mosquitto *client, void *context, int code) {
    const struct peer *peer = context;
    if (code == 0) mosquitto_subscribe(client, NULL, peer->topic, PEER_QOS);
}

static void on_message(struct mosquitto *client, void *context, const struct mosquitto_message *message) {
    (void)client;
    peer_handle(context, message->payload, (size_t)message->payloadlen);
}

int main(int count, char **arguments) {
    struct peer peer = peer_open(count, arguments);
    mosquitto_lib_init();
    struct mosquitto *client = mosquitto_new(peer.client_id, false, &peer);
    if (client == NULL || mosquitto_username_pw_set(client, peer.user, peer.password) != MOSQ_ERR_SUCCESS) return 70;
    mosquitto_connect_callback_set(client, on_connect);
    mosquitto_message_callback_set(client, on_message);
    // The caller makes the first connection; loop_forever reconnects later.
    while (mosquitto_connect(client, peer.host, peer.port, 60) != MOSQ_ERR_SUCCESS) peer_sleep(1000000);
    return mosquitto_loop_forever(client, -1, 1) == MOSQ_ERR_SUCCESS ? 0 : 69;
}
