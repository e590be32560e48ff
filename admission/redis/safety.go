package redis

import (
	"errors"
	"fmt"

	"github.com/holdfast/holdfast/admission"
)

// unsafe lists what is wrong with a server for this configuration.
func unsafe(h admission.Health, replicas int, unacknowledged bool) error {
	var errs []error
	refuse := func(format string, args ...any) {
		errs = append(errs, &UnsafeError{Reason: fmt.Sprintf(format, args...)})
	}
	if h.Role != "master" {
		refuse("the server is a %s, not a primary: point the configuration at the primary, or use Sentinel", h.Role)
	}
	if h.EvictionPolicy != "noeviction" {
		refuse("the eviction policy is %s, it would drop bookings: set maxmemory-policy noeviction", h.EvictionPolicy)
	}
	if unacknowledged && replicas == 0 {
		return errors.Join(errs...)
	}
	switch {
	case h.ConnectedReplicas < replicas:
		refuse("%d of %d required replicas are online: no admission could be acknowledged", h.ConnectedReplicas, replicas)
	case h.ConnectedReplicas > replicas:
		refuse("%d replicas are online, %d are configured: one that need not acknowledge could be promoted, set the number of replicas to %d", h.ConnectedReplicas, replicas, h.ConnectedReplicas)
	}
	return errors.Join(errs...)
}
