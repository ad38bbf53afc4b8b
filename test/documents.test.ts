/** The documents: every link works, every page can be reached from the README, and every test that they name exists. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readAsvs } from '../scripts/asvs.ts';

const ROOT = join(import.meta.dirname, '..');
const documents = globSync(['*.md', 'docs/**/*.md', 'deploy/**/*.md', 'examples/**/*.md'], { cwd: ROOT });
const texts = new Map(documents.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));

/** A document without its code blocks, in which brackets are not links. */
function prose(path: string): string {
  return (texts.get(path) ?? '').replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '``');
}

interface Link {
  readonly from: string;
  /** Path from the root of the repository. */
  readonly path: string;
  readonly anchor: string | undefined;
}

/** Links to other sites are not followed: the tests use no network. */
function linksOf(from: string): Link[] {
  const found = [...prose(from).matchAll(/\]\(([^()\s]+)\)|^\[[^\]]+\]:\s+(\S+)/gm)];
  return found
    .map(([, inline, reference]) => inline ?? reference ?? '')
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [file = '', anchor] = target.split('#', 2);
      return { from, path: file === '' ? from : relative(ROOT, resolve(ROOT, dirname(from), file)), anchor };
    });
}

/** Anchors of headings, as GitHub and GitLab make them. */
function anchorsOf(path: string): Set<string> {
  const anchors = new Set<string>();
  const text = (texts.get(path) ?? '').replace(/^```[\s\S]*?^```/gm, '');
  for (const [, heading = ''] of text.matchAll(/^#{1,6}\s+(.+?)\s*$/gm)) {
    const slug = heading
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let n = 1; anchors.has(anchor); n += 1) anchor = `${slug}-${n}`;
    anchors.add(anchor);
  }
  return anchors;
}

const links = documents.flatMap(linksOf);

describe('links', () => {
  it('are found', () => {
    expect(links.length).toBeGreaterThan(40);
  });

  it('lead to files that exist', () => {
    const dead = links.filter(({ path }) => path.startsWith('..') || !existsSync(join(ROOT, path)));
    expect(dead.map(({ from, path }) => `${from}: ${path}`)).toEqual([]);
  });

  it('lead to headings that exist', () => {
    const dead = links.filter(
      ({ path, anchor }) => anchor !== undefined && texts.has(path) && !anchorsOf(path).has(anchor),
    );
    expect(dead.map(({ from, path, anchor }) => `${from}: ${path}#${anchor}`)).toEqual([]);
  });
});

describe('pages of docs/', () => {
  it('can be reached from the README', () => {
    const reached = new Set(['README.md']);
    for (const page of reached) {
      for (const { path } of linksOf(page)) if (texts.has(path)) reached.add(path);
    }
    const lost = documents.filter((path) => path.startsWith('docs/') && !reached.has(path));
    expect(lost).toEqual([]);
  });

  it('shows all pictures', () => {
    const shown = new Set(links.map(({ path }) => path));
    const pictures = globSync('docs/**/*.{svg,png}', { cwd: ROOT });
    expect(pictures.length).toBeGreaterThan(0);
    expect(pictures.filter((path) => !shown.has(path))).toEqual([]);
  });
});

describe('README.md', () => {
  it('can be read in five minutes: at most 200 lines', () => {
    expect((texts.get('README.md') ?? '').trimEnd().split('\n').length).toBeLessThanOrEqual(200);
  });
});

describe('docs/decisions/README.md', () => {
  it('has each decision once, with its own title', () => {
    const index = texts.get('docs/decisions/README.md') ?? '';
    const listed = [...index.matchAll(/^- \[(\d{4})\]\(([\w-]+\.md)\): (.+)$/gm)].map(([, number, file, title]) => [
      `docs/decisions/${file}`,
      `# ${number} ${title}`,
    ]);
    const own = [...texts]
      .filter(([path]) => /^docs\/decisions\/\d{4}-/.test(path))
      .map(([path, text]) => [path, text.split('\n', 1)[0]]);
    expect(own.length).toBeGreaterThan(20);
    expect(listed.toSorted()).toEqual(own.toSorted());
  });
});

describe('docs/compliance/asvs.md', () => {
  const text = texts.get('docs/compliance/asvs.md') ?? '';
  const sections = readAsvs(text);

  it('has each of the 253 requirements of levels 1 and 2 once', () => {
    const numbers = sections.flatMap(({ requirements }) => requirements.map(({ number }) => number));
    expect(numbers).toHaveLength(253);
    expect(new Set(numbers).size).toBe(253);
  });

  it.each(sections)('has the correct count for $state', ({ counted, requirements }) => {
    expect(requirements).toHaveLength(counted);
  });
});

describe('names in the documents', () => {
  it('are test files that exist', () => {
    const named = [...texts].flatMap(([from, text]) =>
      [...text.matchAll(/`(test\/[\w./-]+)`/g)].map(([, path]) => [from, String(path)] as const),
    );
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter(([, path]) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('are tests that exist, by their titles', () => {
    const named = [...texts].flatMap(([from, text]) =>
      [...text.matchAll(/`(test\/[\w./-]+\.ts)`\s+"([^"]+)"/g)].map(([, path, title]) => ({
        from,
        path: String(path),
        title: String(title).replace(/\s+/g, ' '),
      })),
    );
    expect(named.length).toBeGreaterThan(5);
    const gone = named.filter(({ path, title }) => {
      const file = join(ROOT, path);
      return !existsSync(file) || !readFileSync(file, 'utf8').includes(title);
    });
    expect(gone).toEqual([]);
  });

  it('are commands of package.json', () => {
    const { scripts }: { scripts: object } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const named = [...texts].flatMap(([from, text]) =>
      [...text.matchAll(/`npm run (?:--silent )?([\w:-]+)/g)].map(([, name]) => [from, String(name)] as const),
    );
    expect(named.filter(([, name]) => !Object.keys(scripts).includes(name))).toEqual([]);
  });

  it('are directories and files of this repository', () => {
    const named = [...texts]
      .filter(([from]) => from !== 'CHANGELOG.md' && !from.startsWith('docs/decisions/'))
      .flatMap(([from, text]) =>
        [...text.matchAll(/`((?:src|deploy|scripts|openapi|examples|migrations)\/[\w./-]*)`/g)].map(
          ([, path]) => [from, String(path)] as const,
        ),
      );
    const gone = named.filter(([, path]) => !existsSync(join(ROOT, path)));
    expect(gone).toEqual([]);
  });
});
