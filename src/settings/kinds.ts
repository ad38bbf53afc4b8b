import { isIP } from 'node:net';
import { readAddresses } from '../database/addresses.ts';
import { addDuration, isDuration, isTerm, LONGEST_TERM } from '../lib/time.ts';

/**
 * The kinds of setting. A setting is read from one environment variable; `parse` throws a plain `Error` whose message says
 * what is wrong, `allowed` says what would be right. Reading them is `read-config.ts`' work.
 */
export interface Setting<T> {
  readonly variable: string;
  readonly allowed: string;
  /** Text of the default as shown in the table of settings; absent when there is none. */
  readonly default?: string;
  readonly description: string;
  /** Secret values are never printed, and may also be given as the content of the file named by `<variable>_FILE`. */
  readonly secret: boolean;
  readonly parse: (text: string) => T;
  /** The value when the variable is absent. */
  readonly absent: () => T;
}

interface Common {
  readonly description: string;
  readonly secret?: boolean;
}

type WithDefault<T> = Common & { readonly default: T };

function setting<T>(
  variable: string,
  kind: { allowed: string; parse: (text: string) => T; absent: () => T; shown?: string | undefined },
  common: Common,
): Setting<T> {
  return {
    variable,
    allowed: kind.allowed,
    ...(kind.shown === undefined ? {} : { default: kind.shown }),
    description: common.description,
    secret: common.secret ?? false,
    parse: kind.parse,
    absent: kind.absent,
  };
}

/** Text with a default. */
export function text(
  variable: string,
  options: WithDefault<string> & { pattern?: RegExp; allowed?: string },
): Setting<string> {
  const parse = checkedText(options.pattern);
  const allowed = options.allowed ?? 'text';
  return setting(variable, { allowed, parse, absent: () => options.default, shown: options.default }, options);
}

/** Text that may be absent. */
export function optionalText(
  variable: string,
  options: Common & { pattern?: RegExp; allowed?: string },
): Setting<string | undefined> {
  const allowed = options.allowed ?? 'text';
  return setting(variable, { allowed, parse: checkedText(options.pattern), absent: () => undefined }, options);
}

function checkedText(pattern: RegExp | undefined): (value: string) => string {
  return (value) => {
    if (pattern !== undefined && !pattern.test(value)) throw new Error('does not have the right form');
    return value;
  };
}

/** One word of a list. */
export function choice<const T extends string>(
  variable: string,
  words: readonly T[],
  options: WithDefault<T>,
): Setting<T> {
  const parse = (value: string): T => {
    const word = words.find((candidate) => candidate === value);
    if (word === undefined) throw new Error('is not one of the allowed words');
    return word;
  };
  const allowed = words.map((word) => `\`${word}\``).join(', ');
  return setting(variable, { allowed, parse, absent: () => options.default, shown: options.default }, options);
}

/** Several words of a list, separated by commas. */
export function choices<const T extends string>(
  variable: string,
  words: readonly T[],
  options: WithDefault<readonly T[]>,
): Setting<readonly T[]> {
  const parse = (value: string): readonly T[] => {
    const given = value.split(',').map((word) => word.trim());
    const unknown = given.filter((word) => !words.some((candidate) => candidate === word));
    if (unknown.length > 0) throw new Error(`has ${unknown.length} word(s) that are not allowed`);
    return words.filter((word) => given.includes(word));
  };
  const allowed = `comma list of ${words.map((word) => `\`${word}\``).join(', ')}`;
  return setting(
    variable,
    { allowed, parse, absent: () => options.default, shown: options.default.join(',') },
    options,
  );
}

/** Texts separated by commas; empty when absent. */
export function list(
  variable: string,
  options: Common & { item: RegExp; allowed: string },
): Setting<readonly string[]> {
  const parse = (value: string): readonly string[] => {
    const items = value.split(',').map((item) => item.trim());
    const wrong = items.filter((item) => !options.item.test(item));
    if (wrong.length > 0) throw new Error(`has ${wrong.length} item(s) that do not have the right form`);
    return items;
  };
  return setting(variable, { allowed: options.allowed, parse, absent: () => [] }, options);
}

/** Pairs separated by commas, as a map; empty when absent. @param options.item with two groups: the key and its value */
export function pairs(
  variable: string,
  options: Common & { item: RegExp; allowed: string },
): Setting<ReadonlyMap<string, string>> {
  const parse = (value: string): ReadonlyMap<string, string> => {
    const items = value.split(',').map((item) => options.item.exec(item.trim()));
    const wrong = items.filter((item) => item === null);
    if (wrong.length > 0) throw new Error(`has ${wrong.length} item(s) that do not have the right form`);
    const found = new Map(items.map((item) => [item?.[1] ?? '', item?.[2] ?? '']));
    if (found.size < items.length) throw new Error('names something more than once');
    return found;
  };
  return setting(variable, { allowed: options.allowed, parse, absent: () => new Map() }, options);
}

/** A whole number within bounds. */
export function integer(
  variable: string,
  options: WithDefault<number> & { min: number; max: number },
): Setting<number> {
  const parse = (value: string): number => {
    if (!/^-?\d{1,15}$/.test(value)) throw new Error('is not a whole number');
    const number = Number(value);
    if (number < options.min || number > options.max) throw new Error('is out of bounds');
    return number;
  };
  const allowed = `whole number, ${options.min} to ${options.max}`;
  return setting(variable, { allowed, parse, absent: () => options.default, shown: String(options.default) }, options);
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A length of time as a number and a unit (`500ms`, `90s`, `15m`, `24h`, `7d`); its value is in milliseconds. */
export function duration(
  variable: string,
  options: WithDefault<string> & { min: string; max: string },
): Setting<number> {
  const parse = (value: string): number => {
    const found = durationMs(value);
    if (found === undefined) throw new Error('is not a number with a unit');
    const [min = 0, max = Number.POSITIVE_INFINITY] = [durationMs(options.min), durationMs(options.max)];
    if (found < min || found > max) throw new Error('is out of bounds');
    return found;
  };
  const allowed = `number and unit (\`ms\`, \`s\`, \`m\`, \`h\`, \`d\`), ${options.min} to ${options.max}`;
  return setting(variable, { allowed, parse, absent: () => parse(options.default), shown: options.default }, options);
}

function durationMs(text: string): number | undefined {
  const [, digits, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? [];
  const factor = unit === undefined ? undefined : UNIT_MS[unit];
  return digits === undefined || factor === undefined ? undefined : Number(digits) * factor;
}

/** `true` or `false`. */
export function flag(variable: string, options: WithDefault<boolean>): Setting<boolean> {
  const parse = (value: string): boolean => {
    if (value !== 'true' && value !== 'false') throw new Error('is neither `true` nor `false`');
    return value === 'true';
  };
  const kind = { allowed: '`true`, `false`', parse, absent: () => options.default, shown: String(options.default) };
  return setting(variable, kind, options);
}

/**
 * An absolute address with one of the given schemes; may be absent.
 * @param options.exact it is passed on to others and kept as it is written; else it is built upon, and has no trailing slash
 */
export function url(
  variable: string,
  options: Common & { schemes: readonly string[]; exact?: true },
): Setting<string | undefined> {
  const parse = (value: string): string => {
    // The parser drops line ends and blanks, but the text is also used as it was written: in a header or a line of its own.
    const parsed = URL.canParse(value) && !/\s/.test(value) ? new URL(value) : undefined;
    if (parsed === undefined) throw new Error('is not an address');
    if (!options.schemes.includes(parsed.protocol.slice(0, -1))) throw new Error('has another scheme');
    // It is printed, logged and passed on.
    if (options.secret !== true && (parsed.username !== '' || parsed.password !== ''))
      throw new Error('has a user or password in it');
    return options.exact ? value : value.replace(/\/+$/, '');
  };
  const allowed = `address with ${options.schemes.map((scheme) => `\`${scheme}:\``).join(' or ')}`;
  return setting(variable, { allowed, parse, absent: () => undefined }, options);
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** A moment in time with its time zone, read as UTC in the form of RFC 3339; may be absent. */
export function optionalInstant(variable: string, options: Common): Setting<string | undefined> {
  const parse = (value: string): string => {
    const date = new Date(value);
    if (!INSTANT.test(value) || Number.isNaN(date.getTime())) throw new Error('is no moment in time');
    return date.toISOString();
  };
  const allowed = 'date and time of RFC 3339, such as `2027-06-30T00:00:00Z`';
  return setting(variable, { allowed, parse, absent: () => undefined }, options);
}

/** An address of Postgres, which may name several hosts; may be absent. */
export function postgres(variable: string, options: Common): Setting<string | undefined> {
  const parse = (value: string): string => {
    readAddresses(value);
    return value.replace(/\/+$/, '');
  };
  const allowed = 'address with `postgres:` or `postgresql:`, of one host or several';
  return setting(variable, { allowed, parse, absent: () => undefined }, { ...options, secret: true });
}

/** A mount: path segments, the last one the major version. */
export function prefix(variable: string, options: WithDefault<string>): Setting<string> {
  return text(variable, {
    ...options,
    pattern: /^(\/[a-z0-9][a-z0-9.-]*)*\/v\d+$/,
    allowed: 'path of lower-case segments that ends in the major version, such as `/x/v1`',
  });
}

/** An ISO 8601 duration that personal data can be kept for. */
export function term(variable: string, options: WithDefault<string>): Setting<string> {
  return setting(variable, { ...DURATION, absent: () => options.default, shown: options.default }, options);
}

/** The same, which may be absent. */
export function optionalTerm(variable: string, options: Common): Setting<string | undefined> {
  return setting(variable, { ...DURATION, absent: () => undefined }, options);
}

const DURATION = {
  allowed: `ISO 8601 duration, such as \`P1Y\`, at most \`${LONGEST_TERM}\``,
  parse: (value: string): string => {
    if (!isDuration(value)) throw new Error('is not an ISO 8601 duration');
    const now = new Date();
    if (addDuration(now, value) > addDuration(now, LONGEST_TERM)) throw new Error('is too long');
    if (!isTerm(value, now)) throw new Error('has no length');
    return value;
  },
};

/** How many proxies are in front, or their addresses and ranges, as Fastify's `trustProxy` takes it; nobody when absent. */
export function proxies(variable: string, options: Common): Setting<false | number | string[]> {
  const parse = (value: string): false | number | string[] => {
    if (/^\d{1,2}$/.test(value)) return Number(value);
    const ranges = value.split(',').map((range) => range.trim());
    const wrong = ranges.filter((range) => !isRange(range));
    if (wrong.length > 0) throw new Error(`has ${wrong.length} item(s) that are no address and no range`);
    return ranges;
  };
  const allowed = 'number of proxies, or comma list of addresses and CIDR ranges';
  return setting(variable, { allowed, parse, absent: () => false }, options);
}

function isRange(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const longest = isIP(address) === 4 ? 32 : 128;
  const isPrefix = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= longest);
  return isIP(address) !== 0 && isPrefix && more.length === 0;
}
