// Package rails says what the rails of all devices draw, and above which current a rail is marked. The host's functions
// are arguments of everything here, so that tests can stand in for them.
package rails

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Key is where the setting is kept, and its name in the configuration and in bodies.
const Key = "warn_milliamperes"

const least, most = 1, 10_000

// Error is why something was refused or failed, by the host or here.
type Error struct {
	Code, Message string
}

func (e *Error) Error() string { return e.Message }

// Rail is a rail as the host knows it.
type Rail struct {
	ID                       uint8
	On                       bool
	Millivolts, Microamperes *int64
}

// Device is a device as the host knows it.
type Device struct {
	ID, Name string
}

// Host is the part of the host that is used.
type Host interface {
	Devices() ([]Device, error)
	Rails(device string) ([]Rail, error)
	Config() string
	// Get returns nil if the key is not there.
	Get(key string) ([]byte, error)
	Put(key string, value []byte) error
}

// Row is a rail in a report.
type Row struct {
	Device       string `json:"device"`
	Rail         uint8  `json:"rail"`
	On           bool   `json:"on"`
	Millivolts   *int64 `json:"millivolts"`
	Microamperes *int64 `json:"microamperes"`
	High         bool   `json:"high"`
}

// Skipped is a device that could not be asked.
type Skipped struct {
	Device string `json:"device"`
	Code   string `json:"code"`
}

// Report has every rail of every device.
type Report struct {
	WarnMilliamperes int64     `json:"warn_milliamperes"`
	Rails            []Row     `json:"rails"`
	Skipped          []Skipped `json:"skipped"`
}

// Warning returns the current in mA above which a rail is marked: what was stored, else what the operator configured.
func Warning(host Host) (int64, error) {
	stored, err := host.Get(Key)
	if err != nil {
		return 0, err
	}
	if stored != nil {
		return strconv.ParseInt(string(stored), 10, 64)
	}
	var config map[string]int64
	if err := json.Unmarshal([]byte(host.Config()), &config); err != nil {
		return 0, err
	}
	return config[Key], nil
}

// SetWarning stores what a body such as {"warn_milliamperes": 250} says.
func SetWarning(host Host, body []byte) (int64, error) {
	var asked map[string]int64
	err := json.Unmarshal(body, &asked)
	value := asked[Key]
	if err != nil || value < least || value > most {
		return 0, &Error{"invalid", fmt.Sprintf("%s must be a number from %d to %d", Key, least, most)}
	}
	return value, host.Put(Key, strconv.AppendInt(nil, value, 10))
}

// Take asks every device.
func Take(host Host, warnMilliamperes int64) (*Report, error) {
	devices, err := host.Devices()
	if err != nil {
		return nil, err
	}
	report := &Report{WarnMilliamperes: warnMilliamperes, Rails: []Row{}, Skipped: []Skipped{}}
	for _, device := range devices {
		rails, err := host.Rails(device.ID)
		if err != nil {
			report.Skipped = append(report.Skipped, Skipped{device.Name, Code(err)})
			continue
		}
		for _, rail := range rails {
			drawn := rail.Microamperes
			report.Rails = append(report.Rails, Row{
				Device:       device.Name,
				Rail:         rail.ID,
				On:           rail.On,
				Millivolts:   rail.Millivolts,
				Microamperes: drawn,
				High:         drawn != nil && *drawn > warnMilliamperes*1000,
			})
		}
	}
	return report, nil
}

// Code is the word for programs.
func Code(err error) string {
	if known, ok := err.(*Error); ok {
		return known.Code
	}
	return "internal"
}
