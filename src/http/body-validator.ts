import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import type { InvalidParam } from '../kernel/problem.ts';
import { invalidParams } from './invalid-params.ts';

/** List elements of a body that are looked through for all of their faults. */
const SAMPLE_ELEMENTS = 1000;
/** Deeper than any contract describes; what lies below is not looked into. */
const SAMPLE_DEPTH = 32;

/**
 * Makes the check of a body that names all of its faults. The validator that finds all copies what it found at each element of a
 * list, so that a megabyte of `{}` would take it most of an hour. Hence the one that stops at the first fault judges; the other only
 * explains, and looks at the first thousand list elements.
 * @param first stops at the first fault
 * @param all finds every fault
 */
export function bodyFaults(first: Ajv2020, all: Ajv2020, schema: object): (body: unknown) => InvalidParam[] {
  const judge = first.compile(schema);
  const explain = all.compile(schema);
  return (body) => {
    const [found] = faultsOf(judge, body);
    if (found === undefined) return [];
    const faults = faultsOf(explain, sampleOf(body, { elements: SAMPLE_ELEMENTS }, SAMPLE_DEPTH));
    return faults.some(({ name }) => name === found.name) ? faults : [...faults, found];
  };
}

/** What a validator finds wrong with a value. */
export function faultsOf(validate: ValidateFunction, value: unknown): InvalidParam[] {
  return validate(value) ? [] : invalidParams(validate.errors ?? []);
}

/** A copy with fewer list elements: those at the front, so that each keeps its place. */
function sampleOf(value: unknown, left: { elements: number }, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth === 0) return value;
  if (!Array.isArray(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, sampleOf(part, left, depth - 1)]));
  }
  const copy: unknown[] = [];
  for (const element of value) {
    if (left.elements === 0) break;
    left.elements -= 1;
    copy.push(sampleOf(element, left, depth - 1));
  }
  return copy;
}
