// Intent: a module registers the names of its wrappers when it is loaded. Each
// name is registered once, demangled and without parameters, as profiles show
// it.
// RUN: %clangxx_mprof -O2 -S -emit-llvm -o - %s | FileCheck %s
namespace ns {
template <class T> struct W {
  __attribute__((mprof_wrapper)) T operator()(T x) { return x + 1; }
};
[[mprof::wrapper]] void *get(int) { return nullptr; }
[[mprof::wrapper]] void *get(long) { return nullptr; }
} // namespace ns
extern "C" [[mprof::wrapper]] void *xmalloc(unsigned long) { return nullptr; }
[[mprof::wrapper]] void declared_only();
int f() { return ns::W<int>()(1); }

// CHECK-DAG: c"ns::get\00"
// CHECK-DAG: c"xmalloc\00"
// CHECK-DAG: c"ns::W<int>::operator()\00"
// CHECK: @mprof.wrappers = private constant [3 x ptr]
// CHECK: @mprof.wrappers_node = internal global { ptr, ptr, i64 } { ptr null, ptr @mprof.wrappers, i64 3 }
// CHECK: @llvm.global_ctors = {{.*}} i32 65535, ptr @mprof.register,
// CHECK: @llvm.global_dtors = {{.*}} i32 65535, ptr @mprof.unregister,
// CHECK: define internal void @mprof.register()
// CHECK-NEXT: {{.*}}call void @__mprof_register_wrappers(ptr {{.*}}@mprof.wrappers_node)
// CHECK: define internal void @mprof.unregister()
// CHECK-NEXT: {{.*}}call void @__mprof_unregister_wrappers(ptr {{.*}}@mprof.wrappers_node)
