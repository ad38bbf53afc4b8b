/**
 * The rooms of the source and the imports between them, read from the files. test/house.test.ts refuses upward
 * imports; `npm run docs` puts the picture into docs/architecture.md.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

const AREAS = ['gegevens', 'verwerkingenlog', 'raadsfeed'] as const;
/** Feature folders that an area registers, such as `raadsfeed/diwoo`. */
const FEATURES = globSync(`src/{${AREAS}}/*/{plugin.ts,commands{.ts,}}`, { cwd: ROOT }).map((path) =>
  relative('src', dirname(path)),
);

/**
 * Floors from the bottom up, each with its rooms. Imports run downward or within a room; rooms on the same floor do not
 * import each other.
 */
const FLOORS: readonly (readonly string[])[] = [
  ['contracts'],
  ['lib'],
  ['settings', 'embedded-postgres', 'conformance'],
  ['database'],
  ['plugins'],
  ['html', 'proof'],
  ['commands'],
  [...AREAS],
  [...new Set(FEATURES)].toSorted(),
  ['areas'],
  ['app', 'client'],
  ['demo'],
  ['cli'],
];

/**
 * The room of a file. An area's lists of its features (settings, commands, plugin) belong to the floor that reads them.
 */
export function roomOf(path: string): string {
  if (path.startsWith('conformance/')) return 'conformance';
  const [, first = '', second = ''] = path.split('/');
  if (/^src\/[^/]+\.ts$/.test(path)) return path === 'src/main.ts' ? 'cli' : 'app';
  if (/^src\/(\w+\/)*settings\.ts$/.test(path)) return 'settings';
  if (AREAS.some((area) => area === first)) {
    if (second === 'plugin.ts' || second === 'commands.ts') return 'areas';
    return FEATURES.includes(`${first}/${second}`) ? `${first}/${second}` : first;
  }
  return first;
}

interface Import {
  readonly from: string;
  readonly to: string;
}

/** Every import between files of `src` and of the conformance suites, type imports included. */
export function readImports(): readonly Import[] {
  const files = globSync('{src,conformance}/**/*.ts', { cwd: ROOT }).filter((path) => !path.includes('/test/'));
  return files.flatMap((from) => {
    const text = readFileSync(join(ROOT, from), 'utf8');
    const specifiers = [...text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, one = '']) => one);
    return specifiers.map((one) => ({ from, to: relative(ROOT, resolve(ROOT, dirname(from), one)) }));
  });
}

export const floorOf = (room: string): number => FLOORS.findIndex((rooms) => rooms.includes(room));

/** Imports that do not run downward. */
export function upwardImports(imports: readonly Import[]): readonly Import[] {
  return imports.filter(({ from, to }) => {
    const [above, below] = [roomOf(from), roomOf(to)];
    return above !== below && floorOf(below) >= floorOf(above);
  });
}

/** The floors as a picture. An arrow is left out where a path of others leads to the same room. */
export function picture(imports: readonly Import[]): string {
  const needed = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    const [room, other] = [roomOf(from), roomOf(to)];
    if (room !== other) needed.set(room, (needed.get(room) ?? new Set()).add(other));
  }
  const reaches = (from: string, to: string): boolean =>
    from === to || [...(needed.get(from) ?? [])].some((next) => reaches(next, to));
  const arrows = [...needed].flatMap(([from, all]) =>
    [...all]
      .filter((to) => ![...all].some((other) => other !== to && reaches(other, to)))
      .map((to) => `  ${idOf(from)} --> ${idOf(to)}`),
  );
  const floors = FLOORS.toReversed().map(
    (rooms, i) =>
      `  subgraph floor${FLOORS.length - i}[" "]\n${rooms.map((room) => `    ${idOf(room)}["${room}"]`).join('\n')}\n  end`,
  );
  return ['```mermaid', 'flowchart TD', ...floors, ...arrows.toSorted(), '```'].join('\n');
}

const idOf = (room: string): string => room.replaceAll(/\W/g, '_');
