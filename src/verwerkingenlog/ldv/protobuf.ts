/** OTLP in protobuf: its messages, and reading one as far as it can be read. */
import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs';
import { UNREADABLE } from './span.ts';

const { root } = protobuf.parse(readFileSync(new URL('trace.proto', import.meta.url), 'utf8'));
root.resolveAll();
const typeOf = (name: string): protobuf.Type => root.lookupType(`koppelvlak.otlp.${name}`);
export const types = {
  request: typeOf('ExportTraceServiceRequest'),
  resourceSpans: typeOf('ResourceSpans'),
  resource: typeOf('Resource'),
  scopeSpans: typeOf('ScopeSpans'),
  span: typeOf('Span'),
  response: typeOf('ExportTraceServiceResponse'),
  status: typeOf('Status'),
};

/** Messages in one another; deeper than any value that is kept. */
const MAX_DEPTH = 100;
/** Fields that OTLP lacks and that are named. */
const MOST_UNKNOWN = 100;
/** The wire type of messages, texts and bytes. */
const CONTENT = 2;
const WIRE_TYPES: Readonly<Record<string, number>> = protobuf.types.basic;

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

const NUMBER_READERS: Readonly<Record<string, (reader: protobuf.Reader) => unknown>> = {
  bool: (reader) => reader.bool(),
  double: (reader) => reader.double(),
  fixed64: (reader) => reader.fixed64(),
  int32: (reader) => reader.int32(),
  int64: (reader) => reader.int64(),
  uint32: (reader) => reader.uint32(),
};

/**
 * The members of a message, named as in JSON. One that cannot be read is `UNREADABLE`, as is `protobuf` when the end of the message cannot be.
 * @param depth of the messages around it; `outer`: messages in it stay bytes, and fields that OTLP lacks are `veld` with their number
 */
export function readMembers(
  type: protobuf.Type,
  message: Uint8Array,
  depth: number | 'outer',
): Record<string, unknown> {
  const reader = protobuf.Reader.create(message);
  const members: Record<string, unknown> = {};
  // Read at the end, because a sender can repeat one a million times: only the last counts.
  const contents = new Map<protobuf.Field, Uint8Array>();
  let [name, unknown] = ['protobuf', 0];
  try {
    for (; reader.pos < reader.len; name = 'protobuf') {
      const tag = reader.tag();
      const field = type.fieldsById[tag >>> 3];
      if (field === undefined && depth === 'outer' && unknown++ < MOST_UNKNOWN)
        members[`veld ${tag >>> 3}`] = UNREADABLE;
      if (field === undefined || (WIRE_TYPES[field.type] ?? CONTENT) !== (tag & 7)) {
        reader.skipType(tag & 7);
        continue;
      }
      name = field.name;
      const list = members[name];
      const readNumber = NUMBER_READERS[field.type];
      if (readNumber !== undefined) members[name] = readNumber(reader);
      else if (!field.repeated) contents.set(field, reader.bytes());
      else if (Array.isArray(list)) list.push(contentOf(field, reader.bytes(), depth));
      else members[name] = [contentOf(field, reader.bytes(), depth)];
    }
  } catch {
    members.protobuf = UNREADABLE;
    // What was read of a list stays.
    if (!Array.isArray(members[name])) members[name] = UNREADABLE;
  }
  for (const [field, content] of contents) members[field.name] ??= contentOf(field, content, depth);
  return members;
}

function contentOf({ type, resolvedType }: protobuf.Field, content: Uint8Array, depth: number | 'outer'): unknown {
  if (resolvedType instanceof protobuf.Type && depth !== 'outer') {
    const members = depth < MAX_DEPTH ? readMembers(resolvedType, content, depth + 1) : { protobuf: UNREADABLE };
    if (members.protobuf !== UNREADABLE) return members;
    // The name of an attribute says whether the rest matters.
    return typeof members.key === 'string' ? { key: members.key, value: UNREADABLE } : UNREADABLE;
  }
  if (type !== 'string') return content;
  return isUtf8(content) ? utf8.decode(content) : UNREADABLE;
}

/** Items of lists for each span of a request; most are attributes. */
const PARTS_PER_SPAN = 10;
/** A request of few spans may have this many nevertheless. */
const LEAST_PARTS = 100_000;
const FIELDS_PER_PART = 8;

/**
 * Whether a request has far more items than its spans need, counted on its bytes before it is decoded: an empty message is two bytes, and a hundred
 * as an object, so sixteen megabytes of them would take more memory than the process has. As in decoding, a broken message ends where it is broken.
 */
export function hasTooManyParts(request: Uint8Array, maxSpans: number): boolean {
  const most = Math.max(LEAST_PARTS, maxSpans * PARTS_PER_SPAN);
  const reader = protobuf.Reader.create(request);
  let [items, fields] = [0, 0];
  /** Messages that were entered, and where they end. Not recursive, because the sender chooses the depth. */
  const open = [{ type: types.request, end: reader.len }];
  for (let message = open.at(-1); message !== undefined; message = open.at(-1)) {
    if (reader.pos >= message.end) {
      reader.pos = message.end;
      open.pop();
      continue;
    }
    // A group without an end would run through the rest of the request, and one in each span makes that quadratic.
    reader.len = message.end;
    try {
      const tag = reader.tag();
      fields += 1;
      const field = (tag & 7) === CONTENT ? message.type.fieldsById[tag >>> 3] : undefined;
      if (field?.resolvedType instanceof protobuf.Type) {
        const length = reader.uint32();
        if (reader.pos + length > message.end) throw new RangeError('a message ends behind the one around it');
        open.push({ type: field.resolvedType, end: reader.pos + length });
        if (field.repeated) items += 1;
      } else reader.skipType(tag & 7);
    } catch {
      // Counted as all that a span may have, because an exception takes as long.
      fields += PARTS_PER_SPAN * FIELDS_PER_PART;
      reader.pos = message.end;
    }
    if (items > most || fields > most * FIELDS_PER_PART) return true;
  }
  return false;
}
