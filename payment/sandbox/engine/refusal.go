package engine

import "errors"

// Refusal is a definite no with a stable code of package api.
type Refusal struct {
	Code    string
	Message string
}

func (r *Refusal) Error() string { return "sandbox: " + r.Code + ": " + r.Message }

func refuse(code, message string) error { return &Refusal{Code: code, Message: message} }

// The two ways in which a caller learns nothing. The shell turns them into a
// connection that ends and a connection that hangs.
var (
	// ErrLost: the answer never arrives; the call had its effect unless the
	// gateway was down.
	ErrLost = errors.New("sandbox: the answer is lost")
	// ErrHang: no answer comes before the caller gives up; whether there was an
	// effect depends on the switch.
	ErrHang = errors.New("sandbox: no answer in time")
)
