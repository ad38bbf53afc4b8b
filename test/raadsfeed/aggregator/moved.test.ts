/** A source that moves to another address: its redactions there are applied here, however it moved. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findSource, setPaused, takeOverOrganisations } from '../../../src/raadsfeed/aggregator/store/sources.ts';
import { FakeSource } from './fake-source.ts';
import { aggregator, followedSource, source as old, published } from './followed-source.ts';
import { eventually, follow, rereadDocument, sourceState, stateOf, unfollow } from './support.ts';

/** The same feed at another address, where `d-1` was redacted since. */
let moved: FakeSource;
let secret = '';

followedSource((source) => {
  secret = `Burgerservicenummer-van-Jansen-${source.organisatiecode}.`;
  source.document('d-1', secret);
  for (let i = 2; i <= 12; i += 1) source.document(`d-${i}`);
});
beforeEach(async () => {
  await pause(true);
  moved = await new FakeSource(old.organisatiecode).listen();
  moved.records = old.records.slice(1);
  moved.remove('redact', 'd-1', { geredigeerdeSequenceNumbers: [1] });
  for (let i = 13; i <= 20; i += 1) moved.document(`d-${i}`);
});
afterEach(async () => {
  await unfollow(aggregator.pool, moved.url);
  await moved.close();
});

async function pause(paused: boolean): Promise<void> {
  const found = await findSource(aggregator.pool, old.url);
  await setPaused(aggregator.pool, found?.id ?? 0, paused);
}

async function expectRedactedOnce(): Promise<void> {
  await eventually(async () => expect([...stateOf(await published()).keys()]).toHaveLength(19));
  await eventually(async () => {
    const { text } = await aggregator.api.call('GET', `/feed?limit=1000&organisatiecode=${old.organisatiecode}`);
    expect(text).not.toContain(secret);
  });
  // As the source states it, and not because its reason could not be found.
  expect((await published()).filter(({ op }) => op === 'redact').at(-1)).toMatchObject({
    resource: { bronidentificatie: 'd-1' },
    verwijderreden: 'persoonsgegevens',
  });
}

async function switchToMoved(): Promise<void> {
  const from = await findSource(aggregator.pool, old.url);
  await takeOverOrganisations(aggregator.pool, {
    from: from?.id ?? 0,
    to: moved.url,
    codes: [old.organisatiecode],
    allowMassDelete: false,
  });
}

it('is found when the source was removed, and added at its new address', async () => {
  await unfollow(aggregator.pool, old.url);
  await follow(aggregator.pool, moved.url);
  await expectRedactedOnce();
});

it('is found when its organisations are switched to the new address', async () => {
  await switchToMoved();
  await expectRedactedOnce();
});

it('is found when they are switched to a source that is already followed and was read beyond it', async () => {
  await follow(aggregator.pool, moved.url);
  // Its organisations are still read from the old address.
  await eventually(async () =>
    expect(await sourceState(aggregator.pool, moved.url)).toMatchObject({ mislukt: 0, organisaties: [] }),
  );
  await switchToMoved();
  await expectRedactedOnce();
});

it('is found when its service document names a new address, where its cursor means something else', async () => {
  // It restarted its numbering: the old cursor is accepted there, and is past the redaction.
  moved.records = [];
  moved.remove('redact', 'd-1', { geredigeerdeSequenceNumbers: [] });
  for (let i = 2; i <= 20; i += 1) moved.document(`d-${i}`);
  old.rule = ({ path, page, json }) => {
    if (path !== '/') return false;
    json({ ...page(), feedUrl: `${moved.url}/feed`, snapshotUrl: `${moved.url}/snapshot` });
    return true;
  };
  await rereadDocument(aggregator.pool, old.url);
  await pause(false);
  await expectRedactedOnce();
});
