/** Compares the tree with Go's `golang.org/x/mod/sumdb/tlog`: its roots, proofs and tiles. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  EMPTY_ROOT,
  Frontier,
  leafHash,
  proveConsistency,
  proveInclusion,
  rootHash,
  verifyConsistency,
  verifyInclusion,
} from '../../../src/proof/tlog/merkle.ts';
import { encodeBundle, hasTile, parseTilePath, readHashesFromTiles, tilePath } from '../../../src/proof/tlog/tiles.ts';
import { decodeBundle, entry, type GrownTree, growTree, tilesOf } from './grown-tree.ts';
import { askGo, hasGo, recorded, WITHOUT_GO } from './judge.ts';

const LARGEST = 70_000;
let tree: GrownTree;
beforeAll(async () => {
  tree = await growTree(LARGEST);
});

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const root = (size: number): Uint8Array => tree.roots[size] ?? EMPTY_ROOT;
const { question, answer } = recorded();

interface Inclusion {
  readonly index: number;
  readonly size: number;
  readonly leaf: Uint8Array;
  readonly root: Uint8Array;
  readonly proof: readonly Uint8Array[];
}
const isIncluded = ({ index, size, leaf, root, proof }: Inclusion): boolean =>
  verifyInclusion(index, leaf, { size, root }, proof);

interface Growth {
  readonly oldSize: number;
  readonly oldRoot: Uint8Array;
  readonly newSize: number;
  readonly newRoot: Uint8Array;
  readonly proof: readonly Uint8Array[];
}
const isContinued = ({ oldSize, oldRoot, newSize, newRoot, proof }: Growth): boolean =>
  verifyConsistency({ size: oldSize, root: oldRoot }, { size: newSize, root: newRoot }, proof);

describe(`Go's recorded answers${WITHOUT_GO}`, () => {
  it('have our roots', async () => {
    expect(
      await Promise.all((question.roots ?? []).map(async (size) => base64(await rootHash(size, tree.read)))),
    ).toEqual(answer.roots);
  });

  it('have our proofs of inclusion and of consistency', async () => {
    const inclusion = (question.inclusion ?? []).map(async ([index, size]) =>
      (await proveInclusion(index, size, tree.read)).map(base64),
    );
    expect(await Promise.all(inclusion)).toEqual(answer.inclusion);
    const consistency = (question.consistency ?? []).map(async ([from, to]) =>
      (await proveConsistency(from, to, tree.read)).map(base64),
    );
    expect(await Promise.all(consistency)).toEqual(answer.consistency);
  });

  it('have our tiles, and no others', async () => {
    const ours = new Map<string, string>();
    for (const size of question.tiles ?? []) {
      const tiles = [...tilesOf(size)];
      const read = await tree.readTiles(tiles);
      for (const [place, tile] of tiles.entries()) {
        ours.set(
          tilePath(tile),
          createHash('sha256')
            .update(read[place] ?? '')
            .digest('hex'),
        );
      }
    }
    expect(Object.fromEntries(ours)).toEqual(answer.tiles);
  });

  it.runIf(hasGo)('match what Go answers now, also for random trees', async () => {
    const now = askGo(question);
    for (const name of ['roots', 'inclusion', 'consistency', 'tiles'] as const) expect(now[name]).toEqual(answer[name]);
    const sizes = fc.sample(fc.integer({ min: 2, max: LARGEST }), 200);
    const pairs = sizes.map((size, place): [number, number] => [Math.floor((size * place) / 200), size]);
    const claims = await Promise.all(
      pairs.flatMap(([a, b]) => [
        proveInclusion(a, b, tree.read).then((proof) => ({
          kind: 'inclusion' as const,
          a,
          b,
          proof: proof.map(base64),
        })),
        // Go has no proof from the empty tree.
        proveConsistency(a + 1, b, tree.read).then((proof) => ({
          kind: 'consistency' as const,
          a: a + 1,
          b,
          proof: proof.map(base64),
        })),
      ]),
    );
    const judged = askGo({ size: LARGEST, check: claims, roots: sizes });
    expect(judged.check).toEqual(claims.map(() => true));
    expect(judged.roots).toEqual(sizes.map((size) => base64(root(size))));
  });
});

/** Every size and index next to a power of two or a multiple of 256. */
const EDGES = [
  1,
  2,
  3,
  4,
  7,
  8,
  255,
  256,
  257,
  511,
  512,
  513,
  1023,
  1025,
  4096,
  32_767,
  65_535,
  65_536,
  65_537,
  LARGEST,
];

describe('proofs', () => {
  it('verify at every edge, and at no other position, size or tree', async () => {
    for (const size of EDGES) {
      for (const index of EDGES.filter((edge) => edge <= size).map((edge) => edge - 1)) {
        const proof = await proveInclusion(index, size, tree.read);
        const claim = { index, size, leaf: leafHash(entry(index)), root: root(size), proof };
        expect(isIncluded(claim)).toBe(true);
        expect(isIncluded({ ...claim, index: index + 1 })).toBe(false);
        expect(isIncluded({ ...claim, leaf: leafHash(entry(index + 1)) })).toBe(false);
        expect(isIncluded({ ...claim, root: root(size - 1) })).toBe(false);
        expect(isIncluded({ ...claim, proof: [...proof, root(1)] })).toBe(false);
        if (proof.length > 0) expect(isIncluded({ ...claim, proof: proof.slice(1) })).toBe(false);
      }
      for (const oldSize of EDGES.filter((edge) => edge <= size)) {
        const proof = await proveConsistency(oldSize, size, tree.read);
        const claim = { oldSize, oldRoot: root(oldSize), newSize: size, newRoot: root(size), proof };
        expect(isContinued(claim)).toBe(true);
        expect(isContinued({ ...claim, oldRoot: root(oldSize - 1) })).toBe(false);
        expect(isContinued({ ...claim, newRoot: root(size - 1) })).toBe(false);
        expect(isContinued({ ...claim, proof: [...proof, root(1)] })).toBe(false);
        if (proof.length > 0) expect(isContinued({ ...claim, proof: proof.slice(0, -1) })).toBe(false);
      }
    }
  });

  it('of random trees do not verify when one bit of them is changed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 2, max: LARGEST }), fc.nat(), fc.nat(), async (size, first, bit) => {
        const index = first % size;
        const proof = await proveInclusion(index, size, tree.read);
        const claim = { index, size, leaf: leafHash(entry(index)), root: root(size), proof };
        expect(isIncluded(claim)).toBe(true);
        const changed = proof.map((hash) => Buffer.from(hash));
        const hit = changed[bit % changed.length];
        hit?.writeUInt8(hit.readUInt8(bit % 32) ^ (1 << (bit % 8)), bit % 32);
        expect(isIncluded({ ...claim, proof: changed })).toBe(false);
        const oldSize = index + 1;
        const consistency = await proveConsistency(oldSize, size, tree.read);
        const grown = { oldSize, oldRoot: root(oldSize), newSize: size, newRoot: root(size), proof: consistency };
        expect(isContinued(grown)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('from the empty tree are empty, and none goes back', async () => {
    expect(await proveConsistency(0, 5, tree.read)).toEqual([]);
    const claim = { oldSize: 0, oldRoot: EMPTY_ROOT, newSize: 5, newRoot: root(5), proof: [] };
    expect(isContinued(claim)).toBe(true);
    expect(isContinued({ ...claim, proof: [root(1)] })).toBe(false);
    expect(isContinued({ ...claim, oldRoot: root(1) })).toBe(false);
    await expect(proveConsistency(6, 5, tree.read)).rejects.toThrow(RangeError);
    await expect(proveInclusion(5, 5, tree.read)).rejects.toThrow(RangeError);
    await expect(rootHash(-1, tree.read)).rejects.toThrow(RangeError);
    expect(await rootHash(0, tree.read)).toEqual(EMPTY_ROOT);
  });

  it('are made with few reads, even of a tree with more leaves than 32 bits can count', async () => {
    const size = 2 ** 40 + 5;
    let reads = 0;
    const read = async (wanted: readonly unknown[]) => {
      reads += wanted.length;
      return wanted.map(() => EMPTY_ROOT);
    };
    expect(await proveInclusion(2 ** 39 + 1, size, read)).toHaveLength(41);
    expect((await proveConsistency(2 ** 39 + 1, size, read)).length).toBeLessThan(63);
    const frontier = await Frontier.load(size, read);
    expect(frontier.append(EMPTY_ROOT).map(({ level, index }) => [level, index])).toEqual([
      [0, size],
      [1, 2 ** 39 + 2],
    ]);
    expect(reads).toBeLessThan(150);
  });
});

describe('tiles', () => {
  it('contain the hashes that proofs need', async () => {
    for (const size of EDGES) {
      const read = readHashesFromTiles(size, tree.readTiles);
      expect(await rootHash(size, read)).toEqual(root(size));
      expect((await Frontier.load(size, read)).root()).toEqual(root(size));
      const proof = await proveInclusion(size - 1, size, read);
      expect(proof).toEqual(await proveInclusion(size - 1, size, tree.read));
      expect(await proveConsistency(Math.ceil(size / 3), size, read)).toEqual(
        await proveConsistency(Math.ceil(size / 3), size, tree.read),
      );
    }
  });

  it('are as tlog-tiles prescribes for a tree of 70 000', () => {
    const paths = [...tilesOf(70_000)].map(tilePath);
    expect(paths).toHaveLength(273 + 1 + 1 + 1 + 1);
    expect(paths.slice(272)).toEqual([
      'tile/0/272',
      'tile/0/273.p/112',
      'tile/1/000',
      'tile/1/001.p/17',
      'tile/2/000.p/1',
    ]);
    expect([...tilesOf(65_536)].slice(-3).map(tilePath)).toEqual(['tile/0/255', 'tile/1/000', 'tile/2/000.p/1']);
    expect([...tilesOf(0)]).toEqual([]);
    expect(hasTile(256, { level: 1, index: 0, width: 1 })).toBe(true);
    expect(hasTile(256, { level: 0, index: 1, width: 1 })).toBe(false);
    expect(hasTile(70_000, { level: 'entries', index: 273, width: 112 })).toBe(true);
    expect(hasTile(70_000, { level: 'entries', index: 273, width: 113 })).toBe(false);
  });

  it('have one address each', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 63 }),
        fc.nat({ max: 10 ** 9 }),
        fc.integer({ min: 1, max: 256 }),
        (level, index, width) => {
          for (const tile of [
            { level, index, width },
            { level: 'entries' as const, index, width },
          ]) {
            expect(parseTilePath(tilePath(tile))).toEqual(tile);
          }
        },
      ),
    );
    expect(tilePath({ level: 0, index: 1_234_067, width: 256 })).toBe('tile/0/x001/x234/067');
    for (const path of [
      'tile/64/000',
      'tile/00/000',
      'tile/0/x000/001',
      'tile/0/1',
      'tile/0/000.p/0',
      'tile/0/000.p/256',
      'tile/0/000.p/01',
      'tile/0/001/x001',
      'tile/0/000/',
      'tile/0/x999/x999/x999/x999/x999/999',
      '/tile/0/000',
      'tile/bundles/000',
    ]) {
      expect(parseTilePath(path)).toBeUndefined();
    }
  });

  it('contain entries with their length', () => {
    const entries = [Buffer.alloc(0), Buffer.from('a'), Buffer.alloc(0x1234, 7)];
    expect(decodeBundle(encodeBundle(entries))).toEqual(entries);
    expect(Buffer.from(encodeBundle([Buffer.from('ab')])).toString('hex')).toBe('00026162');
    expect(() => encodeBundle([Buffer.alloc(0x10000)])).toThrow(RangeError);
  });
});
