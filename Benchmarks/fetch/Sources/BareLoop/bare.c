#include "BareLoop.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

// Enough for a connection to each host of the benchmark.
#define MAX_CONNECTIONS 256L

struct body {
  char *bytes;
  size_t length, capacity;
};

static size_t keep(char *data, size_t size, size_t count, void *context) {
  struct body *body = context;
  size_t length = size * count;
  if (body->length + length > body->capacity) {
    body->capacity = (body->length + length) * 2;
    body->bytes = realloc(body->bytes, body->capacity);
  }
  memcpy(body->bytes + body->length, data, length);
  body->length += length;
  return length;
}

static void begin(CURLM *multi, CURL *easy, const char *url) {
  struct body *body = NULL;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&body);
  body->length = 0;
  curl_easy_setopt(easy, CURLOPT_URL, url);
  // Over https, transfers wait for the first connection, because HTTP/2 may carry all of them.
  curl_easy_setopt(easy, CURLOPT_PIPEWAIT, strncmp(url, "https:", 6) == 0 ? 1L : 0L);
  curl_multi_add_handle(multi, easy);
}

static CURL *make_handle(struct body *body, const char *authorities) {
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_PRIVATE, body);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, body);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
  if (authorities) curl_easy_setopt(easy, CURLOPT_CAINFO, authorities);
  return easy;
}

size_t bare_loop(const char *const *urls, size_t count, size_t width, const char *authorities, size_t *bytes) {
  CURLM *multi = curl_multi_init();
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, MAX_CONNECTIONS);
  CURL **handles = calloc(width, sizeof *handles);
  struct body *bodies = calloc(width, sizeof *bodies);
  size_t next = 0, good = 0;
  *bytes = 0;
  for (size_t i = 0; i < width; i++) {
    handles[i] = make_handle(&bodies[i], authorities);
    if (next < count) begin(multi, handles[i], urls[next++]);
  }
  int running = 1;
  while (running) {
    curl_multi_perform(multi, &running);
    int left;
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
      CURL *easy = message->easy_handle;
      struct body *body = NULL;
      long status = 0;
      curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&body);
      curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
      if (message->data.result == CURLE_OK && status == 200) {
        good++;
        *bytes += body->length;
      }
      curl_multi_remove_handle(multi, easy);
      if (next < count) {
        begin(multi, easy, urls[next++]);
        running = 1;
      }
    }
    if (running) curl_multi_poll(multi, NULL, 0, 1000, NULL);
  }
  for (size_t i = 0; i < width; i++) {
    curl_easy_cleanup(handles[i]);
    free(bodies[i].bytes);
  }
  free(handles);
  free(bodies);
  curl_multi_cleanup(multi);
  return good;
}
