package rank

import (
	"slices"

	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// The weights of projects and labels: round numbers, chosen on the even half of mesh/testdata/projects.json.
const (
	elsewhere   = .5 // subtracted from the score of a memory of another project
	labelWeight = 1. // added for a label that the query names
	placeShare  = .6 // minimum of how well a memory of the project answers, as a share of one that it is placed before
	nameShare   = .5 // minimum share of a name in keyword.Scores.Named of a label that the query asks for
)

// placed returns what the score of a memory loses because it belongs to another project than the session's (0 or
// negative), and gains because the query names one of its labels (0 or more).
//
// What has no project holds everywhere, as does what is about the user. In a session without a project, and for a query
// that names a memory's project, none is elsewhere.
func (r *Candidates) placed(p *part, doc int, project string) (place, label float32) {
	if len(p.Named) > 0 {
		label = labelWeight * p.Named[doc]
	}
	if project == "" {
		return 0, label
	}
	own := p.Project(doc)
	if own == "" || own == project || r.names(record.ProjectName(own)) || p.Record(doc).IsPersonal() {
		return 0, label
	}
	return -elsewhere, label
}

// preferProject moves memories of the session's project, or with the label that the query names, before memories of
// others in the list that hardly answer better. The scores keep their places, so that they still descend.
func (r *Candidates) preferProject(list []leader, project string) {
	near := slices.Clone(list[:min(nearAmong, len(list))])
	asks := slices.ContainsFunc(near, func(l leader) bool { return r.named(l) })
	if !asks && project == "" {
		return
	}
	meant := func(l leader) bool {
		if asks {
			return r.named(l)
		}
		return r.parts[l.part].Project(l.doc) == project
	}
	other := func(l leader) bool {
		p := r.parts[l.part]
		where, _ := r.placed(p, l.doc, project)
		found := p.Record(l.doc)
		return !meant(l) && (where < 0 || asks && len(found.Labels()) > 0 && !found.IsPersonal())
	}
	order := slices.Clone(near)
	for i := range order {
		for j := i + 1; j < len(order) && other(order[i]); j++ {
			if here := order[j]; meant(here) && r.answers(here) >= placeShare*r.answers(order[i]) {
				order = slices.Insert(slices.Delete(order, j, j+1), i, here)
			}
		}
	}
	for i, l := range order {
		list[i] = l
		list[i].score = near[i].score
	}
}

// named reports whether a memory has a label, or a word, by which the query names what it asks for.
func (r *Candidates) named(l leader) bool {
	p := r.parts[l.part]
	return len(p.Named) > 0 && p.Named[l.doc] >= nameShare
}

// answers measures how well a memory answers the query, apart from others.
func (r *Candidates) answers(l leader) float32 {
	p := r.parts[l.part]
	if r.vector == nil {
		return share(p.Own[l.doc], r.own)
	}
	return p.raw[l.doc]
}

// names reports whether the query has every word of a label.
func (r *Candidates) names(label string) bool {
	named, known := r.namedLabels.Load(label)
	if !known {
		named = r.query.Names(label)
		r.namedLabels.Store(label, named)
	}
	return named.(bool)
}

// aboutOther reports whether two statements are about different projects, or the query names a label of older that
// newer does not have: then newer does not correct older.
func (s *statement) aboutOther(older *statement) bool {
	if s.record.Project != "" && older.record.Project != "" && s.record.Project != older.record.Project {
		return true
	}
	if len(older.record.Labels()) == 0 {
		return false
	}
	return slices.ContainsFunc(older.asked, func(stem string) bool {
		return !slices.Contains(s.asked, stem) && !slices.Contains(older.stems, stem)
	})
}
