// Package getopt lets package flag read the command lines of C programs.
package getopt

import (
	"flag"
	"strings"
)

// Args rewrites args for the flags of fs: "-n100" becomes "-n 100", "-kc7" becomes "-k -c 7", and options behind the operands move before
// them. What package flag accepts by itself ("-n=100", "--n 100") stays as it is.
func Args(fs *flag.FlagSet, args []string) []string {
	var options, operands []string
	missing := false // the value of the last option
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			operands = append(operands, args[i+1:]...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			operands = append(operands, arg)
			continue
		}
		word, _, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if strings.HasPrefix(arg, "--") || fs.Lookup(word) != nil {
			options = append(options, arg)
			if takesValue(fs, word) && !given {
				if missing = i+1 == len(args); !missing {
					i++
					options = append(options, args[i])
				}
			}
			continue
		}
		for rest := arg[1:]; rest != ""; {
			letter := rest[:1]
			rest = rest[1:]
			options = append(options, "-"+letter)
			if !takesValue(fs, letter) {
				continue
			}
			if rest == "" && i+1 < len(args) {
				i++
				rest = args[i]
			}
			if missing = rest == ""; !missing {
				options = append(options, rest)
			}
			rest = ""
		}
	}
	if missing {
		return options // package flag has words for that
	}
	return append(append(options, "--"), operands...)
}

func takesValue(fs *flag.FlagSet, name string) bool {
	f := fs.Lookup(name)
	if f == nil {
		return false
	}
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return !ok || !b.IsBoolFlag()
}
