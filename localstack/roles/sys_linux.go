package roles

import "syscall"

// sysProcAttr puts the child into a process group of its own, so that Ctrl-C
// reaches the parent alone, and ends it with the parent whatever ends that.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
