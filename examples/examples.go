// Package examples holds the files of an example sale, as an operator has them:
// the sale itself, and its roster in the state in which rosters arrive.
package examples

import _ "embed" // for the files below

// SpringYAML is a sale file: 20,700 seats in five levels, a ten-minute hold.
//
//go:embed spring.yaml
var SpringYAML []byte

// MessyRoster is the gzipped roster of 40,000 candidates for that sale, with
// everything that goes wrong in spreadsheets.
//
//go:embed roster-messy.csv.gz
var MessyRoster []byte

// MessyRosterReport is the JSON report that importing MessyRoster must give.
//
//go:embed roster-messy.expected.json
var MessyRosterReport []byte
