/* Calls the library with wrong arguments, and in ways that the examples do not: misuse SOCKET */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <weir.h>

#define CHECK(condition)                                                          \
    do {                                                                          \
        if (!(condition)) {                                                       \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition,            \
                    weir_last_error());                                           \
            exit(1);                                                              \
        }                                                                         \
    } while (0)

static const char BAD[] = "\xff\xfe";

struct seen {
    size_t bytes;
    size_t most;
};

static bool count(const uint8_t *bytes, size_t len, void *user) {
    struct seen *seen = user;
    seen->bytes += len + (bytes == NULL);
    return seen->bytes < seen->most;
}

static void echo(const weir_interest *interest, weir_reply *reply, void *user) {
    (void)user;
    size_t len = 1;
    CHECK(weir_interest_parameters(interest, &len) == NULL && len == 0);
    CHECK(weir_reply_set(NULL, NULL, 0, 0) == WEIR_USAGE);
    CHECK(weir_reply_set(reply, NULL, 5, 0) == WEIR_USAGE);
    CHECK(weir_reply_set(reply, NULL, 0, 0) == WEIR_OK);
}

static void null_pointers(void) {
    weir_client *client = (weir_client *)&client;
    CHECK(weir_client_connect(NULL, NULL) == WEIR_USAGE);
    CHECK(strstr(weir_last_error(), "null"));
    CHECK(weir_client_connect(BAD, &client) == WEIR_USAGE && client == NULL);
    CHECK(strstr(weir_last_error(), "UTF-8"));
    CHECK(weir_client_connect("/no/such/socket", &client) == WEIR_NO_FORWARDER);
    CHECK(weir_builder_connect(NULL, &client) == WEIR_USAGE);
    CHECK(weir_builder_forwarder(NULL, "a") == WEIR_USAGE);
    CHECK(weir_cancel_now(NULL) == WEIR_USAGE);
    CHECK(weir_publication_name(NULL)[0] == 0 && weir_publication_answered(NULL) == 0);
    CHECK(weir_interest_name(NULL)[0] == 0 && weir_registration_answered(NULL) == 0);
    weir_bytes_free(NULL, 0);
    weir_builder_free(NULL);
    weir_client_free(NULL);
    weir_cancel_free(NULL);
    weir_publication_free(NULL);
    weir_registration_free(NULL);
}

static void ignore(int number) {
    (void)number;
}

/* Signals of the program end no operation: with one each 200 us, most calls meet some. */
static void signals(weir_client *client) {
    struct sigaction action = {.sa_handler = ignore, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
    for (int n = 0; n < 50; n++) {
        weir_publication *publication = NULL;
        CHECK(weir_publish(client, "/c/signals", (const uint8_t *)"x", 1, &publication) == WEIR_OK);
        weir_publication_free(publication);
    }
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
}

/* Waits for a publication that does not come, for ten minutes at most. */
static void *waits(void *group) {
    weir_member_publication *publication = (weir_member_publication *)&publication;
    weir_status status = weir_group_next(group, 600000, &publication);
    CHECK(publication == NULL);
    return (void *)(uintptr_t)status;
}

static weir_status result(pthread_t thread) {
    void *status = NULL;
    CHECK(pthread_join(thread, &status) == 0);
    return (weir_status)(uintptr_t)status;
}

static void null_groups(weir_client *client) {
    size_t len = 1;
    weir_group *group = (weir_group *)&group;
    weir_member_publication *publication = (weir_member_publication *)&publication;
    CHECK(weir_join(NULL, "/c/lab", "/c/lab/a", NULL, &group) == WEIR_USAGE && group == NULL);
    CHECK(weir_join(client, NULL, "/c/lab/a", NULL, &group) == WEIR_USAGE);
    CHECK(weir_join(client, "/c/lab", NULL, NULL, &group) == WEIR_USAGE);
    CHECK(weir_join(client, "/c/lab", "/c/lab/a", NULL, NULL) == WEIR_USAGE);
    CHECK(weir_group_publish(NULL, NULL, 0, NULL) == WEIR_USAGE);
    CHECK(weir_group_next(NULL, 0, &publication) == WEIR_USAGE && publication == NULL);
    CHECK(weir_group_wake(NULL) == WEIR_USAGE && weir_group_close(NULL) == WEIR_USAGE);
    CHECK(weir_group_wait_until_fetched(NULL, 0) == WEIR_USAGE);
    CHECK(weir_group_state(NULL) == WEIR_USAGE);
    CHECK(weir_group_missing(NULL) == 0 && weir_group_rejected(NULL) == 0);
    CHECK(weir_member_publication_member(NULL)[0] == 0);
    CHECK(weir_member_publication_key(NULL)[0] == 0);
    CHECK(weir_member_publication_content(NULL, &len) == NULL && len == 0);
    CHECK(weir_member_publication_boot(NULL) == 0 && weir_member_publication_seq(NULL) == 0);
    CHECK(!weir_member_publication_is_late(NULL));
    weir_group_free(NULL);
    weir_member_publication_free(NULL);
}

/* The user has the key /c/lab. */
static void groups(const char *socket) {
    static uint8_t large[8800];
    weir_join_options options = {.key = "/c/lab"}, wrong = options;
    weir_client *client = NULL;
    weir_group *alice = NULL, *bob = NULL;
    weir_member_publication *publication = NULL, *later = NULL;
    const uint8_t *content;
    uint64_t seq = 0;
    size_t len = 1;
    pthread_t thread;
    CHECK(weir_client_connect(socket, &client) == WEIR_OK);
    null_groups(client);
    CHECK(weir_join(client, BAD, "/c/lab/a", &options, &alice) == WEIR_USAGE);
    CHECK(weir_join(client, "/", "/c/lab/a", &options, &alice) == WEIR_USAGE);
    CHECK(weir_join(client, "/c/lab", "/elsewhere", &options, &alice) == WEIR_USAGE);
    wrong.keep = 2001;
    CHECK(weir_join(client, "/c/lab", "/c/lab/a", &wrong, &alice) == WEIR_USAGE);
    CHECK(strstr(weir_last_error(), "2000"));
    wrong.key = BAD;
    CHECK(weir_join(client, "/c/lab", "/c/lab/a", &wrong, &alice) == WEIR_USAGE);
    CHECK(alice == NULL);
    CHECK(weir_join(client, "/c/lab", "/c/lab/a", &options, &alice) == WEIR_OK);
    CHECK(weir_group_next(alice, 0, NULL) == WEIR_USAGE);
    CHECK(weir_group_next(alice, 0, &publication) == WEIR_TIMED_OUT);
    CHECK(weir_group_publish(alice, NULL, 5, &seq) == WEIR_USAGE);
    CHECK(weir_group_publish(alice, large, sizeof large, &seq) == WEIR_TOO_LARGE && seq == 0);
    CHECK(weir_group_wait_until_fetched(alice, 0) == WEIR_OK);
    CHECK(weir_group_publish(alice, NULL, 0, &seq) == WEIR_OK && seq == 1);
    CHECK(weir_group_publish(alice, large, 3, NULL) == WEIR_OK);
    CHECK(weir_group_wait_until_fetched(alice, 0) == WEIR_TIMED_OUT);
    CHECK(weir_join(client, "/c/lab", "/c/lab/b", &options, &bob) == WEIR_OK);
    weir_client_free(client);
    CHECK(weir_group_next(bob, 60000, &publication) == WEIR_OK);
    CHECK(weir_member_publication_content(publication, &len) == NULL && len == 0);
    CHECK(weir_member_publication_seq(publication) == 1);
    weir_member_publication_free(publication);
    CHECK(weir_group_next(bob, 60000, &publication) == WEIR_OK);
    CHECK(weir_group_wait_until_fetched(alice, 60000) == WEIR_OK);
    CHECK(weir_group_missing(bob) == 0 && weir_group_rejected(bob) == 0);

    CHECK(pthread_create(&thread, NULL, waits, bob) == 0);
    CHECK(weir_group_wake(bob) == WEIR_OK && result(thread) == WEIR_TIMED_OUT);
    CHECK(pthread_create(&thread, NULL, waits, bob) == 0);
    CHECK(weir_group_close(bob) == WEIR_OK && result(thread) == WEIR_CANCELLED);
    CHECK(weir_group_close(bob) == WEIR_OK && weir_group_state(bob) == WEIR_OK);
    CHECK(weir_group_publish(bob, large, 1, NULL) == WEIR_CANCELLED);
    CHECK(weir_group_next(bob, 600000, &later) == WEIR_CANCELLED && later == NULL);
    weir_group_free(bob);
    /* It outlives its group. */
    content = weir_member_publication_content(publication, &len);
    CHECK(content && len == 3 && memcmp(content, large, len) == 0);
    CHECK(strcmp(weir_member_publication_member(publication), "/c/lab/a") == 0);
    CHECK(strstr(weir_member_publication_key(publication), "/c/lab/KEY/"));
    CHECK(weir_member_publication_boot(publication) > 0);
    CHECK(!weir_member_publication_is_late(publication));
    weir_member_publication_free(publication);
    weir_group_free(alice);
}

int main(int argc, char **argv) {
    uint8_t *content = calloc(1, 100000), *bytes = NULL;
    size_t len = 1;
    struct seen seen = {0, 20000};
    weir_builder *builder = weir_builder_new();
    weir_client *client = NULL;
    weir_publication *publication = NULL;
    weir_registration *registration = NULL;
    weir_cancel *cancel = weir_cancel_new();
    if (argc != 2)
        return 2;
    content[50000] = 7;
    null_pointers();
    CHECK(weir_builder_control(builder, "no-such-scheme") == WEIR_OK);
    CHECK(weir_builder_forwarder(builder, argv[1]) == WEIR_OK);
    CHECK(weir_builder_connect(builder, &client) == WEIR_USAGE && client == NULL);
    CHECK(weir_builder_control(builder, "cubic") == WEIR_OK);
    CHECK(weir_builder_patience(builder, 20000) == WEIR_OK);
    CHECK(weir_builder_lifetime(builder, 4000) == WEIR_OK);
    CHECK(weir_builder_trust_digest(builder) == WEIR_OK);
    CHECK(weir_builder_connect(builder, &client) == WEIR_OK);
    weir_builder_free(builder);

    CHECK(weir_publish(client, "/c/x", content, 100000, NULL) == WEIR_USAGE);
    publication = (weir_publication *)&publication;
    CHECK(weir_publish(client, "/c/x", NULL, 5, &publication) == WEIR_USAGE);
    CHECK(publication == NULL);
    CHECK(weir_publish(client, BAD, content, 100000, &publication) == WEIR_USAGE);
    CHECK(weir_publish(client, "/c/x", NULL, 100000, &publication) == WEIR_USAGE);
    CHECK(weir_publish_file(client, "/c/x", "/no/file", &publication) == WEIR_FILE);
    CHECK(weir_publish(client, "/c/x", content, 100000, &publication) == WEIR_OK);
    CHECK(weir_fetch(client, "/c/x", NULL, NULL, &len) == WEIR_USAGE);
    CHECK(weir_fetch(client, "/c/none", NULL, &bytes, &len) == WEIR_NOT_FOUND);
    CHECK(bytes == NULL && len == 0);
    CHECK(weir_last_proof() == WEIR_UNCHECKED);
    CHECK(weir_fetch(client, "/c/x", NULL, &bytes, &len) == WEIR_OK);
    CHECK(weir_last_proof() == WEIR_DIGEST);
    CHECK(len == 100000 && memcmp(bytes, content, len) == 0);
    weir_bytes_free(bytes, len);
    CHECK(weir_fetch_range(client, "/c/x", 49999, 50002, NULL, &bytes, &len) == WEIR_OK);
    CHECK(len == 3 && bytes[0] == 0 && bytes[1] == 7 && bytes[2] == 0);
    weir_bytes_free(bytes, len);
    CHECK(weir_fetch_range(client, "/c/x", 5, 5, NULL, &bytes, &len) == WEIR_USAGE);
    CHECK(weir_fetch_blocks(client, "/c/x", NULL, NULL, NULL) == WEIR_USAGE);
    CHECK(weir_fetch_blocks(client, "/c/x", NULL, count, &seen) == WEIR_CANCELLED);
    CHECK(seen.bytes >= 20000 && seen.bytes < 100000);
    CHECK(weir_cancel_now(cancel) == WEIR_OK);
    CHECK(weir_fetch(client, "/c/x", cancel, &bytes, &len) == WEIR_CANCELLED);
    CHECK(weir_last_proof() == WEIR_UNCHECKED);
    CHECK(weir_publication_answered(publication) > 0);
    CHECK(weir_publication_state(publication) == WEIR_OK);
    CHECK(weir_publication_state(NULL) == WEIR_USAGE);
    CHECK(weir_registration_state(NULL) == WEIR_USAGE);

    CHECK(weir_register(client, "/c/y", NULL, NULL, &registration) == WEIR_USAGE);
    CHECK(weir_register(client, "/c/y", echo, NULL, &registration) == WEIR_OK);
    CHECK(weir_express(client, "/c/y/1", false, false, 20000, &bytes, &len) == WEIR_OK);
    CHECK(bytes == NULL && len == 0);
    CHECK(weir_express(client, "/", false, false, 20000, &bytes, &len) == WEIR_USAGE);
    CHECK(weir_registration_state(registration) == WEIR_OK);
    CHECK(weir_express(client, "/c/y/1", false, false, 0, &bytes, &len) == WEIR_USAGE);
    signals(client);
    groups(argv[1]);
    weir_registration_free(registration);
    weir_publication_free(publication);
    weir_client_free(client);
    weir_cancel_free(cancel);
    free(content);
    return 0;
}
