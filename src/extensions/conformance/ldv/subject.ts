/** What a run knows of an intake of log lines, and how its cases send them. */
import { randomBytes, randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { JsonObject } from '../../../lib/json/json-value.ts';
import {
  type Clause,
  type ConformanceCase,
  type Finding,
  Inconclusive,
  type Level,
  type SuiteSubject,
} from '../case.ts';
import type { Ask, Client, Exchange } from '../client.ts';
import type { Tokens } from '../commands/token-file.ts';
import { readContract } from '../contract.ts';
import { type ContractWalk, walkContract } from '../contract-walk.ts';
import { type Form, MEDIA_TYPES, requestOf, type Said, saidIn, text } from './otlp.ts';

/** The token that logs, and the one that reads. */
export const LOGS = 'create:normal';
export const READS = 'read:confidential';

export interface LdvSubject extends SuiteSubject {
  readonly base: string;
  readonly tokens: Tokens;
  /** Names this run in what it writes. */
  readonly run: string;
  /** The processing activity that its lines name. */
  readonly activity: string;
  readonly contract: ContractWalk;
  /** What answers had otherwise than the contract. */
  readonly departures: { readonly text: string; readonly at: Exchange }[];
}

/** @param base address of the logbook, such as `https://log.example/ldv/v1` */
export function readLdvSubject(base: string, client: Client, tokens: Tokens, activity?: string): LdvSubject {
  const root = base.replace(/\/+$/, '').replace(/\/traces$/, '');
  const fault = readContract('ldv.yaml');
  return {
    ...{ client, fault, tokens, base: root, values: { base: root }, departures: [] },
    run: randomUUID().slice(0, 8),
    activity: activity ?? `https://conformance.example/verwerkingsactiviteiten/${randomUUID()}`,
    contract: walkContract('ldv.yaml', fault),
  };
}

/** What the person who tests is told before the first request. */
export function whatIsWritten({ run, activity }: LdvSubject): string {
  return `writes about two hundred lines of persons cf-${run}-… (conformance), under the activity ${activity}; nothing can take them back`;
}

interface How {
  readonly form?: Form;
  readonly gzip?: boolean;
  /** Instead of lines: the body itself. */
  readonly body?: Buffer;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly as?: string | undefined;
  /** The resource of the lines. */
  readonly resource?: unknown;
}

/** An intake as one case sees it. */
export interface Intake {
  readonly subject: LdvSubject;
  /** A line about one person; `undefined` leaves a member out. */
  line(wishes?: JsonObject, attributes?: Readonly<Record<string, string | undefined>>): JsonObject;
  send(lines: readonly JsonObject[], how?: How): Promise<Exchange>;
  /** Sends what must be taken whole. @returns why it was not */
  taken(lines: readonly JsonObject[], how?: How): Promise<string | undefined>;
  /** Sends lines of which so many must be refused. */
  refused(lines: readonly JsonObject[], count: number, how?: How): Promise<string | undefined>;
  /** What happens to a line, in a sentence. */
  seen(line: JsonObject): Promise<Finding>;
  ask(ask: Ask): Promise<Exchange>;
}

export interface LdvCase {
  readonly level: Level;
  readonly source: Clause;
  readonly nl: string;
  readonly en: string;
  readonly needs?: readonly string[];
  /** A text: why it fails. */
  readonly test: (intake: Intake) => Promise<Finding | string>;
}

export function ldvCases(cases: Readonly<Record<string, LdvCase>>): readonly ConformanceCase<LdvSubject>[] {
  return Object.entries(cases).map(([id, { level, source, nl, en, needs = ['L-OTLP-01'], test }]) => ({
    ...{ id, level, source, title: { nl, en }, dependsOn: needs },
    check: async (subject, { ask }) => {
      const found = await test(openIntake(subject, ask));
      return typeof found === 'string' ? { failed: found } : found;
    },
  }));
}

export const id = (bytes: 8 | 16): string => randomBytes(bytes).toString('hex');
/** Nanoseconds since 1970. */
export const nanoseconds = (msAgo: number): string => `${Date.now() - msAgo}123456`;
const ACTIVITY = 'dpl.core.processing_activity_id';
const SUBJECT = 'dpl.core.data_subject_id';
const SUBJECT_TYPE = 'dpl.core.data_subject_id_type';
export const DPL = { activity: ACTIVITY, subject: SUBJECT, subjectType: SUBJECT_TYPE } as const;

function openIntake(subject: LdvSubject, ask: (ask: Ask) => Promise<Exchange>): Intake {
  const { base, run, activity, contract, departures } = subject;
  const intake: Intake = {
    subject,
    ask,
    line(wishes = {}, attributes = {}) {
      const named: Readonly<Record<string, string | undefined>> = {
        ...{ [ACTIVITY]: activity, [SUBJECT]: `cf-${run}-${id(8)}`, [SUBJECT_TYPE]: 'conformance' },
        ...attributes,
      };
      return {
        ...{ traceId: id(16), spanId: id(8), name: 'Conformancetest', status: { code: 1 } },
        ...{ startTimeUnixNano: nanoseconds(60_000), endTimeUnixNano: nanoseconds(59_000) },
        attributes: Object.entries(named).flatMap(([key, value]) => (value === undefined ? [] : [text(key, value)])),
        ...wishes,
      };
    },
    async send(lines, { form = 'json', gzip = false, body, headers = {}, as = LOGS, resource } = {}) {
      const plain = body ?? (resource === undefined ? requestOf(lines, form) : requestOf(lines, form, resource));
      const at = await ask({
        ...{ to: `${base}/traces`, method: 'POST', body: gzip ? gzipSync(plain) : plain },
        headers: {
          ...{ accept: '*/*', 'content-type': MEDIA_TYPES[form] },
          ...(gzip ? { 'content-encoding': 'gzip' } : {}),
          ...headers,
        },
        ...(as === '' ? {} : { as }),
      });
      departures.push(...contract.departures('/traces', at).map((one) => ({ text: one.text, at })));
      return at;
    },
    async taken(lines, how) {
      const said = await answered(intake, lines, how);
      if (typeof said === 'string') return said;
      return said.rejected === undefined || said.rejected === 0
        ? undefined
        : `${said.rejected} of ${lines.length} lines were refused: ${said.message}`;
    },
    async refused(lines, count, how) {
      const said = await answered(intake, lines, how);
      if (typeof said === 'string') return said;
      const { rejected = 0 } = said;
      return rejected === count ? undefined : `${rejected} of ${lines.length} lines were refused instead of ${count}`;
    },
    async seen(line) {
      const { status, ...answer } = await intake.send([line]);
      const said = saidIn({ status, ...answer });
      if (status !== 200) return { seen: `status ${status}` };
      return { seen: said?.rejected ? `refused: ${said.message}` : 'taken' };
    },
  };
  return intake;
}

/** What the answer says when it is 200. @throws {Inconclusive} when the service is too busy or fails */
async function answered(intake: Intake, lines: readonly JsonObject[], how?: How): Promise<Said | string> {
  const at = await intake.send(lines, how);
  if (at.status >= 500 || at.status === 429) throw new Inconclusive(`status ${at.status}`);
  if (at.status !== 200) return `the answer has status ${at.status} instead of 200`;
  return saidIn(at) ?? 'the answer is no ExportTraceServiceResponse';
}
