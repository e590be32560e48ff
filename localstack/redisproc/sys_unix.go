//go:build unix && !linux

package redisproc

import "syscall"

// sysProcAttr puts the child into a process group of its own, so that Ctrl-C
// reaches the parent alone and the shutdown is ordered.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
