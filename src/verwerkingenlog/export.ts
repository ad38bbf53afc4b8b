/** An export of the log for an auditor. It is itself a processing of personal data, and leaves an entry. */

import { randomUUID } from 'node:crypto';
import type { CommandContext } from '../commands/run-command.ts';
import { transaction } from '../database/transaction.ts';
import { newTraceContext } from '../lib/trace-context.ts';
import { requireProofWriter } from '../proof/proof-log.ts';
import { reveal } from './domain/encryption.ts';
import { HISTORY_NAMES } from './domain/members.ts';
import { actieAnswer, picker } from './domain/verwerkingsactie.ts';
import { createOwnEntries } from './processing-log.ts';
import { openVersionStore, type QueueForward, withMonths } from './store/append.ts';
import { exportedVersions, hasConfidential, type Selection } from './store/exported-versions.ts';
import { openIdentityKeys } from './store/keys.ts';

/** Records as answered, with all fields; none before the entry about the export is committed. @param by the exporter */
export async function* exportLines(
  { config, database, clock, proof, publicBaseUrl }: CommandContext,
  forward: QueueForward | undefined,
  selection: Selection,
  { by, signal }: { readonly by: string; readonly signal: AbortSignal },
): AsyncGenerator<string> {
  const { pool } = database;
  const { prefix } = config.verwerkingenlog;
  await requireProofWriter(pool, 'verwerkingen', proof);
  const keys = await openIdentityKeys(pool, config, 'write');
  const store = await openVersionStore(pool, forward);
  const addOwn = createOwnEntries(clock, config.verwerkingenlog, proof('verwerkingen'), {
    keys,
    store,
    count: () => undefined,
  });
  const entry = {
    kind: 'log',
    actieNaam: 'Exporteren verwerkingenlog',
    handelingNaam: describe(selection),
    consumer: {},
    confidential: await hasConfidential(pool, selection, signal),
    systeem: 'Verwerkingenlog',
    tijdstip: clock.now(),
  } as const;
  const author = { subject: by, requestId: randomUUID(), trace: newTraceContext() };
  await withMonths({ pool, clock }, () => transaction(pool, async (db) => (await addOwn(db, entry, author)).result));
  for await (const stored of exportedVersions(pool, selection, signal)) {
    const versie = await reveal(stored, keys);
    const record = actieAnswer(versie, `${publicBaseUrl()}${prefix}`, false);
    yield `${JSON.stringify(selection.history ? { ...pickHistory(versie), ...record } : record)}\n`;
  }
}

const pickHistory = picker(HISTORY_NAMES);

function describe({ from, to, verwerkingsactiviteitId, verwerkingId, history }: Selection): string {
  return [
    `Export van ${from} tot ${to}`,
    ...(verwerkingsactiviteitId === undefined ? [] : [`verwerkingsactiviteit ${verwerkingsactiviteitId}`]),
    ...(verwerkingId === undefined ? [] : [`verwerking ${verwerkingId}`]),
    ...(history ? ['alle versies'] : []),
  ].join(', ');
}
