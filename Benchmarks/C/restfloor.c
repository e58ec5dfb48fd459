// The floor of a REST client: libcurl's multi interface on one thread.
//
// restfloor URL COUNT CONCURRENT
// Says `requests=N seconds=S cpu=S`.
#include <curl/curl.h>

#include "common.h"

static size_t take(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes;
    *(size_t *)context += size * count;
    return size * count;
}

int main(int argc, char **argv) {
    if (argc != 4) die("usage: restfloor URL COUNT CONCURRENT");
    int count = atoi(argv[2]), concurrent = atoi(argv[3]), started = 0, done = 0, running;
    size_t received = 0;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    CURLM *multi = curl_multi_init();
    struct curl_slist *fields = curl_slist_append(NULL, "Authorization: Bearer 0123456789abcdef");
    double cpu = cpu_seconds();
    int64_t begin = now_ns();
    while (done < count) {
        while (started < count && started - done < concurrent) {
            CURL *easy = curl_easy_init();
            curl_easy_setopt(easy, CURLOPT_URL, argv[1]);
            curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
            curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
            curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
            curl_easy_setopt(easy, CURLOPT_WRITEDATA, &received);
            curl_multi_add_handle(multi, easy);
            started++;
        }
        curl_multi_perform(multi, &running);
        CURLMsg *message;
        int left, before = done;
        while ((message = curl_multi_info_read(multi, &left))) {
            CURL *easy = message->easy_handle;
            if (message->data.result != CURLE_OK) die(curl_easy_strerror(message->data.result));
            curl_multi_remove_handle(multi, easy);
            curl_easy_cleanup(easy);
            done++;
        }
        if (done == before) curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
    printf("requests=%d seconds=%.6f cpu=%.6f\n", done, (now_ns() - begin) / 1e9, cpu_seconds() - cpu);
    return received == (size_t)count * 230 ? 0 : 1;
}
