import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import process from 'node:process';

/** Files that belong together are rarely replaced at the same instant: wait until nothing changed for this long. */
const QUIET_MS = 500;

/** Calls `changed` on `SIGHUP`, and when these files change, if they can be watched; once for simultaneous changes. */
export function watchFiles(
  files: readonly string[],
  changed: () => void,
  log: { warn(fields: object, message: string): void },
): { close(): void } {
  let waiting: NodeJS.Timeout | undefined;
  const soon = (): void => {
    clearTimeout(waiting);
    waiting = setTimeout(changed, QUIET_MS).unref();
  };
  const unwatched = (error: unknown, directory: string): void =>
    log.warn({ err: error, directory }, 'changes of the keys in this directory go unnoticed; use SIGHUP');
  // Watches directories: a secret that is replaced by renaming is a different file under the same name.
  const watchers = [...new Set(files.map((file) => dirname(file)))].flatMap((directory): FSWatcher[] => {
    try {
      const watcher = watch(directory, { persistent: false }, soon);
      watcher.on('error', (error) => unwatched(error, directory));
      return [watcher];
    } catch (error) {
      // For instance no watches left on this machine: no reason to stop serving.
      unwatched(error, directory);
      return [];
    }
  });
  process.on('SIGHUP', changed);
  return {
    close() {
      process.off('SIGHUP', changed);
      clearTimeout(waiting);
      for (const watcher of watchers) watcher.close();
    },
  };
}
