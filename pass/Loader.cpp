// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The source of lib/libMProf.so, the plugin that users name. libMProf.so only
// loads lib/mprof/llvm-N/libMProf.so, which contains the passes for LLVM N, if
// the host is a tool of LLVM N and there is a plugin for N:
//
//     clang 19 --> libMProf.so --> mprof/llvm-19/libMProf.so
//
// A plugin of another version could not resolve the symbols of LLVM. The
// compiler would report a missing symbol with a long mangled name, or crash and
// ask for a bug report. So this file uses no symbol of LLVM, tells the user in
// one sentence what is wrong, and ends the compiler.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <unistd.h>

// The versions of LLVM for which there may be a plugin.
enum : unsigned { FirstMajor = 16, LastMajor = 22 };

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

/// Returns the path of the plugin for a version of LLVM. It is in a directory
/// beside libMProf.so.
static std::string pluginPath(unsigned Major) {
  Dl_info Own;
  if (!dladdr(reinterpret_cast<void *>(&pluginPath), &Own))
    return {};
  std::string Path = Own.dli_fname;
  return Path.substr(0, Path.rfind('/') + 1) + "mprof/llvm-" +
         std::to_string(Major) + "/libMProf.so";
}

static bool isInstalled(unsigned Major) {
  return access(pluginPath(Major).c_str(), R_OK) == 0;
}

[[noreturn]] static void refuseHost(const std::string &Kind) {
  std::string Versions, Last;
  for (unsigned Major = FirstMajor; Major <= LastMajor; ++Major)
    if (isInstalled(Major)) {
      if (!Last.empty())
        Versions += (Versions.empty() ? "" : ", ") + Last;
      Last = std::to_string(Major);
    }
  if (Last.empty())
    refuse(
        "there is no plugin below " +
        pluginPath(LastMajor).substr(0, pluginPath(LastMajor).rfind("/llvm-")) +
        ": install MProf again");
  const std::string Newest = Last;
  if (!Versions.empty())
    Last = Versions + " and " + Last;
  refuse("libMProf.so is a plugin for clang " + Last + " and cannot work in " +
         hostPath() + ", which is " + Kind +
         ": compile with mprof-clang or clang-" + Newest);
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

/// Loads a plugin for a host of unknown version. RTLD_NOW makes dlopen fail if
/// any symbol is missing.
static void *loadAny() {
  for (unsigned Major = LastMajor; Major >= FirstMajor; --Major)
    if (void *Found =
            dlopen(pluginPath(Major).c_str(), RTLD_NOW | RTLD_NODELETE))
      return Found;
  return nullptr;
}

/// Loads the plugin. Runs when the host has loaded libMProf.so. The plugin
/// registers its options and attributes in its own constructors.
__attribute__((constructor)) static void load() {
  const unsigned Major = hostMajor();
  if (Major == 0 && !hostHasLLVM())
    refuseHost("not clang");
  if (Major == 0 && !(Plugin = loadAny()))
    refuseHost("built with another version of LLVM");
  if (Plugin)
    return;
  if (!isInstalled(Major))
    refuseHost("built with LLVM " + std::to_string(Major));
  // opt lacks the symbols of Clang. RTLD_LAZY binds a symbol only when it is
  // first called, so that opt can load the plugin.
  Plugin = dlopen(pluginPath(Major).c_str(), RTLD_LAZY | RTLD_NODELETE);
  if (!Plugin)
    refuse(std::string("cannot load the plugin: ") + dlerror());
}

extern "C" __attribute__((visibility("default"))) PluginInfo
llvmGetPassPluginInfo() {
  auto *Get = reinterpret_cast<PluginInfo (*)()>(
      dlsym(Plugin, "llvmGetPassPluginInfo"));
  return Get();
}
