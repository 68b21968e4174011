// Package native links the two Rust libraries the program needs and reports their versions.
//
// liblancedb_go (LanceDB's C interface) and libtokenizers (Hugging Face tokenizers) are in
// lib/<os>_<arch>/ next to this file: `make` unpacks the committed ones (prebuilt/) or builds them
// (build.sh). A package that calls them through lancedb-go or daulet/tokenizers imports this one for
// its linker flags. The invariant: nothing of either library runs before CheckCPU has passed.
package native

import (
	_ "embed"
	"errors"
	"runtime"

	"github.com/pelletier/go-toml/v2"
	"golang.org/x/sys/cpu"
)

//go:embed manifest.toml
var manifest []byte

// Versions are the versions of the native parts, from manifest.toml.
type Versions struct {
	LanceDBGo  string `toml:"lancedb_go_version"` // the Go module and its C interface
	LanceDB    string `toml:"lancedb_crate"`      // the database engine
	Lance      string `toml:"lance_crate"`        // the file format
	Tokenizers string `toml:"tokenizers_version"`
	CPU        string `toml:"amd64_cpu"` // the oldest x86-64 processor they run on
}

// Linked returns the versions of the libraries this program was linked with.
func Linked() Versions {
	var v Versions
	if err := toml.Unmarshal(manifest, &v); err != nil {
		panic("native: manifest.toml: " + err.Error()) // embedded at build time
	}
	return v
}

// errCPU tells a person with an old processor what to do.
var errCPU = errors.New("this processor has no AVX2, FMA and BMI2, which the LanceDB library was built for " +
	"(x86-64 processors since about 2013 have them); rebuild it for this machine: set amd64_cpu = \"x86-64-v2\" " +
	"in native/manifest.toml and run `make native`")

// CheckCPU returns an error that names the remedy if this processor cannot run the libraries. The main
// program calls it first, so that an old machine gets a sentence and not an illegal instruction.
func CheckCPU() error {
	if runtime.GOARCH == "amd64" && Linked().CPU == "haswell" &&
		(!cpu.X86.HasAVX2 || !cpu.X86.HasFMA || !cpu.X86.HasBMI2) {
		return errCPU
	}
	return nil
}
