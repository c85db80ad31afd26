package loadtest

import (
	"bytes"
	"io"
	"strings"
)

// WriteMarkdown writes rs as a Markdown table, a line each (one result, too), with the warnings and the failures below it as a list. The
// columns are those of [WriteText]. What names and error messages contain is escaped: it cannot become a link, markup or another column.
func WriteMarkdown(w io.Writer, rs ...*Result) error {
	if err := checkResults("WriteMarkdown", rs); err != nil {
		return err
	}
	var b bytes.Buffer
	if len(rs) == 0 {
		b.WriteString("No results.\n")
	} else {
		writeMarkdownTable(&b, rs)
	}
	_, err := b.WriteTo(w)
	return err
}

func writeMarkdownTable(b *bytes.Buffer, rs []*Result) {
	t := newTable(rs)
	if t.title != "" {
		b.WriteString(escapeMarkdown(t.title) + "\n\n")
	}
	for i := range t.cols { // escaping first, since it changes the widths
		c := &t.cols[i]
		c.head = escapeMarkdown(c.head)
		for k, cell := range c.cells {
			c.cells[k] = escapeMarkdown(cell)
		}
	}
	for i := -1; i < len(rs); i++ {
		for _, c := range t.cols {
			cell := c.head
			if i >= 0 {
				cell = c.cells[i]
			}
			b.WriteString("| " + pad(cell, c.width(), !c.left) + " ")
		}
		b.WriteString("|\n")
		if i < 0 {
			for _, c := range t.cols {
				b.WriteString(markdownRule(c.width()+2, c.left))
			}
			b.WriteString("|\n")
		}
	}
	if len(t.notes) > 0 {
		b.WriteByte('\n')
	}
	for _, n := range t.notes {
		mark := n.mark
		if mark != "" {
			mark = "**" + mark + "** "
		}
		b.WriteString("- " + mark + escapeMarkdown(n.where(len(rs))+n.text) + "\n")
	}
	if host := describeHost(rs[0].Host); host != "" && sameHost(rs) {
		b.WriteString("\nEnvironment: " + escapeMarkdown(host) + "\n")
	}
}

func markdownRule(width int, left bool) string {
	if left {
		return "|:" + strings.Repeat("-", width-1)
	}
	return "|" + strings.Repeat("-", width-1) + ":"
}

func sameHost(rs []*Result) bool {
	for _, r := range rs {
		if r.Host != rs[0].Host {
			return false
		}
	}
	return true
}

var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "~", `\~`, "#", `\#`)

// escapeMarkdown makes s, which has no line breaks, plain text in a Markdown document.
func escapeMarkdown(s string) string { return markdownEscapes.Replace(printable(s, 2000)) }
