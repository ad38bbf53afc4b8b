/** Additions of the suppliers' tools to the commands of the data exchange. */
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
  /** An action that the options request instead of an import; undefined: an import. @throws {UsageError} when they exclude each other */
  insteadOfImport(
    command: Command,
    files: readonly string[],
  ): ((context: ToolContext, model: Model) => Promise<void>) | undefined;
  /** Begins an import with these options. @throws {CommandError} */
  beginImport(command: Command, model: Model): Promise<ImportAid>;
  describeAnswer(context: CommandContext, entry: Journalled): Promise<Report>;
}

export interface ImportAid {
  /** Opens a file that is JSON of the model, or is converted to it. @throws errors of the file system */
  open(context: CommandContext, path: string): Promise<OpenedFile>;
}

export interface OpenedFile {
  /** Absent: those of the file itself. */
  readonly bytes?: DeliveryBytes | undefined;
  readonly faults: readonly FileFault[];
  readonly notes: readonly FileFault[];
  /** Checks the contents as they are read. */
  readonly consumer: DeliveryConsumer;
  report(): Report;
  close(): void;
}

export interface FileFault {
  readonly text: string;
  readonly fault: object;
}

export interface Report {
  readonly text: string;
  readonly json: unknown;
  /** Findings that block a delivery: their number, and which. */
  readonly blocking: number;
  readonly blockers: readonly BlockingFinding[];
}
