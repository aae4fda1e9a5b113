#include <curl/curl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

// Swift cannot call variadic C functions. Each function below only calls one variadic function of libcurl with
// arguments of a fixed type, unless its comment says otherwise.

static inline CURLcode ccurl_set_long(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_set_string(CURL *handle, CURLoption option, const char *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_set_pointer(CURL *handle, CURLoption option, void *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(handle, option, value);
}

/// Lets a .netrc file add credentials to URLs without any. CURL_NETRC_OPTIONAL is of an enumeration in some versions of
/// libcurl, and a number in others.
static inline CURLcode ccurl_set_netrc(CURL *handle, const char *file) {
  curl_easy_setopt(handle, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
  return curl_easy_setopt(handle, CURLOPT_NETRC_FILE, file);
}

/// Sets the body of a request, which libcurl copies. CURLOPT_POSTFIELDSIZE must be set before.
static inline CURLcode ccurl_copy_body(CURL *handle, const void *bytes) {
  return curl_easy_setopt(handle, CURLOPT_COPYPOSTFIELDS, bytes);
}

/// Lets a transfer end during a name lookup without waiting for the lookup (libcurl 7.87 and later).
static inline void ccurl_set_quick_exit(CURL *handle) {
#if LIBCURL_VERSION_NUM >= 0x075700
  curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);
#else
  (void)handle;
#endif
}

typedef size_t (*ccurl_data_function)(char *data, size_t size, size_t count, void *context);

static inline CURLcode ccurl_set_data_function(CURL *handle, CURLoption option, ccurl_data_function function) {
  return curl_easy_setopt(handle, option, function);
}

typedef curl_socket_t (*ccurl_open_socket_function)(void *context, curlsocktype purpose, struct curl_sockaddr *address);

static inline CURLcode ccurl_set_open_socket_function(CURL *handle, ccurl_open_socket_function function) {
  return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, function);
}

typedef int (*ccurl_close_socket_function)(void *context, curl_socket_t socket);

static inline CURLcode ccurl_set_close_socket_function(CURL *handle, ccurl_close_socket_function function) {
  return curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, function);
}

static inline CURLcode ccurl_set_prerequest_function(CURL *handle, curl_prereq_callback function) {
  return curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, function);
}

static inline long ccurl_get_long(CURL *handle, CURLINFO info) {
  long value = 0;
  curl_easy_getinfo(handle, info, &value);
  return value;
}

/// Returns the context pointer that was set as CURLOPT_PRIVATE.
static inline void *ccurl_get_private(CURL *handle) {
  char *value = NULL;
  curl_easy_getinfo(handle, CURLINFO_PRIVATE, &value);
  return value;
}

static inline CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

/// Returns the result of a finished transfer, a member of a union that Swift imports without names.
static inline CURLcode ccurl_message_result(const CURLMsg *message) { return message->data.result; }

/// Copies the IP address to which libcurl is about to connect, in network order, and returns its length: 4, 16, or 0
/// for another family. It is written in C because no module exports the socket structures to Swift.
static inline int ccurl_peer_address(const struct curl_sockaddr *peer, unsigned char bytes[16]) {
  if (peer->family == AF_INET) {
    memcpy(bytes, &((const struct sockaddr_in *)(const void *)&peer->addr)->sin_addr, 4);
    return 4;
  }
  if (peer->family == AF_INET6) {
    memcpy(bytes, &((const struct sockaddr_in6 *)(const void *)&peer->addr)->sin6_addr, 16);
    return 16;
  }
  return 0;
}

/// Opens a socket that child processes do not inherit.
static inline curl_socket_t ccurl_open_socket(const struct curl_sockaddr *peer) {
  return socket(peer->family, peer->socktype | SOCK_CLOEXEC, peer->protocol);
}

/// Returns the port of this end of a TCP connection times 65,536, plus the port of the other end; -1 for no connection.
static inline long ccurl_ports(curl_socket_t socket) {
  struct sockaddr_in6 own, peer;
  socklen_t own_length = sizeof own, peer_length = sizeof peer;
  if (getsockname(socket, (struct sockaddr *)&own, &own_length) != 0) return -1;
  if (getpeername(socket, (struct sockaddr *)&peer, &peer_length) != 0) return -1;
  // The port has the same place in both families.
  return (long)ntohs(own.sin6_port) << 16 | ntohs(peer.sin6_port);
}

/// Returns the number of bytes that this process has read from a TCP socket, or -1 if the system does not know it. The
/// field tcpi_bytes_received (Linux 4.1) is read by its offset, because the tcp_info of glibc ends before it.
static inline long long ccurl_bytes_read(curl_socket_t socket) {
  enum { tcp_info_option = 11, offset = 128 };
  unsigned char info[offset + sizeof(long long)];
  socklen_t length = sizeof info;
  long long received;
  int unread;
  if (getsockopt(socket, IPPROTO_TCP, tcp_info_option, info, &length) != 0 || length < sizeof info) return -1;
  if (ioctl(socket, FIONREAD, &unread) != 0) return -1;
  memcpy(&received, info + offset, sizeof received);
  return received - unread;
}

/// Returns the features of the libcurl in use.
static inline const curl_version_info_data *ccurl_version_info(void) { return curl_version_info(CURLVERSION_NOW); }
