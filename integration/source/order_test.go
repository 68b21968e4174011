// Package source tests the program's source for rules that no linter knows.
package source

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/packages"
)

const module = "github.com/yamo-protocol/yamo-mcp/"

// byTime are the comparisons that may look at times or ids, with the reason.
var byTime = map[string]string{
	"mesh/record Compare": "the one order by time: of equal times, the ledger's sequence decides",

	"cmd/yamo-mcp/hookcmd states":       "files have no sequence; of equal times the names decide",
	"cmd/yamo-mcp newestFirst":          "turns of logs have no sequence; of equal times the order of the logs decides",
	"mesh/index flushSkills":            "rows of a table, whose order no answer shows",
	"internal/when Overlaps":            "spans of the calendar, which are no order",
	"internal/when adjacent":            "spans of the calendar, which are no order",
	"workspace ofDay":                   "files have no sequence; of equal times the names decide",
	"workspace/edit Drifts":             "ids lead to the lines of the record, which decide",
	"internal/othertools sorted":        "rows of another program: their times and ids do not depend on this machine",
	"mesh/fileindex Latest":             "files have no sequence; of equal times the names decide",
	"mesh/foreign memories":             "rows of another program: their times and ids do not depend on this machine",
	"mesh/lance Nearest":                "rows of equal similarity in a table that has no sequence",
	"mesh/turns newest":                 "turns of logs have no sequence; of equal times the order of the logs decides",
	"workspace/edit Scan":               "ids lead to the lines of the record, which decide",
	"workspace/transcript ListSessions": "times and names that the host gave",
	"workspace/transcript logs":         "times and names that the host gave",
}

// TestOrders finds comparisons by a time or an id. Two memories of one millisecond have no order by their times, and
// the digits that make their ids differ are random: with such a sort, answers depend on how fast the machine is. Use
// record.Moment, or the sequence of the ledger's entries.
func TestOrders(t *testing.T) {
	found := comparisons(t, "../../...")
	for _, at := range slices.Sorted(maps.Keys(found)) {
		if byTime[at] == "" {
			t.Errorf("%s: %s compares times or ids: order by record.Moment or the sequence of ledger entries", found[at], at)
		}
	}
	for at, reason := range byTime {
		if found[at] == (token.Position{}) {
			t.Errorf("%s compares no times or ids any more; it was allowed to: %s", at, reason)
		}
	}
}

// TestOrdersFindsPlanted shows that TestOrders can fail.
func TestOrdersFindsPlanted(t *testing.T) {
	var names []string
	for at := range comparisons(t, "./testdata/planted") {
		_, name, _ := strings.Cut(at, " ")
		names = append(names, name)
	}
	slices.Sort(names)
	want := []string{
		"Less", "before", "byID", "byIndex", "byKey", "byMilliseconds", "bySlice", "byText", "byTime", "byTimeLast",
		"named", "newer", "older",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// comparisons returns where functions that compare two values look at their times or ids, by package and function.
func comparisons(t *testing.T, pattern string) map[string]token.Position {
	t.Helper()
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo,
	}, pattern)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]token.Position{}
	for _, p := range loaded {
		for _, err := range p.Errors {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(p.PkgPath, module)
		if tests := strings.HasPrefix(name, "integration"); tests && !strings.HasSuffix(name, "planted") {
			continue
		}
		for _, file := range p.Syntax {
			for _, decl := range file.Decls {
				s := search{info: p.TypesInfo}
				if in := s.declaration(decl); s.at.IsValid() {
					found[fmt.Sprint(name, " ", in)] = place(p.Fset, s.at)
				}
			}
		}
	}
	return found
}

func place(files *token.FileSet, at token.Pos) token.Position {
	p := files.Position(at)
	if name, err := filepath.Rel(".", p.Filename); err == nil {
		p.Filename = name
	}
	return p
}

// search looks for comparisons by time in a function.
type search struct {
	info *types.Info
	at   token.Pos // of the first that was found
}

// declaration searches a function, or the function literals of variables, and returns the name: of the variables, that
// of the first with a comparison by time.
func (s *search) declaration(decl ast.Decl) string {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if signature, ok := s.info.Defs[d.Name].Type().(*types.Signature); ok && d.Body != nil && compares(signature) {
			s.body(d.Body)
		}
		s.literals(d)
		return d.Name.Name
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				if s.literals(v); s.at.IsValid() {
					return v.Names[0].Name
				}
			}
		}
	}
	return ""
}

// literals searches the function literals in n.
func (s *search) literals(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		if literal, ok := n.(*ast.FuncLit); ok {
			if signature, ok := s.info.TypeOf(literal).(*types.Signature); ok && compares(signature) {
				s.body(literal.Body)
			}
		}
		return true
	})
}

// compares reports whether a function orders two values of one type: func(a, b T) int or bool, with or without a
// receiver, or a method of T that gets another T. Where operands are numbers or strings, they may be places in a list
// or keys of a map.
func compares(f *types.Signature) bool {
	if f.Results().Len() != 1 {
		return false
	}
	result, ok := f.Results().At(0).Type().Underlying().(*types.Basic)
	if !ok || result.Kind() != types.Int && result.Kind() != types.Bool {
		return false
	}
	switch p := f.Params(); p.Len() {
	case 1:
		return f.Recv() != nil && types.Identical(f.Recv().Type(), p.At(0).Type())
	case 2:
		return types.Identical(p.At(0).Type(), p.At(1).Type())
	}
	return false
}

// timeLike are the names of strings that are a time or begin with one.
var timeLike = regexp.MustCompile(`^(ID|.*Timestamp|TS|Time|CreatedAt|UpdatedAt)$`)

// body looks for a field that is a time, or that is named like one.
func (s *search) body(body *ast.BlockStmt) {
	ast.Inspect(body, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok || s.at.IsValid() {
			return !s.at.IsValid()
		}
		v, ok := s.info.Uses[selector.Sel].(*types.Var)
		if ok && v.IsField() && (v.Type().String() == "time.Time" || timeLike.MatchString(v.Name())) {
			s.at = n.Pos()
		}
		return true
	})
}
