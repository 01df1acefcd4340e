/* Publishes a file until standard input ends: publish NAME FILE */
#include <stdio.h>
#include <weir.h>

int main(int argc, char **argv) {
    weir_client *client = NULL;
    weir_publication *publication = NULL;
    weir_status status;
    if (argc != 3) {
        fprintf(stderr, "usage: publish NAME FILE\n");
        return WEIR_USAGE;
    }
    status = weir_client_connect(NULL, &client);
    if (status == WEIR_OK)
        status = weir_publish_file(client, argv[1], argv[2], &publication);
    if (status == WEIR_OK) {
        printf("serving %s\n", weir_publication_name(publication));
        fflush(stdout);
        while (getchar() != EOF)
            ;
    } else {
        fprintf(stderr, "publish: %s\n", weir_last_error());
    }
    weir_publication_free(publication);
    weir_client_free(client);
    return status;
}
