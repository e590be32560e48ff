package admissiontest

// Rules says which rule of the scripts is left out, so that whoever proves
// something with this Redis can prove that it would notice. The zero value is
// the protocol.
type Rules struct {
	PromoteExpired     bool // S8 does not look at the hold's deadline
	PromotePart        bool // S8 takes the first seat of the hold only
	PromoteKeepsHold   bool // S8 leaves the hold beside the booking
	ReleaseByCandidate bool // S2 of a hold gives back what its candidate holds softly, under whatever id
	HoldFreePart       bool // S6 takes the free part of a group
	DropFirst          bool // S6 lets the old choice go before it looks at the new one
	ExpiredRefuse      bool // S1 and S6 take an expired hold for a live one
	ExtendBack         bool // S7 may shorten
	ExtendForEver      bool // S6 and S7 know no longest life
}
