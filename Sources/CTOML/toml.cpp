#include "CTOML.h"

#if !__has_include(<toml++/toml.h>)
#error "The header toml++/toml.h is missing; install libtomlplusplus-dev."
#endif

// The parser returns its errors. Nothing here throws, except when memory is exhausted, which ends the process.
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
// A setting is at most a list of values.
#define TOML_MAX_NESTED_VALUES 16
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>

namespace {

/// The maximum number of parts of a key, such as `a.b.c`. A setting has two: its table and its name.
constexpr size_t max_parts = 16;

/// Looks for keys with too many parts. The parser makes a table of each part, and visits and releases nested tables by
/// recursion, which would overflow the stack.
class KeyScan {
 public:
  explicit KeyScan(std::string_view text) : text(text) {}

  /// Returns the line of the first key with too many parts, from 1; 0 if there is none. In an invalid document, the
  /// result is reliable only up to the first error.
  uint32_t line_of_long_key() {
    size_t parts = 1;
    for (; at < text.size(); at++) {
      switch (text[at]) {
        case '.':
          if (++parts > max_parts) return static_cast<uint32_t>(1 + std::count(text.begin(), text.begin() + at, '\n'));
          break;
        case '"': case '\'': pass_string(); break;
        case '#': at = std::min(text.find('\n', at), text.size()); parts = 1; break;
        case '\n': case '=': case ',': case '[': case ']': case '{': case '}': parts = 1; break;
        default: break;
      }
    }
    return 0;
  }

 private:
  /// Moves to the last byte of the string that begins here. A string that must end in its line, but does not, ends
  /// before the line feed; the parser reports it.
  void pass_string() {
    const char quote = text[at];
    const std::string_view long_end = quote == '"' ? "\"\"\"" : "'''";
    const std::string_view end = starts_with(long_end) ? long_end : long_end.substr(0, 1);
    for (at += end.size(); at < text.size() && !starts_with(end); at++) {
      if (end.size() == 1 && text[at] == '\n') { at--; return; }
      if (quote == '"' && text[at] == '\\' && at + 1 < text.size() && text[at + 1] != '\n') at++;
    }
    at += end.size() - 1;
    // A long string may end with one or two quotation marks of its own.
    while (end.size() == 3 && at + 1 < text.size() && text[at + 1] == quote) at++;
  }

  bool starts_with(std::string_view word) const { return text.compare(at, word.size(), word) == 0; }

  const std::string_view text;
  size_t at = 0;
};

/// Passes values to the visitor.
struct Walk {
  ctoml_visitor visit;
  void *context;
  const char *table;
  const char *key;
  uint32_t line;

  static uint32_t line_of(const toml::source_region &region) { return static_cast<uint32_t>(region.begin.line); }

  void pass(ctoml_kind kind, const std::string &text, bool is_element) const {
    const ctoml_value value = {table, key, line, kind, is_element, text.c_str(), text.size()};
    visit(context, &value);
  }

  void pass(const toml::node &node, bool is_element) const {
    if (const auto *text = node.as_string()) {
      pass(CTOML_STRING, text->get(), is_element);
    } else if (const auto *number = node.as_integer()) {
      pass(CTOML_INTEGER, std::to_string(number->get()), is_element);
    } else if (const auto *real = node.as_floating_point()) {
      pass(CTOML_FLOAT, decimal(real->get()), is_element);
    } else if (const auto *flag = node.as_boolean()) {
      pass(CTOML_BOOLEAN, flag->get() ? "true" : "false", is_element);
    } else if (const auto *array = is_element ? nullptr : node.as_array()) {
      pass(CTOML_ARRAY, "", false);
      for (const auto &element : *array) {
        Walk{visit, context, table, key, line_of(element.source())}.pass(element, true);
      }
    } else {
      pass(CTOML_OTHER, "", is_element);
    }
  }

  /// Returns the shortest text that means `number`.
  static std::string decimal(double number) {
    char text[64];
    const auto end = std::to_chars(text, text + sizeof text, number);
    return std::string(text, end.ptr);
  }
};

void pass_table(const toml::table &values, const char *table, ctoml_visitor visit, void *context) {
  for (const auto &[key, node] : values) {
    if (table == nullptr && node.is_table()) continue;
    const std::string name(key.str());
    Walk{visit, context, table, name.c_str(), Walk::line_of(key.source())}.pass(node, false);
  }
}

void pass_document(const toml::table &document, ctoml_visitor visit, void *context) {
  pass_table(document, nullptr, visit, context);
  for (const auto &[key, node] : document) {
    const auto *values = node.as_table();
    if (values == nullptr) continue;
    const std::string name(key.str());
    Walk{visit, context, name.c_str(), nullptr, Walk::line_of(key.source())}.pass(
        CTOML_OTHER, "", false);
    pass_table(*values, name.c_str(), visit, context);
  }
}

void fill(ctoml_error *error, std::string_view reason, uint32_t line) {
  const size_t count = std::min(reason.size(), sizeof error->message - 1);
  std::memcpy(error->message, reason.data(), count);
  error->message[count] = 0;
  error->line = line;
}

}  // namespace

extern "C" bool ctoml_parse(
    const char *text, size_t length, ctoml_visitor visit, void *context, ctoml_error *error) {
  const std::string_view document(text, length);
  if (const uint32_t line = KeyScan(document).line_of_long_key()) {
    fill(error, "a key has more than " + std::to_string(max_parts) + " parts", line);
    return false;
  }
  const auto result = toml::parse(document);
  if (!result) {
    std::string reason(result.error().description());
    // The parser's message has the name of the macro above.
    if (reason.find("TOML_MAX_NESTED_VALUES") != std::string::npos) {
      reason = "values are nested more than " + std::to_string(TOML_MAX_NESTED_VALUES) + " deep";
    }
    fill(error, reason, Walk::line_of(result.error().source()));
    return false;
  }
  pass_document(result.table(), visit, context);
  return true;
}
