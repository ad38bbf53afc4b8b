/** Finds what a schema says is wrong with a value from outside, in time that the value cannot make long. */
import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Ajv2020 } from 'ajv/dist/2020.js';

/** List elements of a value that are looked through for all of their faults. */
const SAMPLE_ELEMENTS = 1000;
/** Members of a value that are looked through: of an object that is begun, all. */
const SAMPLE_MEMBERS = 2000;
/** Deeper than any contract describes; what lies below is not looked into. */
const SAMPLE_DEPTH = 32;

/** The value, when it is as the schema has it, or what is wrong with it: at least one fault. */
export type SchemaVerdict<T> = { readonly value: T } | { readonly faults: ErrorObject[] };

/**
 * Makes a check that tells all faults. A validator that finds all copies what it found at each element of a list, so that a megabyte of
 * `{}` would take it most of an hour. Hence the one that stops at the first fault judges; the other only explains, and looks at the
 * first thousand list elements, or fewer when these are large.
 * @param first stops at the first fault
 * @param all finds every fault
 */
export function schemaCheck<T>(first: Ajv2020, all: Ajv2020, schema: object): (value: unknown) => SchemaVerdict<T> {
  const judge = first.compile<T>(schema);
  // Made when something is wrong for the first time.
  let explain: ValidateFunction | undefined;
  return (value) => {
    if (judge(value)) return { value };
    const [found] = judge.errors ?? [];
    explain ??= all.compile(schema);
    explain(sampleOf(value, { elements: SAMPLE_ELEMENTS, members: SAMPLE_MEMBERS }, SAMPLE_DEPTH));
    const faults = explain.errors ?? [];
    const isTold = found === undefined || faults.some((fault) => isSame(fault, found));
    return { faults: isTold ? faults : [found, ...faults] };
  };
}

function isSame(a: ErrorObject, b: ErrorObject): boolean {
  return a.instancePath === b.instancePath && a.schemaPath === b.schemaPath;
}

/** A copy with fewer list elements: those at the front, so that each keeps its place. */
function sampleOf(value: unknown, left: { elements: number; members: number }, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth === 0) return value;
  if (!Array.isArray(value)) {
    const members = Object.entries(value);
    left.members -= members.length;
    return Object.fromEntries(members.map(([name, part]) => [name, sampleOf(part, left, depth - 1)]));
  }
  const copy: unknown[] = [];
  for (const element of value) {
    if (left.elements === 0 || left.members <= 0) break;
    left.elements -= 1;
    copy.push(sampleOf(element, left, depth - 1));
  }
  return copy;
}
