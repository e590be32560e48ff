package roles

import (
	"net"
	"os"
)

// Self is the path of this program, for roles that are this program again.
func Self() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// FreeAddress is a loopback address, host:port, that nobody listens on.
func FreeAddress() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err) // the machine has no loopback
	}
	defer l.Close()
	return l.Addr().String()
}
