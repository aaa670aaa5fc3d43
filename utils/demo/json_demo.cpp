// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A C++ program with a big header library (nlohmann json). Makes documents,
// writes and parses them, transforms the trees and keeps an index of the
// orders.

#include <cstdint>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

using nlohmann::json;

namespace {

// Makes the same documents in every run: the standard fixes the numbers of
// minstd_rand.
class Maker {
public:
  json document(int id) {
    json lines = json::array();
    for (unsigned n = 3 + below(8); n > 0; n--)
      lines.push_back({{"sku", word()},
                       {"quantity", 1 + below(20)},
                       {"price", below(10000) / 4.0},
                       {"tags", {word(), word()}}});
    return {{"id", id},
            {"customer", {{"name", word()}, {"city", word()}}},
            {"paid", below(2) == 0},
            {"lines", lines}};
  }

private:
  unsigned below(unsigned n) { return unsigned(Random() % n); }

  std::string word() {
    std::string s;
    for (unsigned n = 4 + below(24); n > 0; n--)
      s += char('a' + below(26));
    return s;
  }

  std::minstd_rand Random{42};
};

json transform(const json &orders) {
  json by_city = json::object();
  for (const json &order : orders) {
    double sum = 0;
    for (const json &line : order["lines"])
      sum += line["quantity"].get<double>() * line["price"].get<double>();
    json summary = order;
    summary.erase("lines");
    summary["total"] = sum;
    by_city[order["customer"]["city"].get<std::string>()].push_back(summary);
  }
  return by_city;
}

uint64_t hash(const std::string &text, uint64_t h) {
  for (unsigned char c : text)
    h = (h ^ c) * 1099511628211u;
  return h;
}

} // namespace

int main() {
  Maker maker;
  uint64_t checksum = 14695981039346656037u;
  size_t bytes = 0;
  // Never freed, so that the index is in use in the profile.
  auto &index = *new std::map<std::string, std::vector<int>>;
  for (int round = 0; round < 70; round++) {
    json orders = json::array();
    for (int id = 0; id < 800; id++)
      orders.push_back(maker.document(id));
    std::string text = orders.dump();
    json result = transform(json::parse(text));
    for (const auto &[city, list] : result.items())
      for (const json &order : list)
        index[city].push_back(order["id"].get<int>());
    std::string out = result.dump(2);
    bytes += text.size() + out.size();
    checksum = hash(out, checksum);
  }
  std::printf("json: %zu bytes, %zu cities, %016llx\n", bytes, index.size(),
              static_cast<unsigned long long>(checksum));
  return 0;
}
