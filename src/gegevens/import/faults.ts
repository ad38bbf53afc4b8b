import type { ErrorObject } from 'ajv';
import { isRecord } from '../../lib/json/json-value.ts';

/** A fault in a file. Values are never repeated: they may be personal. */
export interface ImportFault {
  readonly pointer: string;
  readonly line: number;
  readonly message: string;
}

export const MAX_FAULTS = 100;

/** Reading has stopped: there are enough faults, or the rest cannot be parsed. */
export class ImportStopped extends Error {}

export class Faults {
  readonly list: ImportFault[] = [];
  readonly #most: number;

  constructor(most = MAX_FAULTS) {
    this.#most = most;
  }

  /** @throws {ImportStopped} when there are enough */
  add(fault: ImportFault): void {
    this.list.push(fault);
    if (this.list.length >= this.#most) throw new ImportStopped();
  }

  /** Adds a fault that makes the rest of the file unreadable. @throws {ImportStopped} always */
  stop(fault: ImportFault): never {
    this.list.push(fault);
    throw new ImportStopped();
  }
}

/** The validator's message, with the unknown member or the allowed values. */
export function describeError({ message = 'is not valid', params }: ErrorObject): string {
  if (!isRecord(params)) return message;
  const { additionalProperty, unevaluatedProperty, allowedValues } = params;
  const unknown = additionalProperty ?? unevaluatedProperty;
  if (typeof unknown === 'string') return `has a member that the model does not know: ${JSON.stringify(unknown)}`;
  if (Array.isArray(allowedValues))
    return `must be one of ${allowedValues.map((value) => JSON.stringify(value)).join(', ')}`;
  return message;
}
