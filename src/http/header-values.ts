import type { IncomingMessage } from 'node:http';

/**
 * Every occurrence of a header, in order; of some Node itself keeps only the first. Looks at the one name, where `headersDistinct` makes
 * a list of all.
 * @param name in lower case
 */
export function headerValues({ rawHeaders }: IncomingMessage, name: string): string[] {
  const values: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const given = rawHeaders[i];
    if (given?.length === name.length && given.toLowerCase() === name) values.push(rawHeaders[i + 1] ?? '');
  }
  return values;
}
