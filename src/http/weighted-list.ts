/** Reads what a client prefers. @see RFC 9110 section 12.4.2 */

/** A name of a list such as `gzip, br;q=0.5`, in lower case, with its weight from 0 to 1. */
export interface Weighted {
  readonly name: string;
  readonly weight: number;
}

/** A weight that cannot be read counts as 0: not wanted. */
export function readWeights(header: string): Weighted[] {
  return header.split(',').map((part) => {
    const [name = '', ...parameters] = part
      .toLowerCase()
      .split(';')
      .map((piece) => piece.trim());
    const q = parameters.find((parameter) => parameter.startsWith('q='));
    return { name, weight: q === undefined ? 1 : Number(q.slice(2)) || 0 };
  });
}

/** How much a media type is wanted: the range that fits it most closely decides (RFC 9110 12.5.1); 0: not at all. */
export function mediaTypeWeight(ranges: readonly Weighted[], type: string): number {
  const closest = [type, `${type.slice(0, type.indexOf('/'))}/*`, '*/*']
    .map((wanted) => ranges.find(({ name }) => name === wanted))
    .find((found) => found !== undefined);
  return closest?.weight ?? 0;
}
