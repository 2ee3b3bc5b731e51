#include "declarations.h"

#include <cctype>
#include <string_view>

namespace temper::rules {
namespace {

struct Token {
  std::string text; // strings and characters are ""
  int line = 0;
};

bool begins_word(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool is_word(const std::string& token) {
  return !token.empty() && begins_word(token[0]);
}

class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {
    while (at_ < text_.size())
      next();
  }

  std::vector<Token> take() {
    return std::move(tokens_);
  }

 private:
  bool here(std::string_view words) const {
    return text_.substr(at_).starts_with(words);
  }

  void pass(std::size_t end) {
    for (end = std::min(end, text_.size()); at_ < end; ++at_)
      if (text_[at_] == '\n') {
        ++line_;
        fresh_line_ = true;
      }
  }

  void keep(std::string token, std::size_t end) {
    tokens_.push_back({std::move(token), line_});
    fresh_line_ = false;
    pass(end);
  }

  std::size_t after(std::string_view end, std::size_t from) const {
    const auto found = text_.find(end, from);
    return found == std::string_view::npos ? text_.size() : found + end.size();
  }

  // Lines that end with a backslash go on.
  std::size_t directive_end() const {
    std::size_t end = at_;
    do
      end = after("\n", end);
    while (end >= 2 && end < text_.size() && text_[end - 2] == '\\');
    return end;
  }

  std::size_t quoted_end(char quote) const {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote)
      end += text_[end] == '\\' ? 2 : 1;
    return end + 1;
  }

  std::size_t word_end() const {
    std::size_t end = at_ + 1;
    while (end < text_.size() &&
           (in_word(text_[end]) ||
            (text_[end] == '\'' && !begins_word(text_[at_]))))
      ++end; // 1'000 is one number
    return end;
  }

  void next() {
    const char c = text_[at_];
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      pass(at_ + 1);
    } else if (c == '#' && fresh_line_) {
      pass(directive_end());
    } else if (here("//")) {
      pass(after("\n", at_));
    } else if (here("/*")) {
      pass(after("*/", at_));
    } else if (here("R\"")) {
      const auto open = text_.find('(', at_);
      const std::string closing =
          ")" + std::string(text_.substr(at_ + 2, open - at_ - 2)) + "\"";
      keep("\"\"", after(closing, open));
    } else if (c == '"' || c == '\'') {
      keep("\"\"", quoted_end(c));
    } else if (in_word(c)) {
      const std::size_t end = word_end();
      keep(std::string(text_.substr(at_, end - at_)), end);
    } else if (here("::") || here("->")) {
      keep(std::string(text_.substr(at_, 2)), at_ + 2);
    } else {
      keep(std::string(1, c), at_ + 1);
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool fresh_line_ = true;
  std::vector<Token> tokens_;
};

class Reader {
 public:
  explicit Reader(const std::string& text) : tokens_(Tokens(text).take()) {}

  std::vector<Declaration> read() {
    while (at_ < tokens_.size()) {
      if (is("}")) {
        if (!spaces_.empty()) spaces_.pop_back();
        ++at_;
      } else if (is(";")) {
        ++at_;
      } else if (is("inline") && is("namespace", 1)) {
        ++at_;
      } else if (is("namespace")) {
        read_namespace();
      } else if (is("extern") && is("\"\"", 1) && is("{", 2)) {
        spaces_.push_back("C");
        at_ += 3;
      } else {
        read_declaration();
      }
    }
    return std::move(found_);
  }

 private:
  const std::string& token(std::size_t ahead = 0) const {
    static const std::string end;
    return at_ + ahead < tokens_.size() ? tokens_[at_ + ahead].text : end;
  }
  bool is(std::string_view text, std::size_t ahead = 0) const {
    return token(ahead) == text;
  }
  bool is_one_of(std::initializer_list<std::string_view> texts) const {
    for (const auto text : texts)
      if (is(text)) return true;
    return at_ >= tokens_.size();
  }
  int line() const {
    return tokens_[at_].line;
  }
  // Words from `begin` to here. Whether a path begins with :: is no difference.
  std::string words_since(std::size_t begin) const {
    std::string words;
    for (std::size_t i = begin; i < at_; ++i)
      if (tokens_[i].text != "::" || i == begin ||
          !(tokens_[i - 1].text == "using" || tokens_[i - 1].text == "="))
        words += (words.empty() ? "" : " ") + tokens_[i].text;
    return words;
  }

  void add(std::string name, int line, bool is_static, std::string alias = "") {
    Declaration made{"", std::move(name), std::move(alias), is_static, line};
    for (const std::string& space : spaces_) {
      if (space.empty()) made.is_private = true;
      if (!space.empty())
        made.space += (made.space.empty() ? "" : "::") + space;
    }
    found_.push_back(std::move(made));
  }

  // From an opening bracket to behind the one that closes it.
  void skip_group() {
    int depth = 0;
    for (; at_ < tokens_.size(); ++at_) {
      if (is("(") || is("{") || is("[")) ++depth;
      if (is(")") || is("}") || is("]")) --depth;
      if (depth == 0) break;
    }
    ++at_;
  }
  void skip_angles() {
    int depth = 0;
    while (at_ < tokens_.size()) {
      if (is("(")) {
        skip_group();
        continue;
      }
      if (is("<")) ++depth;
      if (is(">")) --depth;
      ++at_;
      if (depth == 0) break;
    }
  }
  void skip_past_semicolon() {
    while (!is_one_of({";"}))
      if (is("(") || is("{") || is("["))
        skip_group();
      else
        ++at_;
    ++at_;
  }

  void read_namespace() {
    const std::size_t begin = at_++;
    std::string name;
    while (!is_one_of({"{", "=", ";"}))
      name += tokens_[at_++].text;
    if (is("{")) {
      spaces_.push_back(name);
      ++at_;
      return;
    }
    while (!is_one_of({";"}))
      ++at_;
    add(name, tokens_[begin].line, false, words_since(begin));
  }

  void read_using() {
    const std::size_t begin = at_;
    const int first = line();
    const bool names_itself = is("=", 2);
    const std::string own = token(1);
    while (!is_one_of({";"}))
      ++at_;
    const std::string last = tokens_[at_ - 1].text;
    if (own != "namespace")
      add(names_itself ? own : last, first, false, words_since(begin));
  }

  // False if this is no definition of a type.
  bool read_type() {
    const std::size_t begin = at_++;
    if (is("class") || is("struct")) ++at_;
    const std::string name = token();
    std::size_t ahead = 1;
    while (is("::", ahead))
      ahead += 2;
    const std::string& then = token(ahead);
    if (!is_word(name) ||
        !(then == "{" || then == ":" || then == ";" || then == "final")) {
      at_ = begin;
      return false;
    }
    if (ahead == 1 && then != ";") add(name, tokens_[begin].line, false);
    skip_past_semicolon();
    return true;
  }

  // TEST(Suite, Name) { ... }
  void skip_macro() {
    ++at_;
    skip_group();
    if (is("{")) skip_group();
  }

  void read_declaration() {
    const int first = line();
    while (is("template")) {
      ++at_;
      skip_angles();
    }
    while (is("[") && is("[", 1))
      skip_group();
    if (is("using")) return read_using();
    if ((is("struct") || is("class") || is("enum") || is("union")) &&
        read_type())
      return;
    if (is_word(token()) && is("(", 1) && !is("decltype")) return skip_macro();
    read_variable_or_function(first);
  }

  void read_variable_or_function(int first) {
    bool is_static = false;
    while (!is_one_of({"(", "=", "{", "[", ";", "operator"})) {
      if (is("static")) is_static = true;
      if (is("<")) {
        skip_angles();
      } else if (is("decltype") || is("alignas") || is("__attribute__")) {
        ++at_;
        skip_group();
      } else {
        ++at_;
        if (is("[") && is("[", 1)) skip_group();
      }
    }
    if (is("operator")) return skip_operator();
    const bool is_function = is("(") && !is("*", 1);
    std::string name = is("(") && is("*", 1) ? token(2)
        : at_ > 0                            ? tokens_[at_ - 1].text
                                             : "";
    const bool is_member = at_ > 1 && tokens_[at_ - 2].text == "::";
    if (is_word(name) && !is_member) add(std::move(name), first, is_static);
    if (is_function)
      skip_function();
    else
      skip_past_semicolon();
  }

  void skip_operator() {
    ++at_;
    if (is("(")) at_ += 2;
    while (!is_one_of({"("}))
      ++at_;
    skip_function();
  }

  // Parameters, what a constructor begins with, and the body.
  void skip_function() {
    while (!is_one_of({";"})) {
      if (is("{")) {
        skip_group();
        if (is(",") || is("{")) continue;
        return;
      }
      if (is("(") || is("["))
        skip_group();
      else
        ++at_;
    }
    ++at_;
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::vector<std::string> spaces_; // "": anonymous
  std::vector<Declaration> found_;
};

} // namespace

std::vector<Declaration> declarations(const std::string& text) {
  return Reader(text).read();
}

} // namespace temper::rules
