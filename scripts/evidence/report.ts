/** What the reports of the evidence have in common. */
import type { KeyObject } from 'node:crypto';
import { isRecord } from '../../src/lib/json/json-value.ts';
import type { Lock } from '../locked-packages.ts';

/** What the evidence is about. `release.json` has it. */
export interface Release {
  readonly product: string;
  readonly version: string;
  readonly commit: string;
  /** When that was made (ISO 8601, UTC). */
  readonly committed: string;
  /** The tag of the version, when it is on this commit. */
  readonly tag: string | null;
  readonly node: string;
  readonly npm: string;
  readonly package: { readonly file: string; readonly sha256: string };
}

export interface Subject {
  readonly release: Omit<Release, 'package'>;
  /** A checkout when the evidence is made, the unpacked package when it is checked. */
  readonly sources: string;
  readonly lock: Lock;
  /** The test files of the commit, when it is at hand. */
  readonly testFiles: readonly string[] | undefined;
  /** Where the reports are. */
  readonly folder: string;
  /** Takes a line for a person to read. */
  readonly note: (line: string) => void;
}

export interface Wishes {
  readonly folder: string | undefined;
  /** Reports of vitest; without any the tests are run. */
  readonly tests: readonly string[];
  /** What `npm audit --json` printed elsewhere; without it the registry is asked. */
  readonly audit: string | undefined;
  /** Nobody is asked about vulnerabilities. */
  readonly offline: boolean;
  readonly key: KeyObject | undefined;
  /** Takes a line about what happens. */
  readonly say: (line: string) => void;
}

export interface Report {
  readonly file: string;
  /** Of a checkout; undefined when there is nothing to report. */
  readonly make: (subject: Subject, wishes: Wishes) => unknown;
  /** What is wrong with the report in the folder; each fault names the file. */
  readonly faults: (subject: Subject) => string[];
}

/** The objects of a list; none when it is not a list. */
export function records(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** What a list has that another lacks. */
export function lacking(from: Iterable<string>, other: Iterable<string>): string[] {
  const has = new Set(other);
  return [...new Set(from)].filter((one) => !has.has(one));
}
