package rails

import (
	"errors"
	"testing"
)

// bench stands in for the host.
type bench struct {
	kept map[string][]byte
}

func (b bench) Devices() ([]Device, error) {
	return []Device{{"1", "near"}, {"2", "far"}}, nil
}

func (b bench) Rails(device string) ([]Rail, error) {
	if device == "2" {
		return nil, &Error{"device_offline", "it is offline"}
	}
	drawn := int64(600_000)
	return []Rail{{ID: 1, On: true, Microamperes: &drawn}, {ID: 2}}, nil
}

func (b bench) Config() string { return `{"warn_milliamperes": 500}` }

func (b bench) Get(key string) ([]byte, error) { return b.kept[key], nil }

func (b bench) Put(key string, value []byte) error {
	b.kept[key] = value
	return nil
}

func TestRailsThatDrawTooMuchAreMarked(t *testing.T) {
	report, err := Take(bench{}, 500)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Rails) != 2 || !report.Rails[0].High || report.Rails[1].High {
		t.Error(report.Rails)
	}
	if len(report.Skipped) != 1 || report.Skipped[0] != (Skipped{"far", "device_offline"}) {
		t.Error(report.Skipped)
	}
}

func TestWhatWasStoredCountsBeforeTheConfiguration(t *testing.T) {
	host := bench{map[string][]byte{}}
	if value, err := Warning(host); value != 500 || err != nil {
		t.Error(value, err)
	}
	if _, err := SetWarning(host, []byte(`{"warn_milliamperes": 250}`)); err != nil {
		t.Error(err)
	}
	if value, err := Warning(host); value != 250 || err != nil {
		t.Error(value, err)
	}
}

func TestABodyThatMakesNoSenseIsRefused(t *testing.T) {
	for _, body := range []string{"", "{}", "[]", `{"warn_milliamperes": 0}`, `{"warn_milliamperes": "9"}`} {
		_, err := SetWarning(bench{}, []byte(body))
		var refused *Error
		if !errors.As(err, &refused) || refused.Code != "invalid" {
			t.Errorf("%s: %v", body, err)
		}
	}
}
