// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof top --by=type shows the bytes and objects of each type, which
// it finds in the names of the C++ library's functions, with both libraries and
// without optimization, too. The other blocks are [unknown], and their share is
// stated. All formats have the same rows.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for flags in '-O2 -g1' '-O0 -g' '-O2 -g1 -stdlib=libc++'; do \
// RUN:   rm -f p.*; %mprof_clangxx -fmprof $flags %s -o app || exit 1; \
// RUN:   env MPROF_OPTIONS=heap_rate=1:log_path=p ./app || exit 1; \
// RUN:   %mprof top --by=type p.*.heap.pb.gz > text && FileCheck %s < text || exit 1; done
// RUN: %mprof top --by=type -s inuse_objects p.*.heap.pb.gz | FileCheck --check-prefix=OBJECTS %s
// RUN: %mprof top --by=type --format=csv p.*.heap.pb.gz | FileCheck --check-prefix=CSV %s
// RUN: %mprof top --by=type --format=md p.*.heap.pb.gz | FileCheck --check-prefix=MD %s
// RUN: %mprof top --by=type --format=json p.*.heap.pb.gz > json
// RUN: %python -c 'import json; d = json.load(open("json")); t = {r["type"]: r for r in d["types"]}; \
// RUN:   assert t["shop::Order"]["bytes"] == 640000 and t["shop::Order"]["objects"] == 1, t; \
// RUN:   assert None in t and d["bytes"] == sum(r["bytes"] for r in d["types"]), d'
// RUN: not %mprof top --by=size p.*.heap.pb.gz 2>&1 | FileCheck --check-prefix=WHAT %s
// RUN: not %mprof top --by=type --lines p.*.heap.pb.gz 2>&1 | FileCheck --check-prefix=LINES %s
// RUN: %mprof top --format=json p.*.heap.pb.gz 2>&1 | FileCheck --check-prefix=JSON %s
//
// CHECK: inuse_space share inuse_objects share type
// CHECK-NEXT: 625 KiB {{.*}} % 1 {{.*}} % shop::Order
// CHECK-NEXT: 98.6 KiB {{.*}} % 1 {{.*}} % [unknown]
// CHECK-NEXT: {{48.8|50.8}} KiB {{.*}} % 1 {{.*}} % char (std::basic_string)
// CHECK-DAG: KiB {{.*}} % 300 {{.*}} % {{std::(_Rb_tree_node<std::pair<int const, shop::Order>>|__tree_node<std::__value_type<int, shop::Order>, void\*>)}}
// CHECK-DAG: KiB {{.*}} % 200 {{.*}} % std::{{_Sp_counted_ptr_inplace|__shared_ptr_emplace}}<shop::Order>
// CHECK: in total
// CHECK-NEXT: [unknown]: {{.*}} % of inuse_space is in blocks whose stacks do not tell the type
// OBJECTS: % 300 {{.*}} % std::__tree_node<std::__value_type<int, shop::Order>, void*>
// OBJECTS-NEXT: % 200 {{.*}} % std::__shared_ptr_emplace<shop::Order>
// CSV: bytes,objects,type
// CSV-NEXT: 640000,1,"shop::Order"
// CSV-NEXT: 101000,1,"[unknown]"
// MD: | inuse_space | share | inuse_objects | share | type |
// MD: | 625 KiB | {{.*}} | shop::Order |
// MD-NEXT: {{.*}} | \[unknown\] |
// MD: unknown\]: {{.*}} % of inuse
// WHAT: --by=size is not type
// LINES: --by=type excludes
// JSON: {"mprof_top": 1,

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace shop {
struct Order {
  long amounts[4];
};
} // namespace shop

static void *volatile block;

// Each object lives until the end, in memory that is no heap block.
template <class T, class... Arguments> static T &kept(Arguments... arguments) {
  alignas(T) static char memory[sizeof(T)];
  block = memory; // the optimizer keeps what is in it
  return *::new (memory) T(arguments...);
}

int main() {
  kept<std::vector<shop::Order>>(20000u);
  kept<std::string>(50000u, 'x');
  block = malloc(101000);
  auto &map = kept<std::map<int, shop::Order>>();
  for (int i = 0; i < 300; i++)
    map[i].amounts[0] = i;
  struct Orders {
    std::shared_ptr<shop::Order> items[200];
  };
  for (auto &o : kept<Orders>().items)
    o = std::make_shared<shop::Order>();
}
