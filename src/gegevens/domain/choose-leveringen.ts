import type { ChosenLevering, Levering, Period } from './levering.ts';

/** An organisation and the municipality that it delivers for. */
export interface Deliverer {
  readonly organisatieSleutel: string;
  readonly naam: string | undefined;
  readonly gemeenteSleutel: string | undefined;
}

/** Days that were asked for and that no delivery of a deliverer covers. */
export interface Uncovered {
  readonly organisatie: string;
  readonly gemeente?: string;
  readonly van: string;
  readonly tot: string;
}

const DAY_MS = 86_400_000;

/**
 * Chooses what answers a period. Per organisation and municipality: the newest import of exactly this period, whole; else the newest that
 * covers it, what overlaps; else all that overlap, what overlaps, each record once.
 * @param leveringen current leveringen that overlap the period, in the order in which they are delivered; what was chosen before may be
 *   given again and is then chosen as a whole
 */
export function chooseLeveringen(leveringen: readonly Levering[], period: Period): ChosenLevering[] {
  const chosen = new Map<Levering, ChosenLevering>();
  let group = 0;
  for (const own of Map.groupBy(leveringen, delivererKey).values()) {
    const exact = newest(own.filter((each) => each.periodeStart === period.start && each.periodeEinde === period.end));
    const covering = newest(own.filter((each) => each.periodeStart <= period.start && each.periodeEinde >= period.end));
    const given = exact ?? covering ?? own;
    for (const levering of given) {
      const selection = exact === undefined ? { group, rank: levering.invoerId, period } : undefined;
      chosen.set(levering, { levering, selection });
    }
    group += 1;
  }
  return leveringen.map((levering) => chosen.get(levering)).filter((each) => each !== undefined);
}

/** The parts of the newest import among leveringen. */
function newest(leveringen: readonly Levering[]): readonly Levering[] | undefined {
  if (leveringen.length === 0) return undefined;
  const last = leveringen.reduce((highest, { invoerId }) => Math.max(highest, invoerId), 0);
  return leveringen.filter(({ invoerId }) => invoerId === last);
}

/** By deliverer: the days of a period that none of the chosen leveringen covers. */
export function uncoveredDays(
  deliverers: readonly Deliverer[],
  chosen: readonly ChosenLevering[],
  period: Period,
): Uncovered[] {
  const covered = Map.groupBy(chosen, ({ levering }) => delivererKey(levering));
  return deliverers.flatMap((deliverer) => {
    const { organisatieSleutel, naam, gemeenteSleutel } = deliverer;
    const periods = (covered.get(delivererKey(deliverer)) ?? []).map(({ levering }) => levering);
    return gaps(periods, period).map(({ start, end }) => ({
      organisatie: naam ?? organisatieSleutel,
      ...(gemeenteSleutel === undefined ? {} : { gemeente: gemeenteSleutel }),
      van: start,
      tot: end,
    }));
  });
}

function gaps(leveringen: readonly Levering[], { start, end }: Period): Period[] {
  const found: Period[] = [];
  let next = start;
  for (const { periodeStart, periodeEinde } of leveringen.toSorted((a, b) => compare(a.periodeStart, b.periodeStart))) {
    if (periodeStart > next) found.push({ start: next, end: dayAfter(periodeStart, -1) });
    if (periodeEinde >= end) return found;
    if (periodeEinde >= next) next = dayAfter(periodeEinde, 1);
  }
  return [...found, { start: next, end }];
}

function delivererKey({ organisatieSleutel, gemeenteSleutel }: Omit<Deliverer, 'naam'>): string {
  return JSON.stringify([organisatieSleutel, gemeenteSleutel ?? null]);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}
