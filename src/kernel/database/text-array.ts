/** Numbers of types (`pg_type.oid`), and lengths in bytes, of an array in binary form. */
const TEXT = 25;
const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;

/**
 * A parameter for `$n::text[]` in binary form. In text form every quote of every text is escaped here and taken out again by the server;
 * texts that are JSON are a sixth quotes.
 */
export function textArray(values: readonly (string | null)[]): Buffer {
  const lengths = values.map((value) => (value === null ? -1 : Buffer.byteLength(value)));
  const size = lengths.reduce((sum, length) => sum + LENGTH_BYTES + Math.max(0, length), HEADER_BYTES);
  const bytes = Buffer.allocUnsafe(size);
  // One dimension, whether there are nulls, the type, how many, and the number of the first.
  let at = bytes.writeInt32BE(1, 0);
  at = bytes.writeInt32BE(lengths.includes(-1) ? 1 : 0, at);
  at = bytes.writeInt32BE(TEXT, at);
  at = bytes.writeInt32BE(values.length, at);
  at = bytes.writeInt32BE(1, at);
  values.forEach((value, i) => {
    at = bytes.writeInt32BE(lengths[i] ?? -1, at);
    if (value !== null) at += bytes.write(value, at);
  });
  return bytes;
}
