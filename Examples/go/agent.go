// Prints each push to the topic "alerts": its ID, the attempt, and its member "msg".
package main

/*
#cgo pkg-config: kii-push
#include <kii_push.h>
int32_t handle(void *context, kii_push_message *message);
*/
import "C"

import (
	"fmt"
	"os"
	"time"
	"unsafe"
)

var msg = C.CString("msg")

// handle runs on a thread of the library. The message is valid until handle returns.
//
//export handle
func handle(_ unsafe.Pointer, message *C.kii_push_message) C.int32_t {
	value, length := (*C.char)(nil), C.size_t(0)
	C.kii_push_field(message, msg, 3, &value, &length, nil)
	fmt.Println(message.id, message.attempt, C.GoStringN(value, C.int(length)))
	pause, _ := time.ParseDuration(os.Getenv("KII_SLEEP") + "s")
	time.Sleep(pause)
	return C.KII_PUSH_NEW_DATA
}

func main() {
	settings := "{}"
	if file := os.Getenv("KII_CA_FILE"); file != "" {
		settings = fmt.Sprintf(`{"certificateAuthorityFile": %q}`, file)
	}
	about := fmt.Sprintf(`{"app": {"id": %q, "key": %q, "baseURL": %q},
		"account": {"type": "pseudoUser"}, "subscriptions": [{"topic": "alerts"}]}`,
		os.Getenv("KII_APP_ID"), os.Getenv("KII_APP_KEY"), os.Getenv("KII_BASE_URL"))
	runtime, agent, failure := C.kii_push_runtime(0), C.kii_push_agent(0), C.kii_push_error{}
	code := C.kii_push_open(C.KII_PUSH_API, C.CString(settings), C.size_t(len(settings)), &runtime, &failure)
	if code == 0 {
		handler := C.kii_push_handler(C.handle)
		code = C.kii_push_agent_new(runtime, C.CString(about), C.size_t(len(about)), handler, nil, &agent, &failure)
	}
	status := 78
	if code == 0 {
		status = int(C.kii_push_run(runtime, &failure))
	} else if failure.temporary != 0 {
		status = 75
	}
	if status != 0 {
		fmt.Fprintln(os.Stderr, C.GoString(&failure.text[0]))
	}
	os.Exit(status)
}
