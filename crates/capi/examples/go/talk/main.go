// Publishes a text for a group, and prints the first publication of another member:
// talk GROUP MEMBER KEY TEXT
//
// CGO_CFLAGS and CGO_LDFLAGS name the folders of weir.h and libweir.
package main

/*
#cgo LDFLAGS: -lweir
#include <stdlib.h>
#include <weir.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"
)

// The longest waits, in milliseconds.
const patience = 60000

// failed turns a status into an error. The text belongs to the thread of the call.
func failed(status C.weir_status) error {
	if status == C.WEIR_OK {
		return nil
	}
	return errors.New(C.GoString(C.weir_last_error()))
}

func talk(name, member, key, text string) (string, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var client *C.weir_client
	if err := failed(C.weir_client_connect(nil, &client)); err != nil {
		return "", err
	}
	defer C.weir_client_free(client)
	texts := [3]*C.char{C.CString(name), C.CString(member), C.CString(key)}
	for _, text := range texts {
		defer C.free(unsafe.Pointer(text))
	}
	var group *C.weir_group
	options := C.weir_join_options{key: texts[2]}
	if err := failed(C.weir_join(client, texts[0], texts[1], &options, &group)); err != nil {
		return "", err
	}
	defer C.weir_group_free(group)
	content := C.CBytes([]byte(text))
	defer C.free(content)
	status := C.weir_group_publish(group, (*C.uint8_t)(content), C.size_t(len(text)), nil)
	if err := failed(status); err != nil {
		return "", err
	}
	var publication *C.weir_member_publication
	if err := failed(C.weir_group_next(group, patience, &publication)); err != nil {
		return "", err
	}
	defer C.weir_member_publication_free(publication)
	var length C.size_t
	bytes := C.weir_member_publication_content(publication, &length)
	said := fmt.Sprintf("%s %d %s",
		C.GoString(C.weir_member_publication_member(publication)),
		uint64(C.weir_member_publication_seq(publication)),
		C.GoBytes(unsafe.Pointer(bytes), C.int(length)))
	return said, failed(C.weir_group_wait_until_fetched(group, patience))
}

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: talk GROUP MEMBER KEY TEXT")
		os.Exit(2)
	}
	said, err := talk(os.Args[1], os.Args[2], os.Args[3], os.Args[4])
	if err != nil {
		fmt.Fprintln(os.Stderr, "talk:", err)
		os.Exit(1)
	}
	fmt.Println(said)
}
