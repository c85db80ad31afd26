package loadtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// formatVersion is that of the JSON form of results. It goes up when a reader of the old form would misunderstand the new one; keys that
// are only added do not raise it.
const formatVersion = 1

// WriteJSON writes rs, without loss, as one JSON document: {"format": 1, "results": [...]}. Keys end in their unit; histograms are in
// the HdrHistogram V2 compressed form with a summary beside it, in nanoseconds, and null if empty. What can be computed from the rest is
// there for scripts that only look (succeeded, throughput_per_second, error_rate, each histogram's summary) and is ignored by [ReadJSON].
//
// Options are there as the run used them, but Progress and Server, and CPUs are sorted. Start is in UTC. Bytes of error samples that are
// not UTF-8 are replaced.
//
// Documents may be written one after the other to the same file.
func WriteJSON(w io.Writer, rs ...*Result) error {
	if err := checkResults("WriteJSON", rs); err != nil {
		return err
	}
	doc := struct {
		Format  int           `json:"format"`
		Results []*wireResult `json:"results"`
	}{formatVersion, make([]*wireResult, len(rs))}
	for i, r := range rs {
		doc.Results[i] = toWire(r)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return fmt.Errorf("loadtest: WriteJSON: %w", err)
	}
	_, err := b.WriteTo(w)
	return err
}

// ReadJSON reads all results from r, to its end: any number of documents as [WriteJSON] writes them, of results that were marshalled by
// themselves, and of arrays of these, one after the other. Keys that it does not know are ignored. An empty input has no results.
//
// It is an error if a document is of a format that this version does not read, lacks what every result has, has counts that
// cannot be (negative, or more failures than requests), or is followed by something else than a document. The results that came before
// it are returned with the error.
func ReadJSON(r io.Reader) ([]*Result, error) {
	var all []*Result
	dec := json.NewDecoder(r)
	for n := 1; ; n++ {
		var doc json.RawMessage
		err := dec.Decode(&doc)
		if err == io.EOF {
			return all, nil
		}
		var rs []*Result
		if err == nil {
			rs, err = readDocument(doc)
		}
		if err != nil {
			return all, fmt.Errorf("loadtest: ReadJSON: document %d: %w", n, err)
		}
		all = append(all, rs...)
	}
}

func readDocument(doc json.RawMessage) ([]*Result, error) {
	if doc[0] == '[' {
		var list []json.RawMessage
		if err := json.Unmarshal(doc, &list); err != nil {
			return nil, err
		}
		return readList(list, readMarshalled)
	}
	var head struct {
		Format  *int              `json:"format"`
		Results []json.RawMessage `json:"results"`
	}
	if err := json.Unmarshal(doc, &head); err != nil {
		return nil, err
	}
	if err := checkFormat(head.Format); err != nil {
		return nil, err
	}
	if head.Results != nil {
		return readList(head.Results, readResult)
	}
	r, err := readResult(doc)
	if err != nil {
		return nil, err
	}
	return []*Result{r}, nil
}

func readList(list []json.RawMessage, read func([]byte) (*Result, error)) ([]*Result, error) {
	var rs []*Result
	for i, raw := range list {
		r, err := read(raw)
		if err != nil {
			return nil, fmt.Errorf("result %d: %w", i+1, err)
		}
		rs = append(rs, r)
	}
	return rs, nil
}

func readMarshalled(b []byte) (*Result, error) {
	r := new(Result)
	return r, r.unmarshal(b)
}

// readResult reads one result, whose format has been checked.
func readResult(b []byte) (*Result, error) {
	var w *wireResult
	if err := json.Unmarshal(b, &w); err != nil {
		return nil, err
	}
	if w == nil {
		return nil, errors.New("null is not a result")
	}
	return w.result()
}

func checkFormat(format *int) error {
	switch {
	case format == nil:
		return errors.New(`the key "format" is missing: this is not a result of loadtest`)
	case *format != formatVersion:
		return fmt.Errorf("format %d is not known: this version of loadtest reads format %d", *format, formatVersion)
	}
	return nil
}

// MarshalJSON writes r as [WriteJSON] writes it in its list, with the format beside it: {"format": 1, ...}. [ReadJSON] reads that, too.
func (r *Result) MarshalJSON() ([]byte, error) {
	if r == nil {
		return []byte("null"), nil
	}
	w := toWire(r)
	w.Format = formatVersion
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON wrote, with the checks of [ReadJSON]. null changes nothing, as everywhere in encoding/json.
func (r *Result) UnmarshalJSON(b []byte) error {
	if bytes.Equal(bytes.TrimSpace(b), []byte("null")) {
		return nil
	}
	if err := r.unmarshal(b); err != nil {
		return fmt.Errorf("loadtest: read result: %w", err)
	}
	return nil
}

func (r *Result) unmarshal(b []byte) error {
	var head struct {
		Format *int `json:"format"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return err
	}
	if err := checkFormat(head.Format); err != nil {
		return err
	}
	read, err := readResult(b)
	if err != nil {
		return err
	}
	*r = *read
	return nil
}
