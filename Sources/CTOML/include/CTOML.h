#ifndef CTOML_H
#define CTOML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The type of a value.
typedef enum {
  CTOML_STRING,
  CTOML_INTEGER,
  CTOML_FLOAT,
  CTOML_BOOLEAN,
  /// The begin of an array, whose elements follow.
  CTOML_ARRAY,
  /// A table inside of a table, a date or a time.
  CTOML_OTHER,
} ctoml_kind;

/// A value of a document, or an element of an array. The texts are valid until the visitor returns.
typedef struct {
  /// The table of the key; NULL at the top level. Keys and tables are UTF-8 and end with a NUL byte.
  const char *table;
  /// The key; NULL for the head of a table.
  const char *key;
  /// The line of the key, or of the element, from 1.
  uint32_t line;
  ctoml_kind kind;
  /// True for an element of the array that began last.
  bool is_element;
  /// The value as text without quotation marks: `true` and `false`, decimal numbers; empty for other kinds.
  const char *text;
  /// The length of `text` in bytes, which may contain NUL bytes.
  size_t length;
} ctoml_value;

/// Receives a value.
typedef void (*ctoml_visitor)(void *context, const ctoml_value *value);

/// An error in a document.
typedef struct {
  /// The line, from 1.
  uint32_t line;
  /// The description, which ends with a NUL byte.
  char message[256];
} ctoml_error;

/// Parses a document of `length` bytes, and passes its values to `visit`: those of the top level, then those of each
/// table, each preceded by the head of the table. Returns false and fills `error` if it is not valid TOML 1.0, or if a
/// key has more than 16 parts; then `visit` is not called.
bool ctoml_parse(const char *text, size_t length, ctoml_visitor visit, void *context, ctoml_error *error);

#ifdef __cplusplus
}
#endif

#endif
