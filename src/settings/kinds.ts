import { isIP } from 'node:net';
import { isDuration, isTerm, LONGEST_TERM } from '../lib/time.ts';

export interface Setting<T> {
  readonly variable: string;
  readonly kind: Kind<T>;
  readonly fallback: T;
  readonly description: string;
  /** Secret values are never printed, and may also be given as the content of the file named by `<variable>_FILE`. */
  readonly secret: boolean;
}

/** The values of a setting; `parse` throws a plain `Error` whose message names the fault, `allowed` describes valid values. */
export interface Kind<T> {
  readonly allowed: string;
  readonly parse: (text: string) => T;
}

export function setting<T>(variable: string, kind: Kind<T>, fallback: NoInfer<T>, description: string): Setting<T> {
  return { variable, kind, fallback, description, secret: false };
}

export function optional<T>(variable: string, kind: Kind<T>, description: string): Setting<T | undefined> {
  return { variable, kind, fallback: undefined, description, secret: false };
}

export function secret<T>(variable: string, kind: Kind<T>, description: string): Setting<T | undefined> {
  return { ...optional(variable, kind, description), secret: true };
}

export function shownValue(value: unknown): string {
  if (Array.isArray(value)) return value.join(',');
  return value instanceof Map ? [...value].map((pair) => pair.join('=')).join(',') : String(value ?? '');
}

export function text(pattern = /^/, allowed = 'text'): Kind<string> {
  return {
    allowed,
    parse: (value) => {
      if (!pattern.test(value)) throw new Error('does not have the right form');
      return value;
    },
  };
}

export const file = text(undefined, 'path of a file');

export function choice<const T extends string>(...words: readonly T[]): Kind<T> {
  return {
    allowed: words.map((word) => `\`${word}\``).join(', '),
    parse: (value) => {
      const word = words.find((candidate) => candidate === value);
      if (word === undefined) throw new Error('is not one of the allowed words');
      return word;
    },
  };
}

export function choices<const T extends string>(...words: readonly T[]): Kind<readonly T[]> {
  return {
    allowed: `comma list of ${words.map((word) => `\`${word}\``).join(', ')}`,
    parse: (value) => {
      const given = value.split(',').map((word) => word.trim());
      const unknown = given.filter((word) => !words.some((candidate) => candidate === word));
      if (unknown.length > 0) throw new Error(`has ${unknown.length} word(s) that are not allowed`);
      return words.filter((word) => given.includes(word));
    },
  };
}

export function list(item: RegExp, allowed: string): Kind<readonly string[]> {
  return {
    allowed,
    parse: (value) => {
      const items = value.split(',').map((one) => one.trim());
      const wrong = items.filter((one) => !item.test(one));
      if (wrong.length > 0) throw new Error(`has ${wrong.length} item(s) that do not have the right form`);
      return items;
    },
  };
}

export const addresses = list(/^https?:\/\/[^\s,/?#@]+(\/[^\s,?#]*)?$/, 'comma list of `https://…`, `http://…`');

/** Pairs separated by commas. @param item with two groups: the key and its value */
export function pairs(item: RegExp, allowed: string): Kind<ReadonlyMap<string, string>> {
  const items = list(item, allowed);
  return {
    allowed,
    parse: (value) => {
      const found = items.parse(value).map((one) => item.exec(one) ?? []);
      const map = new Map(found.map(([, key = '', named = '']) => [key, named]));
      if (map.size < found.length) throw new Error('names something more than once');
      return map;
    },
  };
}

export function integer(min: number, max: number): Kind<number> {
  return {
    allowed: `${min} to ${max}`,
    parse: (value) => {
      if (!/^-?\d{1,15}$/.test(value)) throw new Error('is not a whole number');
      const found = Number(value);
      if (found < min || found > max) throw new Error('is out of bounds');
      return found;
    },
  };
}

export const port = integer(0, 65_535);

export const flag: Kind<boolean> = {
  allowed: '`true`, `false`',
  parse: (value) => {
    if (value !== 'true' && value !== 'false') throw new Error('is neither `true` nor `false`');
    return value === 'true';
  },
};

/** An absolute address to which paths are added, so without a trailing slash. */
export function url(...schemes: readonly string[]): Kind<string> {
  const { allowed, parse } = exactUrl(...schemes);
  return { allowed, parse: (value) => parse(value).replace(/(?<!\/)\/+$/, '') };
}

/** An absolute address that is passed on to others, kept exactly as written. It may be printed and logged. */
export function exactUrl(...schemes: readonly string[]): Kind<string> {
  const { allowed, parse } = urlWithLogin(...schemes);
  return {
    allowed,
    parse: (value) => {
      const { username, password } = new URL(parse(value));
      if (username !== '' || password !== '') throw new Error('has a user or password in it');
      return value;
    },
  };
}

export function urlWithLogin(...schemes: readonly string[]): Kind<string> {
  return {
    allowed: schemes.map((scheme) => `\`${scheme}:${scheme === 'mailto' ? '' : '//'}…\``).join(', '),
    parse: (value) => {
      // The parser drops line ends and blanks, but the text is also used as written: in a header or a line of its own.
      const parsed = URL.canParse(value) && !/\s/.test(value) ? new URL(value) : undefined;
      if (parsed === undefined) throw new Error('is not an address');
      if (!schemes.includes(parsed.protocol.slice(0, -1))) throw new Error('has another scheme');
      return value;
    },
  };
}

/** An address of Postgres: a host, or a socket as `?host=/run/postgresql`. */
export const postgres: Kind<string> = {
  allowed: '`postgres://…` of one host',
  parse: (value) => {
    // For a socket the address has no host, and a URL with a login needs one.
    const parsed = /^postgres(ql)?:\/\//.test(value) ? URL.parse(value.replace('@/', '@host/')) : null;
    const several = /^[^/?#]*\/\/[^/?#]*,/.test(value) || parsed?.searchParams.get('host')?.includes(',') === true;
    if (several || parsed?.searchParams.has('target_session_attrs') === true)
      throw new Error('names several hosts, or which of them qualifies: a proxy or a virtual IP does that');
    if (parsed === null) throw new Error('is not an address');
    return value.replace(/(?<!\/)\/+$/, '');
  },
};

export const term: Kind<string> = {
  allowed: `ISO 8601 duration up to \`${LONGEST_TERM}\``,
  parse: (value) => {
    if (!isDuration(value)) throw new Error('is not an ISO 8601 duration');
    if (!isTerm(value)) throw new Error(/[1-9]/.test(value) ? 'is too long' : 'has no length');
    return value;
  },
};

/** The number of proxies in front, or their addresses and ranges, in the form of Fastify's `trustProxy`. */
export const proxies: Kind<number | string[]> = {
  allowed: 'number, or comma list of addresses and CIDR ranges',
  parse: (value) => {
    if (/^\d{1,2}$/.test(value)) return Number(value);
    const ranges = value.split(',').map((range) => range.trim());
    const wrong = ranges.filter((range) => !isRange(range));
    if (wrong.length > 0) throw new Error(`has ${wrong.length} item(s) that are neither an address nor a range`);
    return ranges;
  },
};

function isRange(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const longest = isIP(address) === 4 ? 32 : 128;
  const isPrefix = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= longest);
  return isIP(address) !== 0 && isPrefix && more.length === 0;
}
