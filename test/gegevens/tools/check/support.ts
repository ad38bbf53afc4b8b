import { vsNames } from '../../../../src/lib/exchange-model/synthetic/vs-record.ts';
import { callProgram, type Ended } from '../../../support/program.ts';
import { messageFile } from '../../support/messages.ts';

export interface FoundReport {
  readonly period: { readonly start: string; readonly end: string } | null;
  readonly municipalities: readonly Record<string, unknown>[];
  readonly findings: readonly {
    readonly rule: number | 'model';
    readonly severity: string;
    readonly count: number;
    readonly places: readonly string[];
  }[];
}

/** Numbers that pass the eleven test and belong to nobody. */
export const BSN = ['999990019', '999991905', '999990020', '123456782'] as const;

/** Runs the command as a user would, without a database. */
export function check(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return callProgram(['gegevens', 'check', ...words], env);
}

/** The report on one message. */
export async function judge(
  variant: 'shv' | 'vs',
  message: unknown,
  words: readonly string[] = [],
): Promise<{ readonly status: number | null; readonly report: FoundReport }> {
  const { status, stdout } = await check(['--variant', variant, '--json', ...words, messageFile(message)]);
  return { status, report: JSON.parse(stdout) };
}

/** Rule, severity and places of all findings. */
export function found({ findings }: FoundReport): unknown[] {
  return findings.map(({ rule, severity, places }) => [rule, severity, ...places]);
}

type Json = Record<string, unknown>;

/** A trajectory that follows all rules. */
export function traject(more: Json = {}, bsn: string = BSN[0]): Json {
  return {
    gemeentecode: 'GM0344',
    startdatum: '2026-01-10',
    aanmelding: { startdatum: '2026-01-02', einddatum: '2026-01-05' },
    intake: { startdatum: '2026-01-06', einddatum: '2026-01-09', beschikkingsdatum: '2026-01-09' },
    toekenningsdatum: '2026-02-01',
    schuldregeling: { datum: '2026-01-20', toegekend: '2026-02-01', dwangakkoord: true },
    schulden: [{ bedrag: 10, schuldeiser: { naam: 'Energie BV', Naam: 'Energie BV' } }],
    client: [{ Burgerservicenummer: bsn, Geboortedatum: '1980-05-01', Geslachtsaanduiding: 'Vrouw' }],
    ...more,
  };
}

const CONTACT = { naam: 'Jan Jansen', email: 'jan@voorbeeld.example' };

/** A levering of a credit bank that follows all rules. */
export function shvLevering(trajecten: readonly Json[], organisatie: Json = {}): Json {
  return {
    teller: 1,
    aanleverende_organisatie: {
      '(Statutaire) Naam': 'Kredietbank',
      'KvK-nummer': '12345678',
      contactpersonen: [CONTACT],
      ...organisatie,
    },
    schuldhulptrajecten: trajecten,
  };
}

export function message(leveringen: readonly Json[], more: Json = {}): Json {
  return {
    startdatumLevering: '2026-01-01',
    einddatumLevering: '2026-03-31',
    aanleverdatumEnTijd: '2026-04-05T10:15:30Z',
    codeGegevensleverancier: 'Schuldpakket 4.2',
    leveringen,
    ...more,
  };
}

export const VS_VERSIONS = ['1.0', '1.1', '1.1-draft', '1.2'] as const;
export type VsVersion = (typeof VS_VERSIONS)[number];

export { vsNames };

export interface VsWishes {
  readonly organisatie?: Json;
  readonly gemeentecode?: string;
  readonly signaal?: Json;
  readonly client?: Json;
  readonly zaak?: Json;
}

/** A levering with one signal in one case, that follows all rules. */
export function vsLevering(version: VsVersion, wishes: VsWishes = {}): Json {
  const names = vsNames(version);
  return {
    teller: 1,
    gemeentecode: wishes.gemeentecode ?? '0344',
    [names.organisatie]: {
      naam: 'Gemeente Voorbeeld',
      'kvk-nummer': '12345678',
      [names.contacten]: [CONTACT],
      ...wishes.organisatie,
    },
    vroegsignalen: [
      {
        ID: 'S1',
        ontstaansdatum: '2026-01-01',
        signaaldatum: '2026-01-10',
        signaalpartner: { type: 'Water' },
        client: { [names.bsn]: BSN[0], ...wishes.client },
        ...wishes.signaal,
      },
    ],
    vroegsignaalzaken: [
      {
        [names.begin]: '2026-01-10',
        [names.einde]: '2026-01-31',
        [names.opgepakt]: '2026-01-15',
        vroegsignalen: [{ ID: 'S1' }],
        contactpogingen: [{ soort: 'Brief', datum: '2026-01-15' }],
        ...wishes.zaak,
      },
    ],
  };
}
