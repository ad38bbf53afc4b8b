/** A run's state for an intake of log lines, and how its cases send lines. */
import { randomBytes, randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { JsonObject } from '../../src/lib/json/json-value.ts';
import { type CaseRun, Failed, type Finding, requireAvailable, Skipped, writtenChapters } from '../case.ts';
import { bytesOf } from '../client.ts';
import type { Tokens } from '../commands/token-file.ts';
import { walkContract } from '../contract.ts';
import type { Client, Exchange } from '../exchange.ts';
import { type Form, MEDIA_TYPES, requestOf, type Said, saidIn, text } from './otlp.ts';

export const LOGS = 'create:normal';

export interface LdvSubject extends ReturnType<typeof readLdvSubject> {
  /** A fault for which this intake refuses a line but accepts the others; found when the first case needs it. */
  wrong?: Promise<MakeWrong>;
}

/** @param base address of the logbook, such as `https://log.example/ldv/v1` */
export function readLdvSubject(
  base: string,
  client: Client,
  tokens: Tokens,
  activity = `https://conformance.example/verwerkingsactiviteiten/${randomUUID()}`,
) {
  const root = base.replace(/(?<!\/)\/+$/, '').replace(/\/traces$/, '');
  const contract = walkContract('ldv.yaml');
  return {
    client,
    contract,
    fault: contract.fault,
    tokens,
    base: root,
    values: { base: root },
    /** Identifies this run in its lines. */
    run: randomUUID().slice(0, 8),
    activity,
  };
}

type MakeWrong = (intake: Intake, attributes: Readonly<Record<string, string>>) => JsonObject;

/** Lines that a logbook may refuse. The texts do not require it to. */
const WRONG: readonly MakeWrong[] = [
  (intake, attributes) => intake.line({}, { ...attributes, [DPL.activity]: undefined }),
  (intake, attributes) => intake.line({ traceId: '0'.repeat(32) }, attributes),
  (intake, attributes) => intake.line({ endTimeUnixNano: nanoseconds(120_000) }, attributes),
];

async function findWrong(intake: Intake): Promise<MakeWrong> {
  for (const make of WRONG) {
    const at = await intake.send([intake.line(), make(intake, {})]);
    if (at.status === 200 && (saidIn(at)?.rejected ?? 0) > 0) return make;
  }
  throw new Skipped("it refuses none of these cases' invalid lines individually");
}

/** Told to the tester before the first request. */
export function whatIsWritten({ run, activity }: LdvSubject): string {
  return `writes about two hundred lines about persons cf-${run}-… (conformance), with activity ${activity}; they cannot be removed`;
}

interface How {
  readonly form?: Form;
  readonly gzip?: boolean;
  /** The whole body, instead of lines: text and bytes unchanged, anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Default true. */
  readonly withToken?: boolean;
}

export type Intake = ReturnType<typeof openIntake>;

/** Without a confirmed line nothing else can be tested. */
export const ldvChapter = writtenChapters(openIntake, 'L-OTLP-01');

export const id = (bytes: 8 | 16): string => randomBytes(bytes).toString('hex');
/** Nanoseconds since 1970. */
export const nanoseconds = (msAgo: number): string => `${Date.now() - msAgo}123456`;
export const DPL = {
  activity: 'dpl.core.processing_activity_id',
  subject: 'dpl.core.data_subject_id',
  subjectType: 'dpl.core.data_subject_id_type',
} as const;

/** An intake as seen by one case. */
function openIntake(subject: LdvSubject, { ask }: CaseRun) {
  const { base, run, activity, contract } = subject;
  const intake = {
    subject,
    ask,
    /** A line about one person; `undefined` omits a member. */
    line(wishes: JsonObject = {}, attributes: Readonly<Record<string, string | undefined>> = {}): JsonObject {
      const named: typeof attributes = {
        [DPL.activity]: activity,
        [DPL.subject]: `cf-${run}-${id(8)}`,
        [DPL.subjectType]: 'conformance',
        ...attributes,
      };
      return {
        traceId: id(16),
        spanId: id(8),
        name: 'Conformancetest',
        status: { code: 1 },
        startTimeUnixNano: nanoseconds(60_000),
        endTimeUnixNano: nanoseconds(59_000),
        attributes: Object.entries(named).flatMap(([key, value]) => (value === undefined ? [] : [text(key, value)])),
        ...wishes,
      };
    },
    async send(lines: readonly JsonObject[], how: How = {}): Promise<Exchange> {
      const { form = 'json', gzip = false, body = requestOf(lines, form), headers = {}, withToken = true } = how;
      const at = await ask({
        to: `${base}/traces`,
        method: 'POST',
        body: gzip ? gzipSync(bytesOf(body)) : body,
        headers: {
          accept: '*/*',
          'content-type': MEDIA_TYPES[form],
          ...(gzip ? { 'content-encoding': 'gzip' } : {}),
          ...headers,
        },
        as: withToken ? LOGS : undefined,
      });
      contract.judge('/traces', at);
      return at;
    },
    /**
     * Sends lines that must all be accepted.
     * @returns why they were not
     */
    async taken(lines: readonly JsonObject[], how?: How): Promise<string | undefined> {
      const { rejected = 0, message } = read(await intake.send(lines, how));
      return rejected === 0 ? undefined : `${rejected} of ${lines.length} lines were refused: ${message}`;
    },
    /**
     * A line that this intake refuses individually.
     * @throws {Skipped} when it refuses none
     */
    async wrong(attributes: Readonly<Record<string, string>> = {}): Promise<JsonObject> {
      subject.wrong ??= findWrong(intake);
      return (await subject.wrong)(intake, attributes);
    },
    /**
     * Sends a valid line with these, of which exactly these must be refused.
     * @returns the deviation
     */
    async partlyRefused(lines: readonly JsonObject[], how?: How): Promise<string | undefined> {
      return miscount(await intake.send([intake.line(), ...lines], how), lines.length);
    },
    /** The same for one line, but the whole request may be refused too. */
    async refused(line: JsonObject): Promise<string | undefined> {
      const at = await intake.send([intake.line(), line]);
      return at.status === 400 ? undefined : miscount(at, 1);
    },
    /** The fate of a line, in a sentence. */
    async seen(line: JsonObject): Promise<Finding> {
      const at = await intake.send([line]);
      if (at.status !== 200) return { seen: `status ${at.status}` };
      const said = saidIn(at);
      return { seen: said?.rejected ? `refused: ${said.message}` : 'taken' };
    },
  };
  return intake;
}

/**
 * Why an answer does not refuse the expected number of lines, which is all but one.
 * @throws as `read`
 */
function miscount(at: Exchange, wanted: number): string | undefined {
  const { rejected = 0 } = read(at);
  return rejected === wanted ? undefined : `${rejected} of ${wanted + 1} lines were refused instead of ${wanted}`;
}

/**
 * The contents of a 200 answer.
 * @throws {Inconclusive} when the service is not available {Failed}
 */
function read(at: Exchange): Said {
  requireAvailable(at);
  if (at.status !== 200) throw new Failed(`the answer has status ${at.status} instead of 200`);
  const said = saidIn(at);
  if (said === undefined) throw new Failed('the answer is not an ExportTraceServiceResponse');
  return said;
}
