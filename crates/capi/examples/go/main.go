// Fetches an object and writes it to standard output: fetch NAME
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

// failed turns a status into an error. The text belongs to the thread of the call.
func failed(status C.weir_status) error {
	if status == C.WEIR_OK {
		return nil
	}
	return errors.New(C.GoString(C.weir_last_error()))
}

func fetch(name string) ([]byte, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var client *C.weir_client
	if err := failed(C.weir_client_connect(nil, &client)); err != nil {
		return nil, err
	}
	defer C.weir_client_free(client)
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	var bytes *C.uint8_t
	var length C.size_t
	if err := failed(C.weir_fetch(client, text, nil, &bytes, &length)); err != nil {
		return nil, err
	}
	defer C.weir_bytes_free(bytes, length)
	return C.GoBytes(unsafe.Pointer(bytes), C.int(length)), nil
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: fetch NAME")
		os.Exit(2)
	}
	content, err := fetch(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "fetch:", err)
		os.Exit(1)
	}
	os.Stdout.Write(content)
}
