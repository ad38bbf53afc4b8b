import type { ErrorObject } from 'ajv';
import { isRecord } from '../../../kernel/json-value.ts';

/** One thing that is wrong with a file. Values are never repeated: they may be personal. */
export interface ImportFault {
  /** JSON Pointer (RFC 6901). */
  readonly pointer: string;
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

/** Faults are gathered up to this number; more would not be read. */
export const MAX_FAULTS = 100;

/** Reading stops: there are enough faults, or what follows cannot be understood. */
export class TooFaulty extends Error {}

/** The faults of one file, in the order of the file. */
export class Faults {
  readonly list: ImportFault[] = [];
  readonly #most: number;

  constructor(most = MAX_FAULTS) {
    this.#most = most;
  }

  /** @throws {TooFaulty} when this was the last one that is gathered */
  add(fault: ImportFault): void {
    this.list.push(fault);
    if (this.list.length >= this.#most) throw new TooFaulty();
  }

  /** Adds a fault after which the rest of the file has no meaning. @throws {TooFaulty} always */
  end(fault: ImportFault): never {
    this.list.push(fault);
    throw new TooFaulty();
  }
}

/** Says what a validator found, with the member or the allowed values where that helps. */
export function describeError({ message = 'is not valid', params }: ErrorObject): string {
  if (!isRecord(params)) return message;
  const { additionalProperty, unevaluatedProperty, allowedValues } = params;
  const unknown = additionalProperty ?? unevaluatedProperty;
  if (typeof unknown === 'string') return `has a member that the model does not know: ${JSON.stringify(unknown)}`;
  if (Array.isArray(allowedValues))
    return `must be one of ${allowedValues.map((value) => JSON.stringify(value)).join(', ')}`;
  return message;
}
