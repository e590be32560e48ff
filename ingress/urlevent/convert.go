package urlevent

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
)

// fromURL reads the event of a function URL. The client is who Lambda saw; no
// header can say otherwise.
func fromURL(ctx context.Context, in events.LambdaFunctionURLRequest) (*http.Request, error) {
	header := http.Header{}
	for name, v := range in.Headers {
		header.Set(name, v)
	}
	if len(in.Cookies) > 0 { // they are not among the headers
		header.Set("Cookie", strings.Join(in.Cookies, "; "))
	}
	target := in.RawPath
	if in.RawQueryString != "" {
		target += "?" + in.RawQueryString
	}
	return request(ctx, in.RequestContext.HTTP.Method, target, header, in.Body, in.IsBase64Encoded, in.RequestContext.HTTP.SourceIP)
}

// fromBalancer reads the event of a load balancer, which comes in two forms: its
// target group says which. The peer is who the balancer saw, whom it has put at
// the end of X-Forwarded-For; what stands before it is what that peer said.
func fromBalancer(ctx context.Context, in events.ALBTargetGroupRequest) (*http.Request, error) {
	header := http.Header{}
	for name, v := range in.Headers {
		header.Set(name, v)
	}
	for name, all := range in.MultiValueHeaders {
		header[http.CanonicalHeaderKey(name)] = all
	}
	hops := strings.Split(strings.Join(header.Values("X-Forwarded-For"), ","), ",")
	peer := strings.TrimSpace(hops[len(hops)-1])
	if header.Del("X-Forwarded-For"); len(hops) > 1 {
		header.Set("X-Forwarded-For", strings.Join(hops[:len(hops)-1], ","))
	}
	target := in.Path
	if query := rawQuery(in); query != "" {
		target += "?" + query
	}
	return request(ctx, in.HTTPMethod, target, header, in.Body, in.IsBase64Encoded, peer)
}

// rawQuery puts the query together again. A balancer hands it on as it came,
// still escaped, in one of two forms.
func rawQuery(in events.ALBTargetGroupRequest) string {
	all := map[string][]string{}
	for name, v := range in.QueryStringParameters {
		all[name] = []string{v}
	}
	maps.Copy(all, in.MultiValueQueryStringParameters)
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, v := range all[name] {
			parts = append(parts, name+"="+v)
		}
	}
	return strings.Join(parts, "&")
}

func request(ctx context.Context, method, target string, header http.Header, body string, encoded bool, peer string) (*http.Request, error) {
	content := []byte(body)
	if encoded {
		var err error
		if content, err = base64.StdEncoding.DecodeString(body); err != nil {
			return nil, fmt.Errorf("the body is no base64: %w", err)
		}
	}
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	r.URL, r.RequestURI, r.Header, r.Host = u, target, header, header.Get("Host")
	header.Del("Host")
	r.RemoteAddr = net.JoinHostPort(peer, "0") // nobody says from which port
	return r, nil
}

// text is the body as JSON can carry it.
func (a *answer) text() (body string, encoded bool) {
	if utf8.Valid(a.body.Bytes()) && a.sent.Get("Content-Encoding") == "" {
		return a.body.String(), false
	}
	return base64.StdEncoding.EncodeToString(a.body.Bytes()), true
}

func toURL(_ events.LambdaFunctionURLRequest, a *answer) events.LambdaFunctionURLResponse {
	a.end()
	out := events.LambdaFunctionURLResponse{StatusCode: a.status, Headers: map[string]string{}, Cookies: a.sent["Set-Cookie"]}
	for name, all := range a.sent {
		if name != "Set-Cookie" {
			out.Headers[name] = strings.Join(all, ", ")
		}
	}
	out.Body, out.IsBase64Encoded = a.text()
	return out
}

// toBalancer answers in the form in which was asked; the other one is ignored.
func toBalancer(in events.ALBTargetGroupRequest, a *answer) events.ALBTargetGroupResponse {
	a.end()
	out := events.ALBTargetGroupResponse{StatusCode: a.status, StatusDescription: fmt.Sprintf("%d %s", a.status, http.StatusText(a.status))}
	if in.MultiValueHeaders != nil {
		out.MultiValueHeaders = a.sent
	} else {
		out.Headers = map[string]string{}
		for name, all := range a.sent {
			out.Headers[name] = all[len(all)-1] // this form has room for one
			if name != "Set-Cookie" {
				out.Headers[name] = strings.Join(all, ", ")
			}
		}
	}
	out.Body, out.IsBase64Encoded = a.text()
	return out
}
