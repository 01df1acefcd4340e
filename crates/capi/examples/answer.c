/* Answers Interests under a prefix with their names, until standard input ends: answer PREFIX */
#include <stdio.h>
#include <string.h>
#include <weir.h>

static void answer(const weir_interest *interest, weir_reply *reply, void *user) {
    const char *name = weir_interest_name(interest);
    const char *prefix = user;
    char text[512];
    if (strcmp(name, prefix) == 0)
        return; /* The prefix itself is rejected. */
    snprintf(text, sizeof text, "you asked for %s\n", name);
    weir_reply_set(reply, (const uint8_t *)text, strlen(text), 1000);
}

int main(int argc, char **argv) {
    weir_client *client = NULL;
    weir_registration *registration = NULL;
    weir_status status;
    if (argc != 2) {
        fprintf(stderr, "usage: answer PREFIX\n");
        return WEIR_USAGE;
    }
    status = weir_client_connect(NULL, &client);
    if (status == WEIR_OK)
        status = weir_register(client, argv[1], answer, argv[1], &registration);
    if (status == WEIR_OK) {
        printf("answering %s\n", argv[1]);
        fflush(stdout);
        while (getchar() != EOF)
            ;
    } else {
        fprintf(stderr, "answer: %s\n", weir_last_error());
    }
    weir_registration_free(registration);
    weir_client_free(client);
    return status;
}
