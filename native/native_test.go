package native

import "testing"

func TestVersionsAreInTheManifest(t *testing.T) {
	v := Linked()
	for name, value := range map[string]string{
		"lancedb_go_version": v.LanceDBGo, "lancedb_crate": v.LanceDB, "lance_crate": v.Lance,
		"tokenizers_version": v.Tokenizers, "amd64_cpu": v.CPU,
	} {
		if value == "" {
			t.Errorf("manifest.toml: %s is missing or empty", name)
		}
	}
}

func TestThisProcessorRunsTheLibraries(t *testing.T) {
	if err := CheckCPU(); err != nil {
		t.Error(err)
	}
}
