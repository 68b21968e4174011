// Package notation finds secrets by how they are written down: after a label or the name of a field, in a table, on a
// command line, in markup, SQL, HTTP and code, and in files whose fields have a fixed place.
//
// Labels ("password is x", "DB_PASSWORD=x") are searched for in the whole text (password.go), as are the stems of names
// (fields.go). Forms with a regular expression of their own (pairs.go, commands.go, places.go) are matched only near
// one of their hints.
//
// Invariant: a finding has the value only; the name before it, quotes and separators stay in the text.
package notation
