#include "CTOML.h"

#if !__has_include(<toml++/toml.h>)
#error "The header toml++/toml.h is missing; install libtomlplusplus-dev."
#endif

// The parser returns its errors. Nothing here throws, except when memory is exhausted, which ends the process.
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>

namespace {

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

}  // namespace

extern "C" bool ctoml_parse(
    const char *text, size_t length, ctoml_visitor visit, void *context, ctoml_error *error) {
  const auto result = toml::parse(std::string_view(text, length));
  if (!result) {
    const auto &flaw = result.error();
    const auto reason = flaw.description();
    const size_t count = std::min(reason.size(), sizeof error->message - 1);
    std::memcpy(error->message, reason.data(), count);
    error->message[count] = 0;
    error->line = Walk::line_of(flaw.source());
    return false;
  }
  pass_document(result.table(), visit, context);
  return true;
}
