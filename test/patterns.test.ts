/** Every regular expression of the source, and every pattern of the contracts, against texts designed to slow it down. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readContract } from '../conformance/contract.ts';
import { linkTo } from '../conformance/raadsfeed/pages.ts';
import { personIdentity } from '../src/gegevens/import/record-traits.ts';
import { isRecord } from '../src/lib/json/json-value.ts';
import { UUID_DIGITS } from '../src/lib/patterns.ts';
import { DATE, datesIn } from '../src/raadsfeed/pages/search/fold.ts';
import { processorMs } from './support/processor-time.ts';

const ROOT = join(import.meta.dirname, '..');
/** For this many characters, a non-linear pattern takes seconds and a linear one a few milliseconds. */
const WHOLE = 100_000;
const MOST_MS = 500;
/** Shorter texts preselect candidates: quadratic patterns already show here. */
const SHORT = 2000;
const SUSPECT_MS = 0.7;

/** Non-linear patterns whose text is short or our own, each with the reason. */
const BOUNDED = new Map([
  [String.raw`src/verwerkingenlog/ldv/query.ts /\.?0+Z$/`, 'a time that we wrote'],
  [
    String.raw`src/verwerkingenlog/inzage/organisation-sections.ts /(\d+)([YWDHS]|T?M)/g`,
    'a duration: at most five digits for a unit',
  ],
  [String.raw`src/gegevens/tools/check/delivery-check.ts /(?:[\s+_/-]v?\d|\d\.\d)[\w.-]*$/i`, 'at most 200 characters'],
  [String.raw`src/raadsfeed/aggregator/supplier/mapping.ts /\.+$/`, 'the beginning of a number'],
  [
    String.raw`src/raadsfeed/aggregator/ibabs/map.ts /^(.+?)\s+(\d{1,2}-\d{1,2}-\d{4})\s*(?:\\n|\n)\s*(\d[\w.]*)/`,
    'the first 300 characters',
  ],
]);

interface Pattern {
  readonly path: string;
  readonly source: string;
  readonly flags: string;
}

/** A literal follows an operator, a bracket, a comma or `return`; otherwise `/` divides. */
const LITERAL =
  /(?<=(?:^|[(,=:[!&|?{;+>]|\breturn|\bcase)\s*)\/((?:\[(?:\\.|[^\]\\\n])*\]|\\.|[^/\\[\n*])(?:\[(?:\\.|[^\]\\\n])*\]|\\.|[^/\\[\n])*)\/([dgimsuvy]*)/gm;

function literals(path: string): readonly Pattern[] {
  const code = readFileSync(join(ROOT, path), 'utf8').replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '');
  return [...code.matchAll(LITERAL)].map(([, source = '', flags = '']) => ({ path, source, flags }));
}

/** The regular expressions that `ajv` makes of each `pattern`. */
function ofContract(path: string): readonly Pattern[] {
  const found: Pattern[] = [];
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) for (const one of value) walk(one);
    if (!isRecord(value)) return;
    if (typeof value.pattern === 'string') found.push({ path, source: value.pattern, flags: 'u' });
    for (const one of Object.values(value)) walk(one);
  };
  walk(parse(readFileSync(join(ROOT, path), 'utf8')));
  return found;
}

const patterns = [
  // Composed of these.
  { path: 'src/raadsfeed/pages/search/fold.ts', source: DATE, flags: 'giu' },
  { path: 'src/verwerkingenlog/ldv/mapping.ts', source: `(?:^|[:=#/])(${UUID_DIGITS})/?$`, flags: 'i' },
  ...globSync('src/**/*.{ts,js}', { cwd: ROOT }).flatMap(literals),
  ...globSync('openapi/**/*.{yaml,json}', { cwd: ROOT }).flatMap(ofContract),
];

const REPEATED = [...' \t\n0a9Zz_-./=<([{"\'\\%#@:,;&|+*?!~é', '1a', '0 ', ' ,', '</', '0.', '- '];

/** Repeated texts, between a beginning that a pattern requires and an end that it refuses. */
function* textsFor({ source }: Pattern): Generator<(length: number) => string> {
  const words = [...new Set(source.replaceAll(/\\[a-zA-Z]|\\/g, '\n').match(/[\w<>/!"'.:@&; -]+/g) ?? [])];
  const longest = words.toSorted((a, b) => b.length - a.length).slice(0, 4);
  const pieces = [
    ...REPEATED,
    ...longest,
    ...longest.flatMap((word) => [`${word}-`, `${word} `, `${word}a`, `${word}0`]),
  ];
  const beginnings = ['', 'a', 'a:', '1', ...longest.slice(0, 2)];
  for (const piece of pieces)
    for (const beginning of beginnings)
      for (const end of ['', '\0', '\n\0'])
        yield (length) => beginning + piece.repeat(Math.ceil(length / piece.length)) + end;
}

const context: { run?: () => unknown } = createContext({});
/**
 * Runs work that may not end.
 * @returns true when it ended in time
 */
function ends(run: () => unknown, timeout: number): boolean {
  context.run = run;
  try {
    runInContext('run()', context, { timeout });
    return true;
  } catch (error) {
    // The error belongs to the other context.
    if (String(error).includes('Script execution timed out')) return false;
    throw error;
  }
}

/** The text that slows a pattern down, or undefined. */
function slowedBy({ source, flags, ...pattern }: Pattern): string | undefined {
  const compiled = new RegExp(source, flags);
  const texts = [...textsFor({ source, flags, ...pattern })];
  const suspects = new Set<(length: number) => string>();
  let tried: ((length: number) => string) | undefined;
  const tryAll = (): void => {
    for (const textOf of texts) {
      tried = textOf;
      const text = textOf(SHORT);
      const began = performance.now();
      text.replace(compiled, '');
      if (performance.now() - began > SUSPECT_MS) suspects.add(textOf);
    }
  };
  if (!ends(tryAll, 10_000) && tried !== undefined) suspects.add(tried);
  for (const textOf of suspects) {
    const text = textOf(WHOLE);
    let ms = 0;
    const whole = (): void => {
      ms = processorMs(() => text.replace(compiled, ''));
    };
    if (!ends(whole, 10 * MOST_MS) || ms > MOST_MS) return JSON.stringify(text.slice(0, 12));
  }
  return undefined;
}

describe('patterns', () => {
  it('are all found', () => {
    expect(patterns.length).toBeGreaterThan(500);
  });

  it('read 100 KB of repeated text in linear time, unless their text is bounded', () => {
    const found = new Map<string, string | undefined>();
    const slow = patterns.flatMap((pattern) => {
      const literal = `/${pattern.source}/${pattern.flags}`;
      const name = `${pattern.path} ${literal}`;
      if (BOUNDED.has(name)) return [];
      if (!found.has(literal)) found.set(literal, slowedBy(pattern));
      const by = found.get(literal);
      return by === undefined ? [] : [`${name} is slow with ${by}`];
    });
    expect(slow).toEqual([]);
  });
});

describe('readers', () => {
  it.each([
    ['a person of blanks', () => personIdentity({ naam: `${' '.repeat(WHOLE)}x` }, [[['naam']]])],
    ['a person of one character', () => personIdentity({ naam: ` ${'0'.repeat(WHOLE)}x` }, [[['naam']]])],
    ['a Link of opening brackets', () => linkTo('<'.repeat(WHOLE), 'next')],
    ['a text of unfinished dates', () => datesIn('1 januari '.repeat(WHOLE / 10))],
  ])('read 100 KB in linear time: %s', (_, read) => {
    expect(processorMs(read)).toBeLessThan(MOST_MS);
  });

  it('read a value of one character as unknown, whatever blanks surround it', () => {
    const known = ['000000000', ' 000000000 ', '0000000', '999990019', '\n'].map((bsn) =>
      personIdentity({ bsn }, [[['bsn']]]),
    );
    expect(known).toEqual([undefined, undefined, '["0000000"]', '["999990019"]', undefined]);
  });

  it('compare the members of a list in linear time', () => {
    const fault = readContract('raadsfeed.yaml');
    const references = Array.from({ length: 30_000 }, (_, i) => ({ bronidentificatie: `a-${i}` }));
    expect(processorMs(() => expect(fault('Verwijzingen', references)).toBeUndefined())).toBeLessThan(2000);
    expect(fault('Verwijzingen', [...references, references[0]])).toContain('duplicate');
  });
});
