package redact

import (
	"strconv"
	"strings"
	"sync"
)

// callingCodes lists the assigned country calling codes by the lengths that a national number can have in
// them: the metadata of libphonenumber 9.0.32 (Apache-2.0), read with nyaruka/phonenumbers v1.8.0, IsPossibleNumber's
// part of it.
//
// The library itself is not linked: it parses its metadata in a package init, which costs every start of the
// program 8.8 ms and 7 MB, whether or not a text is ever redacted, and the program 4 MB of size.
var callingCodes = []struct{ lengths, codes string }{
	{"7 10", "1 960"},
	{"10 14", "7"},
	{"8 9 10", "20 60 855 856 964 970 976"},
	{"5 6 7 8 9 10", "27 64 263"},
	{"10 11 12", "30"},
	{"5 6 7 8 9 10 11", "31"},
	{"8 9", "32 36 51 213 224 233 237 250 258 264 268 377 382 387 591 962 963"},
	{"9", "33 34 93 94 211 212 218 221 240 242 244 249 251 255 256 260 261 262 351 590 594 596 979 992 994 995 998"},
	{"6 7 8 9 10 11 12", "39 381"},
	{"6 9", "40 508 681"},
	{"9 12", "41 870"},
	{"4 5 6 7 8 9 10 11 12 13", "43 598"},
	{"7 9 10", "44"},
	{"8", "45 216 222 223 226 227 228 232 235 236 253 257 266 350 356 357 370 371 373 374 389 505 509 800 808 973 993"},
	{"6 7 8 9 10 12", "46"},
	{"5 8", "47 686"},
	{"6 7 8 9 10", "48 95 880"},
	{"4 5 6 7 8 9 10 11 12 13 14 15", "49"},
	{"10", "52 58 225"},
	{"6 7 8 10", "53"},
	{"10 11", "54"},
	{"8 9 10 11", "55 593"},
	{"9 10 11", "56"},
	{"8 10 11", "57 65 977"},
	{"5 6 7 8 9 10 12", "61"},
	{"7 8 9 10 11 12 13 14 15 16 17", "62"},
	{"6 8 9 10 11 12 13", "63"},
	{"8 9 10 13", "66"},
	{"8 9 10 11 12 13 14 15 16 17", "81"},
	{"5 6 8 9 10 11 12 13 14", "82"},
	{"7 8 9 10", "84 243 254 353"},
	{"7 8 9 10 11 12", "86 882 972"},
	{"7 10 12 13", "90"},
	{"8 9 10 11 12 13", "91"},
	{"8 9 10 11 12", "92 383 883"},
	{"4 5 6 7 10", "98"},
	{"7", "220 238 239 246 248 269 291 297 592 673 674 680 691 692"},
	{"8 10", "229 378 506 850"},
	{"7 8 10", "230 267 372"},
	{"7 8 9", "231 385 967 968"},
	{"10 11 12 13 14", "234"},
	{"7 8", "241 599 670 675 853 961 965 975"},
	{"7 9", "245 265 354 423"},
	{"5 6", "247"},
	{"6 7 8 9", "252 355"},
	{"4 5", "290"},
	{"6", "298 299 672 687"},
	{"4 5 6 7 8 9 10 11", "352"},
	{"5 6 7 8 9 10 11 12", "358 971"},
	{"6 7 8 9 12", "359"},
	{"6 7 8 9 10 11", "375 595"},
	{"6 8 9", "376 689"},
	{"9 10", "380 881 966 996"},
	{"5 6 7 8", "386"},
	{"9 10 11 12", "420"},
	{"6 7 9", "421"},
	{"5", "500 682"},
	{"7 11", "501 679"},
	{"8 11", "502 504"},
	{"7 8 11", "503"},
	{"7 8 10 11", "507"},
	{"6 7", "597"},
	{"5 7", "676 677 678"},
	{"4 7", "683"},
	{"5 6 7 10", "685"},
	{"5 6 7", "688"},
	{"4 5 6 7", "690"},
	{"5 6 7 8 9 11", "852"},
	{"12", "878"},
	{"7 8 9 10 11", "886"},
	{"11", "888"},
	{"7 8 9 11", "974"},
}

// nationalLengths maps a calling code to the set of its national lengths, bit n for n digits.
var nationalLengths = sync.OnceValue(func() map[int]uint32 {
	m := make(map[int]uint32)
	for _, row := range callingCodes {
		var set uint32
		for length := range strings.FieldsSeq(row.lengths) {
			n, _ := strconv.Atoi(length)
			set |= 1 << n
		}
		for code := range strings.FieldsSeq(row.codes) {
			n, _ := strconv.Atoi(code)
			m[n] = set
		}
	}
	return m
})

// callingCode reports whether d begins with an assigned calling code, and whether the rest can be a national
// number by its length. A trunk 0, as in +44 (0)20, may be among the digits.
func callingCode(d string) (assigned, possible bool) {
	for n := 1; n <= 3 && n < len(d); n++ {
		lengths, ok := nationalLengths()[number(d[:n])]
		if !ok || d[0] == '0' {
			continue
		}
		national := d[n:]
		if d[0] == '1' {
			return true, nanp(national)
		}
		return true, lengths>>len(national)&1 == 1 || national[0] == '0' && lengths>>(len(national)-1)&1 == 1
	}
	return false, false
}
