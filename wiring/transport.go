package wiring

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// wholeBody sends each request's body from memory. The AWS SDK closes a body as
// soon as the answer's headers are there; net/http may then still be about to
// read its end, takes that for a failed write and closes the connection under
// the answer. It shows with endpoints as near as the local cloud, a few times
// in a hundred calls, as "use of closed network connection". Bodies are small
// (a batch of ten events, a transaction of a dozen items), so the copy is cheap.
type wholeBody struct{ next aws.HTTPClient }

// Do implements aws.HTTPClient.
func (t wholeBody) Do(r *http.Request) (*http.Response, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return t.next.Do(r)
	}
	body, err := io.ReadAll(r.Body)
	_ = r.Body.Close() // all of it is read
	if err != nil {
		return nil, fmt.Errorf("read the request's body: %w", err)
	}
	whole := r.Clone(r.Context())
	whole.Body = io.NopCloser(bytes.NewReader(body))
	return t.next.Do(whole)
}
