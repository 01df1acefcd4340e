/* Fetches an object into a file: fetch NAME FILE */
#include <stdio.h>
#include <weir.h>

int main(int argc, char **argv) {
    weir_client *client = NULL;
    weir_status status;
    if (argc != 3) {
        fprintf(stderr, "usage: fetch NAME FILE\n");
        return WEIR_USAGE;
    }
    status = weir_client_connect(NULL, &client);
    if (status == WEIR_OK)
        status = weir_fetch_file(client, argv[1], argv[2], NULL);
    if (status != WEIR_OK)
        fprintf(stderr, "fetch: %s\n", weir_last_error());
    weir_client_free(client);
    return status;
}
