/** What a run knows of an intake of log lines, and how its cases send them. */
import { randomBytes, randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { JsonObject } from '../../src/lib/json/json-value.ts';
import {
  type CaseRun,
  Failed,
  type Finding,
  requireAvailable,
  Skipped,
  type SuiteSubject,
  writtenChapters,
} from '../case.ts';
import type { Tokens } from '../commands/token-file.ts';
import { readContract } from '../contract.ts';
import { type ContractWalk, walkContract } from '../contract-walk.ts';
import type { Ask, Client, Exchange } from '../exchange.ts';
import { type Form, MEDIA_TYPES, requestOf, type Said, saidIn, text } from './otlp.ts';

/** The scope of the token. */
export const LOGS = 'create:normal';

export interface LdvSubject extends SuiteSubject {
  readonly base: string;
  readonly tokens: Tokens;
  /** Names this run in what it writes. */
  readonly run: string;
  /** The processing activity that its lines name. */
  readonly activity: string;
  readonly contract: ContractWalk;
  /** How a line is made wrong that this intake refuses while it takes others; found when the first case asks. */
  wrong?: Promise<MakeWrong>;
  /** What answers had otherwise than the contract. */
  readonly departures: { readonly text: string; readonly at: Exchange }[];
}

/** @param base address of the logbook, such as `https://log.example/ldv/v1` */
export function readLdvSubject(base: string, client: Client, tokens: Tokens, activity?: string): LdvSubject {
  const root = base.replace(/(?<!\/)\/+$/, '').replace(/\/traces$/, '');
  const fault = readContract('ldv.yaml');
  return {
    ...{ client, fault, tokens, base: root, values: { base: root }, departures: [] },
    run: randomUUID().slice(0, 8),
    activity: activity ?? `https://conformance.example/verwerkingsactiviteiten/${randomUUID()}`,
    contract: walkContract('ldv.yaml', fault),
  };
}

type MakeWrong = (intake: Intake, attributes: Readonly<Record<string, string>>) => JsonObject;

/** Lines that a logbook may refuse. The texts do not say that it must. */
const WRONG: readonly MakeWrong[] = [
  (intake, attributes) => intake.line({}, { ...attributes, [ACTIVITY]: undefined }),
  (intake, attributes) => intake.line({ traceId: '0'.repeat(32) }, attributes),
  (intake, attributes) => intake.line({ endTimeUnixNano: nanoseconds(120_000) }, attributes),
];

async function findWrong(intake: Intake): Promise<MakeWrong> {
  for (const make of WRONG) {
    const at = await intake.send([intake.line(), make(intake, {})]);
    if (at.status === 200 && (saidIn(at)?.rejected ?? 0) > 0) return make;
  }
  throw new Skipped('of the lines that these cases know it refuses none alone');
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
  /** A line that this intake refuses, alone, of a request. @throws {Skipped} when it refuses none */
  wrong(wishes?: Readonly<Record<string, string>>): Promise<JsonObject>;
  /** Sends a line that is right and these, which alone must be refused. @returns why they were not */
  partlyRefused(lines: readonly JsonObject[], how?: How): Promise<string | undefined>;
  /** The same, where the whole request may be refused as well. */
  refused(lines: readonly JsonObject[]): Promise<string | undefined>;
  /** What happens to a line, in a sentence. */
  seen(line: JsonObject): Promise<Finding>;
  ask(ask: Ask): Promise<Exchange>;
}

/** Without a line that is confirmed nothing else can be tried. */
export const ldvChapter = writtenChapters(openIntake, 'L-OTLP-01');

export const id = (bytes: 8 | 16): string => randomBytes(bytes).toString('hex');
/** Nanoseconds since 1970. */
export const nanoseconds = (msAgo: number): string => `${Date.now() - msAgo}123456`;
const ACTIVITY = 'dpl.core.processing_activity_id';
const SUBJECT = 'dpl.core.data_subject_id';
const SUBJECT_TYPE = 'dpl.core.data_subject_id_type';
export const DPL = { activity: ACTIVITY, subject: SUBJECT, subjectType: SUBJECT_TYPE } as const;

function openIntake(subject: LdvSubject, { ask }: CaseRun): Intake {
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
      const { rejected = 0, message } = await answered(intake, lines, how);
      return rejected === 0 ? undefined : `${rejected} of ${lines.length} lines were refused: ${message}`;
    },
    async wrong(attributes = {}) {
      subject.wrong ??= findWrong(intake);
      return (await subject.wrong)(intake, attributes);
    },
    async partlyRefused(lines, how) {
      const all = [intake.line(), ...lines];
      return miscount(await intake.send(all, how), lines.length, all.length);
    },
    async refused(lines) {
      const all = [intake.line(), ...lines];
      const at = await intake.send(all);
      return at.status === 400 ? undefined : miscount(at, lines.length, all.length);
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

/** Why an answer does not refuse as many lines as it should. @throws as `read` */
function miscount(at: Exchange, wanted: number, sent: number): string | undefined {
  const { rejected = 0 } = read(at);
  return rejected === wanted ? undefined : `${rejected} of ${sent} lines were refused instead of ${wanted}`;
}

/** What the answer says when it is 200. @throws {Inconclusive} when the service is not available {Failed} */
async function answered(intake: Intake, lines: readonly JsonObject[], how?: How): Promise<Said> {
  return read(await intake.send(lines, how));
}

function read(at: Exchange): Said {
  requireAvailable(at);
  if (at.status !== 200) throw new Failed(`the answer has status ${at.status} instead of 200`);
  const said = saidIn(at);
  if (said === undefined) throw new Failed('the answer is no ExportTraceServiceResponse');
  return said;
}
