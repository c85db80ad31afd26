package loadtest

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// snippetNames are what snippets in the documentation may use without declaring it, and snippetPackages what they may use without
// importing it.
const snippetNames = `
var (
	ctx     context.Context
	handler http.Handler
	t       *testing.T
	b       *testing.B
	err     error
)
`

var snippetPackages = []string{
	"context", "errors", "fmt", "log", "net/http", "net/http/httptest", "os", "testing", "time", module,
}

// What README.md and doc.go show compiles. A whole file in README.md is, word for word, one of the examples.
func TestDocSnippets(t *testing.T) {
	if testing.Short() {
		t.Skip("asks the go command for its packages, which takes seconds if it has to compile them")
	}
	packages := exportData(t)
	examples, err := filepath.Glob("examples/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	snippets := readmeBlocks(t, "go")
	if len(snippets) == 0 {
		t.Error("README.md has no Go code")
	}
	for _, s := range snippets {
		if !strings.Contains("\n"+s, "\npackage ") {
			checkSnippet(t, packages, "README.md", s)
		} else if !slices.ContainsFunc(examples, func(name string) bool {
			file, err := os.ReadFile(name)
			return err == nil && strings.TrimSpace(string(file)) == strings.TrimSpace(s)
		}) {
			t.Errorf("README.md has a file that is none of the examples' files:\n%s", s)
		}
	}

	snippets = docBlocks(t)
	if len(snippets) == 0 {
		t.Error("doc.go has no Go code")
	}
	for _, s := range snippets {
		checkSnippet(t, packages, "doc.go", s)
	}
}

// The commands that README.md gives are there to be typed.
func TestReadmeCommands(t *testing.T) {
	var commands []string
	for _, block := range readmeBlocks(t, "sh") {
		commands = append(commands, strings.Split(strings.TrimSpace(block), "\n")...)
	}
	for _, want := range []string{"go run ./examples/quickstart", "go test ./..."} {
		if !slices.Contains(commands, want) {
			t.Errorf("README.md lacks the command %q", want)
		}
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("go run (?:-\\S+ )*(\\./[^\\s`]+)|\\]\\(([^):#]+)\\)").FindAllSubmatch(readme, -1) {
		name := string(m[1]) + string(m[2]) // a package to run, or the target of a link
		if _, err := os.Stat(filepath.FromSlash(name)); err != nil {
			t.Errorf("README.md: %v", err)
		}
	}
}

// readmeBlocks returns the fenced blocks of README.md in the given language.
func readmeBlocks(t *testing.T, language string) (blocks []string) {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$").FindAllSubmatch(readme, -1) {
		if string(m[1]) == language {
			blocks = append(blocks, string(m[2]))
		}
	}
	return blocks
}

// docBlocks returns the indented blocks of the package comment that are Go code: those that declare something or use this package. The
// others are lists.
func docBlocks(t *testing.T) (blocks []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile(`:=|\bfunc\b|\bloadtest\.`)
	for _, block := range new(comment.Parser).Parse(file.Doc.Text()).Content {
		if c, ok := block.(*comment.Code); ok && code.MatchString(c.Text) {
			blocks = append(blocks, c.Text)
		}
	}
	return blocks
}

// exportData imports snippetPackages, and what they import, from what the compiler has exported of them.
func exportData(t *testing.T) types.Importer {
	t.Helper()
	args := append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}"}, snippetPackages...)
	cmd := exec.CommandContext(t.Context(), "go", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("there is no go command here")
	} else if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		files[path] = file
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		if files[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(files[path])
	})
}

// checkSnippet type-checks declarations, or else statements, as if they were in a file that imports snippetPackages.
func checkSnippet(t *testing.T, packages types.Importer, where, snippet string) {
	t.Helper()
	head := "package p\nimport (\"" + strings.Join(snippetPackages, "\"; \"") + "\")\n" + snippetNames
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, where, head+snippet, parser.SkipObjectResolution)
	if err != nil {
		body := "func _() error {\n" + snippet + "\nreturn nil\n}\n"
		if file, err = parser.ParseFile(fset, where, head+body, parser.SkipObjectResolution); err != nil {
			t.Errorf("%s: neither declarations nor statements: %v\n%s", where, err, snippet)
			return
		}
	}
	config := types.Config{
		Importer: packages,
		Error: func(err error) {
			if e := new(types.Error); errors.As(err, e) && !e.Soft { // soft: an import or a variable that the snippet has no use for
				t.Errorf("%s: %s\n%s", where, e.Msg, snippet)
			}
		},
	}
	_, _ = config.Check("p", fset, []*ast.File{file}, nil) // errors go to config.Error
}
