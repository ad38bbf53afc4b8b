/** The common interface of the evidence's reports. */
import type { KeyObject } from 'node:crypto';
import { isRecord } from '../../src/lib/json/json-value.ts';
import type { Lock } from '../locked-packages.ts';

/** The subject of the evidence, as in `release.json`. */
export interface Release {
  readonly product: string;
  readonly version: string;
  readonly commit: string;
  /** The time of the commit (ISO 8601, UTC). */
  readonly committed: string;
  /** The version's tag, when it is on this commit. */
  readonly tag: string | null;
  readonly node: string;
  readonly npm: string;
  readonly package: { readonly file: string; readonly sha256: string };
}

export interface Subject {
  readonly release: Omit<Release, 'package'>;
  /** A checkout when making the evidence, the unpacked package when checking it. */
  readonly sources: string;
  readonly lock: Lock;
  /** The commit's test files, when available. */
  readonly testFiles: readonly string[] | undefined;
  /** The folder of the reports. */
  readonly folder: string;
  readonly note: Note;
}

/** Reports a line to a person. */
export type Note = (line: string) => void;

export interface Wishes {
  readonly folder: string | undefined;
  /** vitest reports; without any, the tests are run. */
  readonly tests: readonly string[];
  /** Output of `npm audit --json`; without it, the registry is queried. */
  readonly audit: string | undefined;
  /** Queries no registry about vulnerabilities. */
  readonly offline: boolean;
  readonly key: KeyObject | undefined;
}

export interface Report {
  readonly file: string;
  /** Makes the report of a checkout; undefined when there is nothing to report. */
  readonly make: (subject: Subject, wishes: Wishes) => unknown;
  /** Faults of the report in the folder; each names the file. */
  readonly faults: (subject: Subject) => string[];
}

/** The objects in a list; none when it is not a list. */
export function records(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** Elements of one list that are missing from another. */
export function lacking(from: Iterable<string>, other: Iterable<string>): string[] {
  const has = new Set(other);
  return [...new Set(from)].filter((one) => !has.has(one));
}
