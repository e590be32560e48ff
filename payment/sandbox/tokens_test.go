package sandbox_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
	"github.com/holdfast/holdfast/payment/sandbox/tokentest"
)

func TestMemoryTokens(t *testing.T) {
	tokentest.Run(t, func(*testing.T) tokentest.Store {
		c := &clock{now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
		return tokentest.Store{TokenStore: sandbox.NewMemoryTokens(c.Now, 2), Advance: c.Advance}
	})
}

// wantGrants fails on one grant too many as on one too few.
func (w *world) wantGrants(t *testing.T, want int) {
	t.Helper()
	granted, blocked := w.server.Grants("exec")
	if granted != want || blocked {
		t.Fatalf("granted %d tokens (blocked: %v), want %d", granted, blocked, want)
	}
}

func TestToken_TwentyClientsInParallelUseOneGrant(t *testing.T) {
	w := newWorld(t)
	fleet := make([]*sandbox.Gateway, 20)
	for i := range fleet {
		fleet[i] = w.client(t, "exec", payment.MovesOnExecute, w.tokens)
	}
	start := make(chan struct{})
	var all sync.WaitGroup
	for _, g := range fleet {
		for range 3 {
			all.Go(func() {
				<-start
				if _, err := g.Create(t.Context(), w.request("b1")); err != nil {
					t.Error(err)
				}
			})
		}
	}
	close(start)
	all.Wait()
	w.wantGrants(t, 1)
	if granted, left, err := w.tokens.AcquireTokenLease(t.Context(), "exec", "test", time.Second); granted || left != 1 || err != nil {
		t.Fatalf("budget after the first grant: granted=%v left=%d, %v; want one left, the lease still held", granted, left, err)
	}
}

func TestToken_IsRefreshedEarlyAndOnce(t *testing.T) {
	w := newWorld(t)
	other := w.client(t, "exec", payment.MovesOnExecute, w.tokens)
	w.create(t, w.exec, "b1")
	for _, step := range []struct {
		after  time.Duration
		grants int
	}{{51 * time.Minute, 1}, {2 * time.Minute, 2}, {50 * time.Minute, 2}, {2 * time.Minute, 3}} {
		w.clock.Advance(step.after)
		w.create(t, w.exec, "b2")
		w.create(t, other, "b3")
		w.wantGrants(t, step.grants)
	}
}

func TestToken_AfterA401OnlyAnothersTokenHelps(t *testing.T) {
	w := newWorld(t)
	other := w.client(t, "exec", payment.MovesOnExecute, w.tokens)
	w.create(t, w.exec, "b1")
	w.create(t, other, "b2")
	w.clock.Advance(30 * time.Minute)
	if err := w.server.RevokeTokens("exec"); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if _, err := w.exec.Create(t.Context(), w.request("b3")); !errors.Is(err, payment.ErrRefused) || !strings.Contains(err.Error(), "refuses the shared access token") {
			t.Fatalf("create with a revoked token = %v, want ErrRefused: it was not processed", err)
		}
		_, err := w.exec.Refund(t.Context(), "pay_1", "R:1", price)
		wantUnknown(t, err)
	}
	w.wantGrants(t, 1) // no storm
	// When the token is old one of them fetches the next; the other, which still
	// holds the revoked one, reads it again on its 401.
	w.clock.Advance(23 * time.Minute)
	w.create(t, w.exec, "b4")
	w.create(t, other, "b5")
	w.wantGrants(t, 2)
}

func TestToken_RefusedTokenIsReadAgain(t *testing.T) {
	w := newWorld(t)
	w.create(t, w.exec, "b1")
	w.clock.Advance(10 * time.Minute)
	if err := w.server.RevokeTokens("exec"); err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(time.Minute)
	fresh, err := w.server.Grant("key-exec", "secret-exec") // by an operator's hand
	if err != nil {
		t.Fatal(err)
	}
	if granted, _, err := w.tokens.AcquireTokenLease(t.Context(), "exec", "operator", time.Minute); !granted || err != nil {
		t.Fatalf("lease: %v, %v", granted, err)
	}
	if err := w.tokens.StoreToken(t.Context(), "exec", "operator", fresh.Token, time.Hour); err != nil {
		t.Fatal(err)
	}
	w.create(t, w.exec, "b2")
	w.wantGrants(t, 2)
}

// TestToken_EndsSoonerThanWeThink: the gateway's tokens live 20 minutes, not an
// hour. The 401 makes the client look; the store has let the token go, and the
// next comes by lease and budget.
func TestToken_EndsSoonerThanWeThink(t *testing.T) {
	w := newWorld(t, func(a *engine.Account) { a.TokenLife = 20 * time.Minute })
	w.create(t, w.exec, "b1")
	w.clock.Advance(21 * time.Minute)
	w.create(t, w.exec, "b2")
	w.wantGrants(t, 2)
}

// TestToken_OldOneServesWhileTheNextIsNotToBeHad: the early refresh fails, the
// token at hand still has some minutes.
func TestToken_OldOneServesWhileTheNextIsNotToBeHad(t *testing.T) {
	w := newWorld(t)
	w.create(t, w.exec, "b1")
	w.clock.Advance(53 * time.Minute)
	if granted, left, err := w.tokens.AcquireTokenLease(t.Context(), "exec", "somebody slow", time.Hour); !granted || left != 0 || err != nil {
		t.Fatalf("lease: %v, %d, %v", granted, left, err)
	}
	w.create(t, w.exec, "b2")
	w.wantGrants(t, 1)
}

func TestToken_SpentBudgetIsAnErrorNotAThirdGrant(t *testing.T) {
	w := newWorld(t)
	for range 2 { // two holders die after they were charged
		if granted, _, err := w.tokens.AcquireTokenLease(t.Context(), "exec", "dead", time.Second); !granted || err != nil {
			t.Fatalf("lease: %v, %v", granted, err)
		}
		w.clock.Advance(2 * time.Second)
	}
	config := w.config("exec", payment.MovesOnExecute, w.tokens)
	config.Timeout = 3 * time.Second
	g, err := sandbox.New(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Create(t.Context(), w.request("b1")); !errors.Is(err, payment.ErrRefused) {
		t.Fatalf("create without a token = %v, want ErrRefused: it was not sent", err)
	}
	w.wantGrants(t, 0)
	w.clock.Advance(time.Hour)
	w.create(t, g, "b1")
	w.wantGrants(t, 1)
}

func TestToken_SurvivesARestartOfTheGateway(t *testing.T) {
	w := newWorld(t)
	w.create(t, w.exec, "b1")
	token, _, err := w.tokens.Token(t.Context(), "exec")
	if err != nil {
		t.Fatal(err)
	}
	restarted := newWorld(t)
	if name, err := restarted.server.Authenticate("key-exec", token); err != nil || name != "exec" {
		t.Fatalf("the shared token after a restart: %q, %v", name, err)
	}
	if _, err := restarted.server.Authenticate("key-exec", token+"x"); err == nil {
		t.Fatal("a changed token was taken")
	}
	restarted.clock.Advance(time.Hour)
	if _, err := restarted.server.Authenticate("key-exec", token); err == nil {
		t.Fatal("an expired token was taken")
	}
}

func TestTokenEndpoint_BlocksTheThirdCallOfAnHour(t *testing.T) {
	w := newWorld(t)
	grant := func() error { _, err := w.server.Grant("key-exec", "secret-exec"); return err }
	var no *engine.Refusal
	for i, wantRefused := range []bool{false, false, true, true} {
		if i == 2 {
			w.clock.Advance(30 * time.Minute)
		}
		if err := grant(); errors.As(err, &no) != wantRefused {
			t.Fatalf("call %d: %v", i+1, err)
		}
	}
	w.clock.Advance(59 * time.Minute) // the two grants are older than an hour
	if err := grant(); err == nil {
		t.Fatal("the block ended early")
	}
	w.clock.Advance(time.Minute)
	if err := grant(); err != nil {
		t.Fatalf("after the hour: %v", err)
	}
}
