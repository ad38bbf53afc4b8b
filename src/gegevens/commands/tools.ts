/** What an extension adds to the commands of the data exchange: `gegevens-tools.ts` of an extension exports `gegevensTools`. */
import type { Command } from 'commander';
import type { CommandContext, ToolContext } from '../../cli/run-command.ts';
import { importFromExtensions } from '../../seams/extensions.ts';
import type { Model } from '../model/model.ts';
import type { DeliveryBytes, ImportOptions } from '../store/import-file.ts';
import type { Journalled } from '../store/journal.ts';

export interface GegevensTools {
  /** Adds options to `gegevens import`. */
  addImportOptions(command: Command): void;
  /**
   * What the options ask for instead of an import; undefined: an import.
   * @throws {UsageError} when they do not go together
   */
  insteadOfImport(
    command: Command,
    files: readonly string[],
  ): ((context: ToolContext, model: Model) => Promise<void>) | undefined;
  /** Begins an import with these options. @throws {CommandError} */
  beginImport(command: Command, model: Model): Promise<ImportAid>;
  /** What was in an answer, of an entry of the journal. */
  describeAnswer(context: CommandContext, entry: Journalled): Promise<Report>;
}

export interface ImportAid {
  /** Reads a file that is not JSON of the model; absent: all are. */
  readonly read?: (context: CommandContext, path: string) => Promise<ReadFile>;
  /** Judges what is stored; absent: nothing is. */
  readonly createJudge?: (now: Date) => {
    readonly judge: NonNullable<ImportOptions['judge']>;
    report(): Report;
    close(): void;
  };
}

/** A file as a message of the model. */
export interface ReadFile {
  readonly bytes: DeliveryBytes;
  readonly faults: readonly FileFault[];
  readonly notes: readonly FileFault[];
  close(): void;
}

/** A fault as people read it, and as programs do. */
export interface FileFault {
  readonly text: string;
  readonly fault: object;
}

/** A report as people read it, and as programs do. */
export interface Report {
  readonly text: string;
  readonly json: unknown;
  /** Findings that block a delivery. */
  readonly blocking: number;
}

export async function loadGegevensTools(): Promise<GegevensTools | undefined> {
  const [found] = await importFromExtensions('gegevens-tools');
  if (found === undefined) return undefined;
  if (!hasTools(found.module)) throw new TypeError(`the gegevens-tools.ts of ${found.extension} has no tools`);
  return found.module.gegevensTools;
}

function hasTools(module: object): module is { readonly gegevensTools: GegevensTools } {
  return 'gegevensTools' in module && typeof module.gegevensTools === 'object';
}
