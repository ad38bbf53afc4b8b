/** Records that an earlier version mapped differently, read again by this one. */
import { expect, it, onTestFinished } from 'vitest';
import { freshIbabs, feed as ibabsFeed, MEETING, round, site } from './ibabs/fresh-ibabs.ts';
import { meetingOf as ibabsMeetingOf } from './ibabs/server.ts';
import { meetingOf } from './notubiz/supplier/answers.ts';
import { MemoryFeed } from './notubiz/supplier/memory-feed.ts';
import { startNotubiz } from './notubiz/supplier/server.ts';

freshIbabs();

/** As if an earlier version had stored it: with the supplier's own change mark, and with its older mapping. */
function storedBefore({ items, resources }: MemoryFeed, meeting: string): void {
  const key = `Vergadering/${meeting}`;
  const [item, data] = [items.get(meeting), resources.get(key)];
  if (item === undefined || data === undefined) throw new Error(`there is no ${meeting}`);
  items.set(meeting, { ...item, lastModified: item.lastModified?.replace(/^\d+ /, '') ?? null });
  resources.set(key, { ...data, vergadertoelichting: '<p>Welkom</p>' });
}

it('a meeting of NotuBiz that was not modified gets its new text in a quick round, once', async () => {
  const supplier = await startNotubiz();
  onTestFinished(() => supplier.close());
  const attributes = [
    { id: 1, value: 'Raad' },
    { id: 3, value: '<p>Welkom</p>' },
  ];
  supplier.organisation.addMeeting(meetingOf(20, { attributes }));
  const feed = new MemoryFeed(supplier);
  onTestFinished(() => feed.adapter.close());
  await feed.round();
  storedBefore(feed, 'meeting-20');
  await feed.round({ depth: 'quick' });
  expect(feed.get('Vergadering/meeting-20').vergadertoelichting).toBe('Welkom');
  expect(await feed.round({ depth: 'quick' })).toMatchObject({ upserts: [], reading: { unchanged: ['meeting-20'] } });
});

it('a meeting of iBabs whose content is the same gets its new text in a quick round, once', async () => {
  site.meetings = [ibabsMeetingOf(1, '2026-01-29', { Explanation: '<p>Welkom</p>' })];
  await round();
  const id = MEETING.slice('Vergadering/'.length);
  storedBefore(ibabsFeed, id);
  await round({ depth: 'quick' });
  expect(ibabsFeed.get(MEETING).vergadertoelichting).toBe('Welkom');
  expect(await round({ depth: 'quick' })).toMatchObject({ upserts: [], reading: { unchanged: [id] } });
});
