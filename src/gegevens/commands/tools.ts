/** What the tools of suppliers add to the commands of the data exchange. */
import type { Command } from 'commander';
import type { CommandContext, ToolContext } from '../../commands/run-command.ts';
import type { Model } from '../../lib/exchange-model/model.ts';
import type { DeliveryConsumer } from '../import/delivery-reader.ts';
import type { BlockingFinding } from '../store/forced-imports.ts';
import type { DeliveryBytes } from '../store/import-file.ts';
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
  /** Opens a file that is JSON of the model, or is made to be. @throws errors of the file system */
  open(context: CommandContext, path: string): Promise<OpenedFile>;
}

/** A file as a message of the model; to be closed. */
export interface OpenedFile {
  /** Absent: those of the file itself. */
  readonly bytes?: DeliveryBytes | undefined;
  readonly faults: readonly FileFault[];
  readonly notes: readonly FileFault[];
  /** Judges what is read. */
  readonly consumer: DeliveryConsumer;
  /** Ends the judgement. */
  report(): Report;
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
  /** Findings that block a delivery: how many, and which. */
  readonly blocking: number;
  readonly blockers: readonly BlockingFinding[];
}
