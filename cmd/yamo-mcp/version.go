package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/assets"
	"github.com/yamo-protocol/yamo-mcp/native"
)

// version is set by the linker: -X main.version=v1.2.3.
var version string

// programVersion returns the version of this program: the linker's in a release, the module's after `go install`, else
// "devel".
func programVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// versionReport is the answer of `yamo-mcp version --json`.
type versionReport struct {
	Version  string            `json:"version"`
	Go       string            `json:"go"`
	Platform string            `json:"platform"`
	Native   nativeReport      `json:"native"`
	Modules  map[string]string `json:"modules"` // module path -> version; "" if not linked in
	Assets   assetsReport      `json:"assets"`
}

// nativeReport is the versions of the native libraries.
type nativeReport struct {
	LanceDB    string `json:"lancedb"`
	Lance      string `json:"lance"`
	LanceDBGo  string `json:"lancedb_go"`
	Tokenizers string `json:"tokenizers"`
	// ONNXRuntime is an asset: the version that setup installs.
	ONNXRuntime string `json:"onnxruntime"`
}

// assetsReport is the state of what `yamo-mcp setup` installs.
type assetsReport struct {
	Installed bool     `json:"installed"`
	Dir       string   `json:"dir"` // in which they are, or would be installed
	Missing   []string `json:"missing"`
	Error     string   `json:"error,omitempty"`
}

// reportedModules are the modules whose versions are needed in bug reports.
var reportedModules = []string{
	"github.com/mark3labs/mcp-go",
	"github.com/lancedb/lancedb-go",
	"github.com/daulet/tokenizers",
	"github.com/yalue/onnxruntime_go",
}

// newVersionCommand returns `yamo-mcp version`, which bug reports quote. It needs no workspace.
func newVersionCommand(env cli.Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of the program and its parts, and whether the model is installed",
		Args:  cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			report := newVersionReport(env.Getenv)
			if asJSON {
				enc := json.NewEncoder(env.Stdout)
				enc.SetIndent("", "  ")
				return enc.Encode(report)
			}
			return report.print(env.Stdout)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON instead of text")
	return cmd
}

// newVersionReport collects the versions. It never fails: a broken installation is what such a report is about.
func newVersionReport(getenv func(string) string) versionReport {
	linked := native.Linked()
	report := versionReport{
		Version:  programVersion(),
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Native: nativeReport{
			LanceDB: linked.LanceDB, Lance: linked.Lance, LanceDBGo: linked.LanceDBGo, Tokenizers: linked.Tokenizers,
			ONNXRuntime: assets.Pinned().ONNXRuntime,
		},
		Modules: map[string]string{},
		Assets:  assetsReport{Missing: []string{}},
	}
	for _, path := range reportedModules {
		// A module that is not linked in is listed with "": its absence is worth knowing in a bug report.
		report.Modules[path] = ""
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if _, wanted := report.Modules[module.Path]; wanted {
				report.Modules[module.Path] = module.Version
			}
		}
	}
	status, err := assets.Check(getenv)
	if err != nil {
		report.Assets.Error = err.Error()
		return report
	}
	report.Assets.Dir = status.Dir
	report.Assets.Missing = append(report.Assets.Missing, status.Missing()...)
	report.Assets.Installed = len(report.Assets.Missing) == 0
	return report
}

// print writes the report as a table.
func (r versionReport) print(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "yamo-mcp\t%s (%s, %s)\n", r.Version, r.Go, r.Platform)
	fmt.Fprintf(table, "LanceDB\t%s (Lance %s, lancedb-go %s)\n", r.Native.LanceDB, r.Native.Lance, r.Native.LanceDBGo)
	fmt.Fprintf(table, "tokenizers\t%s\n", r.Native.Tokenizers)
	fmt.Fprintf(table, "ONNX Runtime\t%s (onnxruntime_go %s)\n",
		r.Native.ONNXRuntime, r.Modules["github.com/yalue/onnxruntime_go"])
	fmt.Fprintf(table, "mcp-go\t%s\n", r.Modules["github.com/mark3labs/mcp-go"])
	switch {
	case r.Assets.Error != "":
		fmt.Fprintf(table, "assets\t%s\n", r.Assets.Error)
	case r.Assets.Installed:
		fmt.Fprintf(table, "assets\tinstalled in %s\n", r.Assets.Dir)
	default:
		fmt.Fprintf(table, "assets\tmissing in %s: %s (run `yamo-mcp setup`)\n",
			r.Assets.Dir, strings.Join(r.Assets.Missing, ", "))
	}
	return table.Flush()
}
