// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: each block that OpenSSL allocates for the program is counted once,
// with its size. At the end of the process, when OpenSSL has cleaned up, no
// freed block counts as in use. In sampled mode the program runs without error.
//
// REQUIRES: openssl
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -shared -fPIC -fno-builtin -I%src/include \
// RUN:   %S/Inputs/ground_truth.c -o truth.so
// RUN: %mprof_clang -fmprof -O1 -I%S/Inputs -I%src/test/Inputs %s -o app \
// RUN:   -lcrypto
// RUN: %run_quiet{heap_rate=0} LD_PRELOAD=$PWD/truth.so ./app
// RUN: %run_quiet{heap_rate=65536:seed=3} ./app

#include "check.h"
#include "ground_truth.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

int main(void) {
  truth_begin();
  EVP_PKEY *key = EVP_EC_gen("P-256");
  NEED(key);
  BIO *out = BIO_new(BIO_s_mem());
  NEED(PEM_write_bio_PrivateKey(out, key, EVP_aes_256_cbc(), NULL, 0, NULL,
                                (void *)"secret"));
  EVP_PKEY *again = PEM_read_bio_PrivateKey(out, NULL, NULL, (void *)"secret");
  NEED(again && EVP_PKEY_eq(key, again) == 1);
  for (int i = 0; i < 20; i++) {
    EVP_MD_CTX *c = EVP_MD_CTX_new();
    unsigned char sign[256];
    size_t len = sizeof(sign);
    NEED(EVP_DigestSignInit(c, NULL, EVP_sha256(), NULL, key) == 1);
    NEED(EVP_DigestSign(c, sign, &len, (const unsigned char *)"text", 4) == 1);
    EVP_MD_CTX_free(c);
    c = EVP_MD_CTX_new();
    NEED(EVP_DigestVerifyInit(c, NULL, EVP_sha256(), NULL, again) == 1);
    NEED(EVP_DigestVerify(c, sign, len, (const unsigned char *)"text", 4) == 1);
    EVP_MD_CTX_free(c);
  }
  BN_CTX *ctx = BN_CTX_new();
  BIGNUM *a = BN_new(), *b = BN_new(), *r = BN_new();
  NEED(BN_set_word(a, 3) && BN_set_word(b, 4001));
  NEED(BN_exp(r, a, b, ctx));
  char *digits = BN_bn2dec(r);
  NEED(digits && strlen(digits) > 1000);
  OPENSSL_free(digits);
  BN_free(a), BN_free(b), BN_free(r);
  BN_CTX_free(ctx);
  BIO_free(out);
  EVP_PKEY_free(key);
  EVP_PKEY_free(again);
  return 0;
}
