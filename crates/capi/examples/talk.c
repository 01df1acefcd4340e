/* Publishes each line of standard input for a group, and prints what its other members publish, until
   standard input ends: talk GROUP MEMBER KEY */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <weir.h>

static void *listen(void *user) {
    const weir_group *group = user;
    weir_member_publication *publication;
    weir_status status;
    do {
        status = weir_group_next(group, 60000, &publication);
        if (status == WEIR_OK) {
            size_t len;
            const uint8_t *content = weir_member_publication_content(publication, &len);
            printf("%s %llu %.*s\n", weir_member_publication_member(publication),
                   (unsigned long long)weir_member_publication_seq(publication), (int)len,
                   len ? (const char *)content : "");
            fflush(stdout);
            weir_member_publication_free(publication);
        }
    } while (status == WEIR_OK || status == WEIR_TIMED_OUT);
    if (status != WEIR_CANCELLED)
        fprintf(stderr, "talk: %s\n", weir_last_error());
    return NULL;
}

int main(int argc, char **argv) {
    weir_client *client = NULL;
    weir_group *group = NULL;
    weir_join_options options = {0};
    weir_status status;
    pthread_t thread;
    char line[1000];
    if (argc != 4) {
        fprintf(stderr, "usage: talk GROUP MEMBER KEY\n");
        return WEIR_USAGE;
    }
    options.key = argv[3];
    status = weir_client_connect(NULL, &client);
    if (status == WEIR_OK)
        status = weir_join(client, argv[1], argv[2], &options, &group);
    if (status == WEIR_OK && pthread_create(&thread, NULL, listen, group) == 0) {
        printf("joined %s\n", argv[1]);
        fflush(stdout);
        while (status == WEIR_OK && fgets(line, sizeof line, stdin)) {
            size_t len = strcspn(line, "\n");
            status = weir_group_publish(group, (const uint8_t *)line, len, NULL);
        }
        if (status == WEIR_OK)
            status = weir_group_wait_until_fetched(group, 10000);
        if (status != WEIR_OK)
            fprintf(stderr, "talk: %s\n", weir_last_error());
        /* The other thread takes what has come, and ends. */
        weir_group_close(group);
        pthread_join(thread, NULL);
    } else if (status == WEIR_OK) {
        fprintf(stderr, "talk: no thread\n");
        status = WEIR_FAILED;
    } else {
        fprintf(stderr, "talk: %s\n", weir_last_error());
    }
    weir_group_free(group);
    weir_client_free(client);
    return status;
}
