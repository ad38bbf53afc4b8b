/**
 * How much a request is made of, counted on its bytes before it is decoded: an empty message is two bytes, and a hundred as an object, so
 * sixteen megabytes of them would take more memory than the process has.
 */
import protobuf from 'protobufjs';
import type { OtlpForm } from './otlp.ts';

/** Items of lists for each span that a request may have; most are attributes. */
const PARTS_PER_SPAN = 10;
/** A request of few spans may have so many all the same. */
const LEAST_PARTS = 100_000;
/** Fields of protobuf, known or not, for each item. */
const FIELDS_PER_PART = 8;
/** Objects and lists of JSON for each item. */
const BRACKETS_PER_PART = 3;

/** Whether a request has far more items than its spans need. For bytes that are no such request the result means nothing. */
export function hasTooManyParts(bytes: Uint8Array, form: OtlpForm, maxSpans: number): boolean {
  const most = Math.max(LEAST_PARTS, maxSpans * PARTS_PER_SPAN);
  return form === 'json' ? hasMoreBrackets(bytes, most * BRACKETS_PER_PART) : hasMoreItems(bytes, most);
}

const [QUOTE, BACKSLASH, OBJECT, LIST] = Buffer.from('"\\{[');

function hasMoreBrackets(text: Uint8Array, most: number): boolean {
  let brackets = 0;
  for (let i = 0; i < text.length && brackets <= most; i += 1) {
    const byte = text[i];
    if (byte === QUOTE) {
      for (i += 1; i < text.length && text[i] !== QUOTE; i += 1) if (text[i] === BACKSLASH) i += 1;
    } else if (byte === OBJECT || byte === LIST) brackets += 1;
  }
  return brackets > most;
}

/** What is inside the fields of a message, by their numbers; `isList` when there may be many. @see trace.proto */
interface Shape {
  readonly [field: number]: { readonly shape: Shape; readonly isList: boolean };
}

const list = (shape: Shape) => ({ shape, isList: true });
const one = (shape: Shape) => ({ shape, isList: false });
// AnyValue has lists of AnyValue and of KeyValue, which has an AnyValue.
const anyValue: { [field: number]: { shape: Shape; isList: boolean } } = {};
const keyValue: Shape = { 2: one(anyValue) };
anyValue[5] = one({ 1: list(anyValue) });
anyValue[6] = one({ 1: list(keyValue) });
const REQUEST: Shape = {
  1: list({ 1: one({ 1: list(keyValue) }), 2: list({ 2: list({ 9: list(keyValue) }) }) }),
};

const BYTES = 2;

function hasMoreItems(bytes: Uint8Array, most: number): boolean {
  const reader = protobuf.Reader.create(bytes);
  let [items, fields] = [0, 0];
  /** Messages that were entered, and where they end: not by recursion, because the sender chooses how deep they are. */
  const open: { readonly shape: Shape; readonly end: number }[] = [{ shape: REQUEST, end: reader.len }];
  try {
    for (let message = open.at(-1); message !== undefined; message = open.at(-1)) {
      if (reader.pos >= message.end) {
        open.pop();
        continue;
      }
      const tag = reader.uint32();
      fields += 1;
      const inner = (tag & 7) === BYTES ? message.shape[tag >>> 3] : undefined;
      if (inner === undefined) reader.skipType(tag & 7);
      else {
        const length = reader.uint32();
        open.push({ shape: inner.shape, end: reader.pos + length });
        if (inner.isList) items += 1;
      }
      if (items > most || fields > most * FIELDS_PER_PART) return true;
    }
  } catch {
    // Cut off or not protobuf: decoding says so.
  }
  return false;
}
