// When a line came, as the time of the day in UTC: `09:41:07.250`. `at` is in milliseconds of the page's clock.
export const instantOfDay = (at: number): string => new Date(performance.timeOrigin + at).toISOString().slice(11, 23);
