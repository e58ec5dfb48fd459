// The floor of a REST client: libcurl's multi interface on one thread, with the options of a careful client. It keeps
// the header and the body of each answer until the answer is whole.
//
// restfloor URL COUNT CONCURRENT
// Prints `requests=N seconds=S cpu=S`.
#include <curl/curl.h>

#include "common.h"

struct answer {
    char *bytes;
    size_t size;
};

/// Keeps the received bytes, header lines and body alike.
static size_t take(char *bytes, size_t size, size_t count, void *context) {
    struct answer *answer = context;
    answer->bytes = realloc(answer->bytes, answer->size + size * count);
    if (!answer->bytes) die("realloc");
    memcpy(answer->bytes + answer->size, bytes, size * count);
    answer->size += size * count;
    return size * count;
}

int main(int argc, char **argv) {
    if (argc != 4) die("usage: restfloor URL COUNT CONCURRENT");
    int count = atoi(argv[2]), concurrent = atoi(argv[3]), started = 0, done = 0, received = 0, running;
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
            curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 30000L);
            curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
            curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
            curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take);
            struct answer *answer = calloc(1, sizeof *answer);
            curl_easy_setopt(easy, CURLOPT_WRITEDATA, answer);
            curl_easy_setopt(easy, CURLOPT_HEADERDATA, answer);
            curl_easy_setopt(easy, CURLOPT_PRIVATE, answer);
            curl_multi_add_handle(multi, easy);
            started++;
        }
        curl_multi_perform(multi, &running);
        CURLMsg *message;
        int left, before = done;
        while ((message = curl_multi_info_read(multi, &left))) {
            CURL *easy = message->easy_handle;
            if (message->data.result != CURLE_OK) die(curl_easy_strerror(message->data.result));
            struct answer *answer;
            long status;
            curl_easy_getinfo(easy, CURLINFO_PRIVATE, &answer);
            curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
            received += status == 200 && answer->size > 230;
            free(answer->bytes);
            free(answer);
            curl_multi_remove_handle(multi, easy);
            curl_easy_cleanup(easy);
            done++;
        }
        if (done == before) curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
    printf("requests=%d seconds=%.6f cpu=%.6f\n", done, (now_ns() - begin) / 1e9, cpu_seconds() - cpu);
    return received == count ? 0 : 1;
}
