package export_hostd_plugin_http

import (
	wit "go.bytecodealliance.org/pkg/wit/types"
	"wit_component/hostd_plugin_config"
	"wit_component/hostd_plugin_devices"
	"wit_component/hostd_plugin_power"
	"wit_component/hostd_plugin_store"
	"wit_component/hostd_plugin_types"
	"wit_component/rails"
)

// host is the part of the host that the package rails asks for.
type host struct{}

func (host) Devices() ([]rails.Device, error) {
	list, err := of(hostd_plugin_devices.List())
	var devices []rails.Device
	for _, device := range list {
		devices = append(devices, rails.Device{ID: device.Id(), Name: device.Name()})
		device.Drop()
	}
	return devices, err
}

func (host) Rails(device string) ([]rails.Rail, error) {
	list, err := of(hostd_plugin_power.Rails(device))
	var found []rails.Rail
	for _, rail := range list {
		found = append(found, rails.Rail{
			ID: rail.Id, On: rail.On, Millivolts: number(rail.Millivolts), Microamperes: number(rail.Microamperes),
		})
	}
	return found, err
}

func (host) Config() string { return hostd_plugin_config.Get() }

func (host) Get(key string) ([]byte, error) {
	entry, err := of(hostd_plugin_store.Get(key))
	if err != nil || entry.IsNone() {
		return nil, err
	}
	return entry.Some().Value, nil
}

func (host) Put(key string, value []byte) error {
	_, err := of(hostd_plugin_store.Put(key, value))
	return err
}

// of returns what a function of the host answered.
func of[T any](result wit.Result[T, hostd_plugin_types.Error]) (T, error) {
	var none T
	if result.IsErr() {
		err := result.Err()
		return none, &rails.Error{Code: err.Code, Message: err.Message}
	}
	return result.Ok(), nil
}

func number(value wit.Option[int64]) *int64 {
	if value.IsNone() {
		return nil
	}
	found := value.Some()
	return &found
}
