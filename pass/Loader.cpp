// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The source of lib/libMProf.so, the plugin that users name. libMProf.so only
// loads lib/libMProf-19.so, which contains the passes, if the host is a tool of
// LLVM 19:
//
//     clang 19 --> libMProf.so --> libMProf-19.so
//
// Another compiler could not resolve the symbols of LLVM 19. It would report a
// missing symbol with a long mangled name, or crash and ask for a bug report.
// So this file uses no symbol of LLVM, tells the user in one sentence what is
// wrong, and ends the compiler.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <unistd.h>

static constexpr unsigned WantedMajor = MPROF_LLVM_MAJOR;

namespace {

/// Has the layout of llvm::PassPluginLibraryInfo. LLVM's header cannot be
/// included, because every file that includes it refers to symbols of LLVM.
struct PluginInfo {
  uint32_t APIVersion;
  const char *Name;
  const char *Version;
  void (*Register)(void *PassBuilder);
};

} // namespace

static void *Plugin;

static std::string hostPath() {
  char Path[4096];
  ssize_t Length = readlink("/proc/self/exe", Path, sizeof(Path));
  return Length > 0 ? std::string(Path, size_t(Length)) : "this program";
}

[[noreturn]] static void refuse(const std::string &What) {
  std::fprintf(stderr, "mprof: error: %s\n", What.c_str());
  std::fflush(stderr);
  _exit(1);
}

[[noreturn]] static void refuseHost(const std::string &Kind) {
  const std::string Wanted = std::to_string(WantedMajor);
  refuse("libMProf.so is a plugin for clang " + Wanted +
         " and cannot work in " + hostPath() + ", which is " + Kind +
         ": compile with mprof-clang or clang-" + Wanted);
}

/// Returns the major version of the host's LLVM. Returns 0 if the host has no
/// function LLVMGetVersion. LLVM has this function since version 16, and a
/// statically linked clang may lack it.
static unsigned hostMajor() {
  using GetVersion = void(unsigned *, unsigned *, unsigned *);
  auto *Get =
      reinterpret_cast<GetVersion *>(dlsym(RTLD_DEFAULT, "LLVMGetVersion"));
  unsigned Major = 0, Minor, Patch;
  if (Get)
    Get(&Major, &Minor, &Patch);
  return Major;
}

/// Returns whether the host contains any version of LLVM.
static bool hostHasLLVM() {
  return dlsym(RTLD_DEFAULT, "_ZN4llvm24DisableABIBreakingChecksE") ||
         dlsym(RTLD_DEFAULT, "_ZN4llvm23EnableABIBreakingChecksE");
}

/// Returns the path of libMProf-19.so, which is in the directory of
/// libMProf.so.
static std::string pluginPath() {
  Dl_info Own;
  if (!dladdr(reinterpret_cast<void *>(&pluginPath), &Own))
    return {};
  std::string Path = Own.dli_fname;
  return Path.substr(0, Path.rfind('/') + 1) + "libMProf-" +
         std::to_string(WantedMajor) + ".so";
}

/// Loads the plugin. Runs when the host has loaded libMProf.so. The plugin
/// registers its options and attributes in its own constructors.
__attribute__((constructor)) static void load() {
  const unsigned Major = hostMajor();
  if (Major == 0 && !hostHasLLVM())
    refuseHost("not clang");
  if (Major != 0 && Major != WantedMajor)
    refuseHost("built with LLVM " + std::to_string(Major));
  // opt lacks the symbols of Clang. RTLD_LAZY binds a symbol only when it is
  // first called, so that opt can load the plugin. If the version is unknown,
  // RTLD_NOW makes dlopen fail if any symbol is missing.
  Plugin = dlopen(pluginPath().c_str(),
                  (Major == 0 ? RTLD_NOW : RTLD_LAZY) | RTLD_NODELETE);
  if (!Plugin && Major == 0)
    refuseHost("built with another version of LLVM");
  if (!Plugin)
    refuse(std::string("cannot load the plugin: ") + dlerror());
}

extern "C" __attribute__((visibility("default"))) PluginInfo
llvmGetPassPluginInfo() {
  auto *Get = reinterpret_cast<PluginInfo (*)()>(
      dlsym(Plugin, "llvmGetPassPluginInfo"));
  return Get();
}
