package similar

import "testing"

func TestFact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b   string
		cosine float64
		want   string
	}{
		{"Luis prefers window seats", "Luis prefers window seats.", 0, Restates},
		{"The user likes short replies on WhatsApp", "The user prefers brief replies on WhatsApp", .88, Restates},
		{"The user likes short replies on WhatsApp", "The user keeps bees near WhatsApp", .3, ""},
		{"Luis drinks coffee", "Luis stopped drinking coffee", .86, Changes},
		{"Luis drinks coffee", "Luis does not drink coffee", .9, Changes},
		{"Luis's flight leaves at 9:40", "Luis's flight leaves at 10:20", .95, Changes},
		{"Luis drinks coffee", "Ana stopped drinking coffee", .8, ""},                // another person
		{"The flight to Oslo leaves at 9", "The flight to Rome leaves at 9", .9, ""}, // another place
		{"Luis is 34", "Luis lives in a house with 3 cats", .4, ""},
		{"Pump 1 is blue", "Pump 2 is blue", .97, ""}, // another pump
		{"Luis plays the cello", "Luis plays tennis", .6, ""},
	} {
		if got := Of(c.a).Fact(Of(c.b), c.cosine); got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.a, c.b, got, c.want)
		}
		if got := Of(c.b).Fact(Of(c.a), c.cosine); got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.b, c.a, got, c.want)
		}
	}
}
