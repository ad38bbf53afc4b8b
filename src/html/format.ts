/** Times and sizes in Dutch notation. */

export const TIME_ZONE = 'Europe/Amsterdam';

/** In the Netherlands, unless another zone is given. */
export function formatter(options: Intl.DateTimeFormatOptions, timeZone = TIME_ZONE): (moment: Date) => string {
  const format = new Intl.DateTimeFormat('nl-NL', { timeZone, ...options });
  return (moment) => format.format(moment);
}

/** `8 februari 2018`. */
export const day = formatter({ day: 'numeric', month: 'long', year: 'numeric' });
/** `donderdag 8 februari 2018`. */
export const weekday = formatter({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
/** `13:30`. */
export const time = formatter({ hour: '2-digit', minute: '2-digit' });
const month = formatter({ month: 'long', year: 'numeric' }, 'UTC');
/** `8 februari 2018 om 13:30 uur`. */
export const dayAndTime = (moment: Date): string => `${day(moment)} om ${time(moment)} uur`;
/** `februari 2018`. @param text `2018-02` */
export const monthName = (text: string): string => month(new Date(`${text}-01T00:00:00Z`));

/** `1.234`. */
export const count = (number: number): string => number.toLocaleString('nl-NL');

/** `1,2 MB`: decimal units, as file managers show them. */
export function fileSize(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  const unit = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3));
  const size = bytes / 1000 ** unit;
  return `${size.toLocaleString('nl-NL', { maximumFractionDigits: unit > 1 && size < 10 ? 1 : 0 })}\u00a0${units[unit]}`;
}

export const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
