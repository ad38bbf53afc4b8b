import type { IssueSink } from '../issue-log.ts';
import { type Moment, readMoment } from '../values/moment.ts';

/** A time of the supplier; what is wrong or odd about it is reported under its name. */
export function momentOf(value: unknown, name: string, issue: IssueSink): Moment | undefined {
  const { moment, fault } = readMoment(value);
  const remark = fault ?? moment?.doubt;
  if (remark !== undefined) issue('unusable-value', `${name}: ${remark}`);
  return moment;
}

/** As `momentOf`, for a member that needs a time of day: a day alone is reported and left out. */
export function timeOf(value: unknown, name: string, issue: IssueSink): string | undefined {
  const moment = momentOf(value, name, issue);
  if (moment !== undefined && moment.utc === undefined) issue('unusable-value', `${name}: a day without a time`);
  return moment?.utc;
}
