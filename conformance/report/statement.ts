/**
 * A signed statement of a test's result, in the form of every signed message, so `koppelvlak-conformance signature` can check it.
 */
import { digestOf, PLAIN_STYLES, type Signer } from '../../src/lib/jades/signature.ts';
import { messageBytes } from '../saved-exchanges.ts';
import { type ConformanceReport, verdictOf } from './report.ts';

/** @param json the bytes of `report.json`, whose digest it contains */
export async function signedStatement(report: ConformanceReport, json: string, signer: Signer): Promise<Buffer> {
  const { suite, version, subject, started, ended, options, counts, conforms } = report;
  const statement = {
    ...{ suite, version, subject, started, ended, options, counts, conforms },
    ...{ verdict: verdictOf(report), report: digestOf(Buffer.from(json)) },
  };
  const body = Buffer.from(`${JSON.stringify(statement, null, 2)}\n`);
  const { digest, signature } = await signer.sign(body, PLAIN_STYLES.digest);
  return messageBytes(
    undefined,
    { 'Content-Type': 'application/json', Digest: digest, 'nlgov-adr-payload-sig': signature },
    body,
  );
}
