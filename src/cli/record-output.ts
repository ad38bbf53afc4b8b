import { type FileHandle, open } from 'node:fs/promises';
import type { Terminal } from '../kernel/terminal.ts';
import { CommandError, NOBODY_READS } from './run-command.ts';

/** Where records go. */
export interface RecordOutput {
  /** Resolves when the text has left this process: to the file system, or to whoever reads standard output. */
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

/** @param file appended to; absent: standard output */
export async function openRecordOutput(
  { stdout }: Pick<Terminal, 'stdout'>,
  file: string | undefined,
): Promise<RecordOutput> {
  if (file === undefined) {
    return {
      write: (text) =>
        new Promise((resolve, reject) => {
          stdout.write(text, (error) => (error ? reject(new CommandError(NOBODY_READS, { cause: error })) : resolve()));
        }),
      close: async () => {},
    };
  }
  const handle: FileHandle = await open(file, 'a');
  return {
    async write(text) {
      if (text === '') return;
      await handle.appendFile(text);
      await handle.datasync();
    },
    close: () => handle.close(),
  };
}
