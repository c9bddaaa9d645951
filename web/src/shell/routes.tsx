// The one list of pages: which address shows which page, and what the bar on the side leads to. A new page is a file in
// pages/ and a line here.
import type { ComponentChildren } from "preact";
import BoardsPage from "../pages/boards.tsx";
import CapturesPage from "../pages/captures.tsx";
import CaseHistoryPage from "../pages/case-history.tsx";
import DevicePage from "../pages/device.tsx";
import DevicesPage from "../pages/devices.tsx";
import JobPage from "../pages/job.tsx";
import JobSubmitPage from "../pages/job-submit.tsx";
import JobTimelinePage from "../pages/job-timeline.tsx";
import JobsPage from "../pages/jobs.tsx";
import KeysPage from "../pages/keys.tsx";
import LivePage from "../pages/live.tsx";
import MeasurementsPage from "../pages/measurements.tsx";
import PeoplePage from "../pages/people.tsx";
import PluginPage from "../pages/plugin.tsx";
import PluginsPage from "../pages/plugins.tsx";
import SettingsPage from "../pages/settings.tsx";
import ViewerPage from "../pages/viewer.tsx";
import WaveformsPage from "../pages/waveforms.tsx";
import type { IconName } from "../ui/icon.tsx";

export interface Route {
  /** `/devices/:id`; the first that fits. */
  readonly pattern: string;
  readonly page: (given: Readonly<Record<string, string>>) => ComponentChildren;
}

export const ROUTES: readonly Route[] = [
  { pattern: "/devices", page: () => <DevicesPage /> },
  { pattern: "/devices/:id", page: ({ id }) => <DevicePage key={id} id={id!} tab="overview" /> },
  { pattern: "/devices/:id/:tab", page: ({ id, tab }) => <DevicePage key={id} id={id!} tab={tab!} /> },

  { pattern: "/captures/live", page: () => <LivePage /> },
  { pattern: "/captures", page: () => <CapturesPage /> },
  { pattern: "/captures/:id", page: ({ id }) => <ViewerPage key={id} id={id!} /> },
  { pattern: "/measurements", page: () => <MeasurementsPage /> },
  { pattern: "/jobs", page: () => <JobsPage /> },
  { pattern: "/jobs/submit", page: () => <JobSubmitPage /> },
  { pattern: "/jobs/cases", page: () => <CaseHistoryPage /> },
  { pattern: "/jobs/:id/timeline", page: ({ id }) => <JobTimelinePage key={id} id={id!} /> },
  { pattern: "/jobs/:id", page: ({ id }) => <JobPage key={id} id={id!} /> },

  { pattern: "/waveforms", page: () => <WaveformsPage /> },
  { pattern: "/waveforms/:id", page: ({ id }) => <WaveformsPage id={id!} /> },

  { pattern: "/boards", page: () => <BoardsPage /> },
  { pattern: "/boards/:id", page: ({ id }) => <BoardsPage id={id!} /> },

  { pattern: "/keys", page: () => <KeysPage /> },
  { pattern: "/plugins", page: () => <PluginsPage /> },
  { pattern: "/plugins/:id", page: ({ id }) => <PluginPage key={id} id={id!} /> },
  { pattern: "/people", page: () => <PeoplePage tab="users" /> },
  { pattern: "/people/:tab", page: ({ tab }) => <PeoplePage tab={tab!} /> },
  { pattern: "/settings", page: () => <SettingsPage tab="secrets" /> },
  { pattern: "/settings/:tab", page: ({ tab }) => <SettingsPage tab={tab!} /> },
];

export interface Place {
  readonly to: string;
  readonly name: string;
  readonly icon: IconName;
}

/** The main places, which phones have at the bottom: five at most. */
export const MAIN: readonly Place[] = [
  { to: "/devices", name: "Devices", icon: "device" },
  { to: "/captures", name: "Captures", icon: "capture" },
  { to: "/jobs", name: "Jobs", icon: "job" },
  { to: "/waveforms", name: "Waveforms", icon: "waveform" },
  { to: "/boards", name: "Boards", icon: "board" },
];

/** What phones have under the account. */
export const ADMINISTRATION: readonly Place[] = [
  { to: "/keys", name: "Keys", icon: "key" },
  { to: "/people", name: "People", icon: "people" },
  { to: "/plugins", name: "Plugins", icon: "plugin" },
  { to: "/settings", name: "Settings", icon: "settings" },
];

/** What `/` shows. */
export const HOME = "/devices";
