/** Variables that look like settings: a typing error would otherwise go unnoticed. */

import type { Environment } from '../lib/terminal.ts';

interface UnknownVariable {
  readonly variable: string;
  readonly nearest: string;
}

/** First words that variables of others also begin with: `LOG_DIR`, `NODE_OPTIONS`. There only a typing error of a letter or two is reported. */
const SHARED_WORDS = ['BODY', 'CLIENT', 'HEADER', 'LOG', 'NODE', 'PUBLIC', 'REQUEST', 'TRUST'];
/** Variables that Kubernetes and Docker set for a service with our name. */
const OF_A_SERVICE = /_(SERVICE_(HOST|PORT\w*)|PORT(_\d+_(TCP|UDP)\w*)?)$/;
const SLIP = 2;
const MIN_LENGTH = 8;

/** Names variables that would be silently ignored, such as `GEGEVENS_TRUST_ANCHOR`. @param known every variable that is read */
export function unknownVariables(env: Environment, known: readonly string[]): UnknownVariable[] {
  const words = new Set(known.filter((name) => name.includes('_')).map(firstWord));
  for (const word of SHARED_WORDS) words.delete(word);
  return Object.keys(env)
    .filter((name) => !known.includes(name) && /^[A-Z][A-Z0-9]*_[A-Z0-9_]+$/.test(name) && !OF_A_SERVICE.test(name))
    .flatMap((variable) => {
      const distances = known.map((name) => ({ name, distance: distance(variable, name) }));
      const [first] = distances.sort((a, b) => a.distance - b.distance);
      if (first === undefined) return [];
      const isSlip = variable.length >= MIN_LENGTH && first.distance <= SLIP;
      return words.has(firstWord(variable)) || isSlip ? [{ variable, nearest: first.name }] : [];
    });
}

function firstWord(name: string): string {
  return name.slice(0, name.indexOf('_'));
}

/** Letters to change, add or remove to turn one into the other (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
