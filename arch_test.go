package loadtest

import (
	"bytes"
	stdcmp "cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/loadtest-go/loadtest"

// A sourceFile is a Go file of the module. Build constraints are ignored: what is checked here is checked for all systems at once.
type sourceFile struct {
	*ast.File
	name  string // from the root of the module, with slashes
	dir   string // ".": the root
	test  bool
	lines int
}

// within says whether f is in dir or below.
func (f sourceFile) within(dir string) bool { return f.dir == dir || strings.HasPrefix(f.dir, dir+"/") }

// product says whether f is linked into programs that import the root package.
func (f sourceFile) product() bool {
	return !f.test && !f.within("examples") && !f.within("internal/testserver")
}

// sourceFiles returns all Go files of the module that keep holds for.
func sourceFiles(t *testing.T, keep func(sourceFile) bool) []sourceFile {
	t.Helper()
	var files []sourceFile
	root := os.DirFS(".")
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch hidden := strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"; {
		case err != nil:
			return err
		case d.IsDir() && hidden && name != ".":
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		src, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ParseComments|parser.SkipObjectResolution)
		f := sourceFile{file, name, path.Dir(name), strings.HasSuffix(name, "_test.go"), bytes.Count(src, []byte("\n"))}
		if err == nil && keep(f) {
			files = append(files, f)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("found no files")
	}
	return files
}

func publicFile(f sourceFile) bool { return f.dir == "." && !f.test }

// mayImport says which arrows there are between packages: examples → root → internal, and never back.
func mayImport(f sourceFile, imported string) bool {
	below := func(parent string) bool { return imported == parent || strings.HasPrefix(imported, parent+"/") }
	switch {
	case imported == module:
		return f.within("examples") || f.dir == "." && f.test
	case below(module + "/examples/internal"):
		return f.within("examples")
	case below(module + "/internal/testserver"):
		return f.test
	case below(module + "/internal"):
		return f.dir == "." || f.test || f.within("examples/internal") && imported == module+"/internal/sys"
	case below("golang.org/x/sys"), imported == "unsafe":
		return f.dir == "internal/sys"
	case below("github.com/HdrHistogram/hdrhistogram-go"):
		return f.dir == "." || f.test
	case below("github.com/google/go-cmp"), below("go.uber.org/goleak"), below("golang.org/x/perf"):
		return f.test
	case slices.Contains([]string{"flag", "log", "log/slog", "os/signal", "expvar"}, imported):
		return !f.product() // it is a guest in the programs of others
	}
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".") && imported != "C" // of the standard library
}

func TestImports(t *testing.T) {
	for _, f := range sourceFiles(t, func(sourceFile) bool { return true }) {
		for _, spec := range f.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if !mayImport(f, imported) {
				t.Errorf("%s must not import %s", f.name, imported)
			}
		}
	}
}

func TestMayImport(t *testing.T) {
	check := func(reason, name, imported string, want bool) {
		t.Helper()
		f := sourceFile{name: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go")}
		if got := mayImport(f, imported); got != want {
			t.Errorf("%s: mayImport(%s, %s) = %v, want %v", reason, name, imported, got, want)
		}
	}
	check("the standard library", "run.go", "net/http", true)
	check("down", "run.go", module+"/internal/stat", true)
	check("back", "internal/stat/x.go", module, false)
	check("back, in a test", "internal/stat/x_test.go", module, false)
	check("leaves import no other", "internal/h1/x.go", module+"/internal/stat", false)
	check("of tests only", "run.go", module+"/internal/testserver", false)
	check("a test", "internal/h1/x_test.go", module+"/internal/testserver", true)
	check("an example is copied", "examples/floor/x.go", module+"/internal/stat", false)
	check("one owner of the system's calls", "affinity_linux.go", "golang.org/x/sys/unix", false)
	check("the owner", "internal/sys/x_linux.go", "golang.org/x/sys/unix", true)
	check("unsafe", "histogram.go", "unsafe", false)
	check("of tests only", "run.go", "github.com/google/go-cmp/cmp", false)
	check("not a dependency", "run_test.go", "github.com/stretchr/testify/assert", false)
	check("cgo", "internal/sys/x.go", "C", false)
	check("a guest does not log", "internal/h1/x.go", "log", false)
}

// Each requirement costs everyone who imports the module; a new one needs a reason.
func TestRequirements(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^(?:require)?\s+(\S+) v\S+$`).FindAllSubmatch(mod, -1) { // not those with "// indirect"
		got = append(got, string(m[1]))
	}
	want := []string{
		"github.com/HdrHistogram/hdrhistogram-go",
		"github.com/google/go-cmp",
		"go.uber.org/goleak",
		"golang.org/x/perf",
		"golang.org/x/sys",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("direct requirements (-want +got):\n%s", diff)
	}
	if bad := regexp.MustCompile(`(?m)^(replace|exclude|toolchain)\b.*`).Find(mod); bad != nil {
		t.Errorf("go.mod has the line %q", bad)
	}
}

// A guest leaves the program it is in alone: no environment, no output, no settings of the runtime, nothing done by being imported.
func TestGuest(t *testing.T) {
	reads := map[ast.Expr]bool{} // runtime.GOMAXPROCS(0) changes nothing
	forbidden := regexp.MustCompile(`^(os\.(Exit|Std(in|out|err)|.*[eE]nv.*|Chdir|Args)|fmt\.(Print|Scan)(f|ln)?|runtime\.GOMAXPROCS|debug\.Set.*)$`)
	for _, f := range sourceFiles(t, sourceFile.product) {
		ast.Inspect(f.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				reads[n.Fun] = types.ExprString(n) == "runtime.GOMAXPROCS(0)"
			case *ast.SelectorExpr:
				if s := types.ExprString(n); forbidden.MatchString(s) && !reads[n] {
					t.Errorf("%s uses %s", f.name, s)
				}
			case *ast.FuncDecl:
				if n.Recv == nil && n.Name.Name == "init" {
					t.Errorf("%s has a func init", f.name)
				}
			}
			return true
		})
	}
}

// Beyond 400 lines a file is asked whether it is two; 500 is too many.
func TestFileLength(t *testing.T) {
	for _, f := range sourceFiles(t, func(f sourceFile) bool { return !f.test && f.lines > 300 }) {
		if f.lines > 500 {
			t.Errorf("%s has %d lines, more than 500", f.name, f.lines)
		} else if f.lines > 400 {
			t.Logf("%s has %d lines, more than 400", f.name, f.lines)
		}
	}
}

// The exported names, with their types, are what users compile against: a change of the list is to be seen in review.
func TestAPI(t *testing.T) {
	var lines []string
	for _, f := range sourceFiles(t, publicFile) {
		for _, decl := range f.Decls {
			lines = append(lines, declaredAPI(decl)...)
		}
	}
	slices.Sort(lines)
	lines = slices.Compact(lines) // what several systems have each in a file of their own
	golden(t, "api.txt", []byte(strings.Join(lines, "\n")+"\n"))
}

// declaredAPI returns a line for each exported name that decl declares. Names of parameters are left out: nobody compiles against these.
func declaredAPI(decl ast.Decl) (lines []string) {
	ast.Inspect(decl, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncType); ok {
			f.Params, f.Results = withoutNames(f.Params), withoutNames(f.Results)
		}
		return true
	})
	switch d := decl.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name + signature(d.Type)
		switch {
		case !d.Name.IsExported():
		case d.Recv == nil:
			lines = append(lines, "func "+name)
		case ast.IsExported(receiver(d)):
			lines = append(lines, "method ("+types.ExprString(d.Recv.List[0].Type)+") "+name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					lines = append(lines, typeAPI(s)...)
				}
			case *ast.ValueSpec:
				for i, name := range s.Names {
					line := d.Tok.String() + " " + name.Name
					if s.Type != nil {
						line += " " + types.ExprString(s.Type)
					}
					if d.Tok == token.CONST && i < len(s.Values) {
						line += " = " + types.ExprString(s.Values[i])
					}
					if name.IsExported() {
						lines = append(lines, line)
					}
				}
			}
		}
	}
	return lines
}

func withoutNames(list *ast.FieldList) *ast.FieldList {
	if list == nil {
		return nil
	}
	bare := new(ast.FieldList)
	for _, field := range list.List {
		for range max(len(field.Names), 1) {
			bare.List = append(bare.List, &ast.Field{Type: field.Type})
		}
	}
	return bare
}

func signature(f *ast.FuncType) string { return strings.TrimPrefix(types.ExprString(f), "func") }

func receiver(d *ast.FuncDecl) string {
	return strings.TrimPrefix(types.ExprString(d.Recv.List[0].Type), "*")
}

func typeAPI(s *ast.TypeSpec) (lines []string) {
	name := s.Name.Name
	var members *ast.FieldList
	kind := "field"
	switch t := s.Type.(type) {
	case *ast.StructType:
		lines, members = []string{"type " + name + " struct"}, t.Fields
	case *ast.InterfaceType:
		lines, members, kind = []string{"type " + name + " interface"}, t.Methods, "interface method"
	default:
		equals := ""
		if s.Assign.IsValid() {
			equals = "= "
		}
		return []string{"type " + name + " " + equals + types.ExprString(t)}
	}
	for _, m := range members.List {
		of := types.ExprString(m.Type)
		if len(m.Names) == 0 {
			lines = append(lines, "embedded "+name+" "+of)
		}
		for _, n := range m.Names {
			if f, ok := m.Type.(*ast.FuncType); ok && kind != "field" {
				lines = append(lines, kind+" "+name+"."+n.Name+signature(f))
			} else if n.IsExported() {
				lines = append(lines, kind+" "+name+"."+n.Name+" "+of)
			}
		}
	}
	return lines
}

// Every exported name has a comment that begins with it. Constants and variables in a group may share one, and the methods that make a
// type an error need none.
func TestDocComments(t *testing.T) {
	check := func(name *ast.Ident, docs ...*ast.CommentGroup) {
		t.Helper()
		doc := stdcmp.Or(docs...).Text()
		if name.IsExported() && name.Name != "Error" && !regexp.MustCompile(`^((An?|The) )?`+name.Name+`\b`).MatchString(doc) {
			t.Errorf("the comment of %s does not begin with its name: %q", name.Name, doc)
		}
	}
	for _, f := range sourceFiles(t, publicFile) {
		for _, decl := range f.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil || ast.IsExported(receiver(d)) {
					check(d.Name, d.Doc)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					checkSpec(d, spec, check)
				}
			}
		}
	}
}

func checkSpec(d *ast.GenDecl, spec ast.Spec, check func(*ast.Ident, ...*ast.CommentGroup)) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		check(s.Name, s.Doc, d.Doc)
		if i, ok := s.Type.(*ast.InterfaceType); ok && s.Name.IsExported() {
			for _, m := range i.Methods.List {
				for _, name := range m.Names {
					check(name, m.Doc)
				}
			}
		}
	case *ast.ValueSpec:
		if !d.Lparen.IsValid() || d.Doc == nil {
			check(s.Names[0], s.Doc, d.Doc)
		}
	}
}

func TestPackageComments(t *testing.T) {
	packages := map[string]int{}
	for _, f := range sourceFiles(t, func(f sourceFile) bool { return !f.test }) {
		packages[f.dir] += 0
		if f.Doc != nil {
			packages[f.dir]++
		}
	}
	for dir, n := range packages {
		if n != 1 {
			t.Errorf("%s: %d files have a package comment, want one", dir, n)
		}
	}
}
