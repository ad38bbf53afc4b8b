/**
 * The evidence of a release. `npm run evidence` makes it; `npm run evidence -- check FOLDER` checks it without a
 * network. docs/upgrading.md#evidence-of-a-release lists the folder's contents.
 */
import type { KeyObject } from 'node:crypto';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { checkEvidence } from './evidence/check.ts';
import { readKey } from './evidence/files.ts';
import { makeEvidence } from './evidence/make.ts';

const ROOT = join(import.meta.dirname, '..');
const USAGE = `npm run evidence -- [FOLDER] [--tests FILE]… [--audit FILE | --offline] [--key FILE]
    Makes the evidence of the commit that is checked out, in FOLDER (evidence-VERSION).
    --tests FILE   a report of vitest (--reporter=json); without any, all tests are run
    --audit FILE   output of \`npm audit --json\`; without it, the registry is queried
    --offline      leave known vulnerabilities unknown, and say so
    --key FILE     sign with this private key (Ed25519, PEM)
npm run evidence -- check FOLDER [--key FILE]
    Checks it, without a network.
    --key FILE     the public key of whoever signed (PEM)`;

function main(): number {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      tests: { type: 'string', multiple: true, default: [] },
      audit: { type: 'string' },
      offline: { type: 'boolean', default: false },
      key: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const key = (kind: 'private' | 'public') => (values.key === undefined ? undefined : readKey(values.key, kind));
  const [folder, ...more] = positionals;
  if (folder === 'check') {
    const [checked] = more;
    return checked === undefined || more.length > 1
      ? misused('name the folder to check')
      : check(checked, key('public'));
  }
  if (more.length > 0) return misused(`one folder, not ${positionals.length}`);
  if (values.offline && values.audit !== undefined) return misused('--audit or --offline, not both');
  const target = folder === undefined ? undefined : resolve(folder);
  const made = makeEvidence(ROOT, { ...values, audit: values.audit, folder: target, key: key('private') });
  console.log(`Made ${made}. Check it with: npm run evidence -- check ${made}`);
  return 0;
}

function check(folder: string, key: KeyObject | undefined): number {
  const faults = checkEvidence(ROOT, resolve(folder), key, (line) => console.log(`- ${line}`));
  for (const fault of faults) console.error(`evidence: ${fault}`);
  const agrees =
    key === undefined
      ? 'The evidence agrees with itself. Anybody can have made it: no signature was checked.'
      : 'The evidence holds.';
  console.log(faults.length === 0 ? agrees : `The evidence does not hold: ${faults.length} faults.`);
  return faults.length === 0 ? 0 : 1;
}

function misused(what: string): number {
  console.error(`evidence: ${what}\n${USAGE}`);
  return 2;
}

try {
  process.exitCode = main();
} catch (error) {
  for (const line of (error instanceof Error ? error.message : String(error)).split('\n'))
    console.error(`evidence: ${line}`);
  process.exitCode = 1;
}
