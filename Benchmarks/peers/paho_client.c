// Paho C, MQTTClient. The library queues a message, sends PUBACK, and then calls the callback. The queue is in memory.
// With PEER_FILES it is in files too, which the library reads at the next start.
#include <MQTTClient.h>
#include <semaphore.h>
#include <sys/stat.h>

#include "peer.h"

static sem_t lost;

static void on_lost(void *context, char *cause) {
    (void)context;
    (void)cause;
    sem_post(&lost);
}

static int on_message(void *context, char *topic, int topic_length, MQTTClient_message *message) {
    (void)topic_length;
    peer_handle(context, message->payload, (size_t)message->payloadlen);
    MQTTClient_freeMessage(&message);
    MQTTClient_free(topic);
    return 1;
}

int main(int count, char **arguments) {
    struct peer peer = peer_open(count, arguments);
    char address[256];
    snprintf(address, sizeof address, "tcp://%s:%d", peer.host, peer.port);
    int persistence = MQTTCLIENT_PERSISTENCE_NONE;
    void *place = NULL;
#ifdef PEER_FILES
    char directory[4096];
    snprintf(directory, sizeof directory, "%s.paho", peer.log_path);
    mkdir(directory, 0700);
    persistence = MQTTCLIENT_PERSISTENCE_DEFAULT;
    place = directory;
#endif
    MQTTClient client;
    if (MQTTClient_create(&client, address, peer.client_id, persistence, place) != MQTTCLIENT_SUCCESS) return 70;
    sem_init(&lost, 0, 0);
    MQTTClient_setCallbacks(client, &peer, on_lost, on_message, NULL);
    while (true) {
        MQTTClient_connectOptions options = MQTTClient_connectOptions_initializer;
        options.cleansession = 0;
        options.username = peer.user;
        options.password = peer.password;
        if (MQTTClient_connect(client, &options) != MQTTCLIENT_SUCCESS) {
            peer_sleep(1000000);
            continue;
        }
        // SUBACK may wait behind the queued messages longer than the library waits. An existing session needs no
        // SUBSCRIBE.
        if (!options.returned.sessionPresent) MQTTClient_subscribe(client, peer.topic, 1);
        while (sem_wait(&lost) != 0) continue;
    }
}
