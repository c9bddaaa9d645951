// Icons of 16 by 16, drawn with one stroke, in the colour of the text. They are decoration: what they mean is in words beside them.
const PATHS = {
  device: "M4 4h8v8H4zM6.5 6.5h3v3h-3zM6 1.5V4M10 1.5V4M6 12v2.5M10 12v2.5M1.5 6H4M1.5 10H4M12 6h2.5M12 10h2.5",
  capture: "M1 11h2.5V5H7v6h3V5h3v6h2",
  job: "M2.5 2.5h11v11h-11zM6.5 5.5v5l4-2.5z",
  waveform: "M1 8c2-7 4-7 7 0s5 7 7 0",
  board: "M2.5 2.5h11v11h-11zM5 5h2v2H5zM5 10.5h3l2-2V5",
  key: "M10.5 2a3.5 3.5 0 1 1-2.2 6.2L3 13.5v-2.2M5 11.5l1.5 1.5M10.8 5.2h.01",
  people: "M6 8a2.8 2.8 0 1 0 0-5.6A2.8 2.8 0 0 0 6 8zM1 14c.3-3 2.2-4.5 5-4.5s4.7 1.5 5 4.5M11 2.8a2.6 2.6 0 0 1 0 4.9M12.5 9.9c1.6.6 2.4 1.9 2.5 4.1",
  plugin: "M6 2.5v2.5M10 2.5v2.5M4 5h8v3.5a4 4 0 0 1-8 0zM8 12.5V15",
  settings: "M2 4.5h7M13 4.5h1M9 2.5v4h4v-4zM2 11.5h1M7 11.5h7M3 9.5v4h4v-4z",
  console: "M2 3h12v10H2zM4.5 6l2 2-2 2M8 10.5h3.5",
  power: "M8 1.5v6M4.7 3.8a5.3 5.3 0 1 0 6.6 0",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.7 10.7 14.5 14.5",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  fit: "M2 5V2h3M11 2h3v3M14 11v3h-3M5 14H2v-3M5 8h6",
  link: "M6.5 9.5l3-3M7 4.5l1.5-1.5a3 3 0 0 1 4.5 4.5L11.5 9M9 11.5 7.5 13A3 3 0 0 1 3 8.5L4.5 7",
  down: "M3.5 6 8 10.5 12.5 6",
  right: "M6 3.5 10.5 8 6 12.5",
  left: "M10 3.5 5.5 8 10 12.5",
  check: "M3 8.5 6.5 12 13 4.5",
  cross: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  clock: "M8 14.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM8 4.5V8l2.5 1.5",
  lock: "M3.5 7h9v7h-9zM5.5 7V4.5a2.5 2.5 0 0 1 5 0V7",
  dots: "M3 8h.01M8 8h.01M13 8h.01",
  save: "M8 2v8M4.5 7 8 10.5 11.5 7M2.5 13.5h11",
  trash: "M3 4h10M6.5 4V2.5h3V4M4.5 4l.5 9.5h6l.5-9.5M7 6.5v5M9 6.5v5",
  person: "M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.5 14.5c.3-3.2 2.5-4.8 5.5-4.8s5.2 1.6 5.5 4.8",
  copy: "M5.5 5.5h8v8h-8zM3 10.5H2.5v-8h8V3",
  flash: "M9 1.5 3.5 9H8l-1 5.5L12.5 7H8z",
  upload: "M8 10.5V2.5M4.5 6 8 2.5 11.5 6M2.5 13.5h11",
  play: "M4.5 3v10l8-5z",
  stop: "M4 4h8v8H4z",
  pin: "M6 2h4l-.5 4.5 2.5 2.5H4l2.5-2.5zM8 9v5",
  flag: "M4 14.5V2.5h7l-1.5 3 1.5 3H4",
  out: "M6 2.5H2.5v11H6M6.5 8H14M11 5l3 3-3 3",
  live: "M8 9.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM4.5 11.5a5 5 0 0 1 0-7M11.5 4.5a5 5 0 0 1 0 7",
  edit: "M3 13l.6-3L10.5 3.1l2.4 2.4L6 12.4zM9 4.6 11.4 7",
  layers: "M8 2 14 5.5 8 9 2 5.5zM2.5 9 8 12.5 13.5 9",
  warning: "M8 2 14.5 13.5h-13zM8 6.5v3.5M8 12h.01",
} as const;

export type IconName = keyof typeof PATHS;

export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
);
