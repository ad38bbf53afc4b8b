/** Times and sizes in Dutch notation. */

export const TIME_ZONE = 'Europe/Amsterdam';

const formats = {
  day: new Intl.DateTimeFormat('nl-NL', { timeZone: TIME_ZONE, day: 'numeric', month: 'long', year: 'numeric' }),
  weekday: new Intl.DateTimeFormat('nl-NL', {
    timeZone: TIME_ZONE,
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
  }),
  time: new Intl.DateTimeFormat('nl-NL', { timeZone: TIME_ZONE, hour: '2-digit', minute: '2-digit' }),
  month: new Intl.DateTimeFormat('nl-NL', { timeZone: 'UTC', month: 'long', year: 'numeric' }),
} as const;

/** `8 februari 2018`. */
export const day = (moment: Date): string => formats.day.format(moment);
/** `donderdag 8 februari 2018`. */
export const weekday = (moment: Date): string => formats.weekday.format(moment);
/** `13:30`. */
export const time = (moment: Date): string => formats.time.format(moment);
/** `8 februari 2018 om 13:30 uur`. */
export const dayAndTime = (moment: Date): string => `${day(moment)} om ${time(moment)} uur`;
/** `februari 2018`. @param month `2018-02` */
export const monthName = (month: string): string => formats.month.format(new Date(`${month}-01T00:00:00Z`));

/** `1.234`. */
export const count = (number: number): string => number.toLocaleString('nl-NL');

/** `1,2 MB`: decimal units, as file managers show them. */
export function fileSize(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  let size = bytes;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${size.toLocaleString('nl-NL', { maximumFractionDigits: unit > 1 && size < 10 ? 1 : 0 })}\u00a0${units[unit]}`;
}

export const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
