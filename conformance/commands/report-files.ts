/** Reports on a terminal and in files. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { UsageError } from '../../src/lib/command-error.ts';
import { loadPemKey } from '../../src/lib/jades/own-key.ts';
import { createSigner, digestOf, PLAIN_STYLES, type Signer } from '../../src/lib/jades/signature.ts';
import { parseUntrusted, UntrustedJsonError } from '../../src/lib/json/parse-untrusted.ts';
import { table } from '../../src/lib/output.ts';
import { systemClock } from '../../src/lib/time.ts';
import { OUTCOMES } from '../case.ts';
import { reportHtml } from '../report/html.ts';
import { reportJunit } from '../report/junit.ts';
import { type ConformanceReport, countsByLevel, isWrong, noLongerFailing, verdictOf } from '../report/report.ts';
import { messageBytes } from '../saved-exchanges.ts';
import { asText, asUsage, readBytes, readJoined } from './tool.ts';

const SCHEMA = new URL('../../openapi/conformance-report.json', import.meta.url);
const MAX_BYTES = 64 * 1024 * 1024;

/** @throws {UsageError} when the file is not a report */
export async function readReport(file: string): Promise<ConformanceReport> {
  // Not its text, which would be held beside what is parsed from it.
  const bytes = await readBytes(file);
  const isReport = new Ajv2020({ strict: false, validateFormats: false }).compile<ConformanceReport>(
    JSON.parse(await readFile(SCHEMA, 'utf8')),
  );
  let value: unknown;
  try {
    value = parseUntrusted(bytes, { bytes: MAX_BYTES });
  } catch (error) {
    if (error instanceof UntrustedJsonError && error.code === 'not-utf8') asText(bytes, file);
    if (error instanceof UntrustedJsonError) throw new UsageError(`${file} ${error.message}`);
    throw error;
  }
  if (!isReport(value))
    throw new UsageError(
      `${file} is not a report: ${isReport.errors?.[0]?.instancePath} ${isReport.errors?.[0]?.message}`,
    );
  return value;
}

/**
 * The key that signs a statement.
 * @param files a private key and its certificate chain, as PEM in one or two files
 */
export async function readSigner(files: readonly string[]): Promise<Signer> {
  const pem = await readJoined(files);
  const [, key = ''] = /(-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]+?-----END [A-Z ]*PRIVATE KEY-----)/.exec(pem) ?? [];
  const own = asUsage('--sign', () => loadPemKey({ key, chain: pem }, systemClock.now()));
  return createSigner({ ...own, now: () => systemClock.now() });
}

/** Writes `report.json`, `report.html` and `junit.xml`, and `statement.http` if a key was given. */
export async function writeReport(report: ConformanceReport, directory: string, signer?: Signer): Promise<void> {
  await mkdir(directory, { recursive: true });
  const json = `${JSON.stringify(report, null, 2)}\n`;
  await writeFile(join(directory, 'report.json'), json);
  await writeFile(join(directory, 'report.html'), reportHtml(report));
  await writeFile(join(directory, 'junit.xml'), reportJunit(report));
  if (signer !== undefined)
    await writeFile(join(directory, 'statement.http'), await signedStatement(report, json, signer));
}

/**
 * A statement of the result, in the form of every signed message, so `koppelvlak-conformance signature` can check it.
 * @param json the bytes of `report.json`, whose digest it contains
 */
async function signedStatement(report: ConformanceReport, json: string, signer: Signer): Promise<Buffer> {
  const { suite, version, subject, started, ended, options, counts, conforms } = report;
  const statement = {
    suite,
    version,
    subject,
    started,
    ended,
    options,
    counts,
    conforms,
    verdict: verdictOf(report),
    report: digestOf(Buffer.from(json)),
  };
  const body = Buffer.from(`${JSON.stringify(statement, null, 2)}\n`);
  const { digest, signature } = await signer.sign(body, PLAIN_STYLES.digest);
  return messageBytes(
    undefined,
    { 'Content-Type': 'application/json', Digest: digest, 'nlgov-adr-payload-sig': signature },
    body,
  );
}

/** Failures with their reasons, then the counts by level. */
export function reportText(report: ConformanceReport): string {
  const { cases, requests, subject, suite } = report;
  const faults = cases.filter(isWrong).map(
    (one) => `${one.outcome.toUpperCase()} ${one.id} (${one.level}${one.expected ? ', expected' : ''}): ${one.title}
  ${one.reason ?? ''}
  ${one.source.document}, ${one.source.clause}: “${one.source.quote}”${one.again === undefined ? '' : `\n  ${one.again}`}`,
  );
  return [
    ...faults,
    table(['level', ...OUTCOMES], countsByLevel(cases)),
    ...[noLongerFailing(report)].filter((text) => text !== undefined),
    `${suite} of ${subject}: ${cases.length} cases, ${requests} requests. ${verdictOf(report)}`,
  ].join('\n\n');
}
