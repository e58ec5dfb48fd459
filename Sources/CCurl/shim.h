#ifndef CCURL_SHIM_H
#define CCURL_SHIM_H

// The type checks are macros around the variadic functions that are wrapped here.
#define CURL_DISABLE_TYPECHECK 1
// CURLOPT_PROTOCOLS is deprecated. The oldest supported libcurl (7.68) lacks its successor of 7.85.
#define CURL_DISABLE_DEPRECATION 1
#include <curl/curl.h>

// Swift cannot call variadic functions. These wrappers have one C argument type each.

typedef size_t (*ccurl_bytes_callback)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode ccurl_easy_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_easy_set_string(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_easy_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_easy_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_easy_set_callback(CURL *handle, CURLoption option, ccurl_bytes_callback value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_easy_set_socket_callback(CURL *handle, curl_opensocket_callback value) {
    return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, value);
}

static inline CURLcode ccurl_easy_get_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode ccurl_easy_get_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode ccurl_easy_get_socket(CURL *handle, curl_socket_t *value) {
    return curl_easy_getinfo(handle, CURLINFO_ACTIVESOCKET, value);
}

static inline CURLcode ccurl_easy_get_string(CURL *handle, CURLINFO info, char **value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode ccurl_easy_get_certificates(CURL *handle, struct curl_certinfo **value) {
    return curl_easy_getinfo(handle, CURLINFO_CERTINFO, value);
}

// curl.h declares CURLINFO_PRIVATE as char **, but the value may be any pointer.
static inline CURLcode ccurl_easy_get_private(CURL *handle, void **value) {
    return curl_easy_getinfo(handle, CURLINFO_PRIVATE, (char **)value);
}

static inline CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode ccurl_multi_set_socket_callback(CURLM *multi, curl_socket_callback value, void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, value);
    return code ? code : curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
}

static inline CURLMcode ccurl_multi_set_timer_callback(CURLM *multi, curl_multi_timer_callback value, void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, value);
    return code ? code : curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
}

// Invalid after curl_multi_remove_handle().
static inline CURLcode ccurl_message_result(const CURLMsg *message) {
    return message->data.result;
}

// Since 7.87. Without CURLOPT_QUICK_EXIT, the removal of a handle waits until getaddrinfo() returns.
static inline CURLcode ccurl_easy_set_quick_exit(CURL *handle) {
#if LIBCURL_VERSION_NUM >= 0x075700
    return curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);
#else
    (void)handle;
    return CURLE_UNKNOWN_OPTION;
#endif
}

// Since 7.87. libcurl caches the certificates of a CA file for `seconds`.
static inline CURLcode ccurl_easy_set_authority_age(CURL *handle, long seconds) {
#if LIBCURL_VERSION_NUM >= 0x075700
    return curl_easy_setopt(handle, CURLOPT_CA_CACHE_TIMEOUT, seconds);
#else
    (void)handle;
    (void)seconds;
    return CURLE_UNKNOWN_OPTION;
#endif
}

// The default CA file of this libcurl; NULL if there is none, or before 7.70.
static inline const char *ccurl_built_in_certificates(void) {
#if LIBCURL_VERSION_NUM >= 0x074600
    const curl_version_info_data *version = curl_version_info(CURLVERSION_NOW);
    return version->age >= CURLVERSION_SEVENTH ? version->cainfo : NULL;
#else
    return NULL;
#endif
}

static inline curl_socket_t ccurl_socket_timeout(void) { return CURL_SOCKET_TIMEOUT; }
static inline long ccurl_web_protocols(void) { return CURLPROTO_HTTP | CURLPROTO_HTTPS; }

#endif
