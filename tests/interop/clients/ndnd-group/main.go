// Command ndnd-group is a member of a State Vector Sync group by ndnd's library.
//
//	ndnd-group SOCKET GROUP NAME FILE
//
// It signs by a new key of NAME, whose certificate goes into FILE. Each line of standard input is a
// publication; each change of the state is printed as a line of JSON.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	enc "github.com/named-data/ndnd/std/encoding"
	"github.com/named-data/ndnd/std/engine"
	"github.com/named-data/ndnd/std/ndn"
	"github.com/named-data/ndnd/std/object"
	"github.com/named-data/ndnd/std/object/storage"
	sec "github.com/named-data/ndnd/std/security"
	"github.com/named-data/ndnd/std/security/signer"
	svs "github.com/named-data/ndnd/std/sync"
)

// signing is a client that signs everything by one key.
type signing struct {
	ndn.Client
	key ndn.Signer
}

func (s signing) SuggestSigner(enc.Name) ndn.Signer {
	return s.key
}

type entry struct {
	Name string `json:"name"`
	Boot uint64 `json:"boot"`
	Seq  uint64 `json:"seq"`
}

// state is the last publication of each member, as it was printed.
type state struct {
	lock sync.Mutex
	all  map[string]entry
}

func (s *state) set(name enc.Name, boot uint64, seq uint64) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.all[fmt.Sprintf("%s %d", name, boot)] = entry{name.String(), boot, seq}
	list := make([]entry, 0, len(s.all))
	for _, one := range s.all {
		list = append(list, one)
	}
	line, err := json.Marshal(list)
	check(err)
	fmt.Println(string(line))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func main() {
	socket, file := os.Args[1], os.Args[4]
	group := must(enc.NameFromStr(os.Args[2]))
	name := must(enc.NameFromStr(os.Args[3]))

	key := must(signer.KeygenEd25519(sec.MakeKeyName(name)))
	certificate := must(sec.SelfSign(sec.SignCertArgs{
		Signer:    key,
		NotBefore: time.Now().Add(-time.Hour),
		NotAfter:  time.Now().Add(time.Hour),
	}))
	text := base64.StdEncoding.EncodeToString(certificate.Join())

	app := engine.NewBasicEngine(engine.NewUnixFace(socket))
	check(app.Start())
	client := object.NewClient(app, storage.NewMemoryStore(), nil)
	check(client.Start())
	client.AnnouncePrefix(ndn.Announcement{Name: group})

	known := state{all: map[string]entry{}}
	member := svs.NewSvSync(svs.SvSyncOpts{
		Client:          signing{client, key},
		GroupPrefix:     group,
		PeriodicTimeout: time.Second,
		OnUpdate: func(update svs.SvSyncUpdate) {
			known.set(update.Name, update.Boot, update.High)
		},
	})
	check(member.Start())
	check(os.WriteFile(file, []byte(text), 0o600))

	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		known.set(name, member.GetBootTime(), member.IncrSeqNo(name))
	}
}
