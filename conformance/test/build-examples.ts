/** The commands of a build, as in `docs/conformance.md`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { isRecord } from '../../src/lib/json/json-value.ts';

const PAGE = join(import.meta.dirname, '../../docs/conformance.md');
/** Their first words: for the package, for the image in a job, and for the image on its own. */
const BEGINNINGS = [
  'npx --yes --package ./koppelvlak-conformance-1.0.0.tgz koppelvlak-conformance',
  'node /app/conformance/main.ts',
  'docker run --rm --user "$(id -u)" --volume "$PWD/verslag:/verslag" --entrypoint node koppelvlak conformance/main.ts',
];

interface BuildExamples {
  readonly github: unknown;
  readonly gitlab: unknown;
  /** Words to replace them with. */
  readonly commands: readonly (readonly string[])[];
}

/**
 * @param url the subject instead of the page's
 * @throws when a command begins differently
 */
export function buildExamples(url: string): BuildExamples {
  const [, section = ''] = readFileSync(PAGE, 'utf8').split('## In a build');
  const [github, gitlab] = [...section.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = '']): unknown => parse(text));
  const byItself = /^ {4}mkdir -p verslag && (docker run .+)$/m.exec(section)?.[1];
  const lines = [...textsIn(github, 'run'), ...textsIn(gitlab, 'script'), byItself ?? ''];
  const commands = lines.map((line, i) => {
    const beginning = BEGINNINGS[i] ?? '';
    if (!line.startsWith(beginning)) throw new Error(`${line} does not begin with ${beginning}`);
    return line.slice(beginning.length).trim().replace('https://raad.example/ori/v1', url).split(/\s+/);
  });
  return { github, gitlab, commands };
}

/** Every text under this name, at any depth. */
function textsIn(value: unknown, name: string): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((one) => textsIn(one, name));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, one]) =>
    key === name ? [one].flat().filter((text) => typeof text === 'string') : textsIn(one, name),
  );
}
