//go:build unix && !linux

package roles

import "syscall"

// sysProcAttr puts the child into a process group of its own, so that Ctrl-C
// reaches the parent alone.
func sysProcAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
