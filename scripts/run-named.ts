/**
 * Runs one program of `bench/`: `bench NAME` is bench/NAME.ts, `drill NAME` is bench/drill-NAME.ts. Without a name it
 * lists them.
 */
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';

const [kind = 'bench', name, ...args] = process.argv.slice(2);
const directory = join(import.meta.dirname, '../bench');
const prefix = kind === 'drill' ? 'drill-' : '';
const names = globSync('*.ts', { cwd: directory })
  .map((file) => basename(file, '.ts'))
  .filter((file) => file.startsWith('drill-') === (kind === 'drill'))
  .map((file) => file.slice(prefix.length))
  .toSorted();

if (name === undefined || !names.includes(name)) {
  console.error(`${kind}: name one of ${names.join(', ')}`);
  process.exitCode = name === undefined ? 0 : 2;
} else {
  // The program reads its own arguments.
  const file = join(directory, `${prefix}${name}.ts`);
  process.argv.splice(1, Infinity, file, ...args);
  await import(file);
}
