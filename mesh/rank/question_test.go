package rank

import "testing"

func TestAsk(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]question{
		"Could you show me how to implement a login feature?":         {help: true, task: true},
		"What are some common responses when an API fails?":           {help: true, task: true},
		"How should I organize the parts of a webpage?":               {help: true, task: true},
		"Which libraries would you suggest for my app?":               {help: true, task: true},
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
		"Write the release notes for the ferry app.":                  {help: true, task: true},
		"Please review my pull request":                               {help: true, task: true},
		"Give me a summary of what we did on the pump.":               {summary: true, broad: true},
		"Take a screenshot of the dashboard":                          {help: true, task: true},
		"Did I order the seeds?":                                      {},
		"Can you list the parts of a pump?":                           {help: true, task: true},
		"How many commits have been merged?":                          {},
		"Where does Ana live?":                                        {},
		"Find me a flight to Oslo":                                    {task: true},
		"Clean up the downloads folder":                               {task: true},
		"Have a look at my diff please":                               {task: true},
		"What can I cook with prawns?":                                {task: true},
		"Here is my plan for the shop, what do you think?":            {task: true},
		"Send Clara a message about the results":                      {help: true, task: true},
		"Where could we stay in Siena?":                               {task: true},
		"Number of the router in the attic":                           {},
		"Put Clara on the guest list":                                 {task: true},
		"Have the tests passed?":                                      {},
		"Password for the router":                                     {},
		"That is the plan":                                            {},
		"What did I think of the plan?":                               {},
		"Wo wohnt Ana?":                                               {},
	} {
		if got := parseQuestion(query); got != want {
			t.Errorf("parseQuestion(%q) = %+v, want %+v", query, got, want)
		}
	}
}
