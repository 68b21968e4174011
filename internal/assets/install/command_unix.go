//go:build unix

package install

import (
	"os/exec"
	"syscall"
)

// endWithChildren makes cancelling cmd end the processes it started too: npm, mvn and pip are wrappers.
func endWithChildren(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
