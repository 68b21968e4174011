package rank

import "testing"

func TestAsk(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]question{
		"Could you show me how to implement a login feature?":         {help: true},
		"What are some common responses when an API fails?":           {help: true},
		"How should I organize the parts of a webpage?":               {help: true},
		"Which libraries would you suggest for my app?":               {help: true},
		"How did you recommend managing the flow of requests?":        {assistant: true},
		"What have you told me about Lisbon?":                         {assistant: true},
		"What did I say about the budget?":                            {},
		"Can you list the order in which I brought up my worries?":    {broad: true, ordered: true},
		"Can you give me a summary of how my project has progressed?": {summary: true, broad: true},
		"Summarize what we decided about the garden.":                 {summary: true, broad: true},
		"List all the books that Ana lent me.":                        {broad: true},
		"How many different doctors did I see?":                       {broad: true},
		"What happened first, in chronological order?":                {broad: true, ordered: true},
		"In order to fix the pump, what do I need?":                   {},
		"Write the release notes for the ferry app.":                  {help: true},
		"Please review my pull request":                               {help: true},
		"Give me a summary of what we did on the pump.":               {summary: true, broad: true},
		"Take a screenshot of the dashboard":                          {help: true},
		"Did I order the seeds?":                                      {},
		"Can you list the parts of a pump?":                           {help: true},
		"How many commits have been merged?":                          {},
		"Where does Ana live?":                                        {},
		"Wo wohnt Ana?":                                               {},
	} {
		if got := parseQuestion(query); got != want {
			t.Errorf("parseQuestion(%q) = %+v, want %+v", query, got, want)
		}
	}
}
