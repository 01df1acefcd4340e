// Weir for programs in C: fetch content by name, publish it, answer Interests,
// take part in groups.
//
// Every function that can fail returns a weir_status. weir_last_error() returns the text of the
// last failure in this thread. Texts are UTF-8 and end with a zero byte. A pointer must not be
// null unless its function permits it; a null pointer is WEIR_USAGE. Functions named ..._free take
// null, and do nothing then. A client, a request to cancel, a publication, a registration and a group
// can be used from several threads, but not while they are freed; settings and a publication of a
// member belong to one thread at a time, and an Interest and its reply to the call that they are
// given to.
//
// Without rules of trust (weir_builder_trust), content by keys that are not known here is accepted:
// look at weir_last_proof().
//
// Generated from crates/capi by cbindgen; do not edit.

#ifndef WEIR_H
#define WEIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The proof by a signature. Later versions may have more values.
typedef enum {
  // Nothing: the signature is by a key that is not known here, or no fetch in this thread has
  // succeeded.
  WEIR_UNCHECKED = 0,
  // It is not damaged, and anyone can have made it.
  WEIR_DIGEST = 1,
  // A trusted key has signed it.
  WEIR_KEY = 2,
} weir_proof;

// The result of a call. Later versions may have more values.
typedef enum {
  // It succeeded.
  WEIR_OK = 0,
  // It failed for another reason than those below.
  WEIR_FAILED = 1,
  // An argument is wrong: a null pointer, text that is not UTF-8, a name or a setting.
  WEIR_USAGE = 2,
  // No route leads to the name, or its producer has nothing of that name.
  WEIR_NOT_FOUND = 3,
  // A signature or digest was rejected.
  WEIR_NOT_VERIFIED = 4,
  // It was cancelled.
  WEIR_CANCELLED = 5,
  // There is no forwarder, or the connection to it was lost.
  WEIR_NO_FORWARDER = 6,
  // A local file could not be read or written.
  WEIR_FILE = 7,
  // No answer arrived in time.
  WEIR_TIMED_OUT = 8,
  // The object has more bytes than were permitted.
  WEIR_TOO_LARGE = 9,
  // The forwarder rejected a registration.
  WEIR_REJECTED = 10,
} weir_status;

// The settings of a client, before it connects.
typedef struct weir_builder weir_builder;

// Cancels fetches from another thread.
typedef struct weir_cancel weir_cancel;

// A forwarder, rules of trust, and defaults of operations.
typedef struct weir_client weir_client;

// A member of a group.
typedef struct weir_group weir_group;

// An Interest, during the call of a weir_on_interest.
typedef struct weir_interest weir_interest;

// A verified publication of another member.
typedef struct weir_member_publication weir_member_publication;

// An object that is served from a thread until it is freed.
typedef struct weir_publication weir_publication;

// A prefix that a function answers for until it is freed.
typedef struct weir_registration weir_registration;

// The reply to an Interest, during the call of a weir_on_interest.
typedef struct weir_reply weir_reply;

// Takes a verified part of an object, and returns true to go on. The bytes are valid during the
// call.
typedef bool (*weir_on_block)(const uint8_t *bytes, size_t len, void *user);

// Answers an Interest by weir_reply_set. Without a call of it, the Interest is rejected. It is
// called in a thread of the library, never twice at a time for one registration.
typedef void (*weir_on_interest)(const weir_interest *interest,
                                 weir_reply *reply,
                                 void *user);

// The options of a member. Zeros are the defaults, and in later versions of the library, too.
typedef struct {
  // The key, or identity, that signs; by default the client's key, or else the member's own.
  const char *key;
  // The number of earlier publications of each start of a member that are fetched: at most 2000,
  // which is the default.
  size_t history;
  // The number of own publications that are kept for others: at most 2000, which is the default.
  size_t keep;
  // The number of publications that wait for weir_group_next before no more are asked for; 1000
  // by default.
  size_t waiting;
} weir_join_options;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The proof of what the last fetch, or weir_express, has returned in this thread. It is
// WEIR_UNCHECKED after one that failed.
weir_proof weir_last_proof(void);

// The text of the last failure in this thread, or an empty text. It is valid until the next call
// in this thread that fails.
const char *weir_last_error(void);

// The version of this library, such as `0.1.0`.
const char *weir_version(void);

// Frees bytes that a function of this library returned. `len` must be the returned length.
//
// # Safety
// The bytes come from this library with this length, and were not freed before.
void weir_bytes_free(uint8_t *bytes,
                     size_t len);

// Settings with their defaults; never null. Free them by weir_builder_free.
weir_builder *weir_builder_new(void);

// The address of the forwarder: a path, unix://..., tcp://host:port or udp://host:port. Without
// it, NDN_CLIENT_TRANSPORT and client.conf name it.
//
// # Safety
// The pointers are valid or null.
weir_status weir_builder_forwarder(weir_builder *builder,
                                   const char *address);

// The congestion-control scheme of fetches, such as "cubic".
//
// # Safety
// The pointers are valid or null.
weir_status weir_builder_control(weir_builder *builder, const char *scheme);

// The name of the key, or of its identity, that signs what the client publishes.
//
// # Safety
// The pointers are valid or null.
weir_status weir_builder_key(weir_builder *builder, const char *name);

// Accepts only signatures by this anchor, other anchors that were added, and keys that they
// certify: the path of a certificate or of trust rules, or the name of one of the user's keys.
//
// # Safety
// The pointers are valid or null.
weir_status weir_builder_trust(weir_builder *builder,
                               const char *anchor);

// Accepts only digests, which protect from damage but not from forgery.
//
// # Safety
// The pointer is valid or null.
weir_status weir_builder_trust_digest(weir_builder *builder);

// A fetch fails after this time without progress, in milliseconds; 30000 by default.
//
// # Safety
// The pointer is valid or null.
weir_status weir_builder_patience(weir_builder *builder, uint64_t milliseconds);

// The lifetime of the Interests of fetches, in milliseconds; 4000 by default.
//
// # Safety
// The pointer is valid or null.
weir_status weir_builder_lifetime(weir_builder *builder, uint64_t milliseconds);

// Checks the settings and that a forwarder is there, and writes a new client to `client`, to be
// freed by weir_client_free. The settings stay, and are freed on their own.
//
// # Safety
// The pointers are valid or null.
weir_status weir_builder_connect(const weir_builder *builder,
                                 weir_client **client);

// Frees settings.
//
// # Safety
// They come from weir_builder_new, and are not used any more.
void weir_builder_free(weir_builder *builder);

// Connects to the forwarder at this address with default settings, and writes a new client to
// `client`. A null address is that of NDN_CLIENT_TRANSPORT or client.conf.
//
// # Safety
// The pointers are valid or null.
weir_status weir_client_connect(const char *address,
                                weir_client **client);

// Frees a client. Its publications and registrations go on.
//
// # Safety
// It comes from this library, and is not used any more.
void weir_client_free(weir_client *client);

// A request to cancel that was not made yet; never null. Free it by weir_cancel_free.
weir_cancel *weir_cancel_new(void);

// Ends all fetches with this value, from any thread. They return WEIR_CANCELLED. It stays
// cancelled.
//
// # Safety
// The pointer is valid or null.
weir_status weir_cancel_now(const weir_cancel *cancel);

// Frees a request to cancel.
//
// # Safety
// It comes from weir_cancel_new, and no call uses it any more.
void weir_cancel_free(weir_cancel *cancel);

// Fetches an object of at most 1 GB into memory. The bytes are written to `bytes` and `len`, and
// freed by weir_bytes_free. `cancel` may be null.
//
// # Safety
// The pointers are valid or null.
weir_status weir_fetch(const weir_client *client,
                       const char *name,
                       const weir_cancel *cancel,
                       uint8_t **bytes,
                       size_t *len);

// As weir_fetch, only the bytes from `from` up to, but not including, `to`.
//
// # Safety
// The pointers are valid or null.
weir_status weir_fetch_range(const weir_client *client,
                             const char *name,
                             uint64_t from,
                             uint64_t to,
                             const weir_cancel *cancel,
                             uint8_t **bytes,
                             size_t *len);

// Fetches an object into a file, which appears or changes only when all is verified and on disk.
// `cancel` may be null.
//
// # Safety
// The pointers are valid or null.
weir_status weir_fetch_file(const weir_client *client,
                            const char *name,
                            const char *path,
                            const weir_cancel *cancel);

// Fetches an object, and calls `on_block` in this thread for each part in order. If it returns
// false, the fetch ends with WEIR_CANCELLED. `cancel` and `user` may be null.
//
// # Safety
// The pointers are valid or null, and `on_block` may be called with `user`.
weir_status weir_fetch_blocks(const weir_client *client,
                              const char *name,
                              const weir_cancel *cancel,
                              weir_on_block on_block,
                              void *user);

// Sends one Interest with this lifetime, and writes the content of the verified Data packet that
// answers it to `bytes` and `len`, to be freed by weir_bytes_free. `can_be_prefix`: Data below the
// name answers it, too. `must_be_fresh`: only fresh Data does.
//
// # Safety
// The pointers are valid or null.
weir_status weir_express(const weir_client *client,
                         const char *name,
                         bool can_be_prefix,
                         bool must_be_fresh,
                         uint64_t lifetime_milliseconds,
                         uint8_t **bytes,
                         size_t *len);

// Publishes a copy of `len` bytes under a name and a new version, and serves them from a thread
// until the publication is freed by weir_publication_free. After a restart of the forwarder they
// are served again.
//
// # Safety
// The pointers are valid or null.
weir_status weir_publish(const weir_client *client,
                         const char *name,
                         const uint8_t *content,
                         size_t len,
                         weir_publication **publication);

// As weir_publish, the content of a file, which must not change meanwhile. Its version is the time
// of its modification.
//
// # Safety
// The pointers are valid or null.
weir_status weir_publish_file(const weir_client *client,
                              const char *name,
                              const char *path,
                              weir_publication **publication);

// The name with the version, valid until the publication is freed; an empty text for null.
//
// # Safety
// The pointer is valid or null.
const char *weir_publication_name(const weir_publication *publication);

// Data packets that were sent so far; 0 for null.
//
// # Safety
// The pointer is valid or null.
uint64_t weir_publication_answered(const weir_publication *publication);

// WEIR_OK while it is served, also while the forwarder is away; otherwise why it has ended. A null
// pointer is WEIR_USAGE.
//
// # Safety
// The pointer is valid or null.
weir_status weir_publication_state(const weir_publication *publication);

// Ends a publication. Its thread and its registration have ended then.
//
// # Safety
// It comes from this library, and is not used any more.
void weir_publication_free(weir_publication *publication);

// Answers Interests under `prefix` by `on_interest`, until the registration is freed by
// weir_registration_free. After a restart of the forwarder it is registered again. `user` may be
// null. `on_interest` must not free the registration.
//
// # Safety
// The pointers are valid or null, and `on_interest` may be called with `user` from another thread
// until the registration has been freed.
weir_status weir_register(const weir_client *client,
                          const char *prefix,
                          weir_on_interest on_interest,
                          void *user,
                          weir_registration **registration);

// The name of an Interest, valid during the call of a weir_on_interest; an empty text for null.
//
// # Safety
// The pointer is valid or null.
const char *weir_interest_name(const weir_interest *interest);

// The parameters of an Interest, valid during the call of a weir_on_interest, and their length in
// `len`. Null without parameters.
//
// # Safety
// The pointers are valid or null.
const uint8_t *weir_interest_parameters(const weir_interest *interest,
                                        size_t *len);

// Answers with a copy of `len` bytes, under the name of the Interest. Caches may answer with them
// to Interests for fresh Data for `freshness_milliseconds`. Name, content and signature have room
// for 8800 bytes in all; a reply beyond that is rejected.
//
// # Safety
// The pointers are valid or null.
weir_status weir_reply_set(weir_reply *reply,
                           const uint8_t *content,
                           size_t len,
                           uint64_t freshness_milliseconds);

// Does not answer at all: another producer of the prefix may.
//
// # Safety
// The pointer is valid or null.
weir_status weir_reply_silence(weir_reply *reply);

// Interests that were answered so far; 0 for null.
//
// # Safety
// The pointer is valid or null.
uint64_t weir_registration_answered(const weir_registration *registration);

// WEIR_OK while Interests are answered, also while the forwarder is away; otherwise why that has
// ended. A null pointer is WEIR_USAGE.
//
// # Safety
// The pointer is valid or null.
weir_status weir_registration_state(const weir_registration *registration);

// Ends a registration. Its function is not called any more then. If the forwarder hangs, that
// takes up to six seconds; the same holds for publications.
//
// # Safety
// It comes from this library, and is not used any more.
void weir_registration_free(weir_registration *registration);

// Joins a group under the name of a member, and writes it to `joined`, to be freed by
// weir_group_free. It takes up to a second. Null for `options` is their defaults. Members accept
// signatures by the client's anchors (weir_builder_trust) and keys that they certify, and without
// any, by their own key. After a restart of the forwarder, the member is there again.
//
// # Safety
// The pointers are valid or null.
weir_status weir_join(const weir_client *client,
                      const char *group,
                      const char *member,
                      const weir_join_options *options,
                      weir_group **joined);

// Publishes a copy of `len` bytes for the group, and writes the number of the publication to
// `seq`, which may be null. Content, names and signature have room for 8800 bytes in all. Nothing
// waits for other members. WEIR_CANCELLED after weir_group_close.
//
// # Safety
// The pointers are valid or null.
weir_status weir_group_publish(const weir_group *group,
                               const uint8_t *content,
                               size_t len,
                               uint64_t *seq);

// Waits for the next publication of another member, and writes it to `publication`, to be freed by
// weir_member_publication_free. Those of one start of a member come in the order of their numbers.
// Numbers that are left out could not be fetched: see weir_group_missing. WEIR_TIMED_OUT if none
// comes in time, or after weir_group_wake. WEIR_CANCELLED after weir_group_close, when all that
// had come were taken.
//
// # Safety
// The pointers are valid or null.
weir_status weir_group_next(const weir_group *group,
                            uint64_t timeout_milliseconds,
                            weir_member_publication **publication);

// Ends one wait of weir_group_next: the call that waits now in another thread, or the next one
// that would wait, returns WEIR_TIMED_OUT at once.
//
// # Safety
// The pointer is valid or null.
weir_status weir_group_wake(const weir_group *group);

// Waits until each own publication was fetched by another member, which serves it when this one
// has left. It is fetched when the answer was handed to the connection to the forwarder, and can
// still be lost on its way. WEIR_TIMED_OUT if it takes longer; WEIR_FAILED if some had to make
// room before.
//
// # Safety
// The pointer is valid or null.
weir_status weir_group_wait_until_fetched(const weir_group *group,
                                          uint64_t timeout_milliseconds);

// The number of publications that could not be fetched, with those that come late; 0 for null.
//
// # Safety
// The pointer is valid or null.
uint64_t weir_group_missing(const weir_group *group);

// The number of packets that were dropped because their signers are not trusted, or because they
// are malformed; 0 for null.
//
// # Safety
// The pointer is valid or null.
uint64_t weir_group_rejected(const weir_group *group);

// WEIR_OK while the member is in the group, also while the forwarder is away, and after
// weir_group_close; otherwise why that has ended. A null pointer is WEIR_USAGE.
//
// # Safety
// The pointer is valid or null.
weir_status weir_group_state(const weir_group *group);

// Leaves the group, from any thread. Calls of weir_group_next that wait return then. A second call
// does nothing.
//
// # Safety
// The pointer is valid or null.
weir_status weir_group_close(const weir_group *group);

// Leaves the group unless it is closed, and frees it. Its publications stay valid.
//
// # Safety
// It comes from this library, and no call uses it any more.
void weir_group_free(weir_group *group);

// The name of the member that has published it, valid until it is freed; an empty text for null.
//
// # Safety
// The pointer is valid or null.
const char *weir_member_publication_member(const weir_member_publication *publication);

// The start of that member, in seconds since 1970: each start numbers its publications from 1. 0
// for null.
//
// # Safety
// The pointer is valid or null.
uint64_t weir_member_publication_boot(const weir_member_publication *publication);

// The number of the publication; 0 for null.
//
// # Safety
// The pointer is valid or null.
uint64_t weir_member_publication_seq(const weir_member_publication *publication);

// The content, valid until the publication is freed, and its length in `len`. Null without
// content.
//
// # Safety
// The pointers are valid or null.
const uint8_t *weir_member_publication_content(const weir_member_publication *publication,
                                               size_t *len);

// The name of the trusted key that has signed it, valid until the publication is freed; an empty
// text for null.
//
// # Safety
// The pointer is valid or null.
const char *weir_member_publication_key(const weir_member_publication *publication);

// True if later ones of this start have come before it, because it could not be fetched then;
// false for null.
//
// # Safety
// The pointer is valid or null.
bool weir_member_publication_is_late(const weir_member_publication *publication);

// Frees a publication.
//
// # Safety
// It comes from this library, and is not used any more.
void weir_member_publication_free(weir_member_publication *publication);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* WEIR_H */
