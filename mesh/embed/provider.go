package embed

import (
	"encoding/json"
	"errors"
)

// apis are the remote providers by their configured names.
var apis = map[string]api{
	"openai": {
		base: "https://api.openai.com/v1", path: "/embeddings", model: "text-embedding-3-small",
		dims: map[string]int{"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536},
		request: func(model string, texts []string) any {
			return openAIRequest{model, texts, "float"}
		},
		vectors: func(body []byte, n int) ([][]float32, error) {
			var answer struct {
				Data []struct {
					Index     int       `json:"index"`
					Embedding []float32 `json:"embedding"`
				} `json:"data"`
			}
			if err := json.Unmarshal(body, &answer); err != nil {
				return nil, err
			}
			vectors := make([][]float32, n)
			for _, d := range answer.Data { // the order is told by the index
				if d.Index < 0 || d.Index >= n || vectors[d.Index] != nil {
					return nil, errors.New("an index is wrong")
				}
				vectors[d.Index] = d.Embedding
			}
			return vectors, nil
		},
	},
	"ollama": {
		base: "http://localhost:11434", path: "/api/embed", model: "nomic-embed-text",
		dims: map[string]int{
			"nomic-embed-text": 768, "all-minilm": 384, "mxbai-embed-large": 1024, "bge-m3": 1024, "embeddinggemma": 768,
			"snowflake-arctic-embed2": 1024,
		},
		request: func(model string, texts []string) any {
			return ollamaRequest{model, texts, true}
		},
		vectors: func(body []byte, _ int) ([][]float32, error) {
			var answer struct {
				Embeddings [][]float32 `json:"embeddings"`
			}
			err := json.Unmarshal(body, &answer)
			return answer.Embeddings, err
		},
	},
	"cohere": {
		base: "https://api.cohere.com", path: "/v2/embed", model: "embed-multilingual-v3.0",
		dims: map[string]int{
			"embed-multilingual-v3.0": 1024, "embed-multilingual-light-v3.0": 384, "embed-english-v3.0": 1024,
			"embed-english-light-v3.0": 384, "embed-v4.0": 1536,
		},
		request: func(model string, texts []string) any {
			return cohereRequest{model, texts, "search_document", []string{"float"}, "END"}
		},
		vectors: func(body []byte, _ int) ([][]float32, error) {
			var answer struct {
				Embeddings struct {
					Float [][]float32 `json:"float"`
				} `json:"embeddings"`
			}
			err := json.Unmarshal(body, &answer)
			return answer.Embeddings.Float, err
		},
	},
}

type openAIRequest struct {
	Model          string   `json:"model"`
	Input          []string `json:"input"`
	EncodingFormat string   `json:"encoding_format"`
}

type ollamaRequest struct {
	Model    string   `json:"model"`
	Input    []string `json:"input"`
	Truncate bool     `json:"truncate"`
}

// cohereRequest's input type is the same for memories and queries: an Embedder does not know which of
// the two a text is.
type cohereRequest struct {
	Model          string   `json:"model"`
	Texts          []string `json:"texts"`
	InputType      string   `json:"input_type"`
	EmbeddingTypes []string `json:"embedding_types"`
	Truncate       string   `json:"truncate"`
}
