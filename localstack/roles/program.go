package roles

import (
	"fmt"
	"os"

	"github.com/holdfast/holdfast/localstack/port"
)

// Self is the path of this program, for roles that are this program again.
func Self() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// FreeAddress is a loopback address, host:port, that nobody listens on, and that
// no other call returned.
func FreeAddress() string {
	p, err := port.Free()
	if err != nil {
		panic(err) // the machine has no loopback, or twenty thousand servers
	}
	return fmt.Sprintf("127.0.0.1:%d", p)
}
