import type { KnownPlace, UpsertLine } from './source-adapter.ts';
import type { DeleteLine, WindowChanges } from './window-changes.ts';

/** What one transaction publishes, remembers and forgets. */
export interface WindowBatch {
  /** Lines for the writer of the feed. */
  readonly lines: readonly (UpsertLine | DeleteLine)[];
  readonly places: readonly KnownPlace[];
  readonly forget: readonly string[];
}

/**
 * Cuts changes into transactions of at most so many lines; one where they fit. The first of several only remembers: see `drafts`.
 * The last one, with the deletes, makes it final.
 */
export function windowBatches(changes: WindowChanges, maxLines: number): readonly WindowBatch[] {
  const { upserts, deletes, places, drafts, forget } = changes;
  const lines: WindowBatch['lines'] = [...upserts, ...deletes];
  if (lines.length <= maxLines) return [{ lines, places, forget }];
  const cut = Math.ceil(lines.length / maxLines);
  const parts = Array.from({ length: cut }, (_, index) => lines.slice(index * maxLines, (index + 1) * maxLines));
  return [
    { lines: [], places: drafts, forget: [] },
    ...parts.slice(0, -1).map((part) => ({ lines: part, places: [], forget: [] })),
    { lines: parts.at(-1) ?? [], places, forget },
  ];
}
