package salefile

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/holdfast/holdfast/sale"
)

// decoder walks the YAML tree by hand, because the library's own decoding stops at the first unknown field and gives no place for the faults that are found later.
type decoder struct {
	faults   []sale.Fault
	lines    map[string]int // where each path stands
	bad      []string       // paths whose value could not be taken
	expanded int            // seats that names and ranges of rows stood for
}

// fields maps the names of a mapping to what takes their value.
type fields map[string]func(n *yaml.Node, path string)

func (d *decoder) fault(n *yaml.Node, path, format string, args ...any) {
	d.faults = append(d.faults, sale.Fault{Path: path, Line: n.Line, Reason: fmt.Sprintf(format, args...)})
	d.bad = append(d.bad, path)
}

// blamed says whether the path, what it is a part of, a part of it, or what it is reckoned from is faulty already.
func (d *decoder) blamed(path string) bool {
	for _, bad := range d.bad {
		switch {
		case bad == "" || within(path, bad) || within(bad, path):
			return true
		case bad == "hold" && (path == "soft_hold_max" || within(path, "ages")):
			return true
		case path == "total_cap" && within(bad, "levels"):
			return true
		}
	}
	return false
}

// within says whether inner is outer or a part of it.
func within(inner, outer string) bool {
	rest, ok := strings.CutPrefix(inner, outer)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// line finds the line of a path, or of the nearest thing around it that the file has.
func (d *decoder) line(path string) int {
	for path != "" {
		if n, ok := d.lines[path]; ok {
			return n
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return 0
}

// mapping hands each field to its taker. Unknown and repeated names are faults, and so are the missing ones of need.
func (d *decoder) mapping(n *yaml.Node, path string, known fields, need ...string) {
	if n.Kind != yaml.MappingNode {
		d.fault(n, path, "must be fields with values, is %s", describe(n))
		return
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := join(path, key.Value)
		take, ok := known[key.Value]
		switch {
		case !ok || key.Kind != yaml.ScalarNode:
			d.fault(key, at, "is no field of a sale file here; known are %s", names(known))
		case seen[key.Value]:
			d.fault(key, at, "is given twice")
		default:
			seen[key.Value] = true
			d.lines[at] = value.Line
			take(value, at)
		}
	}
	for _, name := range need {
		if !seen[name] {
			d.fault(n, join(path, name), "is missing")
		}
	}
}

// list hands each element to its taker.
func (d *decoder) list(n *yaml.Node, path string, take func(n *yaml.Node, path string)) {
	if n.Kind != yaml.SequenceNode {
		d.fault(n, path, "must be a list, is %s", describe(n))
		return
	}
	for i, element := range n.Content {
		at := fmt.Sprintf("%s[%d]", path, i)
		d.lines[at] = element.Line
		take(element, at)
	}
}

// text returns a scalar as it is written.
func (d *decoder) text(n *yaml.Node, path string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		d.fault(n, path, "must be a text, is %s", describe(n))
		return "", false
	}
	return n.Value, true
}

// integer takes a plain decimal number. YAML's other spellings (0o17, 1_000, 1e3) are refused: a cap that reads differently to two people is worse than a fault.
func (d *decoder) integer(n *yaml.Node, path string) int64 {
	s, ok := d.text(n, path)
	if !ok {
		return 0
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil || s != strconv.FormatInt(v, 10) {
		d.fault(n, path, "must be a whole number in plain digits, is %q", clip(s))
		return 0
	}
	return v
}

func (d *decoder) duration(n *yaml.Node, path string) time.Duration {
	s, ok := d.text(n, path)
	if !ok {
		return 0
	}
	v, err := time.ParseDuration(s)
	if err != nil || v <= 0 {
		d.fault(n, path, "must be a positive duration with its unit, such as 10m or 1m30s, is %q", clip(s))
		return 0
	}
	return v
}

func join(path, name string) string {
	if path == "" {
		return clip(name)
	}
	return path + "." + clip(name)
}
