/** Where the rules of `gegevens check` find what they judge: the member `controle` of a mapping. */
import { pointerSteps, valueAt } from '../../../lib/json/json-value.ts';

type Path = readonly string[];

/** A begin and an end that belong together, in a record or in each item of a list of it. */
export interface PeriodPlaces {
  readonly list: Path | undefined;
  readonly begin: Path;
  readonly end: Path;
}

/** Members that should hold the same value. */
export interface EqualPlaces {
  /** The rule that asks for it, by its number. */
  readonly rule: number;
  readonly list: Path | undefined;
  readonly members: readonly Path[];
}

export interface PersonPlaces {
  /** A person, or a list of persons. */
  readonly at: Path;
  readonly bsn: Path | undefined;
  readonly sex: Path | undefined;
  readonly birth: Path | undefined;
  /** Groups of paths from a person; the first group of which all values are there identifies the person. */
  readonly identity: readonly (readonly Path[])[];
}

/** All places are optional: a rule is judged when its places are named. */
export interface CheckPlaces {
  readonly contacts: { readonly list: Path; readonly email: Path } | undefined;
  readonly persons: PersonPlaces | undefined;
  readonly equal: readonly EqualPlaces[];
  readonly trueOnlyWith: { readonly flag: Path; readonly date: Path } | undefined;
  readonly periods: readonly PeriodPlaces[];
  /** Steps of a trajectory, in their order. */
  readonly steps: readonly Path[];
  readonly kind: Path | undefined;
  readonly status: Path | undefined;
  readonly cases: {
    readonly result: Path | undefined;
    readonly takenUp: Path | undefined;
    readonly attempts: { readonly list: Path; readonly date: Path } | undefined;
    readonly periods: readonly PeriodPlaces[];
  };
}

/**
 * @param controle the member of a mapping that fits `mapping.schema.json`; absent: no places
 * @param identity what identifies a person, where `controle` does not say so itself
 */
export function readCheckPlaces(controle: unknown, identity: readonly (readonly Path[])[]): CheckPlaces {
  const path = (from: unknown, ...names: string[]): Path | undefined => {
    const pointer = valueAt(from, names);
    return typeof pointer === 'string' ? pointerSteps(pointer) : undefined;
  };
  const list = (from: unknown, ...names: string[]): readonly unknown[] => {
    const found = valueAt(from, names);
    return Array.isArray(found) ? found : [];
  };
  const paths = (items: unknown): Path[] =>
    (Array.isArray(items) ? items : []).map((item) => pointerSteps(String(item)));
  const periods = (items: readonly unknown[]): PeriodPlaces[] =>
    items.map((item) => ({
      list: path(item, 'lijst'),
      begin: path(item, 'begin') ?? [],
      end: path(item, 'einde') ?? [],
    }));
  const pair = (first: Path | undefined, second: Path | undefined): readonly [Path, Path] | undefined =>
    first === undefined || second === undefined ? undefined : [first, second];
  const contacts = pair(path(controle, 'contactpersonen', 'lijst'), path(controle, 'contactpersonen', 'email'));
  const attempts = pair(path(controle, 'zaken', 'pogingen', 'lijst'), path(controle, 'zaken', 'pogingen', 'datum'));
  const flag = pair(path(controle, 'waarAlleenMet', 'plaats'), path(controle, 'waarAlleenMet', 'met'));
  const persons = path(controle, 'personen', 'plaats');
  const own = list(controle, 'personen', 'kenmerken').map(paths);
  return {
    contacts: contacts && { list: contacts[0], email: contacts[1] },
    persons: persons && {
      at: persons,
      bsn: path(controle, 'personen', 'bsn'),
      sex: path(controle, 'personen', 'geslacht'),
      birth: path(controle, 'personen', 'geboortedatum'),
      identity: own.length > 0 ? own : identity,
    },
    equal: list(controle, 'gelijk').map((item) => ({
      rule: Number(valueAt(item, ['regel'])),
      list: path(item, 'lijst'),
      members: paths(valueAt(item, ['plaatsen'])),
    })),
    trueOnlyWith: flag && { flag: flag[0], date: flag[1] },
    periods: periods(list(controle, 'perioden')),
    steps: paths(valueAt(controle, ['stappen'])),
    kind: path(controle, 'soort'),
    status: path(controle, 'status'),
    cases: {
      result: path(controle, 'zaken', 'resultaat'),
      takenUp: path(controle, 'zaken', 'opgepakt'),
      attempts: attempts && { list: attempts[0], date: attempts[1] },
      periods: periods(list(controle, 'zaken', 'perioden')),
    },
  };
}
