/** An action in a log of 300 leaves, with the proof of a partial view. */

import { partsOf } from '../../src/proof/check.ts';
import { disclosure, entryOf } from '../../src/proof/record.ts';
import { EMPTY_ROOT, proveInclusion } from '../../src/proof/tlog/merkle.ts';
import { createSigner, formatCheckpoint, formatNote, type NoteSigner } from '../../src/proof/tlog/note.ts';
import { formatProof } from '../../src/proof/tlog/proof-file.ts';
import { growTree } from './tlog/grown-tree.ts';

export const ORIGIN = 'gemeente.example/proof/v1/verwerkingen';
export const logKey = createSigner(ORIGIN, Buffer.alloc(32, 1));
const SEED = Buffer.alloc(32, 5);
const INDEX = 123;
const SIZE = 300;

/** An action as `GET` answers it to a caller that may see all of it. */
export const ACTIE = {
  url: 'https://gemeente.example/verwerkingenlog/v1/verwerkingsacties/0198c0de-7c1f-7bb0-8c2d-4e6f80120000',
  actieId: '0198c0de-7c1f-7bb0-8c2d-4e6f80120000',
  actieNaam: 'Paspoort verstrekken \u00e9\u20ac',
  bewaartermijn: 'P10Y',
  systeem: 'Balie',
  gebruiker: 'm.jansen',
  gegevensbron: null,
  verwerkteObjecten: [1, 2, 3].map((number) => ({
    url: `https://gemeente.example/verwerkingenlog/v1/verwerkte-objecten/0198c0de-7c1f-7bb0-8c2d-4e6f8012000${number}`,
    verwerktObjectId: `0198c0de-7c1f-7bb0-8c2d-4e6f8012000${number}`,
    soortObjectId: 'BSN',
    objectId: `99999001${number}`,
  })),
};

/** A record and the text of its proof. */
export interface Proven {
  readonly record: object;
  readonly proof: string;
}

export async function proveRecord(
  record: object,
  isShown: (name: string) => boolean,
  more: readonly NoteSigner[] = [],
): Promise<Proven & { hidden: number }> {
  const parts = { ...partsOf(ORIGIN, record), intern: { auteur: 'balie', versie: 1 } };
  const objects = Object.keys(parts).filter((name) => name.startsWith('object/')).length;
  const padding = { count: objects, nameOf: (place: number) => `object/padding-${place}` };
  const sealed = { parts: Object.entries(parts), padding };
  const entry = entryOf(SEED, sealed);
  const tree = await growTree(SIZE, (index) => (index === INDEX ? entry : Buffer.from(`other ${index}`)));
  const text = formatCheckpoint({ origin: ORIGIN, size: SIZE, root: tree.roots[SIZE] ?? EMPTY_ROOT });
  const shown = new Set(Object.keys(parts).filter((name) => name !== 'intern' && isShown(name)));
  const extra = await disclosure(SEED, sealed, shown);
  const proof = formatProof({
    extra,
    index: INDEX,
    hashes: await proveInclusion(INDEX, SIZE, tree.read),
    checkpoint: formatNote(text, [logKey.sign(text), ...more.map((signer) => signer.sign(text, 1_750_000_000))]),
  });
  return { record, proof, hidden: Object.keys(JSON.parse(Buffer.from(extra).toString()).hidden).length };
}
