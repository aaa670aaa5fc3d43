// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Command collector receives profiles as a collector does, with the code of the
// OpenTelemetry Collector and of Grafana Pyroscope, and checks them. It adds up
// what it has received.
//
//	collector [-fail N] [-status CODE] [-wait SECONDS]
//
// The first line of its output is its address. GET /sums replies with a line for
// each service, sample type and function: "SERVICE TYPE FUNCTION VALUE", and a
// line "requests N". A value is counted for each function of its stack once.
// -fail N: the first N requests fail with the status CODE (default 503), and
// with the header Retry-After if SECONDS is not 0.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sort"
	"strings"
	"sync"

	"connectrpc.com/connect"
	"github.com/google/pprof/profile"
	pushv1 "github.com/grafana/pyroscope/api/gen/proto/go/push/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/push/v1/pushv1connect"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/pprofile/pprofileotlp"
)

var (
	mu       sync.Mutex
	sums     = map[string]int64{}
	ids      = map[string]bool{}
	requests int
	attempts int
	failures = flag.Int("fail", 0, "number of requests that fail")
	status   = flag.Int("status", 503, "status of these requests")
	wait     = flag.Int("wait", 0, "Retry-After of these requests")
)

// add counts a value once for each function of its stack.
func add(service, kind string, functions []string, value int64) {
	seen := map[string]bool{}
	for _, f := range functions {
		if !seen[f] {
			sums[service+" "+kind+" "+f] += value
		}
		seen[f] = true
	}
}

// isNew panics if an identifier comes twice: the data would be counted twice.
func isNew(id string) {
	if ids[id] {
		panic("the profile " + id + " was sent twice")
	}
	ids[id] = true
}

// --- OTLP ---

func takeOTLP(p pprofile.Profiles) error {
	d := p.Dictionary()
	text := func(i int32) string { return d.StringTable().At(int(i)) }
	for _, rp := range p.ResourceProfiles().All() {
		service, ok := rp.Resource().Attributes().Get("service.name")
		if !ok {
			return fmt.Errorf("no service.name")
		}
		for _, sp := range rp.ScopeProfiles().All() {
			for _, one := range sp.Profiles().All() {
				isNew(one.ProfileID().String())
				kind := text(one.SampleType().TypeStrindex()) + "/" + text(one.SampleType().UnitStrindex())
				for _, s := range one.Samples().All() {
					var names []string
					stack := d.StackTable().At(int(s.StackIndex()))
					for _, l := range stack.LocationIndices().All() {
						location := d.LocationTable().At(int(l))
						d.MappingTable().At(int(location.MappingIndex()))
						for _, line := range location.Lines().All() {
							names = append(names, text(d.FunctionTable().At(int(line.FunctionIndex())).NameStrindex()))
						}
					}
					for _, a := range s.AttributeIndices().All() {
						attribute := d.AttributeTable().At(int(a))
						names = append(names, text(attribute.KeyStrindex())+"="+attribute.Value().AsString())
					}
					if s.Values().Len() != 1 {
						return fmt.Errorf("%d values", s.Values().Len())
					}
					add(service.Str(), kind, names, s.Values().At(0))
				}
			}
		}
	}
	return nil
}

func otlp(w http.ResponseWriter, r *http.Request, body []byte) error {
	if r.Header.Get("Content-Type") != "application/x-protobuf" {
		return fmt.Errorf("content type %q", r.Header.Get("Content-Type"))
	}
	request := pprofileotlp.NewExportRequest()
	if err := request.UnmarshalProto(body); err != nil {
		return err
	}
	if err := takeOTLP(request.Profiles()); err != nil {
		return err
	}
	out, err := pprofileotlp.NewExportResponse().MarshalProto()
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, err = w.Write(out)
	return err
}

// --- Pyroscope ---

func takePprof(service string, data []byte) error {
	p, err := profile.Parse(bytes.NewReader(data))
	if err != nil {
		return err
	}
	if err := p.CheckValid(); err != nil {
		return err
	}
	for _, s := range p.Sample {
		var names []string
		for _, l := range s.Location {
			for _, line := range l.Line {
				names = append(names, line.Function.Name)
			}
		}
		for key, values := range s.Label {
			for _, v := range values {
				names = append(names, key+"="+v)
			}
		}
		for i, t := range p.SampleType {
			add(service, t.Type+"/"+t.Unit, names, s.Value[i])
		}
	}
	return nil
}

type pusher struct{}

func (pusher) Push(_ context.Context, r *connect.Request[pushv1.PushRequest]) (*connect.Response[pushv1.PushResponse], error) {
	for _, series := range r.Msg.Series {
		labels := map[string]string{}
		for _, l := range series.Labels {
			labels[l.Name] = l.Value
		}
		if labels["__name__"] == "" || labels["service_name"] == "" {
			return nil, connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("labels %v", labels))
		}
		for _, s := range series.Samples {
			isNew(s.ID)
			if err := takePprof(labels["service_name"], s.RawProfile); err != nil {
				return nil, connect.NewError(connect.CodeInvalidArgument, err)
			}
		}
	}
	return connect.NewResponse(&pushv1.PushResponse{}), nil
}

func ingest(_ http.ResponseWriter, r *http.Request, body []byte) error {
	q := r.URL.Query()
	service, _, _ := strings.Cut(q.Get("name"), "{")
	if q.Get("format") != "pprof" || q.Get("from") == "" || q.Get("until") == "" {
		return fmt.Errorf("query %v", q)
	}
	return takePprof(service, body)
}

// --- the server ---

// guard reads the body, and refuses the first requests.
func guard(h func(http.ResponseWriter, *http.Request, []byte) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		in := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			in, _ = gzip.NewReader(in)
		}
		body, err := io.ReadAll(in)
		if err != nil {
			http.Error(w, err.Error(), 400)
			return
		}
		if token := os.Getenv("TOKEN"); token != "" && r.Header.Get("Authorization") != "Bearer "+token {
			http.Error(w, "wrong token", 401)
			return
		}
		if attempts++; attempts <= *failures {
			if *wait > 0 {
				w.Header().Set("Retry-After", fmt.Sprint(*wait))
			}
			http.Error(w, "try again", *status)
			return
		}
		requests++
		if err := h(w, r, body); err != nil {
			http.Error(w, err.Error(), 400)
		}
	}
}

func main() {
	flag.Parse()
	_, connectHandler := pushv1connect.NewPusherServiceHandler(pusher{})
	http.HandleFunc("POST /v1development/profiles", guard(otlp))
	http.HandleFunc("POST /ingest", guard(ingest))
	http.HandleFunc("POST /push.v1.PusherService/Push", guard(func(w http.ResponseWriter, r *http.Request, body []byte) error {
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.Header.Del("Content-Encoding")
		connectHandler.ServeHTTP(w, r)
		return nil
	}))
	http.HandleFunc("GET /sums", func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(w, "requests", requests)
		lines := make([]string, 0, len(sums))
		for key, value := range sums {
			lines = append(lines, fmt.Sprint(key, " ", value))
		}
		sort.Strings(lines)
		fmt.Fprintln(w, strings.Join(lines, "\n"))
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("http://%s\n", listener.Addr())
	panic(http.Serve(listener, nil))
}
