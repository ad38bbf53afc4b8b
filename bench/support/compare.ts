import { middle } from './turns.ts';

/** A measured side: answers per second, and its process's CPU time per answer, in microseconds. */
export interface Measured {
  readonly rate: number;
  readonly cpuUs?: number;
}

export interface Side {
  readonly name: string;
  once(): Promise<Measured>;
}

/** How one side compared with another. */
export interface Comparison {
  readonly name: string;
  /** Medians over the rounds. */
  readonly ours: Measured;
  readonly theirs: Measured;
  /** Medians of each round's ratio: ours to theirs in speed, theirs to ours in CPU time. */
  readonly ratio: number;
  readonly cpuRatio: number | undefined;
}

/** Our side and the ones it is compared with. */
export interface Match {
  readonly ours: Side;
  readonly others: readonly Side[];
}

/**
 * Measures all sides in turn, `rounds` times, and compares the first with each of the others.
 * @param matches comparisons of the same sides in different processes, pooled because some processes are faster for
 * their whole life
 */
export async function inTurns(matches: readonly Match[], rounds: number): Promise<Comparison[]> {
  const found: { ours: Measured; others: Measured[] }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const { ours, others } of matches) {
      const own = await ours.once();
      const theirs: Measured[] = [];
      for (const side of others) theirs.push(await side.once());
      found.push({ ours: own, others: theirs });
    }
  }
  const others = matches[0]?.others ?? [];
  return others.map(({ name }, i) => {
    const pairs = found.flatMap((round) => {
      const theirs = round.others[i];
      return theirs === undefined ? [] : [{ ours: round.ours, theirs }];
    });
    return {
      name,
      ours: typical(pairs.map((pair) => pair.ours)),
      theirs: typical(pairs.map((pair) => pair.theirs)),
      ratio: middle(pairs.map((pair) => pair.ours.rate / pair.theirs.rate)),
      cpuRatio: medianOf(pairs.map((pair) => quotient(pair.theirs.cpuUs, pair.ours.cpuUs))),
    };
  });
}

function typical(measured: readonly Measured[]): Measured {
  const cpuUs = medianOf(measured.map((one) => one.cpuUs));
  return { rate: middle(measured.map(({ rate }) => rate)), ...(cpuUs === undefined ? {} : { cpuUs }) };
}

function medianOf(numbers: readonly (number | undefined)[]): number | undefined {
  const there = numbers.filter((number) => number !== undefined);
  return there.length === 0 ? undefined : middle(there);
}

function quotient(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a / b;
}

/**
 * Prints a comparison as a line.
 * @param toReach the target ratio, if any
 */
export function tellComparison(
  title: string,
  connections: number,
  found: Comparison,
  toReach: number | undefined,
): void {
  const show = ({ rate, cpuUs }: Measured): string =>
    `${rate.toFixed(0).padStart(7)}/s${cpuUs === undefined ? '' : ` ${cpuUs.toFixed(0).padStart(5)} us`}`;
  const cpu = found.cpuRatio === undefined ? '' : `, by CPU time ${found.cpuRatio.toFixed(2)}`;
  const goal = toReach === undefined ? '' : ` (target ${toReach})${found.ratio >= toReach ? '' : '  BELOW'}`;
  console.log(
    `${title.padEnd(34)}${String(connections).padStart(4)}${show(found.ours)}   ${found.name}${show(found.theirs)}   ratio ${found.ratio.toFixed(2)}${cpu}${goal}`,
  );
}
