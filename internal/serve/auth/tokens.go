package auth

import (
	"context"
	"errors"

	"github.com/yamo-protocol/yamo-mcp/internal/token"
)

// Tokens returns an Authenticate function for the operator's own tokens. The token's record in the store determines the
// tenant. Besides ErrUnauthorized, its errors mean that the store cannot be read.
func Tokens(store *token.Store) func(context.Context, string) (Client, error) {
	return func(_ context.Context, text string) (Client, error) {
		record, err := store.Verify(text)
		if errors.Is(err, token.ErrInvalid) {
			return Client{}, ErrUnauthorized
		}
		if err != nil {
			return Client{}, err
		}
		who, err := record.Audience()
		if err != nil {
			return Client{}, err
		}
		c := Client{
			Key:    "token:" + record.ID,
			Tenant: Tenant{Workspace: record.Workspace, AgentID: record.AgentID, Audience: who},
			Valid:  func() error { return store.CheckActive(record.ID) },
		}
		if record.Expires != nil {
			c.Expires = *record.Expires
		}
		return c, nil
	}
}
