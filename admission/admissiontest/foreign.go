package admissiontest

import "github.com/holdfast/holdfast/admission"

// Foreign is as if another build had loaded every sale: each call is
// admission.ErrLayout until the next Install, but for the execute guards, which
// have one form in all builds.
func (r *Redis) Foreign() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.foreign = true
}

// refuse is the guard of the scripts. The caller has the lock.
func (r *Redis) refuse(op string) error {
	switch op {
	case "Install":
		r.foreign = false
	case "AcquireExecute", "ReleaseExecute":
		return nil
	}
	if r.foreign {
		return admission.ErrLayout
	}
	return nil
}
