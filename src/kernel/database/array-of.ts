/** What the elements of an array may be. */
export type ArrayKind = 'text' | 'json' | 'uuid' | 'integer' | 'boolean' | 'timestamptz';

type Value = string | number | boolean;

/** Numbers of types: `pg_type.oid`. */
const OID: Readonly<Record<ArrayKind, number>> = {
  text: 25,
  json: 114,
  uuid: 2950,
  integer: 23,
  boolean: 16,
  timestamptz: 1184,
};
const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
/** 2000-01-01Z, where the server counts from. */
const EPOCH_MS = 946_684_800_000;
/** Where the bytes of a uuid stand in its text, and where its dashes do. */
const UUID_BYTES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
const UUID_DASHES = [8, 13, 18, 23];

/** Makes parameters for `$n::kind[]` in binary form. */
export type Arrays = Readonly<Record<ArrayKind, (values: readonly (Value | null)[]) => Buffer>>;

/**
 * In text form every quote is escaped here and taken out again by the server, which reads an array letter by letter: with many rows that
 * is a good part of an insert. Moments are given as ISO 8601, and kept to the millisecond.
 * What it makes throws TypeError or RangeError for a uuid, a number or a moment that is none.
 * @param allocate gives memory for a parameter, in bytes
 */
function createArrays(allocate: (size: number) => Buffer): Arrays {
  const inBinary =
    (oid: number, bytesOf: (value: Value) => number, write: (bytes: Buffer, value: Value, at: number) => void) =>
    (values: readonly (Value | null)[]): Buffer => {
      const lengths = values.map((value) => (value === null ? -1 : bytesOf(value)));
      const bytes = allocate(lengths.reduce((sum, length) => sum + LENGTH_BYTES + Math.max(0, length), HEADER_BYTES));
      // One dimension, whether there are nulls, the type, how many, and the number of the first.
      let at = bytes.writeInt32BE(1, 0);
      at = bytes.writeInt32BE(lengths.includes(-1) ? 1 : 0, at);
      at = bytes.writeInt32BE(oid, at);
      at = bytes.writeInt32BE(values.length, at);
      at = bytes.writeInt32BE(1, at);
      values.forEach((value, i) => {
        const length = lengths[i] ?? -1;
        at = bytes.writeInt32BE(length, at);
        if (value === null) return;
        write(bytes, value, at);
        at += length;
      });
      return bytes;
    };
  return {
    text: inBinary(OID.text, bytesOfText, writeText),
    json: inBinary(OID.json, bytesOfText, writeText),
    uuid: inBinary(OID.uuid, () => 16, writeUuid),
    integer: inBinary(OID.integer, () => 4, writeInteger),
    boolean: inBinary(OID.boolean, () => 1, writeBoolean),
    timestamptz: inBinary(OID.timestamptz, () => 8, writeMoment),
  };
}

/** Each parameter in memory of its own. */
export const arrayOf = createArrays(Buffer.allocUnsafe);

function bytesOfText(value: Value): number {
  return Buffer.byteLength(String(value));
}

function writeText(bytes: Buffer, value: Value, at: number): void {
  bytes.write(String(value), at);
}

/** Digit by digit: to take the dashes out and have the rest read costs several times as much, and a row has many of them. */
function writeUuid(bytes: Buffer, value: Value, at: number): void {
  const uuid = String(value);
  let isUuid = uuid.length === 36 && UUID_DASHES.every((place) => uuid[place] === '-');
  UUID_BYTES.forEach((place, i) => {
    const byte = (hexDigit(uuid.charCodeAt(place)) << 4) | hexDigit(uuid.charCodeAt(place + 1));
    isUuid &&= byte >= 0;
    bytes[at + i] = byte;
  });
  if (!isUuid) throw new TypeError('a value for an array of uuids is none');
}

/** @returns -1 for what is none */
function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

function writeInteger(bytes: Buffer, value: Value, at: number): void {
  if (!Number.isInteger(value)) throw new RangeError('a value for an array of integers is none');
  bytes.writeInt32BE(Number(value), at);
}

function writeBoolean(bytes: Buffer, value: Value, at: number): void {
  bytes.writeInt8(value ? 1 : 0, at);
}

/** BigInt refuses what is no moment. */
function writeMoment(bytes: Buffer, value: Value, at: number): void {
  bytes.writeBigInt64BE(BigInt(Date.parse(String(value)) - EPOCH_MS) * 1000n, at);
}

/** What one statement's parameters may take of memory that is kept, in bytes; and what it takes at first. */
const MOST_BYTES = 1024 * 1024;
const FIRST_BYTES = 64 * 1024;

/**
 * For the parameters of a statement that is sent many times a second. Their memory is used again for those of the next: with new memory
 * each time the engine looks far more often through all that the process has.
 * @param use makes the parameters and resolves when the statement was answered; they are not to be used after that
 */
export async function withArrays<T>(use: (arrayOf: Arrays) => Promise<T>): Promise<T> {
  const scratch = spare.pop() ?? new Scratch();
  // After an error it is not kept: the driver may still be about to send what stands there.
  const result = await use(scratch.arrays);
  scratch.clear();
  spare.push(scratch);
  return result;
}

/** As many as there were statements at the same time. */
const spare: Scratch[] = [];

class Scratch {
  readonly arrays: Arrays = createArrays((size) => this.#take(size));
  #bytes = Buffer.alloc(FIRST_BYTES);
  #taken = 0;

  #take(size: number): Buffer {
    const from = this.#taken;
    this.#taken += size;
    return this.#taken <= this.#bytes.length ? this.#bytes.subarray(from, this.#taken) : Buffer.allocUnsafe(size);
  }

  /** Leaves nothing of what stood in it, and has room for as much the next time. */
  clear(): void {
    const wanted = Math.min(this.#taken, MOST_BYTES);
    if (wanted > this.#bytes.length) this.#bytes = Buffer.alloc(wanted);
    else this.#bytes.fill(0, 0, wanted);
    this.#taken = 0;
  }
}
