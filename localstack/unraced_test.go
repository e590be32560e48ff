//go:build !race

package main

// buildFlags make another program as this one is made, so that it shares what is
// built already.
var buildFlags []string
